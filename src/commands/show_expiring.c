/* SPDX-License-Identifier: MIT
 * `show expiring` and `cancel expiring`, see expiring.h.
 */
#include "commands/commands.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>

#include "commands/expiring.h"

/* The number of changes in a part of the answer: 15 us each, and more where
 * many users are known. */
#define ROWS_A_PART 32

struct listing {
	struct answer_rest rest;
	bool json;
	uint64_t id; /* of the last that was shown, 0: none */
};

static void
put_line(FILE *out, const struct expiring_status *s)
{
	char left[LEFT_TEXT_SIZE], who[PEER_TEXT_SIZE];

	fprintf(out, "%" PRIu64 " %s: %s", s->id, s->subject, s->value);
	if (s->changed_by)
		fprintf(out, ", changed since by %s, stays: %s\n",
		    peer_text(s->changed_by, who), left_text(s->left_ms, left));
	else
		fprintf(out, " -> %s in %s: %s\n", s->former,
		    left_text(s->left_ms, left), peer_text(s->who, who));
}

static json_t *
line_json(const struct expiring_status *s)
{
	char who[PEER_TEXT_SIZE], changed_by[PEER_TEXT_SIZE];

	return json_pack("{s:I, s:s, s:s, s:s, s:I, s:s, s:s?}", "id",
	    (json_int_t)s->id, "what", s->subject, "value", s->value, "former",
	    s->former, "left_ms", (json_int_t)s->left_ms, "who",
	    peer_text(s->who, who), "changed_by",
	    s->changed_by ? peer_text(s->changed_by, changed_by) : NULL);
}

/* False when memory is short. */
static bool
put_object(struct listing *l, FILE *out, const struct expiring_status *s)
{
	json_t *value = line_json(s);
	char *text = value ? json_dumps(value, 0) : NULL;

	json_decref(value);
	if (!text)
		return false;
	fprintf(out, "%s%s", l->id > 0 ? ",\n" : "\n", text);
	free(text);
	return true;
}

static bool
more(struct answer_rest *rest, const struct command_env *env, FILE *out)
{
	struct listing *l = container_of(rest, struct listing, rest);
	struct expiring_status s;

	for (int i = 0; i < ROWS_A_PART; i++) {
		if (!env->expiring ||
		    !expiring_next(env->expiring, l->id, &s)) {
			if (l->json)
				fputs(l->id > 0 ? "\n]\n" : "]\n", out);
			return false;
		}
		if (!l->json) {
			put_line(out, &s);
		} else if (!put_object(l, out, &s)) {
			fputs("Out of memory.\n", out);
			return false;
		}
		l->id = s.id;
	}
	return true;
}

static void
free_listing(struct answer_rest *rest)
{
	free(container_of(rest, struct listing, rest));
}

bool
run_show_expiring(struct call *call)
{
	struct listing *l;
	bool json;

	if (!call_json(call, &json))
		return false;
	l = calloc(1, sizeof(*l));
	if (!l)
		return err_oom(call->err);
	l->rest = (struct answer_rest){.more = more, .free = free_listing};
	l->json = json;
	if (json)
		putc('[', call->out);
	call->rest = &l->rest;
	return true;
}

bool
run_cancel_expiring(struct call *call)
{
	struct expiring *expiring = call->env->expiring;
	uint64_t id;

	return call_number(call, call_arg(call, 0),
	           "The number of a change is expected (use 'show expiring').",
	           UINT32_MAX, &id) &&
	       ((expiring && expiring_cancel(expiring, call, id)) ||
	           err_set(call->err,
	               "No change of that number waits (use 'show "
	               "expiring')."));
}
