/* SPDX-License-Identifier: MIT
 * See stat_put.h: the columns of states and weights.
 */
#include <stdio.h>

#include "stats/server_status.h"
#include "stats/stat_put.h"
#include "base/clock.h"

static void
put_frontend_status(struct field *out, const struct stat_row *row)
{
	enum frontend_admin admin = row->frontend->state->admin;

	if (row->facts->stopping || admin == FRONTEND_SHUT)
		field_text(out, "STOP");
	else
		field_text(out, admin == FRONTEND_PAUSED ? "PAUSED" : "OPEN");
}

/* How many of the servers take sessions is told where some are left out. */
static void
put_backend_status(struct field *out, const struct stat_row *row)
{
	const struct backend *backend = row->backend;
	const char *state = backend->state->usable ? "UP" : "DOWN";

	field_text(out, state);
	if (row->some_left_out)
		snprintf(out->text, sizeof(out->text), "%s (%u/%zu)", state,
		    backend->state->usable, backend->spec->servers_n);
}

STAT_PUT(stat_put_status)
{
	UNUSED();
	if (row->frontend)
		put_frontend_status(out, row);
	else if (row->backend)
		put_backend_status(out, row);
	else {
		out->present = true;
		server_status_text(row->server, out->text, sizeof(out->text));
	}
}

/* The sum over the servers that sessions are shared out among, as HAProxy has
 * it. */
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

STAT_PUT(stat_put_user_weight)
{
	UNUSED();
	field_number(out, row->server
	                      ? server_weight(row->server)
	                      : backend_weight(row->backend, server_weight));
}

STAT_PUT(stat_put_weight)
{
	UNUSED();
	field_number(out, row->server ? server_effective_weight(row->server)
	                              : backend_weight(row->backend,
	                                    server_effective_weight));
}

STAT_PUT(stat_put_active)
{
	UNUSED();
	field_number(out, row->server ? !row->server->spec->backup
	                              : row->backend->state->active);
}

STAT_PUT(stat_put_backup)
{
	const struct backend_state *b =
	    row->backend ? row->backend->state : NULL;

	UNUSED();
	field_number(out,
	    row->server ? row->server->spec->backup : b->usable - b->active);
}

/* Of its weight, in percent, while it is in its slow start. */
STAT_PUT(stat_put_throttle)
{
	unsigned percent = server_throttle(row->server);

	UNUSED();
	if (percent < 100)
		field_number(out, percent);
}

STAT_PUT(stat_put_panic)
{
	UNUSED();
	field_number(out, row->backend->state->panic);
}

STAT_PUT(stat_put_ejections)
{
	UNUSED();
	field_number(out, row->server->state->passive.times_ejected);
}

STAT_PUT(stat_put_times_down)
{
	UNUSED();
	field_number(out, row->server ? row->server->state->times_down
	                              : row->backend->state->times_down);
}

static uint64_t
backend_since_change_ms(const struct backend *backend)
{
	return clock_now_ms() - backend->state->changed_ms;
}

STAT_PUT(stat_put_since_change)
{
	UNUSED();
	field_number(out, row->server
	                      ? server_since_change_s(row->server)
	                      : backend_since_change_ms(row->backend) / 1000);
}

STAT_PUT(stat_put_downtime)
{
	const struct backend *backend = row->backend;

	UNUSED();
	if (row->server)
		field_number(out, server_downtime_s(row->server));
	else if (backend->state->usable)
		field_number(out, backend->state->down_ms / 1000);
	else
		field_number(out, (backend->state->down_ms +
		                      backend_since_change_ms(backend)) /
		                      1000);
}

STAT_PUT(stat_put_usable)
{
	UNUSED();
	field_number(out, row->server ? server_is_usable(row->server)
	                              : row->backend->state->usable);
}

STAT_PUT(stat_put_admin)
{
	UNUSED();
	field_text(out, server_admin_name(server_admin_of(row->server)));
}
