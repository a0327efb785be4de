/* SPDX-License-Identifier: MIT
 * See server_fade.h.
 */
#include "model/server_fade.h"

#include "base/clock.h"
#include "model/server_change.h"

/* from * (over - past) / over, rounded up: the products do not fit 64 bits for
 * durations of centuries only, which no parser lets in. */
unsigned
fade_step_at(unsigned from, uint64_t past_ms, uint64_t over_ms)
{
	uint64_t left_ms;

	if (past_ms >= over_ms)
		return 1;
	left_ms = over_ms - past_ms;
	return (unsigned)((from * left_ms + over_ms - 1) / over_ms);
}

/* The first millisecond at which fade_step_at is less than step. */
uint64_t
fade_next_ms(unsigned from, unsigned step, uint64_t over_ms)
{
	uint64_t steps = from - step + 1;

	return (steps * over_ms + from - 1) / from;
}

unsigned
server_fade_step(
    const struct server *server, uint64_t now_ms, uint64_t *ret_next_ms)
{
	const struct server_state *s = server->state;
	uint64_t past_ms, next_ms;
	unsigned step;

	if (s->fade_ms == 0)
		return RAMP_STEPS;
	past_ms = now_ms > s->fade_from_ms ? now_ms - s->fade_from_ms : 0;
	step = fade_step_at(s->fade_first, past_ms, s->fade_ms);
	if (step == 1)
		return step;
	next_ms =
	    s->fade_from_ms + fade_next_ms(s->fade_first, step, s->fade_ms);
	if (next_ms < now_ms + FADE_PAUSE_MS)
		next_ms = now_ms + FADE_PAUSE_MS;
	*ret_next_ms = next_ms;
	return step;
}

/* The first step is due with the lineup that this makes. */
void
server_fade(struct server *server, uint64_t over_ms)
{
	struct server_state *s = server->state;
	uint64_t now_ms = clock_now_ms(), next_ms;

	s->fade_first = server_fade_step(server, now_ms, &next_ms);
	s->fade_from_ms = now_ms;
	s->fade_ms = over_ms;
	server_mark_changed(server);
}

void
server_end_fade(struct server *server)
{
	struct server_state *s = server->state;

	if (s->fade_ms == 0)
		return;
	s->fade_ms = 0;
	server_mark_changed(server);
}
