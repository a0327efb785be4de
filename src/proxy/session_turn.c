/* SPDX-License-Identifier: MIT
 * The dispatcher of a session's steps, from accept to close; see session.h.
 */
#include "proxy/session_step.h"

#include <errno.h>

#include "base/clock.h"
#include "base/list.h"
#include "base/log.h"
#include "lf/pool.h"
#include "proxy/accept_limits.h"
#include "proxy/accesslog.h"
#include "proxy/choose.h"
#include "proxy/connect.h"
#include "proxy/handshake.h"
#include "proxy/held.h"
#include "proxy/inspect.h"
#include "proxy/inspection.h"
#include "proxy/linger.h"
#include "proxy/pacing.h"
#include "proxy/relay.h"
#include "proxy/route.h"
#include "proxy/session_count.h"
#include "proxy/session_deadline.h"
#include "proxy/session_leave.h"
#include "tls/conn.h"

/* Sets fin_queued if the peer's FIN has come and nothing else would end a read
 * early.  A read that empties the socket is then the last one, which saves the
 * read that returns 0.  On a unix socket a read also ends where descriptors
 * were sent along. */
static void
note_fin(struct side *side, uint32_t ready)
{
	if (ready & (HANDLE_ERROR | HANDLE_READ_ON))
		side->fin_queued = false;
	else if (ready & HANDLE_READ_CLOSED && side->tcp && !side->read_on)
		side->fin_queued = true;
}

/* Sets the flags of both sides from the claim's bits.  A hang-up alone is not
 * an error: both directions have ended, and a reset sets HANDLE_ERROR as well
 * (tcp_poll). */
static void
note_ready(struct session *s, uint32_t pending)
{
	for (int i = 0; i < 2; i++) {
		struct side *side = &s->side[i];
		uint32_t ready = pending >> i * HANDLE_SIDE_SHIFT & HANDLE_ALL;

		if (ready & ~HANDLE_WRITABLE)
			side->readable = true;
		note_fin(side, ready);
		if (ready & (HANDLE_READ_CLOSED | HANDLE_HUNG_UP |
		                HANDLE_ERROR | HANDLE_READ_ON))
			side->read_on = true;
		if (ready & HANDLE_READ_ON) {
			side->urgent = true;
			side->splicing = false;
			side->streak = 0;
		}
		if (ready & (HANDLE_WRITABLE | HANDLE_ERROR))
			side->writable = true;
		if (ready & HANDLE_ERROR)
			side->error = true;
	}
}

/* Moves the session to the shard.  Adding the descriptors reports their present
 * state, so no event in between is missed; events that are still in the old
 * shard's batch are of the same descriptors and remain true.  Returns false
 * when the shard's handle set has refused a descriptor; the session has to be
 * moved again or closed then. */
static bool
move_to(struct session *s, struct shard *to)
{
	struct event_handler *h = &s->handler;
	int rc = 0;

	if (to == h->shard)
		return true;
	for (int i = 0; i < 2; i++)
		if (s->side[i].fd >= 0)
			(void)handle_set_remove(h->shard->set, s->side[i].fd);
	shard_leave(h);
	shard_enter(to, h);
	for (int i = 0; i < 2 && rc == 0; i++)
		if (s->side[i].fd >= 0)
			rc = session_watch(s, (enum handle_side)i);
	return rc == 0;
}

/* Handles NOTE_MOVE, which moves the session to the shard where it belongs, and
 * NOTE_SHIFT, which moves it to a shard with less load.  A shift that is
 * refused leaves the session where it was.  A move takes precedence over a
 * shift: the number of shards has just changed, and with it the load of each.
 * Returns false if the session is registered nowhere now. */
static bool
move_as_noted(struct session *s, uint32_t pending, struct pool_thread *self)
{
	struct event_handler *h = &s->handler;
	struct shard *from = h->shard;
	struct shard *to = pool_shift_home(self->pool, from);

	if (pending & NOTE_MOVE)
		return move_to(s, pool_home_of(self->pool, h->slot));
	if (to == from)
		return true;
	if (!move_to(s, to))
		return move_to(s, from);
	atomic_bump_own(&self->stats.moved, 1u);
	return true;
}

/* Makes the session leave its server: it chooses another one if it is not
 * connected yet, else it is closed. */
static struct verdict
end_at_server(const struct session *s, enum close_cause cause)
{
	if (session_is_connecting(s))
		return verdict_choose(cause);
	return verdict_close(
	    s->state == SESSION_FLUSHING ? (enum close_cause)s->cause : cause);
}

/* Handles NOTE_EXPIRE of a session with a server.  Ends the session at the
 * server if the server was removed and its timeout_drain has passed, or if the
 * server has gone down, or is a backup that is no longer needed, and the
 * configuration ends its sessions for that.  Returns STEP_WAIT in all other
 * cases. */
