/* SPDX-License-Identifier: MIT
 * The limits on sessions, from the file and from the operator, and the other
 * orders of the operator while lfproxy runs: see control.h.
 */
#include <limits.h>

#include "base/log.h"
#include "live/control_internal.h"
#include "model/model.h"
#include "proxy/accept_limits.h"
#include "proxy/keeper.h"
#include "proxy/reaper.h"

/* Returns the limit in force: the operator's, unless the file's has changed,
 * which is none while 0 or above most. */
static uint32_t
follow_limit(struct override *own, unsigned file, unsigned most, uint32_t none)
{
	override_follow(own, file);
	return own->is_set ? own->value : file > 0 && file < most ? file : none;
}

/* Applies the limits in the frontend's spec.  A maxconn of 0, or not below the
 * limit of the process, does not limit a frontend. */
static void
follow_frontend_limits(struct control *c, struct frontend *f)
{
	uint32_t maxconn = follow_limit(&f->state->maxconn_set,
	    f->spec->maxconn, c->budget.sessions, FRONTEND_NO_LIMIT);

	(void)atomic_swap_seq(&f->state->maxconn, maxconn); /* [P12] */
	atomic_store_relaxed(&f->state->rate_limit, f->spec->rate);
}

void
control_follow_bandwidth(struct control *control)
{
	struct control *c = control;
	bool limited;

	if (!bandwidth_follow(c->instance.model, &limited))
		return;
	atomic_store_relaxed(&c->instance.proxy.pacer.limited, limited);
	keeper_call(c->instance.proxy.keeper, KEEPER_LIMITS);
	if (limited)
		proxy_note_all(&c->instance.proxy, NOTE_PACE);
}

void
control_apply_limits(struct control *control)
{
	struct control *c = control;
	const struct global_spec *global = &c->instance.model->spec->global;
	struct proxy_limits *limits = &c->instance.proxy.limits;
	struct limit_overrides *o = &c->overrides;
	bool rates = false;

	(void)atomic_swap_seq(
	    &limits->sessions, follow_limit(&o->maxconn, global->maxconn,
	                           c->budget.sessions, 0)); /* [P12] */
	atomic_store_relaxed(
	    &limits->connect_rate, follow_limit(&o->connections,
	                               global->rate_connections, UINT_MAX, 0));
	atomic_store_relaxed(&limits->session_rate,
	    follow_limit(&o->sessions, global->rate_sessions, UINT_MAX, 0));
	model_for_each_frontend (f, c->instance.model) {
		follow_frontend_limits(c, f);
		rates |= f->spec->rate > 0;
	}
	atomic_store_relaxed(&limits->frontend_rates, rates);
}

void
control_follow_limits(struct control *control)
{
	control_apply_limits(control);
	acceptors_resume(&control->instance.proxy);
	control_follow_bandwidth(control);
}

void
control_set_maxconn(struct control *control, size_t maxconn)
{
	size_t most = control->budget.sessions;

	if (maxconn > most)
		maxconn = 0;
	override_set(&control->overrides.maxconn, (unsigned)maxconn,
	    control->instance.model->spec->global.maxconn);
	(void)atomic_swap_seq(&control->instance.proxy.limits.sessions,
	    (uint32_t)maxconn); /* [P12] */
	acceptors_resume(&control->instance.proxy);
	log_info("maxconn is %zu: by operator", maxconn > 0 ? maxconn : most);
}

size_t
control_maxconn(const struct control *control)
{
	uint32_t n =
	    atomic_load_relaxed(&control->instance.proxy.limits.sessions);

	return n > 0 ? n : control->budget.sessions;
}

static void
set_rate(struct control *c, struct override *own, unsigned file, uint32_t *word,
    uint32_t rate, const char *what)
{
	override_set(own, rate, file);
	atomic_store_relaxed(word, rate);
	acceptors_resume(&c->instance.proxy);
	log_info("at most %u %s per second%s: by operator", rate, what,
	    rate == 0 ? " (no limit)" : "");
}

void
control_set_rate(struct control *control, uint32_t connects_per_second)
{
	set_rate(control, &control->overrides.connections,
	    control->instance.model->spec->global.rate_connections,
	    &control->instance.proxy.limits.connect_rate, connects_per_second,
	    "connections");
}

void
control_set_session_rate(struct control *control, uint32_t sessions_per_second)
{
	set_rate(control, &control->overrides.sessions,
	    control->instance.model->spec->global.rate_sessions,
	    &control->instance.proxy.limits.session_rate, sessions_per_second,
	    "sessions");
}

void
control_set_frontend_maxconn(
    struct control *control, struct frontend *frontend, uint32_t maxconn)
{
	override_set(
	    &frontend->state->maxconn_set, maxconn, frontend->spec->maxconn);
	(void)atomic_swap_seq(&frontend->state->maxconn, maxconn); /* [P12] */
	acceptors_resume(&control->instance.proxy);
	if (maxconn == FRONTEND_NO_LIMIT)
		log_info("frontend %s has no maxconn of its own: by operator",
		    frontend->spec->name);
	else
		log_info("frontend %s has maxconn %u: by operator",
		    frontend->spec->name, maxconn);
}

void
control_pause_frontend(struct control *control, struct frontend *frontend)
{
	frontend_set_admin(frontend, FRONTEND_PAUSED);
	listeners_pause(control->listeners, frontend);
	log_info("frontend %s is disabled: by operator", frontend->spec->name);
}

bool
control_resume_frontend(
    struct control *control, struct frontend *frontend, struct err *err)
{
	if (!listeners_resume(control->listeners, frontend, err))
		return false;
	frontend_set_admin(frontend, FRONTEND_OPEN);
	log_info("frontend %s is enabled: by operator", frontend->spec->name);
	return true;
}

void
control_shut_frontend(struct control *control, struct frontend *frontend)
{
	frontend_set_admin(frontend, FRONTEND_SHUT);
	listeners_shut(control->listeners, frontend);
	log_info("frontend %s is shut down until the next reload: by operator",
	    frontend->spec->name);
}
