/* SPDX-License-Identifier: MIT
 * Shards that come and go: pool_set_shards(), pool_tick() and pool_assign_homes()
 * of src/lf, proxy_move_some(), session_start() and move_to() of src/proxy.
 * A promotion is one step here (promotion.pml), and so are a wait and what it
 * looks at (mailbox.pml).  2 threads, 1 -> 2 -> 1 shards, an acceptor and a
 * session that is placed meanwhile.
 *
 * Shown: sessions of a shard that is to go move and none is lost, nor an event
 * of theirs; nothing is registered at a closed shard, which takes the grace
 * period; a shard with something to do finds a leader by adoption; all threads
 * end.  Left out: the guard's help and published tokens (lend.pml, takeover.pml),
 * kernel, that a shard may be opened again while it closes, and the end of a
 * closed shard's handle set, which one exchange of one word decides
 * (src/lf/shard_set.c): the simulator closes and opens shards with all of it.
 *
 * own: ACCEPTOR BIT NONE SESSION THREADS alive arrive call_one close_shard
 * in_section leave_section move_session note_move noted registered running
 * start_session unread.
 * elsewhere: move_to proxy_move_some session_start.
 */
#define THREADS 2
#define ACCEPTOR 0    /* handlers; the acceptor's never moves here */
#define SESSION  1
#define MEMBER_WAIT     0    /* enum member_command */
#define MEMBER_LEAD     1
#define MEMBER_RETIRE   2
#define MEMBER_MOVE     3
#define MEMBER_WORK     4
#define NONE     2    /* no shard */
#define BIT(i)   (1 << (i))

/* struct pool */
byte shards_n = 1, shards_open = 1;
byte in_section;      /* threads in a grace section */
byte unsettled;       /* those of them that the last change has to wait for */

/* struct shard, two of them */
byte token[2] = NONE + 2;    /* the holder, or FREE */
#define TOKEN_FREE (NONE + 2)
byte parked[2];              /* sets of threads: bench and stack */
byte mailbox[2], resumed[2]; /* sets of owned handlers */
byte batch[2], ready[2];     /* sets of handlers with an event */
byte handlers[2];
bool closed[2], orders[2];

/* Threads. */
byte home[THREADS], command[THREADS], summons[THREADS];
byte running = THREADS;

/* Handlers: the claim, handler.shard, and where the descriptor is registered. */
byte owned, pending, noted, unread;
byte shard[2], registered[2] = NONE;
bool alive;                  /* the session has a deadline [P13] */

#define shard_is_empty(s) (handlers[s] == 0 && mailbox[s] == 0 && batch[s] == 0)

/* handle_set_add(): reports the present state */
inline handle_set_add(h, s)
{
	d_step {
		/* nothing is registered at a closed shard */
		assert(!closed[s]);
		registered[h] = s;
		if
		:: unread & BIT(h) -> ready[s] = ready[s] | BIT(h)
		:: else
		fi
	}
}

/* The world: something arrives. */
inline arrive(h)
{
	d_step {
		unread = unread | BIT(h);
		if
		:: registered[h] != NONE ->
			ready[registered[h]] = ready[registered[h]] | BIT(h)
		:: else
		fi
	}
}

/* shard_note() of NOTE_MOVE, shard_submit(): the handler is whose owner it is
 * between the two, so its shard stays the same. */
inline note_move(h)
{
	d_step {
		noted = noted | BIT(h);
		if
		:: !(owned & BIT(h)) ->
			owned = owned | BIT(h);
			mailbox[shard[h]] = mailbox[shard[h]] | BIT(h)
		:: else
		fi
	}
}

inline leave_section()
{
	d_step {
		in_section = in_section & ~BIT(me);
		unsettled = unsettled & ~BIT(me) /* grace_leave() */
	}
}

/* move_to() */
inline move_session()
{
	to = SESSION % shards_open; /* pool_home_of() */
	if
	:: to != shard[SESSION] ->
		d_step { /* handle_set_remove() */
			from = shard[SESSION];
			registered[SESSION] = NONE;
			ready[from] = ready[from] & ~BIT(SESSION)
		}
		handle_set_add(SESSION, to);
		d_step { assert(handlers[from] > 0); handlers[from]-- };
		shard[SESSION] = to; /* shard_enter() */
		handlers[to]++
	:: else
	fi
}

