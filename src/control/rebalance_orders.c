/* SPDX-License-Identifier: MIT
 * See rebalance.h: the operator's orders, and the progress of those under way.
 */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/events.h"
#include "base/text.h"
#include "control/rebalance_internal.h"

static struct rebalance *
rebalance_at(struct list *node)
{
	return container_of(node, struct rebalance, node);
}

static struct rebalance *
find_rebalance(struct control *c, const char *backend)
{
	list_for_each (node, &c->rebalances)
		if (strcmp(rebalance_at(node)->backend, backend) == 0)
			return rebalance_at(node);
	return NULL;
}

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
	timed_task_init(&r->task, &c->task_timer, rebalance_step);
	r->backend = strdup(b->spec->name);
	if (!r->backend || !set_targets(r, b, plan)) {
		rebalance_free(r);
		return NULL;
	}
	return r;
}

bool
control_rebalance(struct control *control, const struct backend *backend,
    uint64_t over_ms, struct rebalance_status *ret_plan, struct err *err)
{
	struct rebalance *before = find_rebalance(control, backend->spec->name),
	                 *r;
	struct rebalance_status plan;

	if (!control_plan_rebalance(control, backend, over_ms, &plan, err))
		return false;
	if (plan.planned > 0) {
		r = new_rebalance(control, backend, &plan);
		if (!r) {
			rebalance_status_fini(&plan);
			return err_oom(err);
		}
		list_append(&control->rebalances, &r->node);
		timed_task_schedule(
		    &r->task, r->from_ms + rebalance_round_ms(r));
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
	struct rebalance *r = find_rebalance(control, backend->spec->name);

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
	rebalance_count(r, &status->planned, &status->closed);
}

static bool
rebalance_describe(const struct rebalance *r, struct rebalance_status *ret)
{
	const struct backend *b =
	    model_find_backend(r->control->model, r->backend);
	uint64_t past_ms = clock_now_ms() - r->from_ms;
	struct rebalance_status s = {.backend = r->backend,
	    .over_ms = r->over_ms,
	    .left_ms = past_ms < r->over_ms ? r->over_ms - past_ms : 0};

	if (b && !rebalance_fill_plan(b, &s)) {
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
			return rebalance_describe(
			    rebalance_at(node), ret_status);
	return false;
}

void
rebalances_free(struct control *control)
{
	list_for_each_safe (node, &control->rebalances)
		rebalance_free(rebalance_at(node));
}
