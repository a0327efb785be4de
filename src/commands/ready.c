/* SPDX-License-Identifier: MIT
 * See ready.h; the command `ready`.
 */
#include "commands/ready.h"

#include "commands/commands.h"
#include "config/hint.h"
#include "model/backend.h"
#include "model/frontend.h"
#include "stats/ready.h"

static void
put_backend(struct report *r, const struct frontend *f, size_t i)
{
	const struct backend *b = f->backends[i];
	unsigned usable = b->state->usable;

	report_object(r, NULL);
	report_text(r, "frontend %s: backend ", f->spec->name);
	report_put(r, "backend", "%s has ", b->spec->name);
	report_put(r, "usable", "%u usable ", usable);
	report_text(r, "%s\n", usable == 1 ? "server" : "servers");
	report_json_bool(r, "gets_sessions", frontend_is_routed_to(f, i));
	report_close(r);
}

static void
put_frontend(struct report *r, const struct frontend *f)
{
	const char *closed = frontend_closed_reason(f);
	const char *reason = frontend_unready_reason(f);

	report_object(r, NULL);
	report_json_string(r, "frontend", f->spec->name);
	report_json_bool(r, "ready", !reason);
	report_json_string(r, "reason", reason);
	report_list(r, "backends");
	for (size_t i = 0; i < f->backends_n; i++)
		put_backend(r, f, i);
	report_close(r);
	if (closed)
		report_text(r, "frontend %s: %s\n", f->spec->name, closed);
	report_close(r);
}

bool
ready_put(struct report *report, const struct command_env *env,
    const struct frontend *frontend)
{
	const struct model *model = env->instance->model;
	const char *reason = unready_reason(env, frontend);
	struct report *r = report;

	report_row(r);
	report_json_bool(r, "ready", !reason);
	report_json_string(r, "reason", reason);
	if (reason)
		report_text(r, "not ready: %s\n", reason);
	else
		report_text(r, "ready\n");
	report_list(r, "frontends");
	for (size_t i = 0; i < model->spec->frontends_n; i++)
		if (!frontend || model->frontends[i] == frontend)
			put_frontend(r, model->frontends[i]);
	report_end(r);
	return !reason;
}

/* Sets call->err for a name that no frontend has.  Always returns false. */
static bool
err_unknown_frontend(struct call *call, const char *name)
{
	const struct spec *spec = call->env->instance->model->spec;
	struct hint hint;

	hint_init(&hint, name);
	for (size_t i = 0; i < spec->frontends_n; i++)
		hint_offer(&hint, spec->frontends[i].name);
	return err_set(call->err, "No such frontend '%.64s'; %.800s.", name,
	    hint_text(&hint, "frontends"));
}

bool
run_ready(struct call *call)
{
	bool json = call_take_json(call);
	const char *name = call_arg(call, 0);
	const struct command_env *env = call->env;
	const struct frontend *frontend =
	    model_find_frontend(env->instance->model, name);
	struct report r;

	if (*name && !frontend)
		return err_unknown_frontend(call, name);
	report_begin(&r, json, call->out);
	if (!ready_put(&r, env, frontend))
		call_fail(call);
	return true;
}
