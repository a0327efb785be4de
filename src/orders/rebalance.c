/* SPDX-License-Identifier: MIT
 * See rebalance.h.
 */
#include "orders/rebalance.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/events.h"
#include "base/text.h"
#include "orders/drains.h"
#include "orders/fair_share.h"
#include "orders/oldest_sessions.h"
#include "proxy/instance.h"
#include "proxy/session_facts.h"

/* How many rounds a rebalancing has, and the bounds of a round's length. */
#define ROUNDS       60
#define ROUND_MIN_MS 200
#define ROUND_MAX_MS 5000
/* Watch SPARE times as many candidates as are due: some will be busy. */
#define SPARE     4
#define WATCH_MAX 4096u
/* Sparing busy sessions may delay the rebalancing by 1 / LATE of its time. */
#define LATE 4

enum round_phase { RESTING, WATCHING };

/* A server that has too many sessions. */
struct target {
	struct server_state *state; /* counted reference */
	uint32_t planned, closed;
	uint32_t due;    /* sessions to close in this round */
	uint32_t urgent; /* of these, to close even if they are busy */
	struct oldest_sessions oldest;
};

struct rebalance {
	struct list node;
	struct timed_task task;
	struct instance *instance;
	char *backend;
	uint64_t over_ms, from_ms;
	enum round_phase phase;
	uint64_t round_from_ms;
	size_t targets_n;
	struct target targets[]; /* in the order of state */
};

/* -- the plan -- */

/* Returns the lineup that sessions choose from at present. */
static const struct lineup *
present_lineup(const struct backend *b)
{
	return atomic_load_acquire(&b->state->lineup);
}

/* Returns the shares of the lineup's servers, in its order, or NULL when out of
 * memory.  The caller frees them. */
static struct share *
lineup_shares(const struct lineup *l)
{
	struct share *shares = calloc(l->servers_n + 1, sizeof(*shares));

	if (!shares)
		return NULL;
	for (uint32_t i = 0; i < l->servers_n; i++)
		shares[i] = (struct share){
		    .sessions =
		        atomic_load_relaxed(&l->states[i]->sessions.now),
		    .weight = l->weights[i],
		    .limit = l->limits[i],
		};
	fair_shares(shares, l->servers_n);
	return shares;
}

/* Adds the backend's rows and sums to the plan.  Returns false when out of
 * memory. */
static bool
fill_plan(const struct backend *b, struct rebalance_status *plan)
{
	const struct lineup *l = present_lineup(b);
	struct share *shares = lineup_shares(l);
	struct rebalance_row *rows = calloc(l->servers_n + 1, sizeof(*rows));

	if (!shares || !rows) {
		free(shares);
		free(rows);
		return false;
	}
	plan->rows = rows;
	plan->rows_n = l->servers_n;
	for (uint32_t i = 0; i < l->servers_n; i++) {
		rows[i] = (struct rebalance_row){
		    .server = l->servers[i]->spec->name,
		    .sessions = shares[i].sessions,
		    .fair = shares[i].fair,
		    .weight = server_effective_weight(l->servers[i]),
		    .planned = shares[i].excess,
		};
		plan->sessions += shares[i].sessions;
		plan->planned += shares[i].excess;
	}
	free(shares);
	return true;
}

/* Returns false with err set if the backend's algorithm does not send clients
 * to servers with few sessions. */
static bool
rebalancing_may_help(const struct backend *b, struct err *err)
{
	const struct balance_ops *balance = b->spec->balance;

	if (balance->key != BALANCE_KEY_NONE)
		return err_set(err,
		    "Backend chooses by %s: a client that connects again is "
		    "sent to where it was.",
		    balance->name);
	if (balance->in_order)
		return err_set(err,
		    "Backend fills its servers one after the other (first): "
		    "it has no fair share.");
	return true;
}

bool
rebalance_plan(const struct backend *backend, uint64_t over_ms,
    struct rebalance_status *ret_plan, struct err *err)
{
	struct rebalance_status plan = {.backend = backend->spec->name,
	    .over_ms = over_ms,
	    .left_ms = over_ms};

