/* SPDX-License-Identifier: MIT
 * The consequences of a server's coming up or going down: its slow start, and
 * the end of sessions; and its fade.  See server.h.
 */
#include "base/clock.h"
#include "base/grace.h"
#include "base/log.h"
#include "base/text.h"
#include "model/backend.h"
#include "model/model.h"
#include "model/server_change.h"

static uint64_t
slow_start_ms(const struct server *server)
{
	uint64_t own_ms = server->spec->slow_start_ms;

	if (own_ms == SLOW_START_OFF)
		return 0;
	return own_ms > 0 ? own_ms : server->backend->spec->slow_start_ms;
}

static bool
closes_when_down(const struct server *server)
{
	return optional_or(server->spec->on_down,
	           server->backend->spec->on_down) == ON_DOWN_CLOSE;
}

/* Returns whether the server ends the sessions of backups when it comes up.
 * on_up has no effect on a backup. */
static bool
closes_backups(const struct server *server)
{
	return !server->spec->backup &&
	       optional_or(server->spec->on_up, server->backend->spec->on_up) ==
	           ON_UP_CLOSE_BACKUP;
}

/* Returns whether the server is up and not in maintenance.  A drain makes no
 * difference. */
static bool
is_alive(const struct server *server)
{
	return server_is_up(server) && server_admin_of(server) != SERVER_MAINT;
}

unsigned
server_ramp_step(
    const struct server *server, uint64_t now_ms, uint64_t *ret_next_ms)
{
	uint64_t whole_ms = slow_start_ms(server);
	uint64_t from_ms = server->state->ramp_from_ms, past_ms, step;
	/* With many servers in a slow start, steps are taken together to save
	 * lineups: a quarter of a step late is half a percent. */
	uint64_t pause_ms = whole_ms / RAMP_STEPS / 4;

	if (!is_alive(server) || whole_ms == 0)
		return RAMP_STEPS;
	/* The server comes up with the lineup that is being made. */
	if (!server->state->alive)
		from_ms = now_ms;
	past_ms = now_ms > from_ms ? now_ms - from_ms : 0;
	if (from_ms == 0 || past_ms >= whole_ms)
		return RAMP_STEPS;
	step = past_ms * RAMP_STEPS / whole_ms + 1;
	if (step >= RAMP_STEPS)
		return RAMP_STEPS;
	*ret_next_ms =
	    from_ms + (step * whole_ms + RAMP_STEPS - 1) / RAMP_STEPS;
	if (*ret_next_ms < now_ms + pause_ms)
		*ret_next_ms = now_ms + pause_ms;
	return (unsigned)step;
}

/* The step is from * (over - past) / over, rounded up.  The product exceeds 64
 * bits only for durations of centuries, which no parser accepts. */
unsigned
fade_step_at(unsigned from, uint64_t past_ms, uint64_t over_ms)
{
	uint64_t left_ms;

	if (past_ms >= over_ms)
		return 1;
	left_ms = over_ms - past_ms;
	return (unsigned)((from * left_ms + over_ms - 1) / over_ms);
}

/* The result is the first millisecond at which fade_step_at is less than step.
 */
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

/* The first step takes effect with the lineup that the mark leads to. */
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

unsigned
server_throttle(const struct server *server)
{
	uint64_t next_ms;

	return server_ramp_step(server, clock_now_ms(), &next_ms) * 100 /
	       RAMP_STEPS;
}

unsigned
server_effective_weight(const struct server *server)
{
	uint64_t now_ms = clock_now_ms(), next_ms;
	unsigned parts = server_ramp_step(server, now_ms, &next_ms) *
	                 server_fade_step(server, now_ms, &next_ms);
	unsigned whole = RAMP_STEPS * RAMP_STEPS;

	return (server_weight(server) * parts + whole - 1) / whole;
}

/* Note: which sessions end.
 * A session ends when it has chosen the server from a lineup before the one
 * that was just published.  Each session remembers the number of its lineup, so
 * a session that chooses the server later, because the server came up again at
 * once or is in the lineup in a panic, goes on.  Sessions that are choosing at
 * the moment have not noted their server yet, but do so within their turn.  So
 * all sessions are told a grace period later. */
static void
end_sessions(struct server *server, enum server_end cause)
{
	struct server_state *s = server->state;
	struct model *m = server->backend->model;
	uint64_t word = server_end_word(m->state->lineups, cause);

	if (s->ending != word)
		s->end_untold = cause;
	if (s->ending == 0) {
		s->next_ending = m->state->ending;
		m->state->ending = server_state_ref(s);
	}
	s->ending = word;
	s->end_stamp = grace_stamp(m->grace);
}

void
server_report_ended(const struct server *server)
{
	struct server_state *s = server->state;
	enum server_end cause = s->end_untold;
	unsigned n = atomic_load_relaxed(&s->sessions.now);

	s->end_untold = SERVER_END_NONE;
	if (cause == SERVER_END_NONE || n == 0)
		return;
	log_warning("%u session%s of server %s/%s %s closed: %s", n, text_s(n),
	    server->backend->spec->name, server->spec->name, text_are(n),
	    cause == SERVER_END_DOWN
	        ? "it is down, and on_down is close"
	        : "it is a backup, another server is up, and on_up is "
	          "close_backup");
}

static void
end_backups(const struct backend *backend)
{
	backend_for_each_server (s, backend)
		if (s->spec->backup)
			end_sessions(s, SERVER_END_UP);
}

void
backend_note_primaries(const struct backend *backend)
{
	backend_for_each_server (s, backend) {
		if (!server_is_usable(s) || !closes_backups(s))
			continue;
		end_backups(backend);
		return;
	}
}

void
server_ramp_anew(struct server *server, uint64_t now_ms)
{
	if (server->state->alive && is_alive(server))
		server->state->ramp_from_ms = now_ms;
}

void
server_note_life(struct server *server, uint64_t now_ms)
{
	struct server_state *s = server->state;
	bool alive = is_alive(server);

	if (alive == s->alive)
		return;
	s->alive = alive;
	s->ramp_from_ms = alive ? now_ms : 0;
	if (!alive && closes_when_down(server))
		end_sessions(server, SERVER_END_DOWN);
	if (alive && server_is_usable(server) && closes_backups(server))
		end_backups(server->backend);
}
