/* SPDX-License-Identifier: MIT
 * The last sessions that have ended, for `show closed`: the facts of the access
 * log, which side closed first, and the kernel's facts of both connections.
 *
 * Each pool thread writes a ring of its own, so no thread waits and no cache
 * line is shared.  A ring outlives its thread and is given to the next thread.
 * The control thread reads all rings, the latest session first, while they are
 * written.  Every record is a seqlock [P23] whose sequence number also tells
 * which record of the ring it is, so a record that is overwritten during the
 * read is skipped.
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
#include "base/err.h"
#include "lf/handle.h"
#include "net/addr.h"
#include "net/tcp_facts.h"
#include "net/tls_hello.h"
#include "proxy/close_reasons.h"
#include "proxy/session_record.h"

struct grace;
struct pool_thread;
struct session;

/* The side that ended the connection first, by a FIN or a reset. */
enum closer {
	CLOSER_PROXY = 0, /* neither: a deadline, the operator, no server */
	CLOSER_CLIENT = 1,
	CLOSER_SERVER = 2,
	CLOSER_BOTH = 3, /* both ends were found in the same turn */
};

#define CLOSED_NAME_SIZE 41
/* The room for three names, the name that TLS was asked for, and their NULs.
 * The texts of TLS get CLOSED_TLS_SIZE, and what shorter names leave. */
#define CLOSED_TLS_SIZE 64
#define CLOSED_NAMES_SIZE                                                      \
	(3 * CLOSED_NAME_SIZE + TLS_NAME_MAX + 1 + CLOSED_TLS_SIZE)

/* An ended session.  The names are copies, because the record outlives the
 * server and the configuration. */
struct closed_session {
	uint64_t id; /* see proxy/session_facts.h */
	struct session_record session;
	uint64_t ended_ns; /* clock_now_ns */
	uint8_t first;     /* enum closer */
	bool tcp_known[2]; /* by enum handle_side */
	uint16_t names_len;
	/* The names of enum closed_name, each with its NUL. */
	char names[CLOSED_NAMES_SIZE];
	struct tcp_facts tcp[2];
};

enum closed_name {
	CLOSED_FRONTEND,
	CLOSED_BACKEND,
	CLOSED_SERVER,
	CLOSED_SNI,
	CLOSED_ALPN,
	/* Facts of the client's certificate. */
	CLOSED_SERIAL,
	CLOSED_SUBJECT,
	CLOSED_ISSUER,
	CLOSED_SANS,
};

/* Returns a name of the record, "" when the session had none. */
const char *closed_name(
    const struct closed_session *closed, enum closed_name which);

/* Returns "client" and so on. */
const char *closer_name(enum closer closer);

struct closed_ring;

/* The rings of all threads. */
struct closed_rings {
	struct closed_ring
	    *all;      /* a stack that only grows; NULL to begin with */
	uint32_t keep; /* records in each; the control thread's */
	/* When all records were forgotten, 0: never; the control thread's. */
	uint64_t forgotten_ns;
};

/* The functions closed_rings_* and closed_walk_* run on the control thread, the
 * others on the thread that has the ring. */

/* Frees all rings.  To be called after all threads have ended. */
void closed_rings_fini(struct closed_rings *rings);

/* Sets the number of records in each ring, and forgets all records.  Returns
 * false when memory is short; some rings then keep no records. */
bool closed_rings_resize(
    struct closed_rings *rings, uint32_t keep, struct grace *grace) MUST_CHECK;

/* Takes a free ring, or makes one, for a thread that starts.  Returns NULL when
 * memory is short. */
struct closed_ring *closed_ring_take(struct closed_rings *rings);

/* Frees the ring for the next thread, which continues where this thread has
 * stopped. */
void closed_ring_give(struct closed_ring *ring);

/* Adds a record of a session that ends, whose descriptors are still open, and
 * counts its failure (failures.h).  record: the record of its end. */
void closed_note(struct closed_ring *ring, const struct session *s,
    const struct session_record *record, struct pool_thread *self);

/* Adds a record that is already made. */
void closed_ring_put(
    struct closed_ring *ring, const struct closed_session *closed);

/* A walk over the records of all rings, backwards in time. */
struct closed_walk;

/* Returns a walk that begins with the latest session, or NULL when memory is
 * short. */
struct closed_walk *closed_walk_new(const struct closed_rings *rings);

/* Returns the next record, valid until the next call, or NULL at the end. */
const struct closed_session *closed_walk_next(struct closed_walk *walk);

/* Returns when the last session ended that was to come but is not kept any
 * more, or not shown because closed_sessions are; 0: none so far.  So the walk
 * is complete for the time since then, in clock_now_ns. */
uint64_t closed_walk_lost_ns(const struct closed_walk *walk);

/* Frees the walk.  Accepts NULL. */
void closed_walk_free(struct closed_walk *walk);

#endif
