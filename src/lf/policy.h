/* SPDX-License-Identifier: MIT
 * Policy: who waits for events, and when the leader promotes a follower.
 *
 * always: the paper's rule, promote before every turn.  A wake-up costs the
 *   leader some 7 us and the follower needs 15 to 25 us until it runs, for a
 *   turn that often takes 5.
 * adaptive: the leader keeps leading, and processes with the token on the
 * table, so that any thread that comes along can lead meanwhile.  It calls a
 * follower to come along when the rest of what it has fetched is worth it: more
 * than a wake-up if it has had no rest for 10 ms, and more than 50 wake-ups if
 * it has.  What an event is worth comes from moving averages, one for turns on
 *   sessions and one for turns on listeners: accepting and connecting takes
 *   several times as long as relaying a small message, and a fixed number of
 *   events would be right for only one of them.
 * kernel: no leader; all threads wait on the handle set, and the kernel wakes
 *   one for each edge.
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

/* A handler whose last turns were all longer than this is expected to go on
 * like that: the leader promotes before it runs one more.  A turn's budget is
 * some 50 us; one long turn may be the kernel's doing, which took the CPU away.
 */
#define POLICY_LONG_NS    500000u
#define POLICY_LONG_TURNS 2

enum policy_kind { POLICY_ADAPTIVE, POLICY_ALWAYS, POLICY_KERNEL };

const char *policy_name(enum policy_kind policy);

enum turn_kind { TURN_RELAY, TURN_ACCEPT, TURN_KINDS };

/* A thread's own experience: plain, of the thread. */
struct service_time {
	uint64_t average_ns[TURN_KINDS]; /* 0: no turn so far */
};

/* What a turn is taken to cost before the first was measured. */
uint64_t service_time_ns(const struct service_time *times, enum turn_kind kind);

/* A moving average over about 16 turns. */
void service_time_add(
    struct service_time *times, enum turn_kind kind, uint64_t ns);

/* What has been fetched and not looked at, without the event in hand. */
struct backlog {
	unsigned relays, accepts;
	uint64_t busy_ns; /* since the leader last had to wait for an event */
};

/* The leader asks before it processes an event.  parked: followers; wake_ns:
 * what waking one costs (policy_calibrate). */
bool policy_promotes(enum policy_kind policy, const struct service_time *times,
    const struct backlog *backlog, unsigned parked, uint64_t wake_ns);

/* Measures, on two threads of its own, how long it takes from the decision to
 * wake a thread until it runs, and what that costs the one who wakes: between
 * 25 and 200 us.  Takes a few milliseconds.  25 us if it cannot be measured. */
uint64_t policy_calibrate(void);

#endif
