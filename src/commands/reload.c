/* SPDX-License-Identifier: MIT
 * `reload`.
 */
#include "commands/commands.h"

#include <stdlib.h>

#include "base/list.h"
#include "control/reload.h"

static void
note_reload(const struct call *call, const char *change)
{
	fprintf(call->out, "%s\n", change);
	call_audit(call, NULL, NULL, "reload: %s", change);
}

/* Writes all errors, or all changes and warnings, one per line. */
static void
put_result(const struct call *call, const struct reload_result *result)
{
	if (result->errors.n > 0) {
		call_severity(call, SEVERITY_ERR);
		fputs("Nothing was changed:\n", call->out);
		err_list_print(&result->errors, call->out);
	} else if (result->changes.n == 0) {
		fputs("No change.\n", call->out);
	}
	for (size_t i = 0; i < result->changes.n && result->errors.n == 0; i++)
		note_reload(call, result->changes.all[i].text);
	err_list_print(&result->warnings, call->out);
}

/* An answer that comes when names have been looked up. */
struct reload_answer {
	struct answer_rest rest;
	struct command_mode mode; /* of the client at the time of the command */
	struct reload *reload;
};
#define RELOAD_LOOK_MS 5

static bool
more_of_reload(
    struct answer_rest *rest, const struct command_env *env, FILE *out)
{
	struct reload_answer *a =
	    container_of(rest, struct reload_answer, rest);
	const struct reload_result *result = reload_result(a->reload);
	const struct call call = {.env = env, .mode = &a->mode, .out = out};

	a->rest.pause_ms = RELOAD_LOOK_MS;
	if (result)
		put_result(&call, result);
	return !result;
}

static void
free_reload_answer(struct answer_rest *rest)
{
	struct reload_answer *a =
	    container_of(rest, struct reload_answer, rest);

	reload_unref(a->reload);
	free(a);
}

bool
run_reload(struct call *call)
{
	struct reload_answer *a;

	a = calloc(1, sizeof(*a));
	if (!a)
		return err_oom(call->err);
	a->rest = (struct answer_rest){
	    .more = more_of_reload, .free = free_reload_answer};
	a->mode = *call->mode;
	a->reload = control_reload(call->env->control, NULL);
	if (!a->reload) {
		free(a);
		return err_oom(call->err);
	}
	if (!reload_result(a->reload)) {
		a->rest.pause_ms = RELOAD_LOOK_MS;
		call->rest = &a->rest;
		return true;
	}
	put_result(call, reload_result(a->reload));
	free_reload_answer(&a->rest);
	return true;
}
