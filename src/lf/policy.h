/* SPDX-License-Identifier: MIT
 * Policy: which threads wait for events, and when a leader promotes a follower.
 *
 * always: the leader promotes before every turn, as the paper has it.  A
 * wake-up costs the leader some 7 us and the follower needs 15 to 25 us until
 * it runs, for a turn that often takes 5. adaptive: the leader keeps leading,
 * and processes with the token published, so that any thread that joins can
 * lead meanwhile.  The leader calls a follower when the rest of the fetched
 * events is worth more than 50 wake-ups, or more than one wake-up if the leader
 * has not waited for 10 ms.  The worth of an event is a moving average, one
 * for turns on sessions and one for turns on listeners: accepting and
 * connecting takes several times as long as relaying a small message, so no
 * fixed number of events fits both. kernel: no thread leads.  All threads
 * wait on the handle set, and the kernel wakes one of them for each edge.
 */
#ifndef LF_POLICY_H
#define LF_POLICY_H

#include <stdbool.h>
#include <stdint.h>

/* Measured on two CPUs, 64 connections, medians of interleaved runs: with a
 * call for each backlog above one wake-up a request took 10.6 us of CPU, above
 * 5: 8.3, above 20: 6.7, above 50: 6.1; a reactor for each thread 6.2. */
#define POLICY_BURST   50
#define POLICY_BUSY_NS 10000000u

/* The leader promotes before it runs a handler whose last POLICY_LONG_TURNS
 * turns all took longer than POLICY_LONG_NS.  A turn's budget is some 50 us; a
 * single long turn may be due to preemption. */
#define POLICY_LONG_NS    500000u
#define POLICY_LONG_TURNS 2

enum policy_kind { POLICY_ADAPTIVE, POLICY_ALWAYS, POLICY_KERNEL };

/* Returns the name that the configuration uses. */
const char *policy_name(enum policy_kind policy);

enum turn_kind { TURN_RELAY, TURN_ACCEPT, TURN_KINDS };

/* Measured durations of a thread's turns.  Plain fields of that thread. */
struct service_time {
	uint64_t average_ns[TURN_KINDS]; /* 0: no turn so far */
};

/* Returns the expected duration of a turn; a constant before the first
 * measurement. */
uint64_t service_time_ns(const struct service_time *times, enum turn_kind kind);

/* Adds a turn to the moving average over about 16 turns. */
void service_time_add(
    struct service_time *times, enum turn_kind kind, uint64_t ns);

/* Events that were fetched and not processed so far, without the present one.
 */
struct backlog {
	unsigned relays, accepts;
	uint64_t busy_ns; /* since the leader last had to wait for an event */
};

/* Returns whether the leader calls a follower before it processes an event.
 * parked is the number of parked followers, wake_ns the cost of waking one
 * (policy_calibrate). */
bool policy_promotes(enum policy_kind policy, const struct service_time *times,
    const struct backlog *backlog, unsigned parked, uint64_t wake_ns);

/* Measures, on two threads of its own, the time from the decision to wake a
 * thread until that thread runs, and the cost for the waking thread.  Returns
 * 25 to 200 us; 25 us if the measurement fails.  Takes a few milliseconds. */
uint64_t policy_calibrate(void);

#endif
