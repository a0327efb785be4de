/* SPDX-License-Identifier: MIT
 * The claim (src/lf/claim.h, event_handler_run() in src/lf/event_handler.c) of
 * one slot that is used twice, with the session's order of steps at its end
 * (session_close()) and when it exchanges a descriptor (disconnect_server()).
 *
 * Two pool threads fetch events and post them late, one control thread leaves
 * notes.  Each step is one operation on the claim's word, or one system call,
 * and names its function.  Shown: one owner at a time; what is accepted is of
 * an open descriptor of the present generation, and what a turn takes is of the
 * one it has; a descriptor is closed once; at rest no bit is left and no
 * descriptor holds what no turn saw.
 *
 * Left out: that a generation wraps after 2^32 uses, the second descriptor of a
 * session (it keeps its own across a renewal by being registered again), weak
 * orders.
 *
 * own: BIT EVENT LIVES NOTE about begin close_fd due edges fd_generation
 * in_slab leader lives made noter notes open_fd renewals retire_and_close
 * submitted unread world.
 * elsewhere: disconnect_server note_session session_close session_set_deadline
 * session_start slab_give slab_take.
 */
#define LIVES  2      /* uses of the slot */
#define EVENT  1      /* pending bits: of the descriptor, a note */
#define NOTE   2
#define CLAIM_STALE  0      /* enum claim_answer */
#define CLAIM_LEFT   1
#define CLAIM_TAKEN  2

/* claim.word: generation, pending, owned */
byte generation = 1, pending;
bool owned;

/* The descriptor that the handler has now, and in which generation it was
 * registered; every descriptor has a number of its own (0: none). */
byte fd, made, fd_generation;
byte closed;               /* set of numbers */
byte edges;                /* of the descriptor, not yet fetched */
byte lives = LIVES, renewals = 1, events = 3, notes = 2;

/* What the properties speak of. */
byte inside;               /* threads in a turn */
byte about;                /* the descriptor whose event is pending */
bool unread;               /* the present descriptor has what no turn saw */
byte submitted;            /* owned and brought to the mailbox */
bool in_slab = true;       /* the slot may be used again */
bool due;                  /* the session's deadline is not 0 [P13] */

#define BIT(i) (1 << (i))
/* handle_set_add(), under the present generation */
inline open_fd()
{
	d_step { made++; fd = made; fd_generation = generation; unread = false;
		edges = 0 }
}

inline close_fd()
{
	d_step {
		assert(fd != 0 && !(closed & BIT(fd)));
		closed = closed | BIT(fd);
		fd = 0;
		edges = 0 /* closing removes it from the handle set */
	}
}

/* claim_post() */
inline claim_post(g, bits, which)
{
	d_step {
		if
		:: generation != g -> answer = CLAIM_STALE
		:: else ->
			answer = (owned -> CLAIM_LEFT : CLAIM_TAKEN);
			/* no dispatch to a stale generation: what is accepted is
			 * of a descriptor that is open */
			assert(which == 0 || which == fd);
			if
			:: bits == EVENT -> about = which
			:: else
			fi;
			pending = pending | bits;
			owned = true
		fi
	}
}

/* claim_retire() and session_close() */
inline retire_and_close()
{
#ifndef MUTANT_LATE_DEADLINE
	due = false; /* session_set_state(FREE): session_set_deadline() */
#endif
#ifdef MUTANT_RELEASE_BEFORE_GENERATION
	d_step { pending = 0; owned = false };
	generation++;
#else
#ifdef MUTANT_LATE_GENERATION
	close_fd();
#endif
	d_step { generation++; pending = 0; owned = false; about = 0 };
#endif
#ifndef MUTANT_LATE_GENERATION
	close_fd();
#endif
	due = false
}

/* acceptor: slab_take(), session_start(): claim_open(), one registers */
inline begin()
{
	d_step {
		assert(!owned && pending == 0 && inside == 0);
		owned = true
	}
	open_fd();
	due = true
}

/* event_handler_run() on a pool thread that owns the handler */
inline event_handler_run()
{
	do
	:: true ->
		d_step { /* claim_take() */
			assert(owned);
			inside++;
			assert(inside == 1); /* one owner */
			taken = pending;
			pending = 0;
			assert(!(taken & EVENT) || about == fd);
			about = 0
		}
		d_step { /* reads until it would block */
			if
			:: fd != 0 -> unread = false
			:: else
			fi
		}
		if
		:: taken & NOTE -> /* NOTE_KILL: the session ends, another begins */
			taken = 0;
			inside--;
			retire_and_close();
			in_slab = true; /* slab_give() */
			break
		:: renewals > 0 ->
			/* disconnect_server(): another server's descriptor */
			renewals--;
#ifndef MUTANT_NO_RENEW
			d_step { /* claim_renew() */
				generation++;
				pending = pending & NOTE;
				about = 0
			}
#endif
			close_fd();
			open_fd()
		:: else
		fi;
		taken = 0;
		d_step { /* claim_drop() */
			inside--;
#ifdef MUTANT_DROP_WITHOUT_LOOK
			owned = false;
			answer = CLAIM_TAKEN
#else
			if
			:: pending == 0 -> owned = false; answer = CLAIM_TAKEN
			:: else -> answer = CLAIM_LEFT
			fi
#endif
		}
		if
		:: answer == CLAIM_TAKEN -> break
		:: else
		fi
	od
}

/* The world: something arrives at the present descriptor. */
active proctype world()
{
	do
	:: d_step { events > 0 && fd != 0 ->
		events--; unread = true; edges = 1 }
	:: events == 0 -> break
	:: timeout -> break
	od
}

/* A leader with a batch: what it has fetched it may post late. */
proctype leader()
{
	byte g, which, answer, taken;

	do
	:: d_step { edges > 0 -> edges = 0; g = fd_generation; which = fd };
		claim_post(g, EVENT, which);
		g = 0;
		which = 0;
		if
		:: answer == CLAIM_TAKEN -> answer = 0; event_handler_run()
		:: else
		fi;
		answer = 0
	:: d_step { submitted > 0 -> submitted-- }; /* drain_mailbox() */
		event_handler_run();
		answer = 0
	:: d_step { lives > 0 && in_slab -> lives--; in_slab = false };
		begin(); /* an acceptor's turn */
		event_handler_run();
		answer = 0
	:: timeout -> break
	od
}

/* The reaper, an admin command: shard_note(). */
active proctype noter()
{
	byte g, answer;

	do
	:: notes > 0 ->
		d_step { g = generation; notes-- } /* claim_generation_acquire() */
		/* note_session(): one that is in use has a deadline. */
		if
		:: due ->
			claim_post(g, NOTE, 0);
			if
			:: answer == CLAIM_TAKEN -> submitted++ /* shard_submit() */
			:: else
			fi
		:: else
		fi;
		answer = 0
	:: else -> break
	od
}

init
{
	atomic {
		run leader();
		run leader()
	}
	timeout;
	/* No bit is lost: what is at rest has nothing left to see. */
	assert(pending == 0 && !owned && submitted == 0 && edges == 0);
	assert(!unread || fd == 0)
}
