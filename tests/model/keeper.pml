/* SPDX-License-Identifier: MIT
 * The keeper asleep, and those who have something for it: src/proxy/keeper.c,
 * and of reaper.c, pacer.c and accept_limits.c what P12, P17, P37 and P43 are
 * about.
 *
 *   (plain)  two owners set a deadline and wait for bandwidth, both due SOON
 *   PAUSED   an acceptor pauses while a session ends
 *
 * Shown: while all wait, the keeper is to wake up SOON if anything is due then,
 * so a deadline is noted and a direction woken in time; no acceptor stays paused
 * while there is room.  A time is only SOON, LATE or NEVER, and SOON may come at
 * any moment.  Left out: the guard (takeover.pml, lend.pml), who gets the
 * notes (mailbox.pml), the claim (claim.pml), pauses between two looks.
 *
 * folders: proxy.
 * own: BANDWIDTH BIT DEADLINE LATE NEVER OWNERS SOON WAITS acceptor checked
 * end_of_session linked others_done owner owners_done rests room world.
 */
#define OWNERS 2
#define BIT(i) (1 << (i))
#define SOON  1
#define LATE  2
#define NEVER 3
#define DEADLINE  1 /* KEEPER_DEADLINE */
#define BANDWIDTH 2 /* KEEPER_BANDWIDTH */
#define WAITS(i) ((pushed | slots) & BIT(i))

byte calls;                    /* struct keeper */
bool event;
byte reap_ns, pace_ns = NEVER;

byte deadlines[OWNERS];        /* 0: none; struct proxy */
byte next_reap_ms = NEVER;

byte pushed, slots;            /* sets of directions; struct pacer */
byte next_look_ns = NEVER;

bool paused, linked, room;

bool rests, checked;           /* the keeper waits */
byte owners_done, others_done;

inline give_reasons(reasons)
{
	d_step { before = calls; calls = calls | reasons }
#ifdef MUTANT_CALL_ONCE
	if
	:: calls == 0 -> event = true
	:: else
	fi;
#else
	if
	:: before == 0 -> event = true
	:: else
	fi;
#endif
	before = 0
}

inline proxy_set_deadline(i)
{
#ifdef MUTANT_LOOK_BEFORE_DEADLINE
	seen = next_reap_ms;
	deadlines[i] = SOON;
#else
	deadlines[i] = SOON;
	seen = next_reap_ms;
#endif
	if
	:: SOON < seen -> give_reasons(DEADLINE)
	:: else
	fi;
	seen = 0
}

/* now: the time has come for what is due SOON. */
inline proxy_reap(now)
{
	seen = LATE;
#ifndef MUTANT_REAP_UNTOLD
	next_reap_ms = NEVER;
#endif
	i = 0;
	do
	:: i < OWNERS && deadlines[i] == SOON && now ->
		deadlines[i] = 0; /* noted: its turn has none any more */
		i++
	:: i < OWNERS && deadlines[i] == SOON && !now -> seen = SOON; i++
	:: i < OWNERS && deadlines[i] == 0 -> i++
	:: i == OWNERS -> break
	od;
	next_reap_ms = seen;
	d_step { reap_ns = seen; i = 0; seen = 0 }
}

inline pacer_push(i)
{
#ifdef MUTANT_LOOK_BEFORE_PUSH
	seen = next_look_ns;
	pushed = pushed | BIT(i);
#else
	pushed = pushed | BIT(i);
	seen = next_look_ns;
#endif
	if
	:: SOON < seen -> give_reasons(BANDWIDTH)
	:: else
	fi;
	seen = 0
}

inline pacer_look(now)
{
#ifndef MUTANT_PACE_UNTOLD
	next_look_ns = NEVER;
#endif
	if
	:: now -> slots = 0 /* these are woken */
	:: else
	fi;
	d_step { slots = slots | pushed; pushed = 0 }
	d_step {
		pace_ns = (slots != 0 -> SOON : NEVER);
		next_look_ns = pace_ns
	}
}

#ifdef PAUSED
/* acceptor_pause(), pause_for_frontend() */
active proctype acceptor()
{
#ifdef MUTANT_LOOK_BEFORE_PAUSE
	bool found;

	found = room;
	linked = true;
	paused = true;
	if
	:: found -> paused = false; linked = false
	:: else
	fi
#else
	paused = true;
	linked = true;
	if
	:: room -> d_step { linked = false; paused = false } /* acceptors_resume() */
	:: else
	fi
#endif
	;
	others_done++
}

active proctype end_of_session()
{
	room = true;
	if
	:: linked -> d_step { linked = false; paused = false } /* acceptors_resume() */
	:: else
	fi;
	others_done++
}

active proctype world()
{
	others_done == 2;
	assert(!paused)
}
#else
proctype owner(byte me)
{
	byte seen, before;

	proxy_set_deadline(me);
	if
	:: true -> pacer_push(me)
	:: true
	fi;
	owners_done++
}

active proctype keeper_main()
{
	byte i, seen, taken;
	bool now;

	do
	:: d_step { taken = calls; calls = 0 }
#ifdef MUTANT_READ_AFTER_CALLS
		event = false;
#endif
		if
		:: now || (taken & DEADLINE) || reap_ns == 0 -> proxy_reap(now)
		:: else
		fi;
		if
		:: now || (taken & BANDWIDTH) -> pacer_look(now)
		:: else
		fi;
		d_step { taken = 0; now = false; rests = true }
		/* ppoll() and the read of what it has found */
		if
#ifdef MUTANT_READ_AFTER_CALLS
		:: event -> rests = false
#else
		:: event -> d_step { event = false; rests = false }
#endif
		:: reap_ns == SOON || pace_ns == SOON ->
			d_step { now = true; rests = false }
		:: checked -> break
		fi
	od
}

active proctype world()
{
	byte i;

	atomic { run owner(0); run owner(1) }
	/* All wait, the keeper for a time. */
	owners_done == OWNERS && rests && !event;
	d_step {
		assert(calls == 0 || event);
		do
		:: i < OWNERS ->
			assert(deadlines[i] == 0 || reap_ns == SOON);
			assert(!WAITS(i) || pace_ns == SOON);
			i++
		:: else -> break
		od;
		checked = true
	}
}
#endif
