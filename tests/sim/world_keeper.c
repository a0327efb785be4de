/* SPDX-License-Identifier: MIT
 * The keeper of the world: src/proxy/keeper.c with the reaper and the pacer on
 * a simulated thread, and handlers in the place of sessions.  See world.h.
 */
#include <stddef.h>
#include <string.h>

#include "base/clock.h"
#include "base/ensure.h"
#include "proxy/accept_limits.h"
#include "proxy/keeper.h"
#include "proxy/pacing.h"
#include "proxy/reaper.h"
#include "proxy/proxy.h"
#include "sim/sim.h"
#include "sim/world.h"

/* A note is later than its time by a part of that time, a pause of the reaper,
 * and turns of other handlers; a lost one is later by seconds. */
#define LATE_NS (400 * NS_PER_MS)

/* Of the bits that a turn gets, those that are no notes.  With these alone a
 * handler begins something, so that it comes to rest. */
#define EVENTS 0xffffu

static struct proxy proxy;
static uint64_t deadlines[FAKES_MAX];
static bool resuming; /* the keeper leaves notes with acceptors */

/* A handler is where the reaper looks for a session's. */
_Static_assert(offsetof(struct session, handler) == 0, "as in struct fake");

void
keeper_of_world_start(void)
{
	static void *chunk;

	chunk = fakes;
	memset(&proxy, 0, sizeof(proxy));
	memset(deadlines, 0, sizeof(deadlines));
	proxy.deadlines = deadlines;
	proxy.next_reap_ms = UINT64_MAX;
	proxy.reap_max_ms = REAP_MAX_MS;
	proxy.sessions.chunks = &chunk;
	proxy.sessions.made = FAKES_MAX;
	proxy.sessions.options.size = sizeof(struct fake);
	ENSURE(pacer_init(&proxy.pacer, FAKES_MAX) == 0);
	ENSURE(keeper_start(&proxy, world.grace) == 0);
}

void
keeper_of_world_guard(void)
{
	ENSURE(keeper_guard(proxy.keeper, world.pool));
	keeper_watch_alarms(proxy.keeper, world.pool);
	world.guarded = true;
}

void
keeper_of_world_watch(void)
{
	keeper_watch_alarms(proxy.keeper, world.pool);
}

/* In the order of control_free. */
void
keeper_of_world_stop(void)
{
	keeper_stop(proxy.keeper);
	keeper_unguard(proxy.keeper, world.pool);
}

void
keeper_of_world_free(void)
{
	keeper_free(proxy.keeper);
	pacer_fini(&proxy.pacer);
}

void
keeper_of_world_call_guard(void *arg)
{
	(void)arg;
	keeper_call(proxy.keeper, KEEPER_GUARD);
}

void
keeper_of_world_check_moves(void)
{
	if (!keeper_moves(proxy.keeper))
		sim_fail("the keeper does not move");
}

/* -- deadlines -- */

static void
set_deadline(struct fake *f, uint64_t deadline_ms)
{
	f->deadline_ms = deadline_ms;
	proxy_set_deadline(&proxy, f->number, deadline_ms);
}

static void
follow_deadline(struct fake *f, uint32_t pending)
{
	uint64_t now_ms = clock_now_ms();

	if (pending & NOTE_TIMEOUT && f->deadline_ms != 0 &&
	    now_ms >= f->deadline_ms)
		set_deadline(f, 0);
	else if (f->deadline_ms == 0 && pending & EVENTS)
		set_deadline(f, now_ms + 1 + sim_random(f->manner.deadline_ms));
}

/* -- bandwidth -- */

static struct pace *
pace_of(const struct fake *f)
{
	return &f->pacing->pace[0];
}

static void
follow_pace(struct fake *f)
{
	struct pace *pace = pace_of(f);
	uint64_t now_ns = clock_now_ns();

	if (atomic_load_acquire(&pace->state) == PACE_DUE) /* [P38] */
		atomic_store_relaxed(&pace->state, (uint8_t)PACE_READING);
	if (pace->state != PACE_READING || sim_random(2) > 0)
		return;
	f->due_ns = now_ns + 1 + sim_random(f->manner.paced_ns);
	pace->due_ns = f->due_ns;
	atomic_store_relaxed(&pace->state, (uint8_t)PACE_WAITING);
	(void)atomic_add_relaxed(&f->pacing->refs, (uint16_t)1);
	pacer_push(&proxy.pacer, pace, now_ns);
}

