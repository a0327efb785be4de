/* SPDX-License-Identifier: MIT
 * promotion = kernel and its live change: shard.inc with KERNEL.  An eventfd's
 * wake-up goes to any one of those who wait in the handle set, and may be fetched
 * by one for whom it was not meant.
 *
 *   (plain)   3 threads, no events; kernel, adaptive, kernel; one is to retire
 *   LIVENESS  2 threads of it, under weak fairness: it settles and ends
 *   TRAFFIC   2 threads, an event and a note, to kernel or from it
 *
 * With LATE the 50 ms of BESIDE_LOOK_MS pass only when nobody else can move, and
 * then nothing may be left that a time-out alone would find: no handler in the
 * mailbox, no order that the parked have not heard of.  Without it they pass at
 * any time.  Shown besides: all threads end, the token is free once kernel
 * has settled in, what is brought is run.
 *
 * own: any_sleeper_wanted world world_ended.
 */
#define HANDLERS 1
#define KERNEL   POLICY_KERNEL
#if defined(TRAFFIC)
#define THREADS  2
#define MORE_MAX 0
#define any_sleeper_wanted() (sleeper_wanted(0) || sleeper_wanted(1))
#elif defined(LIVENESS)
#define THREADS  2
#define NO_EVENTS
#define any_sleeper_wanted() false
#else
#define THREADS  3
#define NO_EVENTS
#define any_sleeper_wanted() \
	(sleeper_wanted(0) || sleeper_wanted(1) || sleeper_wanted(2))
#endif
#include "shard.inc"

bool world_ended;

/* Anybody who gives the handler something to do, and control when it leaves a
 * note. */
active proctype world()
{
#ifdef TRAFFIC
	bool was_asleep, ok;

	d_step { unread = 1; ready = 1 };
	shard_note(0);
#endif
	world_ended = true
}

inline pool_set_policy(p)
{
	policy = p;
	shard_order()
}

/* The control thread: pool_set_policy(), pool_retire_thread(), pool_stop(). */
active proctype control()
{
	bool was_asleep;
	byte i;

	atomic {
		run thread(0);
		run thread(1);
#if THREADS > 2
		run thread(2)
#endif
	}
#ifdef TRAFFIC
	if
	:: pool_set_policy(POLICY_ADAPTIVE)
	:: policy = POLICY_ADAPTIVE; pool_set_policy(POLICY_KERNEL)
	fi;
#else
	pool_set_policy(POLICY_ADAPTIVE);
	pool_set_policy(POLICY_KERNEL);
	token == TOKEN_FREE; /* the leader from before goes, and nobody follows it */
	summons[0] = MEMBER_RETIRE; /* which one: they are all alike */
	shard_order();
	running == THREADS - 1;
#endif
	(world_ended && unread == 0);
	i = 0;
	do
	:: i < THREADS -> summons[i] = MEMBER_RETIRE; i++
	:: else -> break
	od;
	shard_order();
	running == 0;
	assert(token == TOKEN_FREE && stack == 0 && bench == 0)
}

/* all threads end, whatever was changed before */
ltl all_end { <> (running == 0) }
