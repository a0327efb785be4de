/* SPDX-License-Identifier: MIT
 * See stat_values.h: identity, load, state and weight.
 */
#include "stats/stat_values.h"

#include <stdio.h>

#include "stats/server_status.h"
#include "base/clock.h"

STAT_TEXT(stat_proxy)
{
	return row->proxy;
}

STAT_TEXT(stat_service)
{
	return row->server     ? row->server->spec->name
	       : row->frontend ? "FRONTEND"
	                       : "BACKEND";
}

STAT_NUMBER(stat_iid)
{
	return row->iid;
}

STAT_NUMBER(stat_sid)
{
	return row->server ? row->server->id : 0;
}

STAT_NUMBER(stat_row_type)
{
	return row->frontend ? 0 : row->backend ? 1 : 2;
}

/* HAProxy does not show the path of a unix socket either. */
STAT_PUT(stat_put_address)
{
	const struct addr *addr = server_addr(row->server);
	char text[ADDR_TEXT_SIZE];

	field_text(out,
	    addr->sa.sa_family == AF_UNIX ? "unix" : addr_text(addr, text));
}

STAT_TEXT(stat_algorithm)
{
	return row->backend->spec->balance->name;
}

STAT_TEXT(stat_pool)
{
	const struct frontend *frontend = row->frontend;

	return frontend->model->spec->pools[frontend->spec->pool].name;
}

STAT_NUMBER(stat_sessions)
{
	return atomic_load_relaxed(&row->sessions->now);
}

STAT_NUMBER(stat_sessions_peak)
{
	return atomic_load_relaxed(&row->sessions->peak);
}

/* The sum of the servers' limits, if each server has one. */
static uint64_t
backend_sessions_max(const struct stat_row *row)
{
	const struct backend *backend = row->backend;
	uint64_t sum = 0;

	for (size_t i = 0; i < backend->spec->servers_n; i++) {
		if (server_maxconn(backend->servers[i]) == 0)
			return row->facts->sessions_max;
		sum += server_maxconn(backend->servers[i]);
	}
	return sum < row->facts->sessions_max ? sum : row->facts->sessions_max;
}

static uint64_t
frontend_sessions_max(const struct stat_row *row)
{
	uint32_t own = atomic_load_relaxed(&row->frontend->state->maxconn);

	return own < row->facts->sessions_max ? own : row->facts->sessions_max;
}

STAT_PUT(stat_put_sessions_limit)
{
	if (row->frontend)
		field_number(out, frontend_sessions_max(row));
	else if (row->backend)
		field_number(out, backend_sessions_max(row));
	else if (server_maxconn(row->server) > 0)
		field_number(out, server_maxconn(row->server));
}

/* Sessions queue at the backend, never at a server. */
STAT_NUMBER(stat_queued)
{
	return row->server ? 0
	                   : atomic_load_relaxed(
	                         &row->backend->state->queue.waiting.now);
}

STAT_NUMBER(stat_queued_peak)
{
	return row->server ? 0
	                   : atomic_load_relaxed(
	                         &row->backend->state->queue.waiting.peak);
}

STAT_NUMBER(stat_rate)
{
	return row->rate->per_second;
}

STAT_NUMBER(stat_rate_peak)
{
	return row->rate->peak;
}

STAT_NUMBER(stat_rate_limit)
{
	return atomic_load_relaxed(&row->frontend->state->rate_limit);
}

STAT_PUT(stat_put_last_session)
{
	if (row->rate->last_ms == 0)
		field_text(out, "-1");
	else
		field_number(out, (clock_now_ms() - row->rate->last_ms) / 1000);
}

static const struct timing_average *
average_of(const struct stat_row *row, enum timing which)
{
	return row->server ? &row->server->state->average[which]
	                   : &row->backend->state->average[which];
}

STAT_NUMBER(stat_queue_ms)
{
	return timing_average_ms(average_of(row, TIMING_QUEUE));
}

STAT_NUMBER(stat_queue_max_ms)
{
	return atomic_load_relaxed(&average_of(row, TIMING_QUEUE)->max_ms);
}

STAT_NUMBER(stat_connect_ms)
{
	return timing_average_ms(average_of(row, TIMING_CONNECT));
}

