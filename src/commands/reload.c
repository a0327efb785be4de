/* SPDX-License-Identifier: MIT
 * `reload`.
 */
#include "commands/commands.h"

#include "commands/listing.h"
#include "live/reload.h"

/* Writes all errors, or all changes and warnings, one per line. */
static void
put_result(const struct call *call, const struct reload_result *result)
{
	if (result->errors.n > 0) {
		call_severity(call, SEVERITY_ERR);
		fputs("Nothing was changed:\n", call->out);
		err_list_print(&result->errors, "", call->out);
	} else if (result->changes.n == 0) {
		fputs("No change.\n", call->out);
	}
	for (size_t i = 0; i < result->changes.n && result->errors.n == 0;
	     i++) {
		const char *change = result->changes.all[i].text;

		fprintf(call->out, "%s\n", change);
		call_audit(call, NULL, NULL, "reload: %s", change);
	}
	err_list_print(&result->warnings, "", call->out);
}

/* A reload; its answer comes when names have been looked up. */
struct reloading {
	struct listing listing;
	struct command_mode mode; /* of the client at the time of the command */
	struct reload *reload;
};
#define RELOAD_LOOK_MS 5

static bool
reload_step(void *listing, const struct command_env *env)
{
	struct reloading *r = listing;
	const struct reload_result *result = reload_result(r->reload);
	const struct call call = {
	    .env = env, .mode = &r->mode, .out = r->listing.report.out};

	r->listing.rest.pause_ms = RELOAD_LOOK_MS;
	if (!result)
		return true;
	put_result(&call, result);
	r->listing.rest.failed = r->mode.failed;
	return false;
}

static void
reload_fini(void *listing)
{
	reload_unref(((struct reloading *)listing)->reload);
}

bool
run_reload(struct call *call)
{
	static const struct listing_kind kind = {
	    .size = sizeof(struct reloading),
	    .step = reload_step,
	    .fini = reload_fini,
	};
	struct reloading *r = listing_new(call, &kind, false);

	if (!r)
		return false;
	r->mode = *call->mode;
	r->reload = control_reload(call->env->control, NULL);
	return listing_answer(
	    call, &r->listing, r->reload || err_oom(call->err));
}
