/* SPDX-License-Identifier: MIT
 * See session_record.h.
 */
#include "proxy/session_record.h"

#include "lf/pool.h"

/* A turn of another thread, with a later time than this one's, may have been
 * the first of the two. */
static uint64_t
passed_ms(uint64_t from_ms, uint64_t to_ms)
{
	return to_ms > from_ms ? to_ms - from_ms : 0;
}

/* -1: it did not get there. */
static int64_t
since(uint64_t from_ms, uint64_t to_ms)
{
	return to_ms == 0 ? -1 : (int64_t)passed_ms(from_ms, to_ms);
}

void
session_times(const struct session *session, const struct pool_thread *self,
    struct session_times *ret_times)
{
	const struct session *s = session;

	ret_times->wait_ms = since(s->accepted_ms, s->connecting_ms);
	ret_times->connect_ms = since(s->connecting_ms, s->connected_ms);
	ret_times->total_ms =
	    (int64_t)passed_ms(s->accepted_ms, turn_now_ms(self));
	/* It never got further than the queue. */
	if (s->connecting_ms == 0 && s->waiter.position > 0)
		ret_times->wait_ms = ret_times->total_ms;
}