/* The acceptor's turn: session_start() with pool_place(), once. */
inline start_session()
{
	to = shards_open;
	if
	:: to == 2 -> to = 1
	:: to = 0
	fi;
	shard[SESSION] = to;
	assert(!closed[to]);
	handlers[to]++;
	alive = true;
	handle_set_add(SESSION, to)
}

/* turns_run() */
inline turns_run(h)
{
	in_section = in_section | BIT(me); /* grace_enter() */
	do
	:: true ->
		d_step { /* claim_take() */
			assert(owned & BIT(h));
			moves = noted & BIT(h);
			noted = noted & ~BIT(h);
			pending = pending & ~BIT(h);
			unread = unread & ~BIT(h)
		}
		if
		:: h == SESSION && moves -> move_session()
		:: h == ACCEPTOR && !alive -> start_session()
		:: else
		fi;
		moves = false;
		d_step { /* claim_drop() */
			from = 0;
			to = 0;
			if
			:: !((noted | pending) & BIT(h)) -> owned = owned & ~BIT(h); h = NONE
			:: else
			fi
		}
		if
		:: h == NONE -> break
		:: else
		fi
	od;
	leave_section()
}

/* promotion_promote(), promotion_sweep(): one step each, any of the parked */
inline call_one(s, c)
{
	if
	:: parked[s] & 1 -> to = 0
	:: parked[s] & 2 -> to = 1
	fi;
	d_step {
		parked[s] = parked[s] & ~BIT(to);
		command[to] = c;
		if
		:: c == MEMBER_LEAD -> token[s] = to
		:: else
		fi
	}
}

inline promotion_promote(s)
{
	atomic {
		assert(token[s] == me);
		if
		:: parked[s] != 0 -> call_one(s, MEMBER_LEAD)
		:: else -> token[s] = TOKEN_FREE
		fi;
		to = 0
	}
}

/* obey_orders() with ask_member(), or dissolve() */
inline promotion_sweep(s, all)
{
	atomic {
		to = 0;
		do
		:: to < THREADS ->
			if
			:: (parked[s] & BIT(to)) && summons[to] != 0 ->
				parked[s] = parked[s] & ~BIT(to);
				command[to] = summons[to]
			:: (parked[s] & BIT(to)) && summons[to] == 0 && (all) ->
				parked[s] = parked[s] & ~BIT(to);
				command[to] = MEMBER_WORK
			:: else
			fi;
			to++
		:: else -> break
		od;
		to = 0
	}
}

inline promotion_try_lead(where)
{
	d_step {
		if
		:: token[where] == TOKEN_FREE -> token[where] = me; s = where
		:: else -> s = NONE
		fi
	}
}

