/* SPDX-License-Identifier: MIT
 * Take-over of a published token: shard.inc with two threads, and the guard
 * of the keeper (shard_guard(), pool_guard(); look_at_pools() and keeper_call()
 * of src/proxy/keeper.c).  One turn does not end before the other handler was
 * served, so somebody has to take the token meanwhile: a thread that joins, or
 * for a parked one the guard.
 *
 *   (plain)  leaders call the guard while it sleeps
 *   ALARM    they set an alarm, which may go off at once, also before the token
 *            is published
 *
 * Shown: the other handler is served, also when the guard was about to go to
 * sleep (P18); the leader that has lost its token does not lead; the guard calls
 * nobody without the token.  Left out: its limit and GUARD_IDLE (the timer comes
 * at any time, and the guard may sleep whenever it sees no turn under way).
 *
 * own: SLEEPS_MAX guard guarding world world_ended.
 * elsewhere: keeper_call look_at_pools.
 */
#define THREADS  2
#define HANDLERS 2
#define P2_HOLDS
#define SHORT_TURNS
#define GUARD
#define SLEEPS_MAX 2 /* of the guard */
/* Between grace_enter() and grace_leave().  The first handler's turn lasts until
 * the other one has been served. */
#define TURN(h) \
	under_way++; \
	h == 1 || !(unread & 2); \
	under_way--
#include "shard.inc"

bool world_ended;
bool guarding = true;    /* the timer is active */

/* Events for both handlers. */
active proctype world()
{
	d_step { unread = unread | 1; ready = ready | 1 };
	d_step { unread = unread | 2; ready = ready | 2 };
	world_ended = true
}

/* The timer and the call; it blocks where the timer would find nothing to do. */
active proctype guard()
{
	byte m, sleeps;
	bool ok;

	do
	:: running == 0 -> break
#ifndef MUTANT_NO_GUARD
	:: guarding && token != TOKEN_HELD && parked > 0 -> /* shard_guard() */
#ifdef MUTANT_GUARD_WITHOUT_TOKEN
		ok = true;
#else
		futex_try_lead(THREADS, true);
#endif
		if
		:: ok -> futex_promote(THREADS); ok = false
		:: else
		fi
	:: guarding && under_way == 0 && sleeps < SLEEPS_MAX -> /* guard_may_sleep() */
		d_step { sleeps++; unguarded = sleeps };
#ifdef MUTANT_SLEEP_WITHOUT_LOOK
		guarding = false
#else
		if
		:: token == TOKEN_HELD -> guarding = false
		:: else
		fi
#endif
	:: guard_called -> guard_called = false; guarding = true /* keeper_call() */
#ifdef ALARM
	:: alarm -> d_step { alarm = false; gone_off = true }
#ifndef MUTANT_ALARM_UNSEEN
	:: gone_off -> gone_off = false; unguarded = 0; guarding = true /* pool_alarm_gone_off() */
#endif
#endif
#endif
	od
}

active proctype control()
{
	atomic {
		run thread(0);
		run thread(1)
	}
	world_ended && unread == 0 && owned == 0;
	d_step { summons[0] = MEMBER_RETIRE; summons[1] = MEMBER_RETIRE };
	shard_order();
	running == 0
}
