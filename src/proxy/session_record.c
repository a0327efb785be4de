/* SPDX-License-Identifier: MIT
 * See session_record.h.
 */
#include "proxy/session_record.h"

#include "lf/pool.h"
#include "proxy/inspection.h"

/* Returns the time from from_ms to to_ms, at least 0: from_ms may be of another
 * thread's turn, which was ahead of this one's. */
static uint64_t
passed_ms(uint64_t from_ms, uint64_t to_ms)
{
	return to_ms > from_ms ? to_ms - from_ms : 0;
}

/* Returns the time that passed; -1 if to_ms was not reached. */
static int64_t
since(uint64_t from_ms, uint64_t to_ms)
{
	return to_ms == 0 ? -1 : (int64_t)passed_ms(from_ms, to_ms);
}

static void
fill_times(const struct session *s, const struct pool_thread *self,
    struct session_record *r)
{
	r->wait_ms = since(s->accepted_ms, s->connecting_ms);
	r->connect_ms = since(s->connecting_ms, s->connected_ms);
	r->total_ms = (int64_t)passed_ms(s->accepted_ms, turn_now_ms(self));
	/* A session that ended in the queue has waited until its end. */
	if (s->connecting_ms == 0 && s->waiter.position > 0)
		r->wait_ms = r->total_ms;
}

void
session_record(const struct session *s, uint8_t reason,
    const struct pool_thread *self, struct session_record *ret_record)
{
	struct session_record *r = ret_record;

	r->client = *session_client(s);
	r->peer = (struct endpoint){.family = 0};
	if (session_client(s) != &s->client)
		r->peer = s->client;
	r->accepted_wall_us = s->accepted_wall_us;
	fill_times(s, self, r);
	r->bytes_in = s->side[HANDLE_CLIENT].received;
	r->bytes_out = s->side[HANDLE_SERVER].received;
	r->slot = s->index;
	r->queue_position = s->waiter.position;
	r->reason = reason;
	r->retries = s->tries > 0 ? (uint8_t)(s->tries - 1) : 0;
	r->redispatched = s->redispatched;
	session_tls_read(s, reason == CLOSE_HANDSHAKE_FAILED, &r->tls);
	server_tls_read(s, s->server, &r->server_tls);
}
