/* SPDX-License-Identifier: MIT
 * See first_byte.h.
 */
#include "proxy/first_byte.h"

#include "net/sock.h"
#include "proxy/inspect.h"

uint64_t
first_byte_ends_ms(const struct session *s)
{
	const struct inspection *p = s->inspection;
	const struct side *client = &s->side[HANDLE_CLIENT];
	uint64_t limit_ms = s->frontend->spec->timeout_first_byte_ms;

	if (limit_ms == 0 || s->spoke || client->received > 0 ||
	    side_at_eof(client) || s->state == SESSION_FLUSHING)
		return UINT64_MAX;
	if (p && (p->steps & INSPECT_PROXY || p->spoke))
		return UINT64_MAX;
	return (p && p->header_ms > 0 ? p->header_ms : s->accepted_ms) +
	       limit_ms;
}

/* A client that has sent its FIN has not stayed silent, nor one that has reset
 * the connection: what follows from that follows without a limit as well. */
bool
first_byte_is_late(struct session *s, const struct pool_thread *self)
{
	const struct side *client = &s->side[HANDLE_CLIENT];

	if (turn_now_ms(self) < first_byte_ends_ms(s))
		return false;
	s->spoke =
	    client->read_on || client->error || sock_unread(client->fd) > 0;
	return !s->spoke;
}
