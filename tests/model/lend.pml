/* SPDX-License-Identifier: MIT
 * Shards without a leader, and threads of other shards that help: pool_guard(),
 * lend_parked(), lend_leader(), visit() and look_around() of src/lf, with
 * published tokens.  The turn of one handler of shard 1 does not end before the
 * other handlers, one at each shard, were served.
 *
 *   (plain)   2 threads, a reactor for each
 *   PARKED    3 threads, so that one of them can be lent to stay; nothing is at
 *             shard 0, and no leader promotes before a turn
 *   SLEEP     2 threads, and the guard may go to sleep; nothing is at shard 0
 *
 * Shown: as long as one thread is not in a turn, the events of both shards are
 * served, also when the guard was about to go to sleep (P18); one thread holds
 * a token; nobody is parked while a token is free; all threads end.  A promotion
 * is one step here (promotion.pml), and so are a wait and what it looks at
 * (mailbox.pml).  Left out: the guard's limit and GUARD_IDLE (the timer comes at
 * any time, and the guard may sleep whenever it sees no turn under way); homes
 * that change (shards.pml); the ways to park and to retire (promotion.pml);
 * mailboxes; kernel; a handler has one event, so there are no claims.
 *
 * own: BIT GUARD_OF LONG NONE OTHER SHORT THREADS call_one can_lend fetch guard
 * guard_called guarding holds publisher resume running take_shard to_do
 * under_way unread world.
 * elsewhere: keeper_call.
 */
#ifdef PARKED
#define THREADS 3
#else
#define THREADS 2
#endif
#define LONG     0     /* handlers */
#define SHORT    1
#define OTHER    2
#define NONE     2     /* no shard */
#define BIT(i)   (1 << (i))
#define TOKEN_FREE      4 /* enum promotion_token; held: by whom */
#define TOKEN_PUBLISHED 5
#define MEMBER_WAIT     0 /* enum member_command */
#define MEMBER_LEAD     1
#define MEMBER_RETIRE   2
#define MEMBER_VISIT    5

/* struct shard, two of them; publisher stands for the tag */
byte token[2] = TOKEN_FREE, publisher[2];
byte parked[2];          /* sets of threads */
byte ready[2], batch[2]; /* sets of handlers with an event */
bool orders[2], unattended[2];
byte lends[2];

byte command[THREADS], summons[THREADS];
byte running = THREADS;
#if defined(SLEEP) || defined(PARKED)
byte unread = BIT(LONG) | BIT(SHORT); /* handlers whose turn has not ended */
#else
byte unread = BIT(LONG) | BIT(SHORT) | BIT(OTHER);
#endif
byte under_way;          /* threads inside a grace section */
#ifdef SLEEP
bool unguarded[2], guard_called, guarding = true;
#else
#define guarding true
#endif

#ifdef MUTANT_LEND_ONLY_THE_PARKED
#define can_lend(s) (parked[s] != 0)
#else
#define can_lend(s) true
#endif
#define holds(s)   (token[s] < TOKEN_FREE)
#define to_do(s)   ((ready[s] | batch[s]) != 0)

/* shard_call_guard() */
inline shard_call_guard(s)
{
#ifdef SLEEP
	if
	:: unguarded[s] -> d_step { unguarded[s] = false; guard_called = true }
	:: else
	fi
#else
	skip
#endif
}

inline promotion_try_lead(where, busy_too)
{
	d_step {
		if
		:: token[where] == TOKEN_FREE ||
		    (token[where] == TOKEN_PUBLISHED && busy_too) ->
			token[where] = me;
			s = where
		:: else
		fi
	}
}

/* take_unattended() */
inline take_shard(where)
{
	if
	:: unattended[where] ->
		promotion_try_lead(where, true)
	:: else
	fi
}

/* publish_token() */
inline publish_token(where)
{
	d_step {
		assert(token[where] == me);
		token[where] = TOKEN_PUBLISHED;
		publisher[where] = me
	}
#ifndef MUTANT_NO_LOOK_AFTER_BUSY
	shard_call_guard(where)
#endif
}