proctype thread(byte me)
{
	byte s, h, to, from;
	bool moves;

serve: /* shard_serve() */
	atomic { s = NONE; h = NONE; to = 0; from = 0 };
	if
	:: summons[me] == MEMBER_RETIRE -> goto retired
	:: summons[me] == MEMBER_MOVE ->
		d_step {
			if
			:: summons[me] == MEMBER_MOVE -> summons[me] = 0
			:: else
			fi
		}
		goto serve
	:: summons[me] == 0
	fi;
	from = home[me];
	h = shards_n; /* adopt() */
	promotion_try_lead(from % h);
	if
	:: s != NONE -> goto lead
	:: else
	fi;
	if
	:: h == 2 ->
		promotion_try_lead(1 - from);
		if
		:: s != NONE -> goto lead
		:: else
		fi
	:: else
	fi;
	h = NONE;
	d_step { /* shard_follow(), promotion_join() */
		command[me] = MEMBER_WAIT;
		s = from;
		if
		:: token[s] == TOKEN_FREE -> token[s] = me; command[me] = MEMBER_LEAD
		:: else -> parked[s] = parked[s] | BIT(me)
		fi
	}
	if
	:: command[me] == MEMBER_WAIT && summons[me] != 0 -> orders[s] = true
	:: else
	fi;
	command[me] != MEMBER_WAIT;
	if
	:: command[me] == MEMBER_LEAD -> goto lead
	:: else -> goto serve
	fi;

lead:
	atomic { assert(token[s] == me); from = 0; h = NONE };
	if
	:: orders[s] -> orders[s] = false; promotion_sweep(s, false)
	:: else
	fi;
	if /* may_leave() */
	:: summons[me] != 0 ->
		if
		:: closed[s] && (batch[s] != 0 || resumed[s] != 0)
		:: else -> promotion_promote(s); goto serve
		fi
	:: else
	fi;
	if /* next() */
	:: batch[s] != 0 ->
		d_step { /* claim_next(), claim_post() */
			h = (batch[s] & 1 -> 0 : 1);
			batch[s] = batch[s] & ~BIT(h);
			pending = pending | BIT(h);
			if
			:: owned & BIT(h) -> h = NONE
			:: else -> owned = owned | BIT(h)
			fi
		}
		if
		:: h == NONE -> goto lead
		:: else
		fi
	:: batch[s] == 0 && resumed[s] != 0 ->
		d_step {
			h = (resumed[s] & 1 -> 0 : 1);
			resumed[s] = resumed[s] & ~BIT(h)
		}
	:: else -> /* leaderless(), dissolve() */
		if
		:: closed[s] -> promotion_sweep(s, true); promotion_promote(s); goto serve
		:: else
		fi;
		d_step { /* batch_fetch() */
			mailbox[s] != 0 || orders[s] || ready[s] != 0;
			batch[s] = ready[s];
			ready[s] = 0;
			resumed[s] = resumed[s] | mailbox[s];
			mailbox[s] = 0
		}
		goto lead
	fi;
	if
	:: true -> turns_run(h); goto lead
	:: true -> promotion_promote(s); turns_run(h); goto serve /* process() */
	fi;

retired:
	running--
}

inline pool_order_all()
{
	orders[0] = true;
	orders[1] = true
}

/* pool_assign_homes(), set_home(): thread 1's is shard 1 if there is one */
inline pool_assign_homes()
{
	if
	:: home[1] != 1 % shards_n ->
		home[1] = 1 % shards_n;
		d_step {
			if
			:: summons[1] == 0 -> summons[1] = MEMBER_MOVE
			:: else
			fi
		}
	:: else
	fi;
	pool_order_all()
}

/* pool_set_shards() to one fewer, and its ticks until the shard is closed */
inline close_shard()
{
	shards_open = 1;
	d_step { unsettled = unsettled | in_section }; /* grace_retire() */
	pool_order_all();
	do
	:: true ->
		/* proxy_move_some(), at once and with each tick */
		if
		:: alive -> note_move(SESSION)
		:: else
		fi;
		if /* close_empty_shards() */
#ifdef MUTANT_CLOSE_WITHOUT_GRACE
		:: shard_is_empty(1) -> break
#else
		:: unsettled == 0 ->
			if
#ifdef MUTANT_CLOSE_WITHOUT_LOOK
			:: true -> break
#else
			:: shard_is_empty(1) -> break
			:: else
#endif
			fi
#endif
		:: else
		fi
#ifdef MUTANT_NOTE_ONCE
		; shard_is_empty(1) && unsettled == 0; break
#endif
	od;
	closed[1] = true;
	shards_n = 1;
	pool_assign_homes();
}

active proctype control()
{
	byte i;

	d_step {
		handlers[0] = 1;
		shard[ACCEPTOR] = 0;
		registered[ACCEPTOR] = 0;
		closed[1] = true
	};
	atomic {
		run thread(0);
		run thread(1)
	}
	arrive(ACCEPTOR);
	closed[1] = false; /* pool_open_shards() */
	shards_n = 2;
	shards_open = 2;
	pool_assign_homes();
	close_shard();
	alive && unread == 0;
	arrive(SESSION);
	unread == 0 && owned == 0;
	i = 0;
	do
	:: i < THREADS -> summons[i] = MEMBER_RETIRE; i++
	:: else -> break
	od;
	pool_order_all();
	running == 0;
	assert(shard[SESSION] == 0 && registered[SESSION] == 0);
	assert(handlers[0] == 2 && handlers[1] == 0);
	assert(parked[0] == 0 && parked[1] == 0);
	assert(token[0] == TOKEN_FREE && token[1] == TOKEN_FREE);
	assert(mailbox[0] == 0 && mailbox[1] == 0 && resumed[1] == 0)
}
