/* SPDX-License-Identifier: MIT
 * See held.h.
 */
#include "proxy/held.h"

#include "lf/pool.h"
#include "proxy/inspection.h"
#include "proxy/session_deadline.h"

static bool
is_over(const struct session *s, const struct pool_thread *self)
{
	return turn_now_ms(self) >= session_hold_ends_ms(s, proxy_of(self));
}

struct verdict
held_begin(struct session *s, struct pool_thread *self)
{
	const struct side *client = &s->side[HANDLE_CLIENT];

	session_set_state(s, SESSION_HELD, self);
	session_end_handshake(s, self);
	/* The client's end may have come in the turn that leads here. */
	return held_step(s,
	    client->fin_queued || client->error ? HANDLE_READ_CLOSED : 0, self);
}

struct verdict
held_step(struct session *s, uint32_t pending, struct pool_thread *self)
{
	const struct side *client = &s->side[HANDLE_CLIENT];
	bool ended =
	    pending & (HANDLE_READ_CLOSED | HANDLE_HUNG_UP | HANDLE_ERROR);

	if (s->inspection && ended)
		s->inspection->ended = true;
	if (gate_refuses(s->gate))
		return ended || is_over(s, self)
		           ? verdict_close((enum close_cause)s->cause)
		           : verdict(STEP_WAIT);
	if (client->error && client->tcp)
		return verdict_close(CAUSE_CLIENT_GONE);
	return verdict(is_over(s, self) ? STEP_RESUME : STEP_WAIT);
}
