/* SPDX-License-Identifier: MIT
 * Faults on purpose, in builds of `make MODE=fault` only.  In other builds
 * every function here is inline and does nothing, and no variable is read.
 *
 *   LFPROXY_FAULT_SLOW=SHARE:TIME[:busy][:at-once=N]   turns, at random
 *   LFPROXY_FAULT_SLOW_SESSIONS=...[:declared]         the same, all turns of
 *                                                      some sessions
 *   LFPROXY_FAULT_NO_GUARD=1      no guard gives leadership away
 *   LFPROXY_FAULT_NO_TAKEOVER=1   a busy leader keeps its token
 *   LFPROXY_FAULT_LONG_PAUSE=1    a server is tried again after ten minutes
 *   LFPROXY_FAULT_STOP_LOOP=1     on SIGUSR2 the control thread stops for good
 *   LFPROXY_FAULT_STOP_KEEPER=1   the keeper stops for good when a session's
 *                                 deadline calls it
 *   LFPROXY_FAULT_HANG_FILES=1    reading FILE waits while FILE.hangs exists
 *   LFPROXY_FAULT_LEAK_MEMORY=1   each session's end loses some memory
 *   LFPROXY_FAULT_LEAK_FD=1       one in a hundred loses a descriptor
 *   LFPROXY_FAULT_ACCEPT, _SOCKET, _CONNECT, _EPOLL_CTL, _SLAB, _PIPE,
 *   LFPROXY_FAULT_ANSWER, _TLS_MEMORY, _PREPARE, _REGISTER, _HANDOVER
 *       =ERROR[:SHARE][:after=N][:count=N]
 *
 * SHARE is a percentage, as in 1% or 0.05%.  A turn that is slow sleeps, or
 * computes if it is busy, for TIME before it does its work.  With at-once=N no
 * turn is slowed while N slow turns are under way.  With declared the turns of
 * such a session say beforehand that they are long; the first one cannot, and
 * is not slow.  A call that fails does so with ERROR and without reaching the
 * kernel: all of them, or a share, once N calls have gone well, and at most
 * `count` times.  Calls are counted over all threads, from the start of the
 * program.
 *
 * To make a further call fail takes a line in fault.c, and `fault_fails(...)`
 * where the call is made.
 */
#ifndef BASE_FAULT_H
#define BASE_FAULT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

enum fault_call {
	FAULT_ACCEPT,     /* of a frontend's listener */
	FAULT_SOCKET,     /* for a connection to a server */
	FAULT_CONNECT,    /* likewise */
	FAULT_EPOLL_CTL,  /* to add a handle: the others need no memory */
	FAULT_SLAB,       /* a slab's next chunk */
	FAULT_PIPE,       /* a pipe to splice through */
	FAULT_ANSWER,     /* memory for an answer */
	FAULT_TLS_MEMORY, /* an allocation of OpenSSL's */
	FAULT_PREPARE,    /* a part of a transition (live/transition.h) */
	FAULT_REGISTER,   /* to watch a new listening socket */
	FAULT_HANDOVER,   /* to send a message of an upgrade */
	FAULT_CALLS
};

enum fault_switch {
	FAULT_NO_GUARD,
	FAULT_NO_TAKEOVER,
	FAULT_LEAK_MEMORY,
	FAULT_LEAK_FD,
	FAULT_LONG_PAUSE,
	FAULT_STOP_LOOP,
	FAULT_STOP_KEEPER,
	FAULT_HANG_FILES,
	FAULT_SWITCHES
};

#ifdef LFPROXY_FAULTS

/* Reads the variables from the environment, in the form of environ(7).  Called
 * before any thread starts.  Returns false when one is unknown or malformed. */
bool fault_load(char *const *environment, struct err *err) MUST_CHECK;

/* Slows the turn down if it is chosen.  Called before a handler's turn.
 * session: false for a listener.  declared: whether the turn was declared long.
 */
void fault_turn(uint32_t slot, bool session, bool declared);

/* Returns whether the handler's next turn is to be declared long.  session:
 * false for a listener. */
bool fault_declares(uint32_t slot, bool session);

/* Returns whether the call is to fail; errno then says how. */
bool fault_fails(enum fault_call call);

/* Returns whether the switch is set. */
bool fault_is_on(enum fault_switch which);

/* Loses what the LEAK variables say.  Called at the end of a session. */
void fault_leak(void);

/* Waits while the file is to hang, as on a mount that does not answer.  Called
 * before the file is opened, on any thread.  Returns path. */
const char *fault_hang(const char *path);

#else

static inline bool
fault_load(char *const *environment, struct err *err)
{
	(void)environment;
	(void)err;
	return true;
}

static inline void
fault_turn(uint32_t slot, bool session, bool declared)
{
	(void)slot;
	(void)session;
	(void)declared;
}

static inline bool
fault_declares(uint32_t slot, bool session)
{
	(void)slot;
	(void)session;
	return false;
}

static inline bool
fault_fails(enum fault_call call)
{
	(void)call;
	return false;
}

static inline bool
fault_is_on(enum fault_switch which)
{
	(void)which;
	return false;
}

static inline void
fault_leak(void)
{
}

static inline const char *
fault_hang(const char *path)
{
	return path;
}

#endif
#endif