	if (!rebalancing_may_help(backend, err))
		return false;
	if (!fill_plan(backend, &plan))
		return err_oom(err);
	*ret_plan = plan;
	return true;
}

void
rebalance_status_fini(struct rebalance_status *status)
{
	free(status->rows);
	status->rows = NULL;
}

/* -- the object -- */

void
rebalances_init(struct rebalances *all, struct instance *instance)
{
	all->instance = instance;
	list_init(&all->all);
}

static struct rebalance *
rebalance_at(struct list *node)
{
	return container_of(node, struct rebalance, node);
}

static struct rebalance *
find_rebalance(const struct rebalances *all, const char *backend)
{
	list_for_each (node, &all->all)
		if (strcmp(rebalance_at(node)->backend, backend) == 0)
			return rebalance_at(node);
	return NULL;
}

static int
compare_targets(const void *a, const void *b)
{
	const struct target *x = a, *y = b;

	return (x->state > y->state) - (x->state < y->state);
}

/* Returns the target of the server, or NULL if none of its sessions is to be
 * closed. */
static struct target *
find_target(struct rebalance *r, const struct server_state *state)
{
	const struct target wanted = {.state = (void *)(uintptr_t)state};

	return bsearch(
	    &wanted, r->targets, r->targets_n, sizeof(wanted), compare_targets);
}

static void
sum_targets(
    const struct rebalance *r, uint32_t *ret_planned, uint32_t *ret_closed)
{
	*ret_planned = *ret_closed = 0;
	for (size_t i = 0; i < r->targets_n; i++) {
		*ret_planned += r->targets[i].planned;
		*ret_closed += r->targets[i].closed;
	}
}

static void
rebalance_free(struct rebalance *r)
{
	list_remove(&r->node);
	timed_task_cancel(&r->task);
	for (size_t i = 0; i < r->targets_n; i++) {
		server_state_unref(r->targets[i].state);
		oldest_sessions_fini(&r->targets[i].oldest);
	}
	free(r->backend);
	free(r);
}

/* Logs why the rebalancing has ended, and frees it. */
static void
end_rebalance(struct rebalance *r, const char *why)
{
	uint32_t planned, closed;

	sum_targets(r, &planned, &closed);
	event_add(EVENT_REBALANCE, LOG_LEVEL_INFO, r->backend, NULL,
	    "the rebalancing of backend %s has ended, %u of %u session%s "
	    "closed: %s",
	    r->backend, closed, planned, text_s(planned), why);
	rebalance_free(r);
}

/* -- the rounds in which sessions are closed -- */

static uint64_t
round_ms(const struct rebalance *r)
{
	uint64_t ms = r->over_ms / ROUNDS;

	if (ms < ROUND_MIN_MS)
		return ROUND_MIN_MS;
	return ms < ROUND_MAX_MS ? ms : ROUND_MAX_MS;
}

static uint64_t
quiet_ms(const struct rebalance *r)
{
	uint64_t ms = round_ms(r) / 2;

	return ms < REBALANCE_QUIET_MS ? ms : REBALANCE_QUIET_MS;
}

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
	uint32_t pace = drain_share(t->planned, round_ms(r), r->over_ms);
	uint32_t most = min_u32(excess, WATCH_MAX);

	t->due = min_u32(min_u32(backlog(r, t, past_ms), 2 * pace), most);
	t->urgent = past_ms > late_ms
	                ? min_u32(backlog(r, t, past_ms - late_ms), most)
	                : 0;
	if (now_ms < end_ms(r))
		t->urgent = min_u32(t->urgent, t->due);
	else
		t->due = t->urgent;
	if (!oldest_sessions_reset(
	        &t->oldest, min_u32(SPARE * t->due, WATCH_MAX)))
		t->due = 0;
}

/* Sets how many sessions each server is to close in this round.  Returns false
 * if nothing is left to be done. */