static struct verdict
session_check_server(const struct session *s)
{
	enum server_end end;

	if (atomic_load_relaxed(&s->server->state->expired))
		return verdict_close(CAUSE_DRAIN_TIMEOUT);
	end = server_end_of(s->server->state, s->lineup);
	if (end == SERVER_END_NONE || s->state == SESSION_FLUSHING)
		return verdict(STEP_WAIT);
	return end_at_server(
	    s, end == SERVER_END_DOWN ? CAUSE_SERVER_DOWN : CAUSE_SERVER_UP);
}

/* Finds the backend if it is not known, and chooses a server.  No bytes of the
 * client are needed for that. */
static struct verdict
begin_to_choose(struct session *s, struct pool_thread *self)
{
	return session_backend(s) ? verdict_choose(CAUSE_NO_SERVER)
	                          : route_step(s, CAUSE_DENIED, self);
}

/* A session that has made a handshake counts as established this time after its
 * connect. */
#define ESTABLISHED_MS 500

/* Returns whether threads that compute handshakes should leave the CPU to this
 * session.  A session whose own handshake has just ended does not count: in a
 * storm of short connections each of them would slow down the next. */
static bool
should_precede_handshakes(
    const struct session *s, const struct pool_thread *self)
{
	bool made_handshake =
	    s->side[HANDLE_CLIENT].tls || s->side[HANDLE_SERVER].tls;

	return !made_handshake ||
	       turn_now_ms(self) >= s->connected_ms + ESTABLISHED_MS;
}

/* Runs the step of the session's state. */
static struct verdict
on_events(struct session *s, uint32_t pending, struct pool_thread *self)
{
	switch ((enum session_state)s->state) {
	case SESSION_FREE:
		break;
	case SESSION_ACCEPTED:
		if (s->hold_ms > 0)
			return verdict(STEP_HOLD);
		if (!s->inspection)
			return begin_to_choose(s, self);
		if (s->inspection->steps == 0)
			return verdict(STEP_HANDSHAKE);
		return inspect_step(s, pending, self);
	case SESSION_HELD:
		return held_step(s, pending, self);
	case SESSION_INSPECTING:
		return inspect_step(s, pending, self);
	case SESSION_HANDSHAKE:
		return verdict(STEP_HANDSHAKE);
	case SESSION_LINGERING:
		return linger_step(s, self);
	case SESSION_QUEUED:
		return choose_queued(s, self);
	case SESSION_PAUSING:
		return choose_pausing(s, self);
	case SESSION_CONNECTING:
		return connect_step(s, self);
	case SESSION_RELAYING:
	case SESSION_CLIENT_EOF:
	case SESSION_SERVER_EOF:
	case SESSION_FLUSHING:
		return verdict(STEP_RELAY);
	}
	return verdict(STEP_WAIT);
}

/* Handles the end of the time that a session may wait in QUEUED, CONNECTING or
 * PAUSING. */
static struct verdict
state_timeout(struct session *s, struct pool_thread *self)
{
	if (s->state == SESSION_QUEUED)
		return choose_queue_timeout(s, self);
	if (s->state == SESSION_CONNECTING)
		return connect_timeout(s, self);
	return s->server ? verdict(STEP_CONNECT) : choose_pause_over(s, self);
}

/* Handles a deadline that has passed: that of the state, or that of the first
 * byte. */
static struct verdict
on_deadline(struct session *s, struct pool_thread *self)
{
	if (session_first_byte_is_late(s, self))
		return verdict_close(CAUSE_FIRST_BYTE_LATE);
	if (!session_is_connecting(s))
		return session_relay_timeout(s, self);
	/* The first byte has arrived, so the state's own deadline applies. */
	session_set_deadline(s, self);
	return session_deadline_passed(s, self) ? state_timeout(s, self)
	                                        : on_events(s, 0, self);
}

/* Handles NOTE_ADOPT, in the first turn of a session that has come from another
 * process.  A session that has to choose a server is in ACCEPTED. */
static struct verdict
adopted_step(struct session *s, uint32_t pending, struct pool_thread *self)
{
	session_set_deadline(s, self);
	if (session_awaits_client(s))
		newcomers_enter(s, turn_now_ms(self));
	if (s->state == SESSION_ACCEPTED)
		return begin_to_choose(s, self);
	if (!session_is_relaying(s) && s->state != SESSION_FLUSHING)
		return on_events(s, pending, self);
	return pacing_begin(s, self) ? verdict(STEP_RELAY)
	                             : verdict_close(CAUSE_NO_RESOURCE);
}