STAT_NUMBER(stat_connect_max_ms)
{
	return atomic_load_relaxed(&average_of(row, TIMING_CONNECT)->max_ms);
}

STAT_NUMBER(stat_session_ms)
{
	return timing_average_ms(average_of(row, TIMING_SESSION));
}

STAT_NUMBER(stat_session_max_ms)
{
	return atomic_load_relaxed(&average_of(row, TIMING_SESSION)->max_ms);
}

STAT_NUMBER(stat_connect_us)
{
	return server_connect_us(row->server->state, clock_now_ms());
}

STAT_NUMBER(stat_retries)
{
	return atomic_load_relaxed(&row->backend->state->retries.now);
}

STAT_NUMBER(stat_retries_peak)
{
	return atomic_load_relaxed(&row->backend->state->retries.peak);
}

STAT_NUMBER(stat_retries_limit)
{
	return backend_retries_limit(row->backend);
}

static void
put_frontend_status(struct field *out, const struct stat_row *row)
{
	enum frontend_admin admin = row->frontend->state->admin;

	if (row->facts->stopping || admin == FRONTEND_SHUT)
		field_text(out, "STOP");
	else
		field_text(out, admin == FRONTEND_PAUSED ? "PAUSED" : "OPEN");
}

/* Shows the number of usable servers if the filter hides some. */
static void
put_backend_status(struct field *out, const struct stat_row *row)
{
	const struct backend *backend = row->backend;
	const char *state = backend->state->usable ? "UP" : "DOWN";

	field_text(out, state);
	if (row->servers_hidden)
		snprintf(out->text, sizeof(out->text), "%s (%u/%zu)", state,
		    backend->state->usable, backend->spec->servers_n);
}

STAT_PUT(stat_put_status)
{
	if (row->frontend) {
		put_frontend_status(out, row);
	} else if (row->backend) {
		put_backend_status(out, row);
	} else {
		out->present = true;
		server_status_text(row->server, out->text, sizeof(out->text));
	}
}

/* The sum over the servers that get sessions at present, as in HAProxy. */
static uint64_t
backend_weight(const struct backend *backend,
    unsigned (*weight_of)(const struct server *server))
{
	const struct lineup *l = backend->state->lineup;
	uint64_t weight = 0;

	for (uint32_t i = 0; i < l->servers_n; i++)
		weight += weight_of(l->servers[i]);
	return weight;
}

STAT_NUMBER(stat_weight)
{
	return row->server ? server_weight(row->server)
	                   : backend_weight(row->backend, server_weight);
}

STAT_NUMBER(stat_effective_weight)
{
	return row->server
	           ? server_effective_weight(row->server)
	           : backend_weight(row->backend, server_effective_weight);
}

STAT_NUMBER(stat_active)
{
	return row->server ? !row->server->spec->backup
	                   : row->backend->state->active;
}

STAT_NUMBER(stat_backup)
{
	return row->server
	           ? row->server->spec->backup
	           : row->backend->state->usable - row->backend->state->active;
}

STAT_NUMBER(stat_usable)
{
	return row->server ? server_is_usable(row->server)
	                   : row->backend->state->usable;
}

STAT_PUT(stat_put_throttle)
{
	unsigned percent = server_throttle(row->server);

	if (percent < 100)
		field_number(out, percent);
}

STAT_NUMBER(stat_panic)
{
	return row->backend->state->panic;
}

STAT_NUMBER(stat_ejections)
{
	return row->server->state->passive.times_ejected;
}

STAT_NUMBER(stat_times_down)
{
	return row->server ? row->server->state->times_down
	                   : row->backend->state->times_down;
}

static uint64_t
backend_since_change_ms(const struct backend *backend)
{
	return clock_now_ms() - backend->state->changed_ms;
}

STAT_NUMBER(stat_since_change_s)
{
	return row->server ? server_since_change_s(row->server)
	                   : backend_since_change_ms(row->backend) / 1000;
}

STAT_NUMBER(stat_downtime_s)
{
	const struct backend *backend = row->backend;

	if (row->server)
		return server_downtime_s(row->server);
	return (backend->state->down_ms +
	           (backend->state->usable
	                   ? 0
	                   : backend_since_change_ms(backend))) /
	       1000;
}

STAT_TEXT(stat_admin)
{
	return server_admin_name(server_admin_of(row->server));
}
