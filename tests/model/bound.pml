/* SPDX-License-Identifier: MIT
 * Bound handlers (P10, P12): hand_off() of src/lf/shard_serve.c, turns_hand_off(),
 * give_back(), turns_work_mailbox() and turns_close_mailbox() of src/lf/turns.c.
 *
 * Thread A leads shard 0, where a handler is registered that is bound to thread
 * B.  B parks at shard 0 or leads shard 1 and sleeps there, retires, and its
 * place is used again.  Shown: a handler that is handed off is run, by B or, if B
 * has gone, by whoever meets it next; only by the thread it is bound to, one at a
 * time; no mailbox is left full.
 *
 * Left out: shard 0's leader and its wait (mailbox.pml), promotion
 * (promotion.pml): A always leads, and B has the token of shard 1 for itself.
 *
 * own: A B EDGES NONE a_ended asleep1 b_lives box called edges leader lives
 * order1 orders0 orders1 stop summoned unread woken1 world.
 */
#define A      0      /* leads the shard where the handler is registered */
#define B      1      /* the thread it is bound to; its place is used again */
#define NONE   2
#define EDGES  3      /* events in all */

/* Thread B: member.mailbox, closed, at; the handler: bound, its claim. */
bool box, closed;
byte at = NONE;            /* where B leads or parks: shard 0, 1 or NONE */
byte bound = B;
bool owned, pending;
bool mailbox;              /* of shard 0 */
bool ready, unread;

/* B's summons and, where it is parked (at shard 0), its command. */
bool summoned, parked, called;
/* Shard 1, which B leads: asleep, orders, the eventfd. */
bool asleep1, orders1, woken1;
bool orders0;              /* shard 0's leader never sleeps for long here */
byte edges = EDGES, lives = 1;

/* What the properties speak of. */
byte inside;
bool b_lives = true, stop, a_ended;

/* turns_run(), event_handler_run() */
inline turns_run(self)
{
	do
	:: true ->
		d_step {
			assert(owned && inside == 0);
			/* a bound handler is run by the thread it is bound to */
			assert(bound == self);
			inside = 1;
			pending = false;
			unread = false
		}
		d_step { /* claim_drop() */
			inside = 0;
			again = pending;
			if
			:: !again -> owned = false
			:: else
			fi
		}
		if
		:: !again -> break
		:: else
		fi
	od
}

/* shard_submit(); the leader of shard 0 looks by itself (mailbox.pml). */
inline shard_submit()
{
	d_step { assert(owned && !mailbox); mailbox = true }
}

/* give_back(): event_handler_take_all() */
inline give_back()
{
	d_step { took = box; box = false };
	if
	:: took -> took = false; shard_submit()
	:: else
	fi
}

/* member_wanted() of B */
#define member_wanted() (summoned || box)

/* promotion_sweep() with ask_member() at shard 0 */
inline promotion_sweep()
{
	d_step {
		if
		:: parked && member_wanted() -> parked = false; called = true
		:: else
		fi
	}
}

/* shard_order() of shard 1: wake() */
inline order1()
{
	orders1 = true;
	if
	:: asleep1 ->
		d_step { took = asleep1; asleep1 = false };
		if
		:: took -> took = false; woken1 = true
		:: else
		fi
	:: else
	fi
}

/* turns_hand_off() and the rest of hand_off(), by A for a claimed handler. */
inline hand_off()
{
	if
	:: bound == A -> turns_run(A)
	:: bound == B ->
		if
		:: closed -> bound = A; turns_run(A)
		:: else ->
#ifndef MUTANT_LOOK_BEFORE_HAND_OFF
			d_step { assert(!box); box = true }; /* push */
			if
			:: closed -> /* [P12] */
#ifdef MUTANT_HAND_OFF_WITHOUT_LOOK
				skip
#else
				give_back()
#endif
			:: else
			fi;
			where = at; /* [P10] */
#else
			where = at;
			d_step { assert(!box); box = true };
			if
			:: closed -> give_back()
			:: else
			fi;
#endif
			if
			:: where == 0 -> promotion_sweep()
			:: where == 1 -> order1()
			:: else
			fi;
			where = NONE
		fi
	fi
}

/* A leads shard 0: whatever it waits for comes, it looks at all in turn. */
active proctype leader()
{
	bool again, took;
	byte where = NONE;

	do
	:: orders0 -> orders0 = false; promotion_sweep()
	:: mailbox -> mailbox = false; hand_off()
	:: ready ->
		d_step { /* claim_post() */
			ready = false;
			pending = true;
			took = !owned;
			owned = true
		}
		if
		:: took -> took = false; hand_off()
		:: else
		fi
	:: stop && !orders0 && !mailbox && !ready -> break
	od;
	a_ended = true
}

/* B serves, at shard 0 as a follower or at shard 1 as its leader. */
proctype member()
{
	bool again, took;

serve: /* shard_serve(), turns_work_mailbox() */
	if
	:: box ->
		d_step { took = box; box = false };
		if
		:: took -> took = false; turns_run(B)
		:: else
		fi
	:: else
	fi;
	if
	:: summoned -> goto retired
	:: else
	fi;
	if
	:: at = 0 -> goto follow /* come_to() */
	:: at = 1 -> goto lead
	fi;

follow: /* futex_join(): the push, then the look; A sweeps if kicked */
	parked = true;
#ifndef MUTANT_PARK_WITHOUT_LOOK
	if
	:: member_wanted() -> orders0 = true
	:: else
	fi;
#endif
	d_step { called -> called = false };
	goto serve;

lead: /* at shard 1 */
	if
	:: orders1 -> orders1 = false
	:: else
	fi;
	if
	:: member_wanted() -> goto serve /* may_leave() */
	:: else
	fi;
	asleep1 = true;
	if
	:: orders1
	:: else -> d_step { woken1 -> woken1 = false }
	fi;
	asleep1 = false;
	goto lead;

retired: /* turns_close_mailbox() */
#ifdef MUTANT_CLOSE_AFTER_EMPTYING
	give_back();
	closed = true;
#else
	closed = true;
#ifndef MUTANT_CLOSE_WITHOUT_EMPTYING
	give_back();
#endif
#endif
	b_lives = false
}

active proctype world()
{
	do
	:: edges > 0 -> d_step { edges--; unread = true; ready = true }
	:: else -> break
	od
}

/* pool_retire_thread(), pool_start_thread(), prepare_thread(): the place is used
 * again. */
active proctype control()
{
	bool took;

	run member();
	do
	:: lives > 0 ->
		lives--;
		summoned = true;
		orders0 = true;
		order1();
		!b_lives;
		assert(!parked && !called);
		d_step { at = NONE; summoned = false };
		closed = false;
		b_lives = true;
		run member()
	:: true -> break
	od;
	edges == 0 && !unread && !owned;
	/* and now all leave */
	summoned = true;
	orders0 = true;
	order1();
	!b_lives;
	stop = true;
	a_ended;
	assert(!box && !mailbox)
}
