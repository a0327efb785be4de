/* SPDX-License-Identifier: MIT
 * Commands that change a list: they wait while a commit is under way, and for
 * the task of the commit that they begin.  A commit is recorded at the end of
 * its task, whether the client is still there or not.
 */
#include <stdarg.h>
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
	acl_change_fn *run;
	struct list_task *task; /* NULL: the list was busy so far */
};

/* Returns the list that the arguments name, behind `@VERSION` if that is there,
 * or NULL. */
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

	return list && acl_list_is_committing(list);
}

/* Runs the command, or looks at its task.  *ret_more: the answer has to wait.
 * Returns false with call->err set if the change has failed. */
static bool
look_at_change(struct acl_waiting *w, struct call *call, bool *ret_more)
{
	const struct list_result *result;

	*ret_more = true;
	if (!w->task && is_busy(call))
		return true;
	if (!w->task) {
		bool ok = w->run(call, &w->task);

		*ret_more = w->task != NULL;
		return ok;
	}
	result = list_task_result(w->task);
	*ret_more = !result;
	return !result || call_acl_outcome(call, result->outcome);
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
	bool more;

	w->listing.rest.pause_ms = BUSY_LOOK_MS;
	if (!look_at_change(w, &call, &more)) {
		call_severity(&call, SEVERITY_ERR);
		fprintf(call.out, "%s\n", err.text);
	}
	w->listing.rest.failed = w->mode.failed;
	return more;
}

static void
acl_waiting_fini(void *listing)
{
	struct acl_waiting *w = listing;

	for (size_t i = 0; i < ARGS_MAX; i++)
		free(w->args[i]);
	list_task_unref(w->task);
}

bool
call_change_acl(struct call *call, acl_change_fn *run)
{
	static const struct listing_kind kind = {
	    .size = sizeof(struct acl_waiting),
	    .step = acl_waiting_step,
	    .fini = acl_waiting_fini,
	};
	struct list_task *task = NULL;
	struct acl_waiting *w;
	bool ok = true;

	if (!is_busy(call)) {
		ok = run(call, &task);
		if (!task)
			return ok;
	}
	w = listing_new(call, &kind, false);
	if (!w) {
		list_task_unref(task);
		return false;
	}
	w->mode = *call->mode;
	w->run = run;
	w->task = task;
	for (size_t i = 0; i < ARGS_MAX && call->args[i]; i++) {
		w->args[i] = strdup(call->args[i]);
		ok &= w->args[i] != NULL;
	}
	return listing_answer(call, &w->listing, ok || err_oom(call->err));
}

/* -- records -- */

struct acl_record {
	const struct command_env *env;
	struct command_mode mode; /* of the client at the time of the command */
	char *what;
};

static void
note_acl_record(void *arg, const struct list_result *result)
{
	struct acl_record *r = arg;
	const struct call call = {.env = r->env, .mode = &r->mode};

	if (result && result->outcome == ACL_DONE)
		call_audit_number(
		    &call, result->before, result->after, "%s", r->what);
	acl_record_free(r);
}

struct acl_record *
acl_record_new(const struct call *call, const char *what, ...)
{
	struct acl_record *r = calloc(1, sizeof(*r));
	va_list ap;

	if (!r)
		return NULL;
	*r = (struct acl_record){.env = call->env, .mode = *call->mode};
	va_start(ap, what);
	if (vasprintf(&r->what, what, ap) < 0)
		r->what = NULL;
	va_end(ap);
	if (r->what)
		return r;
	free(r);
	return NULL;
}

void
acl_record_free(struct acl_record *record)
{
	if (record)
		free(record->what);
	free(record);
}

struct list_task_end
acl_record_end(struct acl_record *record)
{
	return (struct list_task_end){note_acl_record, record};
}
