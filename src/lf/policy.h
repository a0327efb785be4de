/* SPDX-License-Identifier: MIT
 * Policy: which threads wait for events, and when a leader promotes a follower.
 *
 * always    The leader promotes before every turn, as the paper has it.  A
 *           wake-up costs the leader some 7 us and the follower needs 15 to
 *           25 us until it runs, for a turn that often takes 5.
 * adaptive  The leader keeps leading, and processes with the token published,
 *           so that any thread that joins can lead meanwhile.  When events wait
 *           behind its turn it calls a follower, as long as there is a CPU for
 *           one.  That thread stands by: it waits in the handle set beside the
 *           leader, the kernel wakes one of the two for each edge, and it parks
 *           after a while without events, or when it does not help.  So under
 *           load as many threads of a shard take events as its share of the
 *           CPUs, rounded up, and no event costs a futex.
 * kernel    No thread leads.  All threads stand by.
 */
#ifndef LF_POLICY_H
#define LF_POLICY_H

#include <stdbool.h>
#include <stdint.h>

/* A leader calls a follower at most once in this many times the cost of a
 * wake-up (policy_calibrate), so calls take at most 2 % of its time. */
#define POLICY_CALL_INTERVAL 50

/* A leader calls no follower for this time after it has slept: it soon gets
 * through what came meanwhile, and a wake-up would cost more.  With 1 ms there
 * are fewer calls, but on busy CPUs requests wait longer (the lab's experiment
 * "awake"). */
#define POLICY_AWAKE_NS 200000u

/* A thread that stands by parks after so many waits in a row whose events the
 * leader could have taken as soon. */
#define POLICY_NEEDLESS 4

/* How long handlers that were brought by the mailbox may be started without a
 * look at the kernel.  Most of them have short turns: sessions that were told
 * to leave or to move, that came from another process or waited for bandwidth.
 */
#define POLICY_RESUMED_NS 50000u

/* The leader promotes before it runs a handler whose last POLICY_LONG_TURNS
 * turns all took longer than POLICY_LONG_NS.  A turn's budget is some 50 us; a
 * single long turn may be due to preemption. */
#define POLICY_LONG_NS    500000u
#define POLICY_LONG_TURNS 2

/* For this time after a turn longer than POLICY_LONG_NS, unless its thread was
 * preempted, threads that wait beside others fetch one event at a time: no
 * other thread could run what else they had fetched. */
#define POLICY_LONG_SEEN_NS 10000000000u

/* Threads that wait beside each other fetch at most as many events as take this
 * time, by the average of their turns: no other thread can take over the rest
 * of a batch that is a thread's own, and a leader leaves some to those who
 * stand by. */
#define POLICY_SHARED_NS 100000u

/* How many events such a thread fetches before it has an average. */
#define POLICY_SHARED_FIRST 8

/* A leader yields its CPU once before it sleeps.  After a yield that found no
 * event it omits as many as have failed in a row, up to POLICY_YIELD_MISSES;
 * after two in a row that lasted POLICY_YIELD_LONG_NS, because other work keeps
 * the CPU, twice as many each time, up to 1 << POLICY_YIELD_LONG_MAX. */
#define POLICY_YIELD_MISSES   15u
#define POLICY_YIELD_LONG_NS  1000000u
#define POLICY_YIELD_LONG_MAX 10u

/* Under adaptive with ORDER_PRIORITY a leader that is not of the best class
 * looks once in this time whether a thread of a better class is parked, and
 * promotes that one. */
#define POLICY_RANK_NS 1000000u

enum policy_kind { POLICY_ADAPTIVE, POLICY_ALWAYS, POLICY_KERNEL };

/* Returns the name that the configuration uses. */
const char *policy_name(enum policy_kind policy);

enum turn_kind { TURN_RELAY, TURN_ACCEPT, TURN_KINDS };

/* Measures, on two threads of its own, the time from the decision to wake a
 * thread until that thread runs, and the cost for the waking thread.  Returns
 * 25 to 200 us; 25 us if the measurement fails.  Takes a few milliseconds. */
uint64_t policy_calibrate(void);

#endif
