/* SPDX-License-Identifier: MIT
 * Commands that wait until a list is not busy with a commit.
 */
#include <stdlib.h>
#include <string.h>

#include "commands/add_acl.h"
#include "commands/listing.h"

#define BUSY_LOOK_MS 5
/* Arguments of a command about lists. */
#define ARGS_MAX 3

struct acl_waiting {
	struct listing listing;
	struct command_mode mode; /* of the client at the time of the command */
	char *args[ARGS_MAX + 1]; /* copies; NULL behind the last one */
	bool (*run)(struct call *call);
};

/* Returns the list that the arguments name, or NULL.  `@VERSION` may precede.
 */
static const struct acl_list *
named_list(struct call *call)
{
	struct call look = *call;
	struct err ignored;
	unsigned version;

	look.err = &ignored;
	(void)call_take_version(&look, &version);
	return call_acl(&look, call_arg(&look, 0), "");
}

static bool
is_busy(struct call *call)
{
	const struct acl_list *list = named_list(call);

	return list && acl_list_is_busy(list);
}

static bool
acl_waiting_step(void *listing, const struct command_env *env)
{
	struct acl_waiting *w = listing;
	struct err err;
	struct call call = {.env = env,
	    .mode = &w->mode,
	    .args = w->args,
	    .out = w->listing.report.out,
	    .err = &err};

	w->listing.rest.pause_ms = BUSY_LOOK_MS;
	if (is_busy(&call))
		return true;
	if (!w->run(&call)) {
		call_severity(&call, SEVERITY_ERR);
		fprintf(call.out, "%s\n", err.text);
	}
	w->listing.rest.failed = w->mode.failed;
	return false;
}

static void
acl_waiting_fini(void *listing)
{
	struct acl_waiting *w = listing;

	for (size_t i = 0; i < ARGS_MAX; i++)
		free(w->args[i]);
}

bool
call_when_idle(struct call *call, bool (*run)(struct call *call))
{
	static const struct listing_kind kind = {
	    .size = sizeof(struct acl_waiting),
	    .step = acl_waiting_step,
	    .fini = acl_waiting_fini,
	    .steps_max = 1,
	};
	struct acl_waiting *w;
	bool ok = true;

	if (!is_busy(call))
		return run(call);
	w = listing_new(call, &kind, false);
	if (!w)
		return false;
	w->mode = *call->mode;
	w->run = run;
	for (size_t i = 0; i < ARGS_MAX && call->args[i]; i++) {
		w->args[i] = strdup(call->args[i]);
		ok &= w->args[i] != NULL;
	}
	return listing_answer(call, &w->listing, ok || err_oom(call->err));
}