/* promotion_resume() */
inline resume(where)
{
	d_step {
#ifdef MUTANT_RESUME_WITHOUT_LOOK
		ok = true;
#else
		ok = token[where] == TOKEN_PUBLISHED && publisher[where] == me;
#endif
		if
		:: ok ->
			assert(!holds(where));
			token[where] = me
		:: else
		fi
	}
}

inline call_one(where, c)
{
	if
	:: parked[where] & 1 -> to = 0
	:: parked[where] & 2 -> to = 1
#ifdef PARKED
	:: parked[where] & 4 -> to = 2
#endif
	fi;
	parked[where] = parked[where] & ~BIT(to);
	if
	:: c == MEMBER_LEAD -> token[where] = to
	:: else
	fi;
	command[to] = c;
	to = 0
}

/* promotion_promote() */
inline promotion_promote(where)
{
	atomic {
		if
		:: parked[where] != 0 -> call_one(where, MEMBER_LEAD)
		:: else -> token[where] = TOKEN_FREE
		fi
	}
}

/* give_up() */
inline give_up()
{
	promotion_promote(s);
#ifndef MUTANT_NO_LOOK_AFTER_GIVING_UP
	shard_call_guard(s)
#endif
}

/* obey_orders(), ask_member() */
inline promotion_sweep()
{
	atomic {
		to = 0;
		do
		:: to < THREADS && (parked[s] & BIT(to)) && summons[to] != 0 ->
			parked[s] = parked[s] & ~BIT(to);
			command[to] = summons[to];
			to++
		:: to < THREADS && (parked[s] & BIT(to)) && summons[to] == 0 &&
		    lends[s] > 0 ->
			lends[s]--;
			parked[s] = parked[s] & ~BIT(to);
			command[to] = MEMBER_VISIT;
			to++
		:: to == THREADS -> break
		:: else -> to++
		od;
		to = 0
	}
}

/* turns_run() */
inline turns_run()
{
	under_way++;
	h != LONG || unread == BIT(LONG);
	d_step { assert(unread & BIT(h)); unread = unread & ~BIT(h) }
	under_way--
}

inline fetch()
{
	batch[s] = ready[s];
	ready[s] = 0
}

proctype thread(byte me)
{
	byte s = NONE, base = NONE, h, to;
	bool ok, looked;

serve: /* shard_serve() */
	atomic { s = NONE; h = 0; ok = false; looked = false };
	if
	:: summons[me] != 0 -> goto retired
	:: else
	fi;
	promotion_try_lead(me % 2, true); /* adopt() */
	if
	:: s == NONE -> promotion_try_lead(1 - me % 2, false)
	:: else
	fi;
	if
	:: s != NONE -> goto lead
	:: else
	fi;
	d_step { /* shard_follow(), promotion_join() */
		command[me] = MEMBER_WAIT;
		if
		:: holds(me % 2) -> parked[me % 2] = parked[me % 2] | BIT(me)
		:: else -> token[me % 2] = me; command[me] = MEMBER_LEAD
		fi
	}
	if
	:: command[me] == MEMBER_WAIT && summons[me] != 0 ->
		orders[me % 2] = true
	:: else
	fi;
	command[me] != MEMBER_WAIT;
	if
	:: command[me] == MEMBER_LEAD -> s = me % 2; goto lead
	:: command[me] == MEMBER_VISIT -> /* visit() */
		take_shard(0);
		if
		:: s == NONE -> take_shard(1)
		:: else
		fi;
		if
		:: s != NONE -> goto lead
		:: else -> goto serve
		fi
	:: else -> goto serve
	fi;

lead:
	atomic { assert(token[s] == me); h = 0; ok = false };
	if /* lead_inside(), not lead_for_a_look() */
	:: base == NONE ->
		if
		:: orders[s] -> orders[s] = false; promotion_sweep()
		:: else
		fi;
		if
		:: summons[me] != 0 -> give_up(); goto serve
		:: else
		fi
	:: else
	fi;
	if
	:: batch[s] != 0 -> /* batch_next() */
		d_step {
			do
			:: batch[s] & BIT(h) -> break
			:: else -> h++
			od;
			batch[s] = batch[s] & ~BIT(h)
		}
		if
		:: true -> /* process_leading() */
			publish_token(s);
			turns_run();
			resume(s);
			if
			:: ok -> goto lead
			:: base == NONE && !ok -> goto serve
			:: base != NONE && !ok -> goto look_back
			fi
#ifndef PARKED
		:: base == NONE -> /* has_to_promote(), process() */
			give_up();
			turns_run();
			goto serve
#endif
		fi
	:: else
	fi;
	if
	:: base == NONE && lends[s] > 0 -> /* look_around() */
		lends[s] = 0;
		publish_token(s);
		atomic { base = s; s = NONE };
		take_shard(1 - base);
		if
		:: s != NONE -> looked = false; goto lead
		:: else -> goto look_back
		fi
	:: base == NONE && lends[s] == 0 -> /* batch_fetch() */
		d_step { orders[s] || ready[s] != 0; fetch() };
		goto lead
	:: base != NONE && !looked ->
		d_step { fetch(); looked = true };
		goto lead
	:: base != NONE && looked -> give_up(); goto look_back
	fi;

look_back:
	atomic { s = base; base = NONE; looked = false };
	resume(s);
	if
	:: ok -> goto lead
	:: else -> goto serve
	fi;

retired:
	running--
}

