/* SPDX-License-Identifier: MIT
 * See accesslog.h.
 */
#include "proxy/accesslog.h"

#include <stdio.h>
#include <time.h>

#include "base/ensure.h"
#include "base/log.h"
#include "lf/pool.h"

struct line {
	struct endpoint client;
	uint64_t accepted_wall_us;
	const char *frontend, *backend, *server; /* live as long as the model */
	int64_t queued_ms, connect_ms, total_ms; /* -1: did not get there */
	uint64_t bytes;
	uint32_t active, frontend_active, backend_active, server_active;
	uint32_t retries;
	bool redispatched;
	enum close_reason reason;
};

_Static_assert(sizeof(struct line) <= LOG_RECORD_SIZE, "fits a record");

/* 21/Nov/2026:14:05:09.123, local time. */
static void
date_text(uint64_t wall_us, char out[40])
{
	time_t seconds = (time_t)(wall_us / 1000000);
	struct tm tm;
	size_t len;

	localtime_r(&seconds, &tm);
	len = strftime(out, 40, "%d/%b/%Y:%H:%M:%S", &tm);
	snprintf(
	    out + len, 40 - len, ".%03u", (unsigned)(wall_us / 1000 % 1000));
}

static size_t
render(const void *record, char *out, size_t size)
{
	const struct line *l = record;
	char date[40], host[INET6_ADDRSTRLEN];
	int n;

	date_text(l->accepted_wall_us, date);
	n = snprintf(out, size,
	    "%s:%u [%s] %s %s/%s %lld/%lld/%lld %llu %s %u/%u/%u/%u/%s%u 0/0\n",
	    endpoint_host(&l->client, host), l->client.port, date, l->frontend,
	    l->backend, l->server, (long long)l->queued_ms,
	    (long long)l->connect_ms, (long long)l->total_ms,
	    (unsigned long long)l->bytes, close_reason_code(l->reason),
	    l->active, l->frontend_active, l->backend_active, l->server_active,
	    l->redispatched ? "+" : "", l->retries);
	return n < (int)size ? (size_t)n : size;
}

static int64_t
since(uint64_t from_ms, uint64_t to_ms)
{
	return to_ms == 0 ? -1 : (int64_t)(to_ms - from_ms);
}

static uint32_t
others(const struct gauge *gauge)
{
	uint32_t now = atomic_load_relaxed(&gauge->now);

	return now > 0 ? now - 1 : 0;
}

void
accesslog_write(const struct session *session, enum close_reason reason,
    struct pool_thread *self)
{
	const struct session *s = session;
	const struct backend *b = s->frontend->backend;
	const struct model *m = proxy_of(self)->model;
	struct line l = {
	    .client = s->client,
	    .accepted_wall_us = s->accepted_wall_us,
	    .frontend = s->frontend->spec->name,
	    .backend = b->spec->name,
	    .server = s->server ? s->server->spec->name : "<NOSRV>",
	    .queued_ms = since(s->accepted_ms, s->connecting_ms),
	    .connect_ms = since(s->connecting_ms, s->connected_ms),
	    .total_ms = (int64_t)(turn_now_ms(self) - s->accepted_ms),
	    .bytes = s->side[HANDLE_SERVER].received,
	    .active = atomic_load_relaxed(&m->sessions.now),
	    .frontend_active = atomic_load_relaxed(&s->frontend->sessions.now),
	    /* These two without this session, as HAProxy counts them. */
	    .backend_active = others(&b->sessions),
	    .server_active = s->server ? others(&s->server->sessions) : 0,
	    .retries = s->tries > 0 ? s->tries - 1u : 0,
	    .redispatched = s->redispatched,
	    .reason = reason,
	};

	if (m->spec->global.log == LOG_TARGET_OFF)
		return;
	(void)log_record(render, &l, sizeof(l));
}
