/* SPDX-License-Identifier: MIT
 * See inspect.h.
 */
#include "proxy/inspect.h"

#include "lf/pool.h"
#include "proxy/inspect_internal.h"
#include "proxy/route.h"
#include "proxy/session_count.h"
#include "proxy/session_deadline.h"
#include "proxy/starttls.h"

/* Looks at the request for TLS, and answers it. */
static enum look
look_at_request(struct session *s)
{
	size_t bytes;

	switch (starttls_with_client(s, &bytes)) {
	case STARTTLS_WAIT:
		return inspect_again(s, bytes);
	case STARTTLS_PROCEED:
		break;
	case STARTTLS_GONE:
		return LOOK_GONE;
	case STARTTLS_REFUSED:
		return LOOK_UNASKED;
	}
	inspect_wait_for_any_byte(s);
	s->inspection->steps &= (uint8_t)~INSPECT_STARTTLS;
	return LOOK_DONE;
}

/* Judges the client that the header has named, as others are judged when they
 * are accepted.  A header without an address stands for the peer itself. */
static enum look
pass_gate(struct session *s, struct pool_thread *self)
{
	struct gate_answer answer;

	if (!gate_is_used(s->frontend))
		return LOOK_DONE;
	answer = gate_client(
	    proxy_of(self), s->frontend, session_client(s), self->now_ns);
	session_note_gate(s, &answer);
	gate_count(s->frontend, &answer, COUNTER_DENIED_SESSIONS, self->index);
	if (answer.action == GATE_ADMIT)
		return LOOK_DONE;
	return answer.hold_ms > 0 ? LOOK_HELD : LOOK_DENIED;
}

/* Leaves out the hello, which no rule needs.  Unless TLS ends here, a request
 * for TLS is then passed on to the server. */
static void
leave_out_hello(struct session *s)
{
	s->inspection->steps &= (uint8_t)~INSPECT_HELLO;
	if (!s->side[HANDLE_CLIENT].tls)
		s->inspection->steps &= (uint8_t)~INSPECT_STARTTLS;
}

static enum look
look_at_parts(struct session *s, struct pool_thread *self)
{
	enum look found = LOOK_DONE;

	if (s->inspection->steps & INSPECT_PROXY) {
		found = inspect_header(s, self);
		if (found == LOOK_DONE && !route_needs_hello(s))
			leave_out_hello(s);
		if (found == LOOK_DONE) {
			session_count_client(s, self);
			found = pass_gate(s, self);
		}
	}
	if (found == LOOK_DONE && s->inspection->steps & INSPECT_STARTTLS)
		found = look_at_request(s);
	if (found == LOOK_DONE && s->inspection->steps & INSPECT_HELLO)
		found = inspect_hello(s, self);
	return found;
}

/* Goes on after the inspection. */
static struct verdict
proceed(struct session *s, enum close_cause otherwise, struct pool_thread *self)
{
	struct inspection *p = s->inspection;

	inspect_wait_for_any_byte(s);
	if (s->side[HANDLE_CLIENT].tls)
		return verdict(STEP_HANDSHAKE);
	/* If no TLS hello has named a host, the name of the PROXY header
	 * counts. */
	if (p->name_len == 0 && p->authority_len > 0)
		atomic_store_release(
		    &p->name_len, p->authority_len); /* [P21] */
	return route_step(s, otherwise, self);
}

/* Goes on without a complete hello, by the rules that need none; otherwise the
 * session ends for that cause.  A client that has asked for TLS, or has to
 * speak TLS, cannot go on without a hello, and the frontend may allow it to
 * no client. */
static struct verdict
proceed_without(
    struct session *s, enum close_cause otherwise, struct pool_thread *self)
{
	if (s->inspection->asked_tls || s->side[HANDLE_CLIENT].tls ||
	    s->frontend->spec->on_no_hello == ON_NO_HELLO_CLOSE)
		return verdict_close(otherwise);
	return proceed(s, otherwise, self);
}

static bool
is_late(const struct session *s, const struct pool_thread *self)
{
	/* The session was perhaps accepted on another thread, later than this
	 * turn's time. */
	return turn_now_ms(self) >= session_hello_ends_ms(s);
}

struct verdict
inspect_resume(struct session *s, uint32_t pending, struct pool_thread *self)
{
	return s->inspection->steps == 0 ? proceed(s, CAUSE_DENIED, self)
	                                 : inspect_step(s, pending, self);
}

/* Looks at what the client has sent, unless its connection was reset. */
static enum look
look_at_client(struct session *s, struct pool_thread *self)
{
	const struct side *client = &s->side[HANDLE_CLIENT];
	enum look found = LOOK_MORE;

	/* A PROXY header is taken even after a reset: HAProxy's checks are a
	 * header and a reset. */
	if (client->error && client->tcp &&
	    !(s->inspection->steps & INSPECT_PROXY))
		found = LOOK_GONE;
	else if (client->readable)
		found = look_at_parts(s, self);
	if (found == LOOK_DONE && client->error && client->tcp)
		found = LOOK_GONE;
	return found;
}

/* Acts on what was found.  A PROXY header, if one is expected, is still
 * incomplete or was valid. */
static struct verdict
act_on(struct session *s, enum look found, uint32_t pending,
    struct pool_thread *self)
{
	switch (found) {
	case LOOK_MORE:
		/* The deadline may have been that of the first byte, which has
		 * come. */
		if (pending & NOTE_TIMEOUT)
			session_set_deadline(s, self);
		break;
	case LOOK_WRONG:
		break;
	case LOOK_UNASKED:
		return verdict_close(CAUSE_STARTTLS_WRONG);
	case LOOK_DENIED:
		return verdict_close((enum close_cause)s->cause);
	case LOOK_HELD:
		return verdict(STEP_HOLD);
	case LOOK_DONE:
		return proceed(s, CAUSE_DENIED, self);
	case LOOK_ENDED:
		session_count(s, COUNT_FRONTEND, COUNTER_NOT_TLS, 1, self);
		return proceed_without(s, CAUSE_CLIENT_GONE, self);
	case LOOK_GONE:
		return verdict_close(CAUSE_CLIENT_GONE);
	case LOOK_LATE:
		session_count(
		    s, COUNT_FRONTEND, COUNTER_HELLO_TIMEOUTS, 1, self);
		return proceed_without(s, CAUSE_HELLO_TIMEOUT, self);
	}
	return verdict(STEP_WAIT);
}

struct verdict
inspect_step(struct session *s, uint32_t pending, struct pool_thread *self)
{
	enum look found;

	if (s->state == SESSION_ACCEPTED || s->state == SESSION_HELD)
		session_set_state(s, SESSION_INSPECTING, self);
	if (pending & (HANDLE_READ_CLOSED | HANDLE_HUNG_UP | HANDLE_ERROR))
		s->inspection->ended = true;
	found = look_at_client(s, self);
	if (found == LOOK_MORE && session_first_byte_is_late(s, self))
		return verdict_close(CAUSE_FIRST_BYTE_LATE);
	if (found == LOOK_MORE && is_late(s, self))
		found = LOOK_LATE;
	if (s->inspection->steps & INSPECT_PROXY && found != LOOK_MORE)
		return verdict_close(inspect_refuse_header(s, found, self));
	return act_on(s, found, pending, self);
}
