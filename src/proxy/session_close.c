/* SPDX-License-Identifier: MIT
 * The end of a session, see session.h.
 */
#include "proxy/session.h"

#include <unistd.h>

#include "base/fault.h"
#include "lf/pool.h"
#include "net/sock.h"
#include "proxy/accept_limits.h"
#include "proxy/accesslog.h"
#include "proxy/closed.h"
#include "proxy/upstream.h"
#include "proxy/inspection.h"
#include "proxy/pacing.h"
#include "proxy/relay.h"
#include "proxy/session_count.h"
#include "proxy/session_record.h"
#include "proxy/tls_side.h"

/* Gives back all that the session holds of its model: its place in the queue,
 * its pause, its retry, its server, its part in the limits and gauges, and its
 * pin.  passed: another process goes on with the session at its server. */
static void
leave_model(struct session *s, bool passed)
{
	struct frontend *f = s->frontend;

	(void)session_leave_queue(s);
	session_end_pause(s);
	session_end_retry(s);
	if (s->server && passed)
		session_pass_server(s);
	else if (s->server)
		session_leave_server(s);
	if (session_backend(s))
		gauge_down(session_backend(s)->sessions);
	gate_leave(f, s->limits, session_client(s));
	gauge_down(f->sessions);
	gauge_down(&f->model->state->sessions);
	model_unpin(f->model);
}

/* Closes the side's descriptor, if it has one.  The side gets a reset if the
 * opposite side was reset.  If pending bytes are left, both sides get a reset:
 * the bytes that a side has got must not look complete, and the bytes that it
 * has sent must not look delivered. */
static void
close_side(struct session *s, enum handle_side which)
{
	struct side *side = &s->side[which];
	bool left = session_has_pending(s, HANDLE_CLIENT) ||
	            session_has_pending(s, HANDLE_SERVER);

	tls_side_free(side);
	if (side->fd < 0)
		return;
	if (which == HANDLE_CLIENT && gate_refuses(s->gate))
		gate_end(side->fd, side->tcp, s->gate);
	else if ((side_is_broken(&s->side[!which]) || left) &&
	         !side_is_broken(side))
		sock_close_reset(side->fd);
	else
		close(side->fd);
	atomic_store_relaxed(&side->fd, -1);
}

/* Closes this process's descriptor of the side.  Another process has it as
 * well, so its events have to be switched off: closing alone does not do that.
 */
static void
forget_side(struct session *s, enum handle_side which)
{
	struct side *side = &s->side[which];

	tls_side_free(side);
	if (side->fd < 0)
		return;
	(void)handle_set_remove(s->handler.shard->set, side->fd);
	close(side->fd);
	atomic_store_relaxed(&side->fd, -1);
}

static enum close_phase
session_phase(const struct session *s)
{
	if (!session_backend(s))
		return PHASE_HELLO;
	if (s->state == SESSION_QUEUED)
		return PHASE_QUEUED;
	return s->connected_ms == 0 ? PHASE_CONNECT : PHASE_DATA;
}

void
session_end_handshake(struct session *s, struct pool_thread *self)
{
	if (!s->handshaking)
		return;
	s->handshaking = false;
	gauge_down(&s->frontend->state->handshakes);
	/* Also when the session's own configuration has no limit: a reload may
	 * have brought one. */
	acceptors_resume(proxy_of(self));
}

void
session_end_hold(struct session *s, struct pool_thread *self)
{
	if (s->holding)
		held_room_give(proxy_of(self), s->frontend, session_client(s));
	s->holding = false;
}

/* Gives back all that the session has.  passed: as for leave_model. */
static void
end_session(struct session *s,
    void (*end_side)(struct session *s, enum handle_side which), bool passed,
    struct pool_thread *self)
{
	struct proxy *proxy = proxy_of(self);

	session_end_handshake(s, self);
	session_end_hold(s, self);
	session_set_state(s, SESSION_FREE, self);
	pacing_end(s, self);

	/* From here on events of these descriptors are stale. */
	claim_retire(&s->handler.claim);
	end_side(s, HANDLE_CLIENT);
	end_side(s, HANDLE_SERVER);
	relay_drop_pending(s, proxy);
	upstream_closed(s);
	leave_model(s, passed);
	inspect_end(s, proxy);
	shard_leave(&s->handler);
	slab_give(&proxy->sessions, s->index);
	acceptors_resume(proxy);
}

void
session_close(
    struct session *s, enum close_cause cause, struct pool_thread *self)
{
	enum close_reason reason = close_reason_in(session_phase(s), cause);
	const struct frontend *frontend = s->frontend;
	struct session_record record;
	struct accesslog_last last;

	session_record(s, (uint8_t)reason, self, &record);
	session_count_end(s, &record, self);
	accesslog_last(s, &record, &last);
	closed_note(proxy_thread_of(self)->closed, s, &record, self);
	fault_leak();
	end_session(s, close_side, false, self);
	accesslog_write(frontend, &last);
}

void
session_forget(struct session *s, struct pool_thread *self)
{
	bool passed = session_is_relaying(s) || s->state == SESSION_FLUSHING;

	end_session(s, forget_side, passed, self);
}
