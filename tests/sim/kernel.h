/* SPDX-License-Identifier: MIT
 * What the scheduler offers to the simulated kernel.
 */
#ifndef SIM_KERNEL_H
#define SIM_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

#define SIM_NEVER UINT64_MAX

/* The calling thread waits at this address, until it is unblocked (true) or so
 * late.  function and line: for who wants to know where. */
bool sim_block(
    const void *on, uint64_t until_ns, const char *function, int line);
void sim_unblock_all(const void *on);
/* Any of them: the kernel promises no order. */
void sim_unblock_one(const void *on);

/* The calling thread lets all others go first. */
void sim_step_back(void);

/* True once in n times; never where nothing is left to chance. */
bool sim_by_chance(uint32_t n);

/* The number of a new thread; the address at which its end is waited for; true
 * if it has ended, the number is then free. */
unsigned sim_start(void *(*main)(void *arg), void *arg);
const void *sim_end_of(unsigned thread);
bool sim_forget(unsigned thread);

/* Forgets the nice values of the schedule before.  Threads begin with that of
 * the one that starts them. */
void sim_forget_nice(void);

/* Sets where sim_random begins. */
void sim_seed(uint64_t seed);

#endif
