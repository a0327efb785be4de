/* SPDX-License-Identifier: MIT
 * Long turns and threads apart: src/lf/admission.c, shard_serve_long() and
 * shard_run_long() of shard_long.c, pool_retire_thread(), pool_hand_over() and
 * pool_limit_long_turns().  Two threads apart and one at a shard; three handlers
 * declare a long turn each; the control thread may let one thread apart or both
 * retire meanwhile, or start with none apart and hand over to them.
 *
 * Shown: every declared turn is run, once; all threads end.  The lock's holder
 * is alone, so what it does shares a step unless it looks at a summons, which is
 * written without the lock.  Left out: nice values, the guard, that no handler
 * waits while fewer run than may (the simulator), the way of a submitted handler
 * (mailbox.pml).
 *
 * own: ALL BIT HANDLERS NEXT_NONE THREADS admitted change done held put signal
 * sleeping submitted take thread_apart thread_of_shard threads_apart.
 */
#define THREADS  2
#define HANDLERS 3
#define ALL      7
#define NEXT_NONE 3 /* no handler */
#define BIT(i)   (1 << (i))
#define MEMBER_RETIRE 2

chan queue = [HANDLERS] of { byte }; /* first, end */
byte running, limit = 1;             /* struct admission */
bool apart, held;                    /* the latter: its lock */
byte sleeping;                       /* a set: who waits for ready */
byte summons[THREADS];
byte submitted = ALL;                /* a set, in mailboxes */
byte admitted;                       /* a set: NEXT_ADMITTED */
byte done;                           /* a set: the long turn has ended */
byte threads_apart = THREADS;        /* that have not ended */

inline lock_acquire() { atomic { !held -> held = true } }
inline lock_release() { held = false }

/* take_first_locked(), admit_locked() */
inline take(h)
{
	if
	:: running < limit && nempty(queue) ->
		queue?h;
		running++;
		admitted = admitted | BIT(h)
	:: running >= limit || empty(queue) -> h = NEXT_NONE
	fi
}

inline put(h)
{
	submitted = submitted | BIT(h)
}

/* pthread_cond_signal() of ready */
inline signal()
{
	if
	:: sleeping & 1 -> sleeping = sleeping & ~1
	:: sleeping & 2 -> sleeping = sleeping & ~2
	:: sleeping == 0
	fi
}

inline admission_ask(h)
{
	lock_acquire();
	d_step {
		hand_over = apart && running < limit;
		if
		:: !apart && running < limit ->
			running++;
			admitted = admitted | BIT(h);
			ok = true
		:: else -> ok = false; queue!h
		fi
	}
	lock_release();
#ifndef MUTANT_NO_SIGNAL
	if
	:: hand_over -> atomic { signal() }
	:: else
	fi;
#endif
	hand_over = false
}

inline admission_end(h)
{
	lock_acquire();
	d_step { assert(running > 0); running--; take(h) }
	lock_release()
}

inline admission_wake()
{
#ifndef MUTANT_WAKE_WITHOUT_LOCK
	lock_acquire();
	lock_release();
#endif
	sleeping = 0
}

inline event_handler_run(h)
{
	d_step {
		assert(admitted & BIT(h));
		assert(!(done & BIT(h)));
		admitted = admitted & ~BIT(h);
		done = done | BIT(h)
	}
}

proctype thread_apart(byte me)
{
	byte h = NEXT_NONE;

again: /* admission_await() */
	lock_acquire();
	do
	:: summons[me] != 0 -> break
	:: summons[me] == 0 ->
		d_step { take(h) }
		if
		:: h != NEXT_NONE -> break
		:: else
		fi;
		d_step { sleeping = sleeping | BIT(me); held = false }
		!(sleeping & BIT(me));
		lock_acquire()
	od;
	lock_release();
	do
	:: h == NEXT_NONE ->
		if
		:: summons[me] != 0 -> goto ended
		:: else -> goto again
		fi
	:: else ->
		event_handler_run(h);
		admission_end(h);
		if
		:: h != NEXT_NONE && summons[me] != 0 ->
#ifndef MUTANT_KEEP_THE_LAST
			put(h);
#endif
			goto ended
		:: else
		fi
	od;
ended:
	threads_apart--
}

proctype thread_of_shard()
{
	byte h = NEXT_NONE;
	bool hand_over, ok;

	do
	:: submitted != 0 ->
		d_step {
			h = (submitted & 1 -> 0 : (submitted & 2 -> 1 : 2));
			submitted = submitted & ~BIT(h)
		}
		if
		:: admitted & BIT(h) -> ok = true
		:: else -> admission_ask(h)
		fi;
		if
		:: ok -> /* shard_run_long() */
			do
			:: h != NEXT_NONE ->
				event_handler_run(h);
				admission_end(h);
				if
				:: h != NEXT_NONE -> put(h); h = NEXT_NONE
				:: true
				fi
			:: h == NEXT_NONE -> break
			od
		:: else
		fi;
		h = NEXT_NONE
	:: done == ALL -> break
	od
}

/* pool_retire_thread() */
inline pool_retire_thread(t)
{
	summons[t] = MEMBER_RETIRE;
#ifndef MUTANT_RETIRE_WITHOUT_WAKE
	admission_wake()
#endif
}

/* pool_hand_over(), pool_limit_long_turns() */
inline change(is_apart, most)
{
#ifndef MUTANT_NO_HAND_OVER
	lock_acquire();
	apart = is_apart;
	lock_release();
#endif
	lock_acquire();
	limit = most;
	lock_release();
	if
	:: is_apart ->
		admission_wake()
	:: else ->
		do
		:: true ->
			lock_acquire();
			d_step { take(h) }
			lock_release();
#ifdef MUTANT_LIMIT_WITHOUT_TAKE
			h = NEXT_NONE;
#endif
			if
			:: h == NEXT_NONE -> break
			:: else -> put(h)
			fi
		od
	fi
}

active proctype control()
{
	byte h = NEXT_NONE;

	if
	:: apart = true /* from the beginning */
	:: true
	fi;
	atomic { run thread_apart(0); run thread_apart(1); run thread_of_shard() }
	change(true, 1);
	change(true, 2);
	if
	:: true -> pool_retire_thread(0); change(true, 1)
	:: true -> pool_retire_thread(0); pool_retire_thread(1); change(false, 2)
	:: true
	fi;
	done == ALL && running == 0;
	pool_retire_thread(0);
	pool_retire_thread(1);
	threads_apart == 0;
	assert(empty(queue) && admitted == 0 && submitted == 0)
}
