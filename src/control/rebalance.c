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

bool
rebalance_fill_plan(const struct backend *b, struct rebalance_status *plan)
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
	const struct balance_ops *balance = b->spec->balance;

	if (balance->key != BALANCE_KEY_NONE)
		return err_set(err,
		    "Backend chooses by %s: a client that connects again is "
		    "sent to where it was.",
		    balance->name);
	if (balance->in_order)
		return err_set(err,
		    "Backend fills its servers one after the other (first): "
		    "there is no fair share.");
	return true;
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
	if (!rebalance_fill_plan(backend, &plan)) {
		rebalance_status_fini(&plan);
		return err_oom(err);
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

/* -- the rebalancing itself -- */

void
rebalance_free(struct rebalance *r)
{
	list_remove(&r->node);
	timed_task_cancel(&r->task);
	for (size_t i = 0; i < r->targets_n; i++) {
		server_state_unref(r->targets[i].state);
		session_heap_fini(&r->targets[i].oldest);
	}
	free(r->targets);
	free(r->backend);
	free(r);
}

void
rebalance_count(
    const struct rebalance *r, uint32_t *ret_planned, uint32_t *ret_closed)
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

	rebalance_count(r, &planned, &closed);
	event_add(EVENT_REBALANCE, LOG_LEVEL_INFO, r->backend, NULL,
	    "the rebalancing of backend %s has ended, %u of %u session%s "
	    "closed: %s",
	    r->backend, closed, planned, text_s(planned), why);
	rebalance_free(r);
}

struct target *
rebalance_target(const struct rebalance *r, const struct server_state *state)
{
	for (size_t i = 0; i < r->targets_n; i++)
		if (r->targets[i].state == state)
			return &r->targets[i];
	return NULL;
}
