/* SPDX-License-Identifier: MIT
 * See session_deadline.h.
 */
#include "proxy/session_deadline.h"

#include "base/fault.h"
#include "base/mix.h"
#include "lf/pool.h"
#include "net/sock.h"
#include "proxy/accesslog.h"
#include "proxy/inspection.h"
#include "proxy/linger.h"
#include "proxy/pacing.h"
#include "proxy/reaper.h"

/* While the last bytes of a broken session are under way to the remaining side,
 * the session asks the kernel this often whether they were acknowledged; no
 * event tells it. */
#define FLUSH_POLL_MS 50

/* How often a session is looked at within the time that it may be idle, while
 * lfproxy drains. */
#define IDLE_LOOKS 8

bool
session_deadline_passed(const struct session *s, const struct pool_thread *self)
{
	uint64_t deadline =
	    atomic_load_relaxed(&proxy_of(self)->deadlines[s->index]);

	return deadline != 0 && deadline <= turn_now_ms(self);
}

uint64_t
session_first_byte_ends_ms(const struct session *s)
{
	const struct inspection *p = s->inspection;
	const struct side *client = &s->side[HANDLE_CLIENT];
	uint64_t limit_ms = s->frontend->spec->timeout_first_byte_ms;

	if (limit_ms == 0 || s->spoke || client->received > 0 ||
	    side_at_eof(client) || s->state == SESSION_HELD ||
	    s->state == SESSION_FLUSHING)
		return UINT64_MAX;
	if (p && (p->steps & INSPECT_PROXY || p->spoke))
		return UINT64_MAX;
	return (p && p->header_ms > 0 ? p->header_ms : s->accepted_ms) +
	       s->hold_ms + limit_ms;
}

/* A client that has sent its FIN, or has reset its connection, has not been
 * silent; the steps handle both. */
bool
session_first_byte_is_late(struct session *s, const struct pool_thread *self)
{
	const struct side *client = &s->side[HANDLE_CLIENT];

	if (turn_now_ms(self) < session_first_byte_ends_ms(s))
		return false;
	s->spoke =
	    client->read_on || client->error || sock_unread(client->fd) > 0;
	return !s->spoke;
}

uint64_t
session_hold_ends_ms(const struct session *s, const struct proxy *proxy)
{
	bool draining = atomic_load_seq(&proxy->idle_ms) > 0; /* [P27] */

	return s->state_ms +
	       (draining && gate_refuses(s->gate) ? 0 : s->hold_ms);
}

uint64_t
session_hello_ends_ms(const struct session *s)
{
	return s->accepted_ms + s->hold_ms +
	       s->frontend->spec->timeout_hello_ms;
}

uint64_t
session_handshake_ends_ms(const struct session *s)
{
	const struct inspection *p = s->inspection;

	return (p->header_ms > 0 ? p->header_ms : s->accepted_ms) + s->hold_ms +
	       s->frontend->spec->timeout_handshake_ms;
}

/* Returns whether the side is expected to send, or to take pending bytes.  The
 * silence of a side is not its fault after its end was read, nor while it is
 * not read because the other side takes nothing.  At least one of the two sides
 * is always awaited, unless both have finished. */
static bool
awaited(const struct session *s, enum handle_side side)
{
	if (session_has_pending(s, side) || s->state == SESSION_FLUSHING)
		return true;
	return !side_at_eof(&s->side[side]) && !session_has_pending(s, !side);
}

/* Returns when the silence of that side ends the session.  The time stands
 * still while the session waits for bandwidth, because the silence is then no
 * fault of either side. */
static uint64_t
side_ends_ms(const struct session *s, enum handle_side side,
    const struct proxy *proxy, uint64_t now_ms)
{
	uint64_t active_ms =
	    pacing_waits(s, proxy) ? now_ms : s->side[side].active_ms;
	const struct frontend_spec *f = s->frontend->spec;
	const struct backend_spec *b = session_backend(s)->spec;
	bool fin = side_is_shut(&s->side[side]) || s->state == SESSION_FLUSHING;
	uint64_t limit_ms;

	if (!awaited(s, side))
		return UINT64_MAX;
	if (!fin && b->timeout_tunnel_ms > 0)
		limit_ms = b->timeout_tunnel_ms;
	else if (side == HANDLE_CLIENT)
		limit_ms =
		    fin ? f->timeout_client_fin_ms : f->timeout_client_ms;
	else
		limit_ms =
		    fin ? b->timeout_server_fin_ms : b->timeout_server_ms;
	return active_ms + limit_ms;
}

static uint64_t
min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Returns when the session reaches max_age.  The jitter follows from fields
 * that stay the same during the session, also in another process, so it need
 * not be stored. */
static uint64_t
age_ends_ms(const struct session *s)
{
	const struct frontend_spec *f = s->frontend->spec;
	uint64_t life_ms = f->max_age_ms;

	if (life_ms == 0)
		return UINT64_MAX;
	if (f->max_age_jitter > 0)
		life_ms -= mix64(s->accepted_wall_us + s->number) %
		           (life_ms * f->max_age_jitter / 100 + 1);
	return s->accepted_ms + life_ms;
}

/* Returns when the session has been idle for as long as it may be while lfproxy
 * drains.  A session is idle while no byte moves in either direction.  A
 * session may be idle for as long as draining may take if it waits for an
 * answer (the last bytes were the client's), for a peer to take pending data,
 * or for bandwidth. */