static bool
set_all_due(struct rebalance *r, const struct backend *b, uint64_t now_ms)
{
	const struct lineup *l = present_lineup(b);
	struct share *shares = lineup_shares(l);
	bool left = false;

	for (size_t i = 0; i < r->targets_n; i++)
		r->targets[i].due = 0;
	/* Memory may suffice in the next round. */
	if (!shares)
		return true;
	for (uint32_t i = 0; i < l->servers_n; i++) {
		struct target *t = find_target(r, l->states[i]);

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
bytes_moved(const struct session_facts *f)
{
	return f->received[HANDLE_CLIENT] + f->received[HANDLE_SERVER];
}

/* Finds the oldest sessions of each server that is to close some. */
static void
scan_sessions(struct rebalance *r)
{
	const struct proxy *proxy = &r->instance->proxy;
	uint32_t made = slab_made(&proxy->sessions);

	for (uint32_t i = 0; i < made; i++) {
		struct session_facts f;
		struct target *t;

		if (!session_facts_read(proxy, i, &f) || !f.server ||
		    f.state != SESSION_RELAYING)
			continue;
		t = find_target(r, f.server->state);
		if (t && t->due > 0)
			oldest_sessions_offer(&t->oldest,
			    &(struct session_age){.born_ms = f.accepted_ms,
			        .id = f.id,
			        .index = f.index,
			        .bytes = bytes_moved(&f)});
	}
}

static bool
close_aged(struct rebalance *r, const struct target *t,
    const struct session_age *aged, bool busy_too)
{
	struct proxy *proxy = &r->instance->proxy;
	struct session_facts f;

	return session_facts_again(proxy, aged->index, aged->id, &f) &&
	       f.state == SESSION_RELAYING && f.server &&
	       f.server->state == t->state &&
	       (busy_too || bytes_moved(&f) == aged->bytes) &&
	       session_facts_tell(proxy, &f, NOTE_LEVEL);
}

/* Closes up to n sessions, the oldest first.  Returns their number. */
static uint32_t
close_up_to(struct rebalance *r, struct target *t, uint32_t n, bool busy_too)
{
	uint32_t closed = 0;

	for (size_t i = 0; i < t->oldest.n && closed < n; i++) {
		if (!close_aged(r, t, &t->oldest.all[i], busy_too))
			continue;
		/* Do not consider this session again. */
		t->oldest.all[i].id = 0;
		closed++;
	}
	t->closed += closed;
	return closed;
}

static void
close_all_due(struct rebalance *r)
{
	for (size_t i = 0; i < r->targets_n; i++) {
		struct target *t = &r->targets[i];
		uint32_t quiet;

		if (t->due == 0)
			continue;
		oldest_sessions_sort(&t->oldest);
		quiet = close_up_to(r, t, t->due, false);
		if (t->urgent > quiet)
			(void)close_up_to(r, t, t->urgent - quiet, true);
	}
}

static void
rest_until_next_round(struct rebalance *r, uint64_t now_ms)
{
	uint64_t next_ms = r->round_from_ms + round_ms(r);

	/* The last round begins at the end of the time. */
	if (now_ms < end_ms(r) && next_ms > end_ms(r))
		next_ms = end_ms(r);
	r->phase = RESTING;
	timed_task_schedule(&r->task, next_ms);
}

/* Begins a round.  Returns NULL, or why the rebalancing has ended. */
static const char *
begin_round(struct rebalance *r, uint64_t now_ms)
{
	const struct backend *b =
	    model_find_backend(r->instance->model, r->backend);
	struct err err;

	r->round_from_ms = now_ms;
	if (!b)
		return "the configuration has this backend no more";
	if (!rebalancing_may_help(b, &err))
		return "by the configuration clients go elsewhere than to "
		       "where there are few now";
	if (!set_all_due(r, b, now_ms))
		return "no server has more than its share, or the excess has "
		       "been closed";
	if (!any_due(r))
		return now_ms < end_ms(r) ? NULL : "the time is over";
	scan_sessions(r);
	r->phase = WATCHING;
	return NULL;
}

static void
run_rebalance_step(struct timed_task *task, uint64_t now_ms)
{
	struct rebalance *r = container_of(task, struct rebalance, task);
	const char *why = NULL;

	if (r->phase == RESTING) {
		why = begin_round(r, now_ms);
		if (r->phase == WATCHING) {
			timed_task_schedule(task, now_ms + quiet_ms(r));
			return;
		}
	} else {
		close_all_due(r);
		if (r->round_from_ms >= end_ms(r))
			why = "the time is over";
	}
	if (why)
		end_rebalance(r, why);
	else
		rest_until_next_round(r, now_ms);
}

/* -- orders -- */

static struct rebalance *
new_rebalance(struct rebalances *all, const struct backend *b,
    const struct rebalance_status *plan)
{
	const struct lineup *l = present_lineup(b);
	struct rebalance *r =
	    calloc(1, sizeof(*r) + plan->rows_n * sizeof(r->targets[0]));

	if (!r || !(r->backend = strdup(b->spec->name))) {
		free(r);
		return NULL;
	}
	r->instance = all->instance;
	r->over_ms = plan->over_ms;
	r->from_ms = clock_now_ms();
	timed_task_init(&r->task, &r->instance->timer, run_rebalance_step);
	for (size_t i = 0; i < plan->rows_n; i++)
		if (plan->rows[i].planned > 0)
			r->targets[r->targets_n++] = (struct target){
			    .state = server_state_ref(l->states[i]),
			    .planned = plan->rows[i].planned};
	qsort(r->targets, r->targets_n, sizeof(r->targets[0]), compare_targets);
	list_append(&all->all, &r->node);
	timed_task_schedule(&r->task, r->from_ms + round_ms(r));
	return r;
}

bool
rebalance_begin(struct rebalances *all, const struct backend *backend,
    uint64_t over_ms, struct rebalance_status *ret_plan, struct err *err)
{
	const char *name = backend->spec->name;
	struct rebalance *before = find_rebalance(all, name);
	struct rebalance_status plan;

	if (!rebalance_plan(backend, over_ms, &plan, err))
		return false;
	if (plan.planned > 0) {
		if (!new_rebalance(all, backend, &plan)) {
			rebalance_status_fini(&plan);
			return err_oom(err);
		}
		event_add(EVENT_REBALANCE, LOG_LEVEL_INFO, name, NULL,
		    "backend %s is rebalanced: up to %u session%s to be "
		    "closed: by operator",
		    name, plan.planned, text_s(plan.planned));
	}
	if (before)
		end_rebalance(before, "the operator has ordered another one");
	*ret_plan = plan;
	return true;
}

bool
rebalance_cancel(struct rebalances *all, const struct backend *backend)
{
	struct rebalance *r = find_rebalance(all, backend->spec->name);

	if (r)
		end_rebalance(r, "the operator has cancelled it");
	return r;
}

/* Returns false when out of memory. */
static bool
describe_rebalance(struct rebalance *r, struct rebalance_status *ret)
{
	const struct backend *b =
	    model_find_backend(r->instance->model, r->backend);
	uint64_t past_ms = clock_now_ms() - r->from_ms;
	struct rebalance_status s = {.backend = r->backend,
	    .over_ms = r->over_ms,
	    .left_ms = past_ms < r->over_ms ? r->over_ms - past_ms : 0};

	if (b && !fill_plan(b, &s))
		return false;
	for (size_t i = 0; i < s.rows_n; i++) {
		const struct target *t =
		    find_target(r, present_lineup(b)->states[i]);

		s.rows[i].planned = t ? t->planned : 0;
		s.rows[i].closed = t ? t->closed : 0;
	}
	sum_targets(r, &s.planned, &s.closed);
	*ret = s;
	return true;
}

bool
rebalance_status_at(
    struct rebalances *all, size_t i, struct rebalance_status *ret_status)
{
	list_for_each (node, &all->all)
		if (i-- == 0)
			return describe_rebalance(
			    rebalance_at(node), ret_status);
	return false;
}

void
rebalances_fini(struct rebalances *all)
{
	list_for_each_safe (node, &all->all)
		rebalance_free(rebalance_at(node));
}
