/* SPDX-License-Identifier: MIT
 * The plan of a schedule: drawn at random, one situation, or a fixed
 * script.
 */
#ifndef SIM_PLAN_H
#define SIM_PLAN_H

/* For sim_run: a pool of any size and setting, handlers of any manner, threads
 * that write and leave notes, and live changes of everything meanwhile. */
void *plan_random(void *arg);

/* For sim_run: a small pool that is brought into one situation, in which the
 * schedules are searched; arg: struct situation. */
void *plan_situation(void *arg);

/* The situation of that name, or NULL; and all their names, one by one. */
struct situation *situation_find(const char *name);
const char *situation_name(unsigned i);

/* For sim_run: a pool of one thread and a fixed script; arg: struct golden. */
void *plan_golden(void *arg);

struct golden {
	const char *name;
	int policy; /* enum policy_kind */
	void (*script)(void);
};

/* The golden of that name, or NULL; and all their names, one by one. */
struct golden *golden_find(const char *name);
const char *golden_name(unsigned i);

#endif
