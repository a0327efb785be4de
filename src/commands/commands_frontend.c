/* SPDX-License-Identifier: MIT
 * See commands_frontend.h.
 */
#include "commands/commands_frontend.h"

#include <inttypes.h>
#include <string.h>

#include "commands/call.h"
#include "base/log.h"
#include "proxy/proxy.h"

#define NUMBER_SIZE 24

static const char *
admin_name(enum frontend_admin admin)
{
	static const char *const names[] = {
	    [FRONTEND_OPEN] = "enabled",
	    [FRONTEND_PAUSED] = "disabled",
	    [FRONTEND_SHUT] = "shut down",
	};

	return names[admin];
}

/* That nothing is to be done is told as a notice, as in HAProxy. */
static bool
is_already(const struct call *call, const struct frontend *f,
    enum frontend_admin admin, const char *sentence)
{
	bool already = f->state->admin == admin;

	if (already)
		call_say(call, SEVERITY_NOTICE, "%s", sentence);
	return already;
}

static void
audit_admin(const struct call *call, const struct frontend *f,
    enum frontend_admin before)
{
	call_audit(call, admin_name(before), admin_name(f->state->admin),
	    "frontend %s", f->spec->name);
}

bool
run_enable_frontend(struct call *call)
{
	struct frontend *f = call_frontend(call, call_arg(call, 0));
	struct err why;

	if (!f)
		return false;
	if (f->state->admin == FRONTEND_SHUT)
		return err_set(call->err,
		    "Frontend was previously shut down, cannot enable.");
	if (is_already(
	        call, f, FRONTEND_OPEN, "All sockets are already enabled."))
		return true;
	if (!control_resume_frontend(call->env->control, f, &why)) {
		log_error(
		    "frontend %s stays disabled: %s", f->spec->name, why.text);
		return err_set(call->err,
		    "Failed to resume frontend, check logs for precise cause "
		    "(port conflict?).");
	}
	audit_admin(call, f, FRONTEND_PAUSED);
	return true;
}

bool
run_disable_frontend(struct call *call)
{
	struct frontend *f = call_frontend(call, call_arg(call, 0));

	if (!f)
		return false;
	if (is_already(call, f, FRONTEND_SHUT,
	        "Frontend was previously shut down, cannot disable.") ||
	    is_already(
	        call, f, FRONTEND_PAUSED, "All sockets are already disabled."))
		return true;
	control_pause_frontend(call->env->control, f);
	audit_admin(call, f, FRONTEND_OPEN);
	return true;
}

bool
run_shutdown_frontend(struct call *call)
{
	struct frontend *f = call_frontend(call, call_arg(call, 0));
	enum frontend_admin before;

	if (!f)
		return false;
	before = f->state->admin;
	if (is_already(
	        call, f, FRONTEND_SHUT, "Frontend was already shut down."))
		return true;
	control_shut_frontend(call->env->control, f);
	audit_admin(call, f, before);
	return true;
}

static void
audit_numbers(
    const struct call *call, const char *what, uint64_t before, uint64_t after)
{
	char from[NUMBER_SIZE], to[NUMBER_SIZE];

	snprintf(from, sizeof(from), "%" PRIu64, before);
	snprintf(to, sizeof(to), "%" PRIu64, after);
	call_audit(call, from, to, "%s", what);
}

static uint64_t
frontend_maxconn(const struct call *call, const struct frontend *f)
{
	uint32_t n = atomic_load_relaxed(&f->state->maxconn);

	return n == FRONTEND_NO_LIMIT ? control_maxconn(call->env->control) : n;
}

bool
run_set_maxconn_frontend(struct call *call)
{
	struct frontend *f = call_frontend(call, call_arg(call, 0));
	uint64_t n, before;
	char what[96];

	if (!f || !call_number(call, call_arg(call, 1),
	              "Integer value expected.", INT32_MAX, &n))
		return false;
	before = frontend_maxconn(call, f);
	/* More than there is room for is no limit. */
	control_set_frontend_maxconn(call->env->control, f,
	    n < control_session_limit(call->env->control) ? (uint32_t)n
	                                                  : FRONTEND_NO_LIMIT);
	snprintf(what, sizeof(what), "frontend %.64s maxconn", f->spec->name);
	audit_numbers(call, what, before, n);
	return true;
}

/* 0: as many as there is room for. */
bool
run_set_maxconn_global(struct call *call)
{
	struct control *control = call->env->control;
	uint64_t before = control_maxconn(control), n;

	if (!call_number(call, call_arg(call, 0), "Expects an integer value.",
	        control_session_limit(control), &n))
		return false;
	control_set_maxconn(control, n);
	audit_numbers(call, "global maxconn", before, control_maxconn(control));
	return true;
}

/* The two that there are here: a connection is a session. */
bool
run_set_rate_limit(struct call *call)
{
	struct control *control = call->env->control;
	const struct proxy_limits *now = &control_proxy(control)->limits;
	bool connections = strcmp(call_arg(call, 0), "connections") == 0;
	uint64_t n;

	if ((!connections && strcmp(call_arg(call, 0), "sessions") != 0) ||
	    strcmp(call_arg(call, 1), "global") != 0)
		return err_set(call->err,
		    "'set rate-limit' only supports :\n"
		    "   - 'connections global' to set the per-process maximum "
		    "connection rate\n"
		    "   - 'sessions global' to set the per-process maximum "
		    "session rate");
	if (!call_number(call, call_arg(call, 2), "Expects an integer value.",
	        INT32_MAX, &n))
		return false;
	if (connections) {
		audit_numbers(call, "connections per second",
		    atomic_load_relaxed(&now->connect_rate), n);
		control_set_rate(control, (uint32_t)n);
	} else {
		audit_numbers(call, "sessions per second",
		    atomic_load_relaxed(&now->session_rate), n);
		control_set_session_rate(control, (uint32_t)n);
	}
	return true;
}

/* Peaks may be cleared by an operator, what was counted by an admin alone. */
bool
run_clear_counters(struct call *call)
{
	bool all = strcmp(call_arg(call, 0), "all") == 0;

	if (all && call->mode->level < LEVEL_ADMIN)
		return err_set(call->err, "Permission denied");
	model_clear_counters(control_model(call->env->control), all);
	call_audit(call, NULL, NULL,
	    all ? "all counters cleared" : "peak counters cleared");
	return true;
}
