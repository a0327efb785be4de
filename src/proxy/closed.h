/* SPDX-License-Identifier: MIT
 * The last sessions that have ended, for `show closed`: what the access log
 * says of each, who closed first, and what the kernel knew of both connections.
 *
 * Each pool thread writes a ring of its own, so nobody waits for anybody and no
 * cache line is shared; a ring outlives its thread and is the next one's.  The
 * control thread reads all of them, the latest session first, while they are
 * written to: every record is a seqlock [P23] whose sequence number also says
 * which record of the ring it is, so one that is overwritten meanwhile is
 * missed, never mixed up.
 *
 *	cells      0     1     2     3        4 cells, 6 records so far:
 *	sequence  10    12     6     8        record n has 2n + 2 when it is
 *	record     4     5     2     3        whole, 2n + 1 while it is written
 */
#ifndef PROXY_CLOSED_H
#define PROXY_CLOSED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/atomics.h"
#include "base/memory_use.h"
#include "lf/handle.h"
#include "net/addr.h"
#include "net/tcp_facts.h"
#include "net/tls_hello.h"
#include "proxy/close_reasons.h"
#include "proxy/session_record.h"

struct grace;
struct pool_thread;
struct session;

/* Which side ended first, by a FIN or a reset. */
enum closer {
	CLOSER_PROXY = 0, /* neither: a deadline, the operator, no server */
	CLOSER_CLIENT = 1,
	CLOSER_SERVER = 2,
	CLOSER_BOTH = 3, /* both ends were found in the same turn */
};

#define CLOSED_NAME_SIZE 41
/* Three names, the one that TLS was asked for, and their NULs. */
#define CLOSED_NAMES_SIZE (3 * CLOSED_NAME_SIZE + TLS_NAME_MAX + 1)

/* A session that has ended.  It holds all that is to be shown of it, names
 * included: it outlives its server and the configuration. */
struct closed_session {
	uint64_t id; /* as long as it lasted, see proxy/session_facts.h */
	struct session_record session;
	uint64_t ended_ns; /* clock_now_ns */
	uint8_t first;     /* enum closer */
	bool tcp_known[2]; /* by enum handle_side */
	uint16_t names_len;
	/* Frontend, backend, server, TLS name, each with its NUL. */
	char names[CLOSED_NAMES_SIZE];
	struct tcp_facts tcp[2];
};

enum closed_name { CLOSED_FRONTEND, CLOSED_BACKEND, CLOSED_SERVER, CLOSED_SNI };

/* "" for the server of one that got to none, and for a name that nobody asked
 * for. */
const char *closed_name(
    const struct closed_session *closed, enum closed_name which);

/* "client" and so on. */
const char *closer_name(enum closer closer);

struct closed_ring;

/* The rings of all threads. */
struct closed_rings {
	struct closed_ring *all; /* a stack that only grows */
	uint32_t keep;           /* records in each; the control thread's */
};

/* keep: so many sessions at least are there to be shown, 0: none. */
void closed_rings_init(struct closed_rings *rings, uint32_t keep);

/* After all threads have ended. */
void closed_rings_fini(struct closed_rings *rings);

/* Control thread: another number; those of before are forgotten.  False when
 * memory is short: then it is as it was, or some rings keep none. */
bool closed_rings_resize(
    struct closed_rings *rings, uint32_t keep, struct grace *grace);

/* A pool thread, when it starts: a ring that nobody has, or a new one; NULL
 * when memory is short. */
struct closed_ring *closed_ring_take(struct closed_rings *rings);

/* The same when it ends. */
void closed_ring_give(struct closed_ring *ring);

/* The thread whose ring it is: makes a record of the session.  Its descriptors
 * are still open. */
void closed_note(struct closed_ring *ring, const struct session *session,
    const struct session_record *record, struct pool_thread *self);

/* The same for a record that is made. */
void closed_ring_put(
    struct closed_ring *ring, const struct closed_session *closed);

/* Control thread: all rings at once, backwards in time. */
struct closed_walk;

/* From the session that ended last on; NULL when memory is short. */
struct closed_walk *closed_walk_new(const struct closed_rings *rings);

/* The one that ended before; valid until the next call.  NULL: there are no
 * more, or as many as are kept have been seen. */
const struct closed_session *closed_walk_next(struct closed_walk *walk);

void closed_walk_free(struct closed_walk *walk); /* NULL is fine */

/* Control thread: the rings, and what they have of the heap. */
struct memory_use closed_rings_memory(const struct closed_rings *rings);

#endif
