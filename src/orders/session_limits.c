/* SPDX-License-Identifier: MIT
 * See session_limits.h.
 */
#include "orders/session_limits.h"

#include <limits.h>

#include "base/log.h"
#include "model/model.h"
#include "proxy/accept_limits.h"
#include "proxy/instance.h"
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
follow_frontend_limits(struct session_limits *l, struct frontend *f)
{
	uint32_t maxconn = follow_limit(&f->state->maxconn_set,
	    f->spec->maxconn, l->budget.sessions, FRONTEND_NO_LIMIT);

	(void)atomic_swap_seq(&f->state->maxconn, maxconn); /* [P12] */
	atomic_store_relaxed(&f->state->rate_limit, f->spec->rate);
}

/* changed: the limits of client ranges have. */
static void
follow_bandwidth(struct session_limits *l, bool changed)
{
	struct proxy *proxy = &l->instance->proxy;
	bool limited;

	changed |= bandwidth_follow(l->instance->model, &limited);
	if (!changed)
		return;
	limited |= client_bands_count(&proxy->client_bands) > 0;
	atomic_store_relaxed(&proxy->pacer.limited, limited);
	keeper_call(proxy->keeper, KEEPER_LIMITS);
	if (limited)
		proxy_note_all(proxy, NOTE_PACE);
}

void
session_limits_follow_bandwidth(struct session_limits *limits)
{
	follow_bandwidth(limits, false);
}

int
session_limits_set_client(struct session_limits *limits,
    const struct cidr *range, const uint64_t rate[2])
{
	struct instance *instance = limits->instance;
	int rc = client_bands_set(
	    &instance->proxy.client_bands, instance->model->grace, range, rate);

	if (rc == 0)
		follow_bandwidth(limits, true);
	return rc;
}

void
session_limits_apply(struct session_limits *limits)
{
	struct session_limits *l = limits;
	const struct global_spec *global = &l->instance->model->spec->global;
	struct proxy_limits *words = &l->instance->proxy.limits;
	bool rates = false;

	(void)atomic_swap_seq(
	    &words->sessions, follow_limit(&l->maxconn, global->maxconn,
	                          l->budget.sessions, 0)); /* [P12] */
	atomic_store_relaxed(
	    &words->connect_rate, follow_limit(&l->connections,
	                              global->rate_connections, UINT_MAX, 0));
	atomic_store_relaxed(&words->session_rate,
	    follow_limit(&l->sessions, global->rate_sessions, UINT_MAX, 0));
	model_for_each_frontend (f, l->instance->model) {
		follow_frontend_limits(l, f);
		rates |= f->spec->rate > 0;
	}
	atomic_store_relaxed(&words->frontend_rates, rates);
}

void
session_limits_follow(struct session_limits *limits)
{
	session_limits_apply(limits);
	acceptors_resume(&limits->instance->proxy);
	session_limits_follow_bandwidth(limits);
}

void
session_limits_set_maxconn(struct session_limits *limits, size_t maxconn)
{
	size_t most = limits->budget.sessions;

	if (maxconn > most)
		maxconn = 0;
	override_set(&limits->maxconn, (unsigned)maxconn,
	    limits->instance->model->spec->global.maxconn);
	(void)atomic_swap_seq(&limits->instance->proxy.limits.sessions,
	    (uint32_t)maxconn); /* [P12] */
	acceptors_resume(&limits->instance->proxy);
	log_info("maxconn is %zu: by operator", maxconn > 0 ? maxconn : most);
}

size_t
session_limits_maxconn(const struct session_limits *limits)
{
	uint32_t n =
	    atomic_load_relaxed(&limits->instance->proxy.limits.sessions);

	return n > 0 ? n : limits->budget.sessions;
}

static void
set_rate(struct session_limits *l, struct override *own, unsigned file,
    uint32_t *word, uint32_t rate, const char *what)
{
	override_set(own, rate, file);
	atomic_store_relaxed(word, rate);
	acceptors_resume(&l->instance->proxy);
	log_info("at most %u %s per second%s: by operator", rate, what,
	    rate == 0 ? " (no limit)" : "");
}

void
session_limits_set_rate(
    struct session_limits *limits, uint32_t connects_per_second)
{
	set_rate(limits, &limits->connections,
	    limits->instance->model->spec->global.rate_connections,
	    &limits->instance->proxy.limits.connect_rate, connects_per_second,
	    "connections");
}

void
session_limits_set_session_rate(
    struct session_limits *limits, uint32_t sessions_per_second)
{
	set_rate(limits, &limits->sessions,
	    limits->instance->model->spec->global.rate_sessions,
	    &limits->instance->proxy.limits.session_rate, sessions_per_second,
	    "sessions");
}

void
session_limits_set_frontend_maxconn(
    struct session_limits *limits, struct frontend *frontend, uint32_t maxconn)
{
	override_set(
	    &frontend->state->maxconn_set, maxconn, frontend->spec->maxconn);
	(void)atomic_swap_seq(&frontend->state->maxconn, maxconn); /* [P12] */
	acceptors_resume(&limits->instance->proxy);
	if (maxconn == FRONTEND_NO_LIMIT)
		log_info("frontend %s has no maxconn of its own: by operator",
		    frontend->spec->name);
	else
		log_info("frontend %s has maxconn %u: by operator",
		    frontend->spec->name, maxconn);
}