/* The timer and the call; it blocks where the timer would find nothing to do. */
active proctype guard()
{
	byte to;

	do
	:: running == 0 -> break
#define GUARD_OF(i, j) \
	:: guarding && !holds(j) && to_do(j) && parked[j] != 0 -> \
		d_step { /* shard_guard() */ \
			if \
			:: !holds(j) && parked[j] != 0 -> \
				token[j] = THREADS; \
				call_one(j, MEMBER_LEAD) \
			:: else \
			fi \
		} \
	:: guarding && !holds(j) && to_do(j) && parked[j] == 0 && holds(i) && \
	    !orders[i] && can_lend(i) -> \
		d_step { /* lend_parked(), lend_leader() */ \
			unattended[j] = true; \
			unattended[i] = false; \
			lends[i] = 1; \
			orders[i] = true \
		}
#ifndef MUTANT_NO_GUARD
	GUARD_OF(0, 1)
	GUARD_OF(1, 0)
#endif
#ifdef SLEEP
	:: guarding && under_way == 0 -> /* guard_may_sleep() */
		unguarded[0] = true;
		unguarded[1] = true;
#ifdef MUTANT_SLEEP_BESIDE_A_FREE_TOKEN
		if
		:: token[0] != TOKEN_PUBLISHED && token[1] != TOKEN_PUBLISHED ->
			guarding = false
		:: else
		fi
#else
		if
		:: holds(0) ->
			if
			:: holds(1) -> guarding = false
			:: else
			fi
		:: else
		fi
#endif
	:: guard_called -> guard_called = false; guarding = true /* keeper_call() */
#endif
	od
}

active proctype world()
{
	byte i;

	atomic {
		run thread(0);
		run thread(1)
	}
	holds(0) && holds(1);
#ifdef PARKED
	run thread(2);
	parked[0] != 0;
#endif
	d_step { ready[1] = BIT(LONG); ready[0] = unread & BIT(OTHER) };
	ready[1] = ready[1] | BIT(SHORT);
	unread == 0 && under_way == 0;
	d_step { /* pool_retire_thread(), pool_order_all() */
		do
		:: i < THREADS -> summons[i] = MEMBER_RETIRE; i++
		:: else -> break
		od;
		orders[0] = true;
		orders[1] = true
	}
	running == 0;
	assert(parked[0] == 0 && parked[1] == 0);
	assert(token[0] == TOKEN_FREE && token[1] == TOKEN_FREE)
}
