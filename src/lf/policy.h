/* SPDX-License-Identifier: MIT
 * Policy: when the leader promotes a follower, before it processes an event.
 *
 * always: the paper's rule.  A wake-up costs the leader some 7 us and the
 *   follower needs 15 to 25 us until it runs, for an event that is often
 *   processed in 5.
 * adaptive: the leader keeps leading while the rest of what it has fetched is
 *   worth less than a wake-up, and promotes when a follower would finish
 * sooner. What an event is worth comes from moving averages, one for turns on
 *   sessions and one for turns on listeners: accepting and connecting takes
 *   several times as long as relaying a small message, and a fixed number of
 *   events would be right for only one of them.
 */
#ifndef LF_POLICY_H
#define LF_POLICY_H

#include <stdbool.h>
#include <stdint.h>

enum policy_kind { POLICY_ADAPTIVE, POLICY_ALWAYS };

/* From the decision to wake a follower until it runs, plus what that costs the
 * leader: measured 22 to 32 us with two cores. */
#define POLICY_WAKE_NS 25000u

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
};

/* The leader asks before it processes an event; parked: followers. */
bool policy_promotes(enum policy_kind policy, const struct service_time *times,
    const struct backlog *backlog, unsigned parked);

const char *policy_name(enum policy_kind policy);

#endif
