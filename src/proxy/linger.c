/* SPDX-License-Identifier: MIT
 * See linger.h.
 */
#include "proxy/linger.h"

#include <errno.h>
#include <sys/socket.h>

#include "lf/pool.h"
#include "proxy/inspection.h"
#include "proxy/session_deadline.h"

/* Discards what one read finds.  Returns false at the client's end. */
static bool
discard(struct session *s, struct pool_thread *self)
{
	struct proxy_thread *t = proxy_thread_of(self);
	struct side *client = &s->side[HANDLE_CLIENT];
	ssize_t n = recv(client->fd, t->records, sizeof(t->records), 0);

	if (n > 0)
		s->inspection->lingered_bytes += (uint32_t)n;
	else if (n < 0 && errno == EAGAIN)
		client->readable = false;
	else if (n == 0 || errno != EINTR)
		return false;
	return true;
}

struct verdict
linger_step(struct session *s, struct pool_thread *self)
{
	const struct side *client = &s->side[HANDLE_CLIENT];

	while (
	    client->readable && s->inspection->lingered_bytes < LINGER_BYTES) {
		if (!discard(s, self))
			return verdict_close((enum close_cause)s->cause);
	}
	if (s->inspection->lingered_bytes >= LINGER_BYTES ||
	    session_deadline_passed(s, self))
		return verdict_close((enum close_cause)s->cause);
	return verdict(STEP_WAIT);
}

struct verdict
linger_begin(
    struct session *s, enum close_cause cause, struct pool_thread *self)
{
	struct side *client = &s->side[HANDLE_CLIENT];

	s->cause = (uint8_t)cause;
	s->inspection->lingered_bytes = 0;
	session_set_state(s, SESSION_LINGERING, self);
	(void)shutdown(client->fd, SHUT_WR);
	/* The socket may have bytes that TLS has not read. */
	client->readable = true;
	return linger_step(s, self);
}
