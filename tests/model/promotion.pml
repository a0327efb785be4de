/* SPDX-License-Identifier: MIT
 * Promotion while threads come and go: shard.inc with three threads, one turn,
 * one thread told that its home has changed, one told to retire, then all.
 * The control process is pool_retire_thread() with pool_order_all(), then
 * pool_stop(); it never retires the last (retire_surplus() sees to that).
 *
 *   (plain)   3 threads
 *   LIVENESS  2 threads, under weak fairness: they end, whatever is chosen
 *   CLASSES   each thread is of a class of its own, the first one of the best
 *             (ORDER_PRIORITY): a leader may promote a parked one of a better
 *             class between turns
 *
 * Shown: at most one holder of the token; nobody parked while it is free; a parked thread gets exactly one command; one that was promoted and
 * is to retire passes the token on (the threads that stay serve the event); all
 * threads end.  P2 is taken for granted, mailbox.pml shows it.
 *
 * own: world world_ended.
 */
#ifdef LIVENESS
#define THREADS  2
#else
#define THREADS  3
#endif
#define HANDLERS 1
#define MORE_MAX 0
#define INVITE
#define P2_HOLDS
#define SHORT_TURNS
#include "shard.inc"

bool world_ended;

/* Anybody who gives the handler something to do. */
active proctype world()
{
	d_step { unread = 1; ready = 1 };
	world_ended = true
}

/* The control thread. */
active proctype control()
{
	byte i;

	atomic {
		run thread(0);
		run thread(1);
#if THREADS > 2
		run thread(2)
#endif
	}

	/* One may find that its home has changed. */
	if
	:: summons[0] = MEMBER_MOVE; shard_order()
	:: true
	fi;
	/* Any one of them retires, the others go on. */
	if
	:: i = 0
	:: i = 1
	fi;
	summons[i] = MEMBER_RETIRE;
	shard_order();
	running == THREADS - 1;
	(world_ended && unread == 0);
	/* pool_stop() */
	i = 0;
	do
	:: i < THREADS -> summons[i] = MEMBER_RETIRE; i++
	:: else -> break
	od;
	shard_order();
	running == 0;
	assert(token == TOKEN_FREE && stack == 0 && bench == 0)
}

/* all threads end */
ltl all_end { <> (running == 0) }
