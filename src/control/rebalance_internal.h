/* SPDX-License-Identifier: MIT
 * What the files of rebalancing share: rebalance.c has the orders and their
 * plans, rebalance_round.c the rounds in which sessions are closed.  Nobody
 * else includes this.
 */
#ifndef CONTROL_REBALANCE_INTERNAL_H
#define CONTROL_REBALANCE_INTERNAL_H

#include "control/control_internal.h"
#include "control/session_heap.h"
#include "control/rebalance.h"
#include "model/fair_share.h"

enum phase_of_round { RESTING, SCANNING, WATCHING };

struct target {
	struct server_state *state; /* referred to */
	uint32_t planned, closed;
	/* In this round: in all, and of these even if they are busy. */
	uint32_t due, urgent;
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
	uint32_t next; /* place to look at */
	struct target *targets;
	size_t targets_n;
};

/* The lineup that sessions choose from at present. */
const struct lineup *rebalance_lineup(const struct backend *backend);

/* False, with err set, where clients do not go to where there are few. */
bool rebalance_may_help(const struct backend *backend, struct err *err);

/* Of the servers of a lineup, by their places; to be freed.  NULL when memory
 * is short. */
struct share *rebalance_shares(const struct lineup *lineup);

/* The server's, or NULL. */
struct target *rebalance_target(
    const struct rebalance *rebalance, const struct server_state *state);

/* It is over, and freed; says why. */
void rebalance_end(struct rebalance *rebalance, const char *why);

/* rebalance_round.c: the task, and when it is to run first. */
void rebalance_step(struct timed_task *task, uint64_t now_ms);
uint64_t rebalance_round_ms(const struct rebalance *rebalance);

#endif
