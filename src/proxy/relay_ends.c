/* SPDX-License-Identifier: MIT
 * The ends of the two sides: passes each end on to the other side, after the
 * bytes before it.
 */
#include <sys/socket.h>

#include "net/sock.h"
#include "proxy/relay.h"
#include "proxy/relay_internal.h"

/* Announces our end to a side with TLS, once, before our FIN.  Returns whether
 * the announcement was sent, or none is needed. */
static bool
announce_end(struct session *s, enum handle_side to, struct pool_thread *self)
{
	size_t n = relay_tls_end(s, to, self);

	if (n > 0 && !relay_send_records(s, to, n, self))
		relay_write_failed(s, to, self);
	return !session_has_pending(s, to) &&
	       (!s->side[to].tls || s->side[to].notified);
}

/* Passes on the end that was read on one side: it becomes our FIN on the other
 * side, once everything before it has been written. */
static void
pass_on_end(struct session *s, enum handle_side from, struct pool_thread *self)
{
	struct side *out = &s->side[!from];

	if (!relay_finished(s, from) || out->end & (END_SHUT | END_BROKEN))
		return;
	if (!announce_end(s, !from, self) || side_is_broken(out))
		return;
	(void)shutdown(out->fd, SHUT_WR);
	side_note(out, EVENT_SENT_FIN);
	out->active_ms = turn_now_ms(self);
	session_set_state(s,
	    from == HANDLE_CLIENT ? SESSION_CLIENT_EOF : SESSION_SERVER_EOF,
	    self);
}

/* Ends the session after one side has broken.  The other side first gets the
 * bytes that came before the end, and its peer has to acknowledge them, because
 * the reset that follows would discard them. */
static struct verdict
end_broken(struct session *s, struct pool_thread *self)
{
	enum handle_side gone = session_side_gone(s);
	struct side *left = &s->side[!gone];

	if (side_is_broken(left) ||
	    (relay_finished(s, gone) && sock_unacknowledged(left->fd) == 0))
		return verdict_close((enum close_cause)s->cause);
	if (s->state != SESSION_FLUSHING)
		left->active_ms = turn_now_ms(self);
	session_set_state(s, SESSION_FLUSHING, self);
	return verdict(STEP_WAIT);
}

/* Returns whether a session goes on after the end of one side.  A session that
 * has begun to end in another process goes on to do so. */
static bool
half_closes(const struct session *s)
{
	return s->frontend->spec->half_close &&
	       session_backend(s)->spec->half_close &&
	       s->state != SESSION_FLUSHING;
}

/* Ends the session once the peer of the side that is left has acknowledged our
 * FIN, and with it all bytes: a peer that goes on sending makes the kernel
 * reset the connection, which would discard them. */
static struct verdict
end_both(struct session *s, struct pool_thread *self)
{
	const struct side *left = &s->side[!session_side_gone(s)];

	if (sock_unacknowledged(left->fd) == 0)
		return verdict_close(CAUSE_DONE);
	session_set_state(s, SESSION_FLUSHING, self);
	return verdict(STEP_WAIT);
}

struct verdict
relay_pass_on_ends(struct session *s, bool more, struct pool_thread *self)
{
	if (relay_any_broken(s))
		return more ? verdict(STEP_MORE) : end_broken(s, self);
	if (relay_finished(s, HANDLE_CLIENT) &&
	    relay_finished(s, HANDLE_SERVER)) {
		bool told = announce_end(s, HANDLE_CLIENT, self);

		told &= announce_end(s, HANDLE_SERVER, self);
		return told ? verdict_close(CAUSE_DONE) : verdict(STEP_WAIT);
	}
	/* Ends are passed on even while the other direction has more to move.
	 */
	pass_on_end(s, HANDLE_CLIENT, self);
	pass_on_end(s, HANDLE_SERVER, self);
	/* The announcement of an end may have shown that a side is gone. */
	if (relay_any_broken(s))
		return verdict(STEP_MORE);
	if ((side_is_shut(&s->side[HANDLE_CLIENT]) ||
	        side_is_shut(&s->side[HANDLE_SERVER])) &&
	    !half_closes(s))
		return end_both(s, self);
	return verdict(more ? STEP_MORE : STEP_WAIT);
}

/* The budget is not used up: no byte was moved to or from the server. */
struct verdict
relay_keep_server(struct session *s, struct pool_thread *self)
{
	if (side_is_broken(&s->side[HANDLE_SERVER]))
		relay_drop_pending_of(s, HANDLE_SERVER, proxy_of(self));
	return relay_pass_on_ends(s, false, self);
}
