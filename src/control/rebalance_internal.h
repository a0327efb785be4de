/* SPDX-License-Identifier: MIT
 * Internals of rebalancing.  Only rebalance*.c include this file.
 *
 * rebalance_orders.c calls rebalance_round.c, and both call rebalance.c.
 */
#ifndef CONTROL_REBALANCE_INTERNAL_H
#define CONTROL_REBALANCE_INTERNAL_H

#include "control/control_internal.h"
#include "control/session_heap.h"
#include "control/rebalance.h"
#include "model/fair_share.h"

enum phase_of_round { RESTING, SCANNING, WATCHING };

struct target {
	struct server_state *state; /* counted reference */
	uint32_t planned, closed;
	uint32_t due;    /* sessions to close in this round */
	uint32_t urgent; /* of these, to close even if they are busy */
	struct session_heap oldest;
};

struct rebalance {
	struct list node;
	struct timed_task task;
	struct control *control;
	char *backend;
	uint64_t over_ms, from_ms;
	enum phase_of_round phase;
	uint64_t round_from_ms;
	uint32_t next; /* slot to scan next */
	struct target *targets;
	size_t targets_n;
};

/* -- rebalance.c: plans, and the object -- */

/* The lineup that sessions choose from at present. */
const struct lineup *rebalance_lineup(const struct backend *backend);

/* False with err set if the backend's algorithm does not send clients where
 * there are few sessions. */
bool rebalance_may_help(
    const struct backend *backend, struct err *err) MUST_CHECK;

/* The shares of the lineup's servers, in the lineup's order.  NULL when out of
 * memory.  Caller frees. */
struct share *rebalance_shares(const struct lineup *lineup);

/* Adds the backend's rows and sums to the plan.  False when out of memory; the
 * caller calls rebalance_status_fini in any case. */
bool rebalance_fill_plan(
    const struct backend *backend, struct rebalance_status *plan);

/* Returns NULL if no session of that server is to be closed. */
struct target *rebalance_target(
    const struct rebalance *rebalance, const struct server_state *state);

/* Sums over all targets. */
void rebalance_count(const struct rebalance *rebalance, uint32_t *ret_planned,
    uint32_t *ret_closed);

/* Logs why the rebalancing has ended, and frees it. */
void rebalance_end(struct rebalance *rebalance, const char *why);
/* Cancels the rebalancing's task and frees it, without a log line. */
void rebalance_free(struct rebalance *rebalance);

/* -- rebalance_round.c: the rounds in which sessions are closed -- */

/* Runs the next step; the task of a struct rebalance. */
void rebalance_step(struct timed_task *task, uint64_t now_ms);

/* The time from one round to the next. */
uint64_t rebalance_round_ms(const struct rebalance *rebalance);

#endif
