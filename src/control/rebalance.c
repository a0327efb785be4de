/* SPDX-License-Identifier: MIT
 * See rebalance.h.
 */
#include "control/rebalance_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/events.h"
#include "base/text.h"

/* -- the plan -- */

/* The servers that sessions may go to; NULL when memory is short. */
struct share *
rebalance_shares(const struct lineup *l)
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

const struct lineup *
rebalance_lineup(const struct backend *b)
{
	return atomic_load_acquire(&b->state->lineup);
}

static bool
fill_plan(const struct backend *b, struct rebalance_status *plan)
{
	const struct lineup *l = rebalance_lineup(b);
	struct share *shares = rebalance_shares(l);

	plan->rows = calloc(l->servers_n + 1, sizeof(*plan->rows));
	if (!shares || !plan->rows) {
		free(shares);
		return false;
	}
	plan->rows_n = l->servers_n;
	for (uint32_t i = 0; i < l->servers_n; i++) {
		plan->rows[i] = (struct rebalance_row){
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

bool
rebalance_may_help(const struct backend *b, struct err *err)
{
	switch (b->spec->balance) {
	case BALANCE_SOURCE:
	case BALANCE_HASH:
		return err_set(err,
		    "Backend chooses by %s: a client that connects again is "
		    "sent to where it was.",
		    rebalance_lineup(b)->ops->name);
	case BALANCE_FIRST:
		return err_set(err,
		    "Backend fills its servers one after the other (first): "
		    "there is no fair share.");
	default:
		return true;
	}
}

bool
control_plan_rebalance(struct control *control, const struct backend *backend,
    uint64_t over_ms, struct rebalance_status *ret_plan, struct err *err)
{
	struct rebalance_status plan = {.backend = backend->spec->name,
	    .over_ms = over_ms,
	    .left_ms = over_ms};

	(void)control;
	if (!rebalance_may_help(backend, err))
		return false;
	if (!fill_plan(backend, &plan)) {
		rebalance_status_fini(&plan);
		return err_set(err, "Out of memory.");
	}
	*ret_plan = plan;
	return true;
}

void
rebalance_status_fini(struct rebalance_status *status)
{
	free(status->rows);
	status->rows = NULL;
}

/* -- its life -- */

static struct rebalance *
rebalance_at(struct list *node)
{
	return container_of(node, struct rebalance, node);
}

static struct rebalance *
find(struct control *c, const char *backend)
{
	list_for_each (node, &c->rebalances)
		if (strcmp(rebalance_at(node)->backend, backend) == 0)
			return rebalance_at(node);
	return NULL;
}

static void
free_rebalance(struct rebalance *r)
{
	list_remove(&r->node);
	task_timer_cancel(&r->control->task_timer, &r->task);
	for (size_t i = 0; i < r->targets_n; i++) {
		server_state_unref(r->targets[i].state);
		session_heap_fini(&r->targets[i].oldest);
	}
	free(r->targets);
	free(r->backend);
	free(r);
}

static void
count(const struct rebalance *r, uint32_t *ret_planned, uint32_t *ret_closed)
{
	*ret_planned = *ret_closed = 0;
	for (size_t i = 0; i < r->targets_n; i++) {
		*ret_planned += r->targets[i].planned;
		*ret_closed += r->targets[i].closed;
	}
}

void
rebalance_end(struct rebalance *r, const char *why)
{
	uint32_t planned, closed;

	count(r, &planned, &closed);
	event_add(EVENT_REBALANCE, LOG_LEVEL_INFO, r->backend, NULL,
	    "the rebalancing of backend %s has ended, %u of %u session%s "
	    "closed: %s",
	    r->backend, closed, planned, text_s(planned), why);
	free_rebalance(r);
}

struct target *
rebalance_target(const struct rebalance *r, const struct server_state *state)
{
	for (size_t i = 0; i < r->targets_n; i++)
		if (r->targets[i].state == state)
			return &r->targets[i];
	return NULL;
}

/* -- orders -- */

static bool
set_targets(struct rebalance *r, const struct backend *b,
    const struct rebalance_status *plan)
{
	const struct lineup *l = rebalance_lineup(b);

	r->targets = calloc(plan->rows_n, sizeof(*r->targets));
	if (!r->targets)
		return false;
	for (size_t i = 0; i < plan->rows_n; i++) {
		if (plan->rows[i].planned == 0)
			continue;
		r->targets[r->targets_n++] =
		    (struct target){.state = server_state_ref(l->states[i]),
		        .planned = plan->rows[i].planned};
	}
	return true;
}

static struct rebalance *
new_rebalance(struct control *c, const struct backend *b,
    const struct rebalance_status *plan)
{
	struct rebalance *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->control = c;
	r->over_ms = plan->over_ms;
	r->from_ms = clock_now_ms();
	list_init(&r->node);
	timed_task_init(&r->task, rebalance_step);
	r->backend = strdup(b->spec->name);
	if (!r->backend || !set_targets(r, b, plan)) {
		free_rebalance(r);
		return NULL;
	}
	return r;
}

bool
control_rebalance(struct control *control, const struct backend *backend,
    uint64_t over_ms, struct rebalance_status *ret_plan, struct err *err)
{
	struct rebalance *before = find(control, backend->spec->name), *r;
	struct rebalance_status plan;

	if (!control_plan_rebalance(control, backend, over_ms, &plan, err))
		return false;
	if (plan.planned > 0) {
		r = new_rebalance(control, backend, &plan);
		if (!r) {
			rebalance_status_fini(&plan);
			return err_set(err, "Out of memory.");
		}
		list_append(&control->rebalances, &r->node);
		task_timer_schedule(&control->task_timer, &r->task,
		    r->from_ms + rebalance_round_ms(r));
		event_add(EVENT_REBALANCE, LOG_LEVEL_INFO, r->backend, NULL,
		    "backend %s is rebalanced: up to %u session%s to be "
		    "closed: the operator says so",
		    r->backend, plan.planned, text_s(plan.planned));
	}
	if (before)
		rebalance_end(before, "the operator has ordered another one");
	*ret_plan = plan;
	return true;
}

bool
control_cancel_rebalance(struct control *control, const struct backend *backend)
{
	struct rebalance *r = find(control, backend->spec->name);

	if (!r)
		return false;
	rebalance_end(r, "the operator has cancelled it");
	return true;
}

static void
add_progress(const struct rebalance *r, const struct backend *b,
    struct rebalance_status *status)
{
	const struct lineup *l = rebalance_lineup(b);

	for (size_t i = 0; i < status->rows_n; i++) {
		const struct target *t = rebalance_target(r, l->states[i]);

		status->rows[i].planned = t ? t->planned : 0;
		status->rows[i].closed = t ? t->closed : 0;
	}
	count(r, &status->planned, &status->closed);
}

static bool
tell(const struct rebalance *r, struct rebalance_status *ret)
{
	const struct backend *b =
	    model_find_backend(r->control->model, r->backend);
	uint64_t past_ms = clock_now_ms() - r->from_ms;
	struct rebalance_status s = {.backend = r->backend,
	    .over_ms = r->over_ms,
	    .left_ms = past_ms < r->over_ms ? r->over_ms - past_ms : 0};

	if (b && !fill_plan(b, &s)) {
		rebalance_status_fini(&s);
		return false;
	}
	if (b)
		add_progress(r, b, &s);
	*ret = s;
	return true;
}

bool
control_rebalance_at(
    struct control *control, size_t i, struct rebalance_status *ret_status)
{
	list_for_each (node, &control->rebalances)
		if (i-- == 0)
			return tell(rebalance_at(node), ret_status);
	return false;
}

void
rebalances_free(struct control *control)
{
	list_for_each_safe (node, &control->rebalances)
		free_rebalance(rebalance_at(node));
}
