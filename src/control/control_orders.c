/* SPDX-License-Identifier: MIT
 * What the operator orders while lfproxy runs: see control.h.
 */
#include "base/log.h"
#include "control/control_internal.h"
#include "proxy/acceptor.h"

void
control_set_maxconn(struct control *control, size_t maxconn)
{
	size_t most = control->budget.sessions;

	if (maxconn > most)
		maxconn = 0;
	atomic_store_relaxed(
	    &control->proxy.allowance.sessions, (uint32_t)maxconn);
	acceptors_resume(&control->proxy);
	log_info("maxconn is %zu: the operator says so",
	    maxconn > 0 ? maxconn : most);
}

size_t
control_maxconn(const struct control *control)
{
	uint32_t n = atomic_load_relaxed(&control->proxy.allowance.sessions);

	return n > 0 ? n : control->budget.sessions;
}

static void
set_rate(struct control *c, uint32_t *word, uint32_t rate, const char *what)
{
	atomic_store_relaxed(word, rate);
	acceptors_resume(&c->proxy);
	log_info("at most %u %s per second%s: the operator says so", rate, what,
	    rate == 0 ? " (no limit)" : "");
}

void
control_set_rate(struct control *control, uint32_t connects_per_second)
{
	set_rate(control, &control->proxy.allowance.connect_rate,
	    connects_per_second, "connections");
}

void
control_set_session_rate(struct control *control, uint32_t sessions_per_second)
{
	set_rate(control, &control->proxy.allowance.session_rate,
	    sessions_per_second, "sessions");
}

void
control_set_frontend_maxconn(
    struct control *control, struct frontend *frontend, uint32_t maxconn)
{
	atomic_store_relaxed(&frontend->state->maxconn, maxconn);
	acceptors_resume(&control->proxy);
	if (maxconn == FRONTEND_NO_LIMIT)
		log_info("frontend %s has no maxconn of its own: the operator "
		         "says so",
		    frontend->spec->name);
	else
		log_info("frontend %s has maxconn %u: the operator says so",
		    frontend->spec->name, maxconn);
}

void
control_pause_frontend(struct control *control, struct frontend *frontend)
{
	frontend->state->admin = FRONTEND_PAUSED;
	listeners_pause(control->listeners, frontend);
	log_info("frontend %s is disabled: the operator says so",
	    frontend->spec->name);
}

bool
control_resume_frontend(
    struct control *control, struct frontend *frontend, struct err *err)
{
	if (!listeners_resume(control->listeners, frontend, err))
		return false;
	frontend->state->admin = FRONTEND_OPEN;
	log_info("frontend %s is enabled: the operator says so",
	    frontend->spec->name);
	return true;
}

void
control_shut_frontend(struct control *control, struct frontend *frontend)
{
	frontend->state->admin = FRONTEND_SHUT;
	listeners_shut(control->listeners, frontend);
	log_info("frontend %s is shut down until the next reload: the operator "
	         "says so",
	    frontend->spec->name);
}
