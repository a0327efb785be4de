/* SPDX-License-Identifier: MIT
 * A table of sources: for each client address, or range of addresses, its
 * present sessions and the rate of its connections.
 *
 * The memory is fixed when the table is made.  Entries are spread over shards
 * by a hash of the key, each with its lock, so threads seldom meet.  An entry
 * without sessions stays until its place is needed: then, of SOURCE_LOOKS
 * entries without sessions, the one goes that has been idle the longest.
 * Entries with sessions never go.  A source that finds no place passes without
 * being counted: a full table refuses no client.
 *
 * The rate is a virtual schedule, as in model/rate_limit.h, with a burst of its
 * own: one time for each entry.  A table for bytes has a second one, which a
 * source may overdraw: its sessions say afterwards what they have used.  A
 * table for bandwidth has buckets instead, which the sessions of a source share
 * (model/bandwidth.h).
 *
 * Any thread, unless said otherwise.  The locks are held for some 100 ns.
 */
#ifndef MODEL_SOURCE_TABLE_H
#define MODEL_SOURCE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory_use.h"
#include "model/bandwidth.h"
#include "net/addr.h"

struct source_table;

/* Further contents of a table, beside sessions and their rate. */
enum source_extra { SOURCE_PLAIN, SOURCE_WITH_BYTES, SOURCE_WITH_BUCKETS };

#define SOURCE_TABLE_MAX (16u << 20)
#define SOURCE_LOOKS     16

/* The bytes of an IPv6 address; IPv4 addresses are mapped.  All 0 for clients
 * of unix sockets, and for a table that counts all clients together. */
struct source_key {
	uint64_t ip[2];
};

/* Returns the key of the range that has the client.  prefix4 and prefix6: the
 * bits that matter, at most 32 and 128. */
struct source_key source_key_of(
    const struct endpoint *client, unsigned prefix4, unsigned prefix6);

/* Sets the address of the key, with port 0; its family is AF_UNIX if all bytes
 * are 0. */
void source_key_endpoint(
    const struct source_key *key, struct endpoint *ret_endpoint);

/* The bounds of a source. */
struct source_bounds {
	uint32_t sessions; /* at a time, 0: any number */
	uint64_t share_ns; /* between connections, on average; 0: no rate */
	uint64_t burst;    /* connections that may come at once, from 1 */
	/* A connection that comes sooner than the rate allows waits for its
	 * time, if this is at most so far away.  0: it does not wait. */
	uint64_t wait_max_ns;
	/* Bytes in a time, 0: any number.  A source that has used them has to
	 * wait until a part has grown back, a time at the most.  Only for
	 * tables of SOURCE_WITH_BYTES. */
	uint64_t bytes, bytes_ns;
};

enum source_answer {
	SOURCE_COUNTED,   /* the session counts until source_table_leave */
	SOURCE_UNCOUNTED, /* it passes; the table is full */
	SOURCE_SESSIONS,  /* refused: it has as many as it may have */
	SOURCE_RATE,      /* refused: it comes too often */
	SOURCE_BYTES,     /* refused: it has used its bytes */
};

/* The present values of an entry, a copy. */
struct source_facts {
	struct source_key key;
	uint32_t sessions;
	uint32_t accepted; /* connections, since the entry exists */
	uint32_t refused;
	uint64_t due_ns; /* of the schedule; without a rate the last use */
	/* SOURCE_WITH_BYTES, else 0: since the entry exists, and when all of
	 * them will have grown back. */
	uint64_t bytes[BAND_DIRECTIONS], bytes_due_ns;
};

struct source_totals {
	uint64_t size, used;
	uint64_t refused;   /* connections */
	uint64_t uncounted; /* connections that found the table full */
	uint64_t evicted;   /* entries that made way for others */
};

/* Makes a table of about `size` entries.  Runs on the control thread.  Returns
 * NULL when memory is short. */
struct source_table *source_table_new(uint32_t size, enum source_extra extra);

enum source_extra source_table_extra(const struct source_table *table);

/* The references are counted on the control thread. */
struct source_table *source_table_ref(struct source_table *table);
/* Frees the table with the last reference.  NULL is allowed. */
void source_table_unref(struct source_table *table);

/* Asks for a session of the source.  SOURCE_COUNTED: *ret_wait_ns is how long
 * the session has to wait until its time has come, else it is 0. */
enum source_answer source_table_enter(struct source_table *table,
    const struct source_key *key, const struct source_bounds *bounds,
    uint64_t now_ns, uint64_t *ret_wait_ns);

/* A counted session of the source has ended. */
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

/* A counted session of the source has used bytes.  bounds: with bytes. */
void source_table_charge(struct source_table *table,
    const struct source_key *key, const struct source_bounds *bounds,
    const uint64_t bytes[BAND_DIRECTIONS], uint64_t now_ns);

/* Returns the buckets of a source, by direction; NULL if the table has none.
 * The caller has a counted session of the source, which keeps them in place
 * until source_table_leave. */
struct bucket *source_table_buckets(
    struct source_table *table, const struct source_key *key);

/* Returns how many bytes the source may use before it is refused. */
uint64_t source_bytes_left(const struct source_facts *facts,
    const struct source_bounds *bounds, uint64_t now_ns);

/* Returns how many connections the schedule would let in at once. */
uint64_t source_tokens(const struct source_facts *facts,
    const struct source_bounds *bounds, uint64_t now_ns);

/* Returns false if the source has no entry. */
bool source_table_find(struct source_table *table, const struct source_key *key,
    struct source_facts *ret_facts);

#define SOURCE_STEP 256u

/* Returns the next entry; *at is 0 at first.  Returns false after the last one.
 * Looks at SOURCE_STEP places at most: then *ret_found is false.  Entries that
 * come and go meanwhile may be missed. */
bool source_table_next(struct source_table *table, uint64_t *at,
    struct source_facts *ret_facts, bool *ret_found);

/* Sets the counts of the entry and its schedule; makes the entry if needed.
 * The number of sessions stays as it is.  Returns false if the table is full.
 */
bool source_table_set(
    struct source_table *table, const struct source_facts *facts);

/* Removes the entry.  Returns false if it has sessions. */
bool source_table_remove(
    struct source_table *table, const struct source_key *key);

/* Adds up the counts of all shards; takes their locks one after another, so
 * the totals are not of one moment. */
void source_table_totals(
    struct source_table *table, struct source_totals *ret_totals);

/* Adds the memory of the table: what was touched of it, at most. */
void source_table_memory(struct source_table *table, struct memory_use *use);

#endif