/* Counts the pause of a session that has come from another process, whatever
 * its first turn does. */
static void
note_pause(const struct session *s, struct proxy *proxy)
{
	uint64_t now_ns = clock_now_ns();

	(void)atomic_add_relaxed(&proxy->adopted_turns, 1u);
	if (s->connecting_ns == 0 || s->connecting_ns > now_ns)
		return;
	histogram_add_shared(&proxy->pauses, now_ns - s->connecting_ns);
	if (now_ns - s->connecting_ns > PAUSE_LONG_NS)
		(void)atomic_add_relaxed(&proxy->long_pauses, 1u);
}

/* Returns the first step of the turn.  Notes come before events. */
static struct verdict
first_step(struct session *s, uint32_t pending, struct pool_thread *self)
{
	bool timeout = pending & NOTE_TIMEOUT;

	if (pending & NOTE_ADOPT)
		note_pause(s, proxy_of(self));
	if (pending & NOTE_KILL)
		return verdict_close(CAUSE_KILLED);
	if (pending & NOTE_LEAVE && session_leave(s, self))
		return verdict(STEP_LEFT);
	if (pending & NOTE_EXPIRE) {
		struct verdict v = s->server ? session_check_server(s)
		                             : choose_elsewhere(s, self);

		if (v.step != STEP_WAIT)
			return v;
	}
	if (pending & NOTE_DRAIN && s->server)
		return end_at_server(s, CAUSE_SERVER_DRAINED);
	if (pending & NOTE_LEVEL && s->state == SESSION_RELAYING)
		return verdict_close(CAUSE_REBALANCED);
	if (pending & (NOTE_MOVE | NOTE_SHIFT) &&
	    !move_as_noted(s, pending, self))
		return verdict_close(CAUSE_NO_RESOURCE);
	if (pending & NOTE_PACE && session_is_relaying(s) &&
	    !pacing_begin(s, self))
		return verdict_close(CAUSE_NO_RESOURCE);
	if (pending & NOTE_EXPIRE && session_is_relaying(s))
		session_set_deadline(s, self);
	if (pending & NOTE_ADOPT)
		return adopted_step(s, pending, self);
	/* These steps look at their deadlines themselves. */
	if (timeout && s->state != SESSION_ACCEPTED &&
	    s->state != SESSION_HELD && s->state != SESSION_INSPECTING &&
	    s->state != SESSION_HANDSHAKE && s->state != SESSION_LINGERING &&
	    session_deadline_passed(s, self))
		return on_deadline(s, self);
	return on_events(s, pending, self);
}

/* Goes on with a session in HELD whose delay is over.  Its handshake begins,
 * and may exceed handshakes_max by that. */
static struct verdict
resume(struct session *s, struct pool_thread *self)
{
	session_end_hold(s, self);
	if (s->side[HANDLE_CLIENT].tls) {
		s->handshaking = true;
		gauge_up(&s->frontend->state->handshakes);
	}
	return s->inspection ? inspect_resume(s, 0, self)
	                     : route_step(s, CAUSE_DENIED, self);
}

/* Runs one step after another until the session has to wait or is closed.  A
 * failed connect chooses again, at most `retries` times. */
static enum turn
run_session(struct session *s, struct verdict v, struct pool_thread *self)
{
	for (;;) {
		switch (v.step) {
		case STEP_WAIT:
			return TURN_DONE;
		case STEP_MORE:
			return TURN_MORE;
		case STEP_CHOOSE:
			v = choose_step(s, v.cause, self);
			break;
		case STEP_HOLD:
			v = held_begin(s, self);
			break;
		case STEP_RESUME:
			v = resume(s, self);
			break;
		case STEP_HANDSHAKE:
			v = handshake_step(s, self);
			if (v.step == STEP_CHOOSE)
				session_end_handshake(s, self);
			break;
		case STEP_LINGER:
			session_end_handshake(s, self);
			v = linger_begin(s, v.cause, self);
			break;
		case STEP_CONNECT:
			v = connect_start(s, self);
			break;
		case STEP_RELAY:
			if (should_precede_handshakes(s, self))
				pool_nice_want(self);
			v = relay_step(s, self);
			break;
		case STEP_REPLACE:
			v = choose_replacement(s, self);
			break;
		case STEP_KEEP:
			v = relay_keep_server(s, self);
			break;
		case STEP_CLOSE:
			session_close(s, v.cause, self);
			return TURN_RETIRED;
		case STEP_LEFT:
			session_forget(s, self);
			return TURN_RETIRED;
		}
	}
}

