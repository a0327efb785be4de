/* SPDX-License-Identifier: MIT
 * The rounds of rebalancing, see rebalance.h.
 */
#include "control/rebalance_internal.h"

#include <stdlib.h>

#include "proxy/session_facts.h"

/* How often sessions are ended, within these bounds. */
#define ROUNDS       60
#define ROUND_MIN_MS 200
#define ROUND_MAX_MS 5000
/* The slots per step of the scan, and the pause between two steps. */
#define SCAN_SLOTS 2048
#define SCAN_MS    10
/* Watch SPARE times as many candidates as are due: some will be busy. */
#define SPARE     4
#define WATCH_MAX 4096u
/* Sparing busy sessions may delay the rebalancing by 1 / LATE of its time. */
#define LATE 4

uint64_t
rebalance_round_ms(const struct rebalance *r)
{
	uint64_t ms = r->over_ms / ROUNDS;

	if (ms < ROUND_MIN_MS)
		return ROUND_MIN_MS;
	return ms < ROUND_MAX_MS ? ms : ROUND_MAX_MS;
}

static uint64_t
quiet_ms(const struct rebalance *r)
{
	uint64_t ms = rebalance_round_ms(r) / 2;

	return ms < REBALANCE_QUIET_MS ? ms : REBALANCE_QUIET_MS;
}

/* With the quarter that busy sessions are late. */
static uint64_t
end_ms(const struct rebalance *r)
{
	return r->from_ms + r->over_ms + r->over_ms / LATE;
}

/* Returns how many more sessions should have been closed past_ms after the
 * start. */
static uint32_t
backlog(const struct rebalance *r, const struct target *t, uint64_t past_ms)
{
	uint32_t share = drain_share(t->planned, past_ms, r->over_ms);

	return share > t->closed ? share - t->closed : 0;
}

