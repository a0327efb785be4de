/* SPDX-License-Identifier: MIT
 * See source_table.h.
 */
#include "model/source_table.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>

#include "base/clock.h"
#include "model/source_entries.h"

/* A shard has at least this many entries, unless it is the only one: then the
 * shards of a table fill up evenly. */
#define SHARD_ENTRIES_MIN 1024u
#define SHARDS_MAX        256u

/* -- a table -- */

static uint32_t
power_of_two(uint32_t at_least)
{
	uint32_t n = 1;

	while (n < at_least)
		n *= 2;
	return n;
}

static size_t
more_size_of(enum source_extra extra)
{
	return extra == SOURCE_WITH_BYTES ? sizeof(struct source_bytes)
	       : extra == SOURCE_WITH_BUCKETS
	           ? BAND_DIRECTIONS * sizeof(struct bucket)
	       : extra == SOURCE_WITH_CHOICE ? sizeof(struct source_choice)
	                                     : 0;
}

/* Maps the memory of the table.  Returns false when memory is short.  Pages
 * that no entry has used stay the kernel's zero page. */
static bool
map_memory(struct source_table *t)
{
	size_t n = (size_t)t->shards_n * t->entries_n;
	size_t entries = n * sizeof(struct source_entry);
	size_t more = n * t->more_size;

	t->memory_size = entries + more +
	                 (size_t)t->shards_n * t->heads_n * sizeof(uint32_t);
	t->memory = mmap(NULL, t->memory_size, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (t->memory == MAP_FAILED)
		return false;
	t->entries = t->memory;
	t->more = (char *)t->memory + entries;
	t->heads = (uint32_t *)(void *)(t->more + more);
	return true;
}

struct source_table *
source_table_new(uint32_t size, enum source_extra extra)
{
	struct source_table *t;
	uint32_t shards_n = 1;

	while (shards_n < SHARDS_MAX && size / shards_n > SHARD_ENTRIES_MIN)
		shards_n *= 2;
	t = aligned_alloc(
	    CACHE_LINE, sizeof(*t) + shards_n * sizeof(t->shards[0]));
	if (!t)
		return NULL;
	memset(t, 0, sizeof(*t) + shards_n * sizeof(t->shards[0]));
	t->refs = 1;
	t->extra = extra;
	t->more_size = more_size_of(extra);
	t->shards_n = shards_n;
	t->entries_n = (size + shards_n - 1) / shards_n;
	t->heads_n = power_of_two(t->entries_n);
	if (getrandom(&t->seed, sizeof(t->seed), GRND_NONBLOCK) < 0)
		t->seed = clock_wall_us();
	for (uint32_t i = 0; i < shards_n; i++)
		lock_init(&t->shards[i].lock);
	if (map_memory(t))
		return t;
	free(t);
	return NULL;
}

enum source_extra
source_table_extra(const struct source_table *table)
{
	return table->extra;
}

struct source_table *
source_table_ref(struct source_table *table)
{
	table->refs++;
	return table;
}

void
source_table_unref(struct source_table *table)
{
	if (!table || --table->refs > 0)
		return;
	for (uint32_t i = 0; i < table->shards_n; i++)
		lock_fini(&table->shards[i].lock);
	munmap(table->memory, table->memory_size);
	free(table);
}

/* -- the bounds of a source -- */

/* Returns how long it takes until a schedule is at most ahead_ns ahead. */
static uint64_t
wait_of(uint64_t due_ns, uint64_t ahead_ns, uint64_t now_ns)
{
	return due_ns > now_ns + ahead_ns ? due_ns - now_ns - ahead_ns : 0;
}

/* Returns how long that number of bytes takes to grow back, twice the bounds'
 * time at most. */
static uint64_t
bytes_cost_ns(const struct source_bounds *bounds, uint64_t bytes)
{
	double ns =
	    (double)bytes * (double)bounds->bytes_ns / (double)bounds->bytes;
	uint64_t most_ns = 2 * bounds->bytes_ns;

	return ns < (double)most_ns ? (uint64_t)ns : most_ns;
}

/* Returns how long it takes until the source has a byte left. */
static uint64_t
wait_of_bytes(const struct source_bytes *b, const struct source_bounds *bounds,
    uint64_t now_ns)
{
	return b && bounds->bytes > 0
	           ? wait_of(b->due_ns + bytes_cost_ns(bounds, 1),
	                 bounds->bytes_ns, now_ns)
	           : 0;
}

/* Judges a connection of the source.  bytes: those of the entry, or NULL. */
static enum source_answer
judge_source(const struct source_entry *e, const struct source_bytes *bytes,
    const struct source_bounds *bounds, uint64_t now_ns, uint64_t *ret_wait_ns)
{
	uint64_t ahead_ns = (bounds->burst - 1) * bounds->share_ns;
	uint64_t for_rate = 0, for_bytes = wait_of_bytes(bytes, bounds, now_ns);

	if (bounds->sessions > 0 && e->sessions >= bounds->sessions)
		return SOURCE_SESSIONS;
	if (bounds->share_ns > 0)
		for_rate = wait_of(e->due_ns, ahead_ns, now_ns);
	if (for_rate > bounds->wait_max_ns)
		return SOURCE_RATE;
	if (for_bytes > bounds->wait_max_ns)
		return SOURCE_BYTES;
	*ret_wait_ns = source_later(for_rate, for_bytes);
	return SOURCE_COUNTED;
}

/* Keeps each schedule at most twice as far ahead as its bounds let it get: a
 * schedule may be further ahead if the rate was lower before. */
static void
bound_schedules(struct source_entry *e, struct source_bytes *bytes,
    const struct source_bounds *bounds, uint64_t now_ns)
{
	uint64_t ahead_ns =
	    bounds->burst * bounds->share_ns + bounds->wait_max_ns;
	uint64_t bytes_ahead_ns = 2 * bounds->bytes_ns;

	if (bounds->share_ns > 0 && e->due_ns > now_ns + 2 * ahead_ns)
		e->due_ns = now_ns + 2 * ahead_ns;
	if (bytes && bounds->bytes > 0 &&
	    bytes->due_ns > now_ns + bytes_ahead_ns)
		bytes->due_ns = now_ns + bytes_ahead_ns;
}

/* Brings the schedules into their bounds, then judges a connection. */
static enum source_answer
judge_entry(struct source_table *table, struct source_entry *e,
    const struct source_bounds *bounds, uint64_t now_ns, uint64_t *ret_wait_ns)
{
	struct source_bytes *bytes = source_entry_bytes(table, e);

	bound_schedules(e, bytes, bounds, now_ns);
	return judge_source(e, bytes, bounds, now_ns, ret_wait_ns);
}

/* Counts a refused connection.  The schedule stays in its bounds, so that a
 * client that stops trying is admitted again after the burst's time. */
static void
count_refused(
    struct source_entry *e, const struct source_bounds *bounds, uint64_t now_ns)
{
	e->due_ns = source_later(e->due_ns, now_ns) + bounds->share_ns;
	bound_schedules(e, NULL, bounds, now_ns);
}

enum source_answer
source_table_enter(struct source_table *table, const struct source_key *key,
    const struct source_bounds *bounds, uint64_t now_ns, uint64_t *ret_wait_ns)
{
	struct place p = source_place_lock(table, key);
	struct source_entry *e = source_entry_make(table, &p, key);
	enum source_answer answer = SOURCE_UNCOUNTED;

	*ret_wait_ns = 0;
	if (e)
		answer = judge_entry(table, e, bounds, now_ns, ret_wait_ns);
	if (answer == SOURCE_COUNTED) {
		e->sessions++;
		e->accepted++;
		e->due_ns = source_later(e->due_ns, now_ns) + bounds->share_ns;
	} else if (answer == SOURCE_UNCOUNTED) {
		p.shard->uncounted++;
	} else {
		e->refused++;
		p.shard->refused++;
		if (bounds->counts_refused)
			count_refused(e, bounds, now_ns);
	}
	source_place_unlock(&p);
	return answer;
}

enum source_answer
source_table_peek(struct source_table *table, const struct source_key *key,
    const struct source_bounds *bounds, uint64_t now_ns, uint64_t *ret_wait_ns)
{
	struct place p = source_place_lock(table, key);
	const struct source_entry *e = source_entry_find(&p, key);
	enum source_answer answer = SOURCE_COUNTED;

	*ret_wait_ns = 0;
	if (e)
		answer = judge_source(e, source_entry_bytes(table, e), bounds,
		    now_ns, ret_wait_ns);
	source_place_unlock(&p);
	return answer;
}

void
source_table_try(struct source_table *table, const struct source_key *key,
    const struct source_bounds *bounds, uint64_t now_ns)
{
	struct place p = source_place_lock(table, key);
	struct source_entry *e = source_entry_make(table, &p, key);

	if (e)
		count_refused(e, bounds, now_ns);
	source_place_unlock(&p);
}

bool
source_table_rejoin(
    struct source_table *table, const struct source_key *key, uint64_t now_ns)
{
	struct place p = source_place_lock(table, key);
	struct source_entry *e = source_entry_make(table, &p, key);

	if (e) {
		e->sessions++;
		e->due_ns = source_later(e->due_ns, now_ns);
	} else {
		p.shard->uncounted++;
	}
	source_place_unlock(&p);
	return e;
}

void
source_table_leave(struct source_table *table, const struct source_key *key)
{
	struct place p = source_place_lock(table, key);
	struct source_entry *e = source_entry_find(&p, key);

	if (e && e->sessions > 0)
		e->sessions--;
	source_place_unlock(&p);
}

void
source_table_cancel(struct source_table *table, const struct source_key *key,
    const struct source_bounds *bounds)
{
	struct place p = source_place_lock(table, key);
	struct source_entry *e = source_entry_find(&p, key);

	if (e && e->sessions > 0) {
		e->sessions--;
		e->accepted--;
		e->due_ns -=
		    bounds->share_ns < e->due_ns ? bounds->share_ns : e->due_ns;
	}
	source_place_unlock(&p);
}

void
source_table_charge(struct source_table *table, const struct source_key *key,
    const struct source_bounds *bounds, const uint64_t bytes[BAND_DIRECTIONS],
    uint64_t now_ns)
{
	uint64_t cost_ns =
	    bytes_cost_ns(bounds, bytes[BAND_IN] + bytes[BAND_OUT]);
	struct place p = source_place_lock(table, key);
	struct source_entry *e = source_entry_find(&p, key);
	struct source_bytes *b = e ? source_entry_bytes(table, e) : NULL;

	if (b) {
		for (enum band_direction d = 0; d < BAND_DIRECTIONS; d++)
			b->used[d] += bytes[d];
		b->due_ns = source_later(b->due_ns, now_ns) + cost_ns;
		if (b->due_ns > now_ns + 2 * bounds->bytes_ns)
			b->due_ns = now_ns + 2 * bounds->bytes_ns;
	}
	source_place_unlock(&p);
}

struct bucket *
source_table_buckets(struct source_table *table, const struct source_key *key)
{
	struct bucket *buckets = NULL;
	struct source_entry *e;
	struct place p;

	if (table->extra != SOURCE_WITH_BUCKETS)
		return NULL;
	p = source_place_lock(table, key);
	e = source_entry_find(&p, key);
	if (e)
		buckets = source_entry_more(table, e);
	source_place_unlock(&p);
	return buckets;
}

struct source_choice
source_table_chosen(struct source_table *table, const struct source_key *key,
    uint64_t expire_ns, uint64_t now_ns, bool touch)
{
	struct place p = source_place_lock(table, key);
	struct source_entry *e = source_entry_find(&p, key);
	const struct source_choice *c =
	    e ? source_entry_choice(table, e) : NULL;
	struct source_choice choice = {.name = 0};

	if (c && (expire_ns == 0 || e->due_ns + expire_ns > now_ns)) {
		choice = *c;
		if (touch)
			e->due_ns = source_later(e->due_ns, now_ns);
	}
	source_place_unlock(&p);
	return choice;
}

void
source_table_choose(struct source_table *table, const struct source_key *key,
    const struct source_choice *choice, uint64_t now_ns)
{
	struct place p = source_place_lock(table, key);
	struct source_entry *e = source_entry_make(table, &p, key);
	struct source_choice *c = e ? source_entry_choice(table, e) : NULL;

	if (c) {
		*c = *choice;
		e->due_ns = source_later(e->due_ns, now_ns);
	}
	source_place_unlock(&p);
}
