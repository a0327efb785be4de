/* SPDX-License-Identifier: MIT
 * Virtual CPUs on which simulated threads run, and virtual time: the sim.h and
 * kernel.h of the cost model.
 *
 * A thread runs on a CPU, waits for one, or is blocked.  What it does takes the
 * time that it spends (cpus_spend); meanwhile the threads on other CPUs do what
 * they do in that time.  So everything happens in the order of virtual time, on
 * all CPUs, and follows from the seed.
 *
 * A woken thread gets an idle CPU, at best the one that it ran on last.  If
 * there is none it waits for that one, whose thread keeps it for a slice; then
 * the thread that has had the least CPU time goes on.  A CPU that becomes idle
 * takes what waits for others only after a while, as Linux does.  How long
 * waking takes varies (cpus_about), or threads would meet in the same order for
 * ever.
 */
#ifndef SIM_COST_CPUS_H
#define SIM_COST_CPUS_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/cost/costs.h"

#define CPUS_MAX 64

struct cpus_options {
	unsigned cpus; /* 1 to CPUS_MAX */
	uint64_t seed;
	const struct costs *costs;
};

/* Runs main(arg) as the first thread.  Does not return: main calls exit. */
_Noreturn void cpus_run(
    const struct cpus_options *options, void *(*main)(void *arg), void *arg);

/* The costs of cpus_options. */
const struct costs *cpus_costs(void);

/* The present virtual time, at no cost. */
uint64_t cpus_now_ns(void);
/* The CPU of the calling thread. */
unsigned cpus_here(void);

/* The calling thread computes for so long.  Does nothing in a call of cpus_at.
 */
void cpus_spend(uint64_t ns);

/* A time that varies: half of it to half more, from the seed. */
uint64_t cpus_about(uint64_t ns);

/* Calls call(arg) at that time, on no CPU. */
void cpus_at(uint64_t at_ns, void (*call)(void *arg), void *arg);

/* The CPU time of the calling thread from here on is added to *ns. */
void cpus_account(uint64_t *ns);

/* CPU time that no thread has used so far, on all CPUs. */
uint64_t cpus_idle_ns(void);

#endif