static uint32_t
min_u32(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* Sets how many sessions of the server's excess this round is to close. */
static void
set_target_due(const struct rebalance *r, struct target *t, uint32_t excess,
    uint64_t now_ms)
{
	uint64_t past_ms = now_ms - r->from_ms, late_ms = r->over_ms / LATE;
	uint32_t pace =
	    drain_share(t->planned, rebalance_round_ms(r), r->over_ms);
	uint32_t most = min_u32(excess, WATCH_MAX);

	t->due = min_u32(min_u32(backlog(r, t, past_ms), 2 * pace), most);
	t->urgent = past_ms > late_ms
	                ? min_u32(backlog(r, t, past_ms - late_ms), most)
	                : 0;
	if (now_ms < end_ms(r))
		t->urgent = min_u32(t->urgent, t->due);
	else
		t->due = t->urgent;
	if (!session_heap_reset(&t->oldest, min_u32(SPARE * t->due, WATCH_MAX)))
		t->due = 0;
}

/* False: nothing is left to be done. */
static bool
set_due(struct rebalance *r, const struct backend *b, uint64_t now_ms)
{
	const struct lineup *l = rebalance_lineup(b);
	struct share *shares = rebalance_shares(l);
	bool left = false;

	for (size_t i = 0; i < r->targets_n; i++)
		r->targets[i].due = 0;
	/* Without memory: the next round may have some. */
	if (!shares)
		return true;
	for (uint32_t i = 0; i < l->servers_n; i++) {
		struct target *t = rebalance_target(r, l->states[i]);

		if (!t || shares[i].excess == 0 || t->closed >= t->planned)
			continue;
		left = true;
		set_target_due(r, t, shares[i].excess, now_ms);
	}
	free(shares);
	return left;
}

static bool
any_due(const struct rebalance *r)
{
	for (size_t i = 0; i < r->targets_n; i++)
		if (r->targets[i].due > 0)
			return true;
	return false;
}

static uint64_t
bytes_of(const struct session_facts *f)
{
	return f->received[HANDLE_CLIENT] + f->received[HANDLE_SERVER];
}

/* True when all have been seen. */
static bool
scan(struct rebalance *r)
{
	const struct proxy *proxy = &r->control->proxy;
	uint32_t made = slab_made(&proxy->sessions);

	for (unsigned i = 0; i < SCAN_SLOTS && r->next < made; i++) {
		struct session_facts f;
		struct target *t;

		if (!session_facts_read(proxy, r->next++, &f) || !f.server ||
		    f.state != SESSION_RELAYING)
			continue;
		t = rebalance_target(r, f.server->state);
		if (t && t->due > 0)
			session_heap_offer(&t->oldest,
			    &(struct session_age){.born_ms = f.accepted_ms,
			        .id = f.id,
			        .bytes = bytes_of(&f)});
	}
	return r->next >= made;
}

static bool
close_one(struct rebalance *r, const struct target *t,
    const struct session_age *aged, bool busy_too)
{
	struct proxy *proxy = &r->control->proxy;
	struct session_facts f;

	return session_facts_find(proxy, aged->id, &f) &&
	       f.state == SESSION_RELAYING && f.server &&
	       f.server->state == t->state &&
	       (busy_too || bytes_of(&f) == aged->bytes) &&
	       session_facts_tell(proxy, &f, NOTE_LEVEL);
}

/* Closes up to n sessions, the oldest first. */
static void
close_up_to(struct rebalance *r, struct target *t, uint32_t n, bool busy_too)
{
	for (size_t i = 0; i < t->oldest.n && n > 0; i++) {
		if (!close_one(r, t, &t->oldest.all[i], busy_too))
			continue;
		/* Do not consider this session again. */
		t->oldest.all[i].id = 0;
		t->closed++;
		t->due--;
		n--;
	}
}

static void
close_all_due(struct rebalance *r)
{
	for (size_t i = 0; i < r->targets_n; i++) {
		struct target *t = &r->targets[i];
		uint32_t due = t->due, done;

		if (due == 0)
			continue;
		session_heap_sort(&t->oldest);
		close_up_to(r, t, due, false);
		done = due - t->due;
		if (t->urgent > done)
			close_up_to(r, t, t->urgent - done, true);
	}
}

static void
rest(struct rebalance *r, uint64_t now_ms)
{
	uint64_t next_ms = r->round_from_ms + rebalance_round_ms(r);

	/* The last round begins then. */
	if (now_ms < end_ms(r) && next_ms > end_ms(r))
		next_ms = end_ms(r);
	r->phase = RESTING;
	timed_task_schedule(&r->task, next_ms);
}

/* False: it has ended. */
static bool
begin_round(struct rebalance *r, uint64_t now_ms)
{
	const struct backend *b =
	    model_find_backend(r->control->model, r->backend);
	struct err err;

	r->round_from_ms = now_ms;
	r->next = 0;
	if (!b) {
		rebalance_end(r, "the configuration has this backend no more");
		return false;
	}
	if (!rebalance_may_help(b, &err)) {
		rebalance_end(r, "by the configuration clients go elsewhere "
		                 "than to where there are few now");
		return false;
	}
	if (!set_due(r, b, now_ms)) {
		rebalance_end(r, "no server has more than its share, or those "
		                 "that were too many have been closed");
		return false;
	}
	if (!any_due(r) && now_ms >= end_ms(r)) {
		rebalance_end(r, "the time is over");
		return false;
	}
	r->phase = any_due(r) ? SCANNING : RESTING;
	return true;
}

static void
step(struct rebalance *r, uint64_t now_ms)
{

	if (r->phase == RESTING && !begin_round(r, now_ms))
		return;
	switch (r->phase) {
	case RESTING:
		rest(r, now_ms);
		return;
	case SCANNING:
		if (!scan(r)) {
			timed_task_schedule(&r->task, now_ms + SCAN_MS);
			return;
		}
		r->phase = WATCHING;
		timed_task_schedule(&r->task, now_ms + quiet_ms(r));
		return;
	case WATCHING:
		close_all_due(r);
		if (r->round_from_ms >= end_ms(r))
			rebalance_end(r, "the time is over");
		else
			rest(r, now_ms);
		return;
	}
}

void
rebalance_step(struct timed_task *task, uint64_t now_ms)
{
	step(container_of(task, struct rebalance, task), now_ms);
}
