/* SPDX-License-Identifier: MIT
 * What waits to expire: see commands_drain.h.
 */
#include <inttypes.h>
#include <jansson.h>

#include "admin/command_args.h"
#include "admin/commands_drain.h"
#include "admin/lasting.h"
#include "admin/pool_json.h"

static void
put_line(FILE *out, const struct lasting_status *s)
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
line_json(const struct lasting_status *s)
{
	char who[PEER_TEXT_SIZE], changed_by[PEER_TEXT_SIZE];

	return json_pack("{s:I, s:s, s:s, s:s, s:I, s:s, s:s?}", "id",
	    (json_int_t)s->id, "what", s->subject, "value", s->value, "former",
	    s->former, "left_ms", (json_int_t)s->left_ms, "who",
	    peer_text(s->who, who), "changed_by",
	    s->changed_by ? peer_text(s->changed_by, changed_by) : NULL);
}

bool
run_show_expiring(struct call *call)
{
	const struct lasting *lasting = call->env->lasting;
	struct lasting_status s = {.id = 0};
	bool json, complete = true;
	json_t *all;

	if (!call_json(call, &json))
		return false;
	all = json ? json_array() : NULL;
	while (lasting && lasting_next(lasting, s.id, &s)) {
		if (!json)
			put_line(call->out, &s);
		else if (json_array_append_new(all, line_json(&s)) < 0)
			complete = false;
	}
	return !json || json_print(all, complete, call->out, call->err);
}

bool
run_cancel_expiring(struct call *call)
{
	struct lasting *lasting = call->env->lasting;
	uint64_t id;

	return call_number(call, call_arg(call, 0),
	           "The number of a change is expected (use 'show expiring').",
	           UINT32_MAX, &id) &&
	       ((lasting && lasting_cancel(lasting, call, id)) ||
	           err_set(call->err,
	               "No change of that number waits (use 'show "
	               "expiring')."));
}
