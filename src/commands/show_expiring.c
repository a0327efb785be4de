/* SPDX-License-Identifier: MIT
 * `show expiring` and `cancel expiring`, see expiring.h.
 */
#include "commands/commands.h"

#include <inttypes.h>

#include "commands/expiring.h"
#include "commands/listing.h"

struct expiring_listing {
	struct listing listing;
	uint64_t id; /* of the last that was shown, 0: none */
};

static void
put_expiring(struct report *r, const struct expiring_status *s)
{
	char left[SPAN_TEXT_SIZE], who[PEER_TEXT_SIZE];
	char changed_by[PEER_TEXT_SIZE];

	peer_text(s->who, who);
	left_text(s->left_ms, left);
	report_row(r);
	report_put(r, "id", "%" PRIu64, s->id);
	report_put(r, "what", " %s", s->subject);
	report_put(r, "value", ": %s", setting_shown(s->setting, s->value));
	report_json_string(r, "former", setting_shown(s->setting, s->former));
	report_json(r, "left_ms", "%" PRIu64, s->left_ms);
	report_json_string(r, "who", who);
	report_json_string(r, "changed_by",
	    s->changed_by ? peer_text(s->changed_by, changed_by) : NULL);
	if (s->changed_by)
		report_text(
		    r, ", changed since by %s, stays: %s", changed_by, left);
	else
		report_text(r, " -> %s in %s: %s",
		    setting_shown(s->setting, s->former), left, who);
	report_row_end(r);
}

static bool
expiring_step(void *listing, const struct command_env *env)
{
	struct expiring_listing *l = listing;
	struct expiring_status s;

	if (!env->expiring || !expiring_next(env->expiring, l->id, &s))
		return false;
	put_expiring(&l->listing.report, &s);
	l->id = s.id;
	return true;
}

bool
run_show_expiring(struct call *call)
{
	static const struct listing_kind kind = {
	    .size = sizeof(struct expiring_listing),
	    .head = "",
	    .step = expiring_step,
	};
	struct expiring_listing *l =
	    listing_new(call, &kind, call_take_json(call));

	return l && listing_answer(call, &l->listing, true);
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