static uint64_t
idle_ends_ms(const struct session *s, const struct proxy *proxy)
{
	const struct side *client = &s->side[HANDLE_CLIENT];
	const struct side *server = &s->side[HANDLE_SERVER];
	uint64_t idle_ms = atomic_load_seq(&proxy->idle_ms); /* [P27] */
	bool busy = s->asked || session_has_pending(s, HANDLE_CLIENT) ||
	            session_has_pending(s, HANDLE_SERVER) ||
	            pacing_waits(s, proxy);

	if (idle_ms == 0)
		return UINT64_MAX;
	if (busy && idle_ms < atomic_load_relaxed(&proxy->idle_busy_ms))
		idle_ms = atomic_load_relaxed(&proxy->idle_busy_ms);
	return idle_ms + (client->active_ms > server->active_ms
	                         ? client->active_ms
	                         : server->active_ms);
}

/* Returns when to look whether the session is idle, while lfproxy drains.  A
 * session that is answered in between becomes idle without a new deadline, so
 * there are several looks within the time. */
static uint64_t
idle_deadline(
    const struct session *s, const struct proxy *proxy, uint64_t now_ms)
{
	uint64_t idle_ms = atomic_load_seq(&proxy->idle_ms); /* [P27] */

	if (idle_ms == 0)
		return UINT64_MAX;
	return min_u64(
	    idle_ends_ms(s, proxy), now_ms + idle_ms / IDLE_LOOKS + 1);
}

/* Returns how long a session pauses after every server was tried, as in
 * HAProxy. */
static uint64_t
pause_ms(const struct backend_spec *b)
{
	if (fault_is_on(FAULT_LONG_PAUSE))
		return 600000;
	return min_u64(1000, b->timeout_connect_ms);
}

/* Returns the deadline of a session whose sides are both connected. */
static uint64_t
relay_ends_ms(
    const struct session *s, const struct proxy *proxy, uint64_t now_ms)
{
	uint64_t ends_ms =
	    min_u64(side_ends_ms(s, HANDLE_CLIENT, proxy, now_ms),
	        side_ends_ms(s, HANDLE_SERVER, proxy, now_ms));

	ends_ms = min_u64(ends_ms, accesslog_deadline(s, now_ms));
	ends_ms = min_u64(ends_ms, age_ends_ms(s));
	return min_u64(ends_ms, idle_deadline(s, proxy, now_ms));
}

/* Returns when the time of the state itself is over; 0: never.  While state and
 * activity are the same, the result is the same, except for lines of the log
 * and looks whether the session is idle. */
static uint64_t
state_ends_ms(
    const struct session *s, const struct proxy *proxy, uint64_t now_ms)
{
	const struct backend *backend = session_backend(s);
	const struct backend_spec *b = backend ? backend->spec : NULL;

	switch ((enum session_state)s->state) {
	case SESSION_FREE:
		break;
	case SESSION_HELD:
		return session_hold_ends_ms(s, proxy);
	case SESSION_INSPECTING:
		return session_hello_ends_ms(s);
	case SESSION_HANDSHAKE:
		return session_handshake_ends_ms(s);
	case SESSION_LINGERING:
		return s->state_ms + LINGER_MS;
	case SESSION_QUEUED:
		return s->state_ms + (b->timeout_queue_ms > 0
		                             ? b->timeout_queue_ms
		                             : b->timeout_connect_ms);
	case SESSION_ACCEPTED:
	case SESSION_CONNECTING:
		return (s->connecting_ms > 0 ? s->connecting_ms : s->state_ms) +
		       (b ? b->timeout_connect_ms
		          : s->frontend->spec->timeout_hello_ms);
	case SESSION_PAUSING:
		return s->state_ms +
		       (s->server ? 1ull << s->waits : pause_ms(b));
	case SESSION_RELAYING:
	case SESSION_CLIENT_EOF:
	case SESSION_SERVER_EOF:
		return relay_ends_ms(s, proxy, now_ms);
	case SESSION_FLUSHING:
		return s->state_ms + FLUSH_POLL_MS;
	}
	return 0;
}

void
session_set_deadline(struct session *s, struct pool_thread *self)
{
	struct proxy *proxy = proxy_of(self);
	bool draining = atomic_load_seq(&proxy->idle_ms) > 0;
	uint64_t deadline = state_ends_ms(s, proxy, turn_now_ms(self));

	accesslog_ongoing(s, self);
	if (deadline > 0)
		deadline = min_u64(deadline, session_first_byte_ends_ms(s));
	proxy_set_deadline(proxy, s->index, deadline); /* [P27] */
	/* Draining may have begun meanwhile, without seeing this deadline. */
	if (!draining && (session_is_relaying(s) || s->state == SESSION_HELD) &&
	    atomic_load_seq(&proxy->idle_ms) > 0)
		session_set_deadline(s, self);
}

struct verdict
session_relay_timeout(struct session *s, struct pool_thread *self)
{
	uint64_t now_ms = turn_now_ms(self);
	const struct proxy *proxy = proxy_of(self);
	uint64_t client = side_ends_ms(s, HANDLE_CLIENT, proxy, now_ms);
	uint64_t server = side_ends_ms(s, HANDLE_SERVER, proxy, now_ms);

	if (s->state == SESSION_FLUSHING) {
		bool client_gone = session_side_gone(s) == HANDLE_CLIENT;

		return (client_gone ? server : client) <= now_ms
		           ? verdict_close((enum close_cause)s->cause)
		           : verdict(STEP_RELAY);
	}
	if (idle_ends_ms(s, proxy) <= now_ms)
		return verdict_close(CAUSE_IDLE_STOP);
	if (age_ends_ms(s) <= now_ms)
		return verdict_close(CAUSE_MAX_AGE);
	if (client <= now_ms && client <= server)
		return verdict_close(CAUSE_CLIENT_TIMEOUT);
	if (server <= now_ms)
		return verdict_close(CAUSE_SERVER_TIMEOUT);
	session_set_deadline(s, self);
	return verdict(STEP_RELAY);
}
