/* SPDX-License-Identifier: MIT
 * Threads that stand by: shard.inc with STANDBY.  A wake-up goes to the leader or
 * to the thread beside it, and may be fetched by the one for whom it was not
 * meant.
 *
 *   (plain)  an event, and a thread that is told to retire
 *   NOTE     a note in the place of the event, and an order for no thread
 *
 * The 50 ms of BESIDE_LOOK_MS pass when nobody else can move, and then nothing
 * may be left that a time-out alone would find: no handler in the mailbox, no
 * order, no token that is free while a thread stands by.  Or they pass before the
 * thread waits, and it parks.  It may also park after any wait with events, as
 * a thread does that does not help (POLICY_NEEDLESS).  Shown besides: what is brought is run, all threads
 * end.  Left out: policies and closed shards (both come with an order), the
 * number of threads that may stand by, and how many events each fetches.
 *
 * own: LATE any_sleeper_wanted world world_ended.
 */
#define THREADS  2
#define HANDLERS 1
#define STANDBY
#define LATE
#define INVITE
#define any_sleeper_wanted() (sleeper_wanted(0) || sleeper_wanted(1))
#include "shard.inc"

bool world_ended;

/* Anybody who gives the handler something to do. */
active proctype world()
{
#ifdef NOTE
	bool was_asleep, ok;

	shard_note(0);
#else
	d_step { unread = 1; ready = 1 };
#endif
	world_ended = true
}

/* The control thread: pool_retire_thread(), pool_order_all(), pool_stop(). */
active proctype control()
{
	bool was_asleep;

	atomic {
		run thread(0);
		run thread(1)
	}
#ifndef NOTE
	summons[0] = MEMBER_RETIRE; /* which one: they are all alike */
#endif
	shard_order();
#ifndef NOTE
	running == THREADS - 1;
#endif
	(world_ended && unread == 0 && owned == 0 && !orders);
	summons[0] = MEMBER_RETIRE;
	summons[1] = MEMBER_RETIRE;
	shard_order();
	running == 0;
	assert(token == TOKEN_FREE && stack == 0 && bench == 0)
}