static void
begin_pacing(struct fake *f)
{
	uint32_t index;
	struct pacing *p = slab_take(&proxy.pacer.records, &index);

	/* The records of handlers that have ended may still be in the wheel. */
	if (!p)
		return;
	memset(p, 0, sizeof(*p));
	p->session = (struct session *)(void *)&f->handler;
	p->index = index;
	atomic_store_relaxed(&p->refs, (uint16_t)1);
	f->pacing = p;
}

static void
end_pacing(struct fake *f)
{
	struct pacing *p = f->pacing;

	f->pacing = NULL;
	atomic_store_release(&p->closed, true); /* [P40] */
	pacing_unref(&proxy.pacer, p);
}

/* -- acceptors that have paused -- */

static struct fake *
as_fake(struct acceptor *acceptor)
{
	return (struct fake *)(void *)acceptor;
}

/* As acceptor_pause. */
static void
pause_accepting(struct fake *f)
{
	struct acceptor *top = atomic_load_relaxed(&proxy.paused);

	if (!atomic_swap_acq_rel(&f->paused, 1u)) {
		f->paused_ns = sim_now_ns();
		do
			f->next_paused = as_fake(top);
		while (!atomic_cas_seq(&proxy.paused, &top,
		    (struct acceptor *)(void *)f)); /* [P12] */
	}
	keeper_call(proxy.keeper, KEEPER_ACCEPTOR);
}

/* In the place of that of src/proxy. */
void
acceptors_resume(struct proxy *of)
{
	struct fake *f = as_fake(atomic_swap_seq(&of->paused, NULL));

	for (resuming = true; f;) {
		struct fake *next = f->next_paused;

		atomic_store_release(&f->paused, 0u);
		world_note(f, NOTE_RESUME);
		f = next;
	}
	resuming = false;
}

/* -- a handler's part -- */

void
keeper_of_world_begin(struct fake *f)
{
	if (f->manner.paced_ns > 0)
		begin_pacing(f);
}

void
keeper_of_world_turn(struct fake *f, uint32_t pending)
{
	if (f->manner.deadline_ms > 0)
		follow_deadline(f, pending);
	if (f->pacing)
		follow_pace(f);
	if (f->manner.pauses && pending & EVENTS && sim_random(2) == 0)
		pause_accepting(f);
}

void
keeper_of_world_end(struct fake *f)
{
	if (f->deadline_ms != 0)
		set_deadline(f, 0);
	if (f->pacing)
		end_pacing(f);
}

/* -- what must hold -- */

static bool
is_late(uint64_t due_ns)
{
	return sim_now_ns() > due_ns + LATE_NS;
}

/* Called while no thread can run.  A handler that is owned, or that waits for a
 * turn, will look at its times. */
void
keeper_of_world_check(void)
{
	for (unsigned i = 0; world.guarded && i < world.setup.fakes; i++) {
		const struct fake *f = &fakes[i];

		if (f->handler.claim.word & CLAIM_OWNED)
			continue;
		if (f->deadline_ms != 0 && is_late(f->deadline_ms * NS_PER_MS))
			sim_fail("the deadline of handler %u has passed "
			         "unnoticed",
			    i);
		if (f->pacing && pace_of(f)->state != PACE_READING &&
		    is_late(f->due_ns))
			sim_fail(
			    "handler %u waits for bandwidth that is due", i);
		if (f->paused && is_late(f->paused_ns))
			sim_fail(
			    "acceptor %u has paused and is not resumed", i);
	}
}

const char *
keeper_of_world_owes(void)
{
	if (resuming)
		return "acceptors are resumed";
	for (unsigned i = 0; i < world.setup.fakes; i++) {
		const struct fake *f = &fakes[i];

		if (f->deadline_ms != 0)
			return "a deadline is to come";
		if (f->pacing && pace_of(f)->state != PACE_READING)
			return "a handler waits for bandwidth";
		if (f->paused)
			return "an acceptor has paused";
	}
	return NULL;
}
