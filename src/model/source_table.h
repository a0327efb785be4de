/* SPDX-License-Identifier: MIT
 * A table of sources: for each client address, or range of addresses, its
 * present sessions and the rate of its connections.
 *
 * The memory is fixed when the table is made.  Entries are spread over shards
 * by a hash of the key, each with its lock, so threads seldom meet.  An entry
 * without sessions stays until its place is needed: a new source replaces the
 * one that has been idle the longest among SOURCE_LOOKS entries.  Entries with
 * sessions are never replaced.  A source that finds no place is admitted
 * without being counted: a full table refuses no client.
 *
 * The rate is a virtual schedule, as in model/rate_limit.h, with a burst of its
 * own: one time for each entry.  A table for bytes has a second schedule, which
 * a source may overdraw: its sessions are charged afterwards for what they have
 * used.  A table for bandwidth has buckets instead, which the sessions of a
 * source share (model/bandwidth.h).  A table for choices has the server that a
 * source has chosen last (model/sticky.h), and counts no sessions.
 *
 * Any thread may call these functions, unless they say otherwise.  The locks
 * are held for some 100 ns.
 */
#ifndef MODEL_SOURCE_TABLE_H
#define MODEL_SOURCE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/bandwidth.h"
#include "model/source_key.h"

struct source_table;

/* Further contents of a table, beside sessions and their rate. */
enum source_extra {
	SOURCE_PLAIN,
	SOURCE_WITH_BYTES,
	SOURCE_WITH_BUCKETS,
	SOURCE_WITH_CHOICE,
};

#define SOURCE_TABLE_MAX (16u << 20)
#define SOURCE_LOOKS     16

/* The bounds of a source. */
struct source_bounds {
	uint32_t sessions;   /* at a time, 0: any number */
	uint64_t share_ns;   /* average time between connections; 0: no rate */
	uint64_t burst;      /* connections that may come at once, from 1 */
	bool counts_refused; /* refused connections count for the rate */
	/* The longest time that a connection that comes sooner than the rate
	 * allows waits for its turn.  0: it does not wait. */
	uint64_t wait_max_ns;
	/* The bytes that a source may use in bytes_ns; 0: any number.  A source
	 * that has used them is refused until some have grown back, which takes
	 * bytes_ns at the most.  Only for tables of SOURCE_WITH_BYTES. */
	uint64_t bytes, bytes_ns;
};

/* The server that a source has chosen last. */
struct source_choice {
	uint64_t name;   /* server.name_hash; 0: no server */
	uint32_t server; /* server.id when it was chosen, or 0 */
};

enum source_answer {
	SOURCE_COUNTED,   /* the session counts until source_table_leave */
	SOURCE_UNCOUNTED, /* admitted, but the table is full */
	SOURCE_SESSIONS,  /* refused: it has as many as it may have */
	SOURCE_RATE,      /* refused: it comes too often */
	SOURCE_BYTES,     /* refused: it has used its bytes */
};

/* Makes a table of about `size` entries.  Runs on the control thread.  Returns
 * NULL when memory is short. */
struct source_table *source_table_new(uint32_t size, enum source_extra extra);

/* Returns what the entries of the table have beside sessions and rate. */
enum source_extra source_table_extra(const struct source_table *table);

/* Adds a reference, on the control thread.  Returns table. */
struct source_table *source_table_ref(struct source_table *table);
/* Drops a reference, on the control thread; the last one frees the table.  NULL
 * is allowed. */
void source_table_unref(struct source_table *table);

/* Asks the table to admit a session of the source.  With SOURCE_COUNTED
 * *ret_wait_ns is how long the session has to wait before it is served, else 0.
 */
enum source_answer source_table_enter(struct source_table *table,
    const struct source_key *key, const struct source_bounds *bounds,
    uint64_t now_ns, uint64_t *ret_wait_ns);

/* Counts a connection of the source, which something else has refused, for the
 * rate.  bounds: with counts_refused. */
void source_table_try(struct source_table *table, const struct source_key *key,
    const struct source_bounds *bounds, uint64_t now_ns);

/* Counts a session of the source that another process has admitted, but not its
 * connection, which that process has counted.  Returns false if the table is
 * full. */
bool source_table_rejoin(
    struct source_table *table, const struct source_key *key, uint64_t now_ns);

/* Ends the count of a session of the source. */
void source_table_leave(
    struct source_table *table, const struct source_key *key);

/* Takes back a source_table_enter that was answered by SOURCE_COUNTED, with the
 * same bounds, and its share of the rate. */
void source_table_cancel(struct source_table *table,
    const struct source_key *key, const struct source_bounds *bounds);

/* Returns what source_table_enter would answer, and counts nothing. */
enum source_answer source_table_peek(struct source_table *table,
    const struct source_key *key, const struct source_bounds *bounds,
    uint64_t now_ns, uint64_t *ret_wait_ns);

/* Charges the bytes, by direction, that a counted session of the source has
 * used.  bounds: with bytes above 0. */
void source_table_charge(struct source_table *table,
    const struct source_key *key, const struct source_bounds *bounds,
    const uint64_t bytes[BAND_DIRECTIONS], uint64_t now_ns);

/* Returns the buckets of a source, by direction; NULL if the table has none.
 * The caller has a counted session of the source, which keeps them in place
 * until source_table_leave. */
struct bucket *source_table_buckets(
    struct source_table *table, const struct source_key *key);

/* Returns the choice of a source that was made or looked up within expire_ns,
 * else one without a server.  expire_ns 0: choices do not expire.  touch:
 * whether this look-up counts as one.  Only for tables of SOURCE_WITH_CHOICE.
 */
struct source_choice source_table_chosen(struct source_table *table,
    const struct source_key *key, uint64_t expire_ns, uint64_t now_ns,
    bool touch);

/* Sets the choice of a source.  Without effect if the table is full, or of
 * another kind. */
void source_table_choose(struct source_table *table,
    const struct source_key *key, const struct source_choice *choice,
    uint64_t now_ns);

#endif