static void
log_evicted(const struct session *s, const struct pool_thread *self)
{
	static struct log_limit limit;
	const struct endpoint *client = session_client(s);
	char host[INET6_ADDRSTRLEN];

	log_limited(&limit, LOG_LEVEL_WARNING,
	    "frontend %s: ended the session of client %s:%u, which had not "
	    "completed its %s %.1f s after the accept, because another client "
	    "waits and no place is left; raise maxconn or handshakes if this "
	    "comes often",
	    s->frontend->spec->name, endpoint_host(client, host), client->port,
	    s->state == SESSION_HANDSHAKE ? "TLS handshake" : "first bytes",
	    (double)(turn_now_ms(self) - s->accepted_ms) / 1000);
}

/* Handles NOTE_EVICT, after the other work of the turn. */
static enum turn
evict(struct session *s, enum turn turn, struct pool_thread *self)
{
	if (turn == TURN_RETIRED)
		return turn;
	if (turn == TURN_DONE && newcomers_is_evicted(s)) {
		log_evicted(s, self);
		session_count(s, COUNT_FRONTEND, COUNTER_EVICTED, 1, self);
		session_close(s, CAUSE_EVICTED, self);
		return TURN_RETIRED;
	}
	/* Another newcomer has to be evicted in its place. */
	if (session_awaits_client(s))
		newcomers_enter(s, turn_now_ms(self));
	acceptors_resume(proxy_of(self));
	return turn;
}

static enum turn
session_turn(
    struct event_handler *handler, uint32_t pending, struct pool_thread *self)
{
	struct session *s = container_of(handler, struct session, handler);
	enum turn turn;

	note_ready(s, pending);
	turn = run_session(s, first_step(s, pending, self), self);
	return pending & NOTE_EVICT ? evict(s, turn, self) : turn;
}

static const struct event_handler_ops session_ops = {.turn = session_turn};

bool
session_construct(void *object, uint32_t index, void *arg)
{
	struct session *s = object;

	(void)arg;
	s->index = index;
	list_init(&s->newcomer.node);
	return event_handler_init(&s->handler, &session_ops, HANDLE_CLIENT);
}

/* Finds the backend if no bytes are needed for that, or begins the inspection
 * or the TLS connection that is needed.  Returns false when memory is short. */
static bool
begin_route(struct session *s, const struct frontend_listen *listen,
    struct pool_thread *self)
{
	const struct frontend *f = s->frontend;
	bool with_header = listen->accept_proxy &&
	                   frontend_spec_expects_proxy(f->spec, &s->client);
	unsigned steps = with_header ? INSPECT_PROXY : 0;
	unsigned asks = listen->starttls != STARTTLS_OFF ? INSPECT_STARTTLS : 0;

	/* A client in a tarpit ends without a backend. */
	if (gate_refuses(s->gate))
		return true;
	if (f->inspects && !listen->tls &&
	    (with_header || route_needs_hello(s)))
		steps |= INSPECT_HELLO | asks;
	if (listen->tls) {
		s->side[HANDLE_CLIENT].tls = tls_conn_new(listen->tls);
		if (!s->side[HANDLE_CLIENT].tls)
			return false;
		steps |= asks;
	} else if (steps == 0) {
		/* A thread of the session's own shard tries the rules. */
		if (s->hold_ms == 0 && !f->rules)
			session_use_backend(s, frontend_route(f), self);
		return true;
	}
	return inspect_begin(s, listen->number, steps, proxy_of(self));
}

static int
begin_session(struct session *s, const struct frontend_listen *listen,
    struct pool_thread *self)
{
	bool routed = begin_route(s, listen, self);

	session_set_state(s, SESSION_ACCEPTED, self);
	return routed ? session_watch(s, HANDLE_CLIENT) : -ENOMEM;
}

void
session_start(struct session *s, const struct shard *at,
    const struct frontend_listen *listen, const struct accepted *accepted,
    struct pool_thread *self)
{
	int rc;

	session_open(
	    s, listen->frontend, accepted->fd, &accepted->client, self);
	s->handshaking = listen->tls;
	session_note_gate(s, &accepted->answer);
	rc = begin_session(s, listen, self);
	/* A PROXY header will name the client. */
	if (!s->inspection || !(s->inspection->steps & INSPECT_PROXY))
		session_count_client(s, self);
	if (rc < 0) {
		(void)exhaustion_note(&proxy_of(self)->exhaustion, -rc,
		    "an accepted connection is dropped");
		session_close(s, CAUSE_NO_RESOURCE, self);
		return;
	}
	/* A thread of the session's own shard makes the connect; otherwise one
	 * shard would make the connects of all. */
	if (s->handler.shard != at)
		shard_submit(&s->handler);
	/* Events that came meanwhile were left to this thread, the owner. */
	else if (event_handler_run(&s->handler, self) == TURN_MORE)
		shard_submit(&s->handler);
}
