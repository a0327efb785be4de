/* SPDX-License-Identifier: MIT
 * See connect_failure.h.
 */
#include "proxy/connect_failure.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "proxy/session_count.h"

void
connect_note_ewma(
    const struct session *s, uint64_t us, struct pool_thread *self)
{
	if (!session_backend(s)->spec->balance->connect_times)
		return;
	server_note_connect(s->server->state,
	    us < UINT32_MAX ? (uint32_t)us : UINT32_MAX, turn_now_ms(self));
}

static void
report(const struct session *s, int error, const struct pool_thread *self)
{
	static struct log_limit limit;
	char what[128];

	snprintf(what, sizeof(what), "connect to %s/%s failed",
	    session_backend(s)->spec->name, s->server->spec->name);
	if (!exhaustion_note(&proxy_of(self)->exhaustion, error, what))
		log_limited(
		    &limit, LOG_LEVEL_WARNING, "%s: %s", what, strerror(error));
}

/* Returns whether the connect failed because of the client's address.  When
 * that address is the source, the client may have no IP address, or one of
 * another family than the server's. */
static bool
is_clients_family(const struct session *s, int error)
{
	return error == EAFNOSUPPORT &&
	       server_source(s->server)->kind == SOURCE_CLIENT;
}

/* Moves the server to the first ejected_n entries of tried[]. */
static void
note_ejected(struct session *s)
{
	for (unsigned i = s->ejected_n; i < s->tried_n; i++) {
		if (s->tried[i] != s->server)
			continue;
		s->tried[i] = s->tried[s->ejected_n];
		s->tried[s->ejected_n++] = s->server;
		return;
	}
}

/* For balancing and health: what the server is to blame for.  A failed connect
 * took timeout_connect at least: one that is refused at once is not quick. */
static void
judge(struct session *s, int error, struct pool_thread *self)
{
	uint64_t us = session_backend(s)->spec->timeout_connect_ms * 1000;
	uint64_t took_us = (clock_now_ns() - s->connecting_ns) / 1000;

	if (resource_of(error) != RESOURCES || is_clients_family(s, error))
		return;
	connect_note_ewma(s, took_us > us ? took_us : us, self);
	if (server_note_failure(s->server, FAILURE_CONNECT, error))
		note_ejected(s);
}

void
connect_note_failure(struct session *s, int error, struct pool_thread *self)
{
	report(s, error, self);
	judge(s, error, self);
}

void
connect_note_reset(struct session *s)
{
	s->was_reset = true;
	if (server_note_failure(s->server, FAILURE_RESET, 0))
		note_ejected(s);
}

struct verdict
connect_end(struct session *s, enum close_reason reason)
{
	if (reason == CLOSE_SERVER_RESET)
		side_note(&s->side[HANDLE_SERVER], EVENT_READ_FAILED);
	return verdict_close(reason);
}

struct verdict
connect_give_up(
    struct session *s, enum close_reason reason, struct pool_thread *self)
{
	session_count(
	    s, COUNT_BACKEND | COUNT_SERVER, COUNTER_CONNECT_ERRORS, 1, self);
	return connect_end(s, reason);
}
