/* SPDX-License-Identifier: MIT
 * See source_table.h.
 */
#include "model/source_table.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>

#include "base/atomics.h"
#include "base/clock.h"
#include "base/lock.h"
#include "base/mix.h"

/* A shard has at least this many entries, unless it is the only one: then the
 * shards of a table fill up evenly. */
#define SHARD_ENTRIES_MIN 1024u
#define SHARDS_MAX        256u

/* How many entries a source without a place looks at in the end. */
#define LOOKS_MAX 256u

/* Indices of entries are stored plus 1; 0 ends a chain. */
struct source_entry {
	struct source_key key;
	uint64_t due_ns;
	uint32_t sessions;
	uint32_t next; /* in the chain of its hash, or of free entries */
	uint32_t accepted, refused;
};

/* Further memory of an entry of SOURCE_WITH_BYTES. */
struct source_bytes {
	uint64_t used[BAND_DIRECTIONS];
	uint64_t due_ns;
};

struct source_shard {
	struct lock lock CACHE_LINE_ALIGNED;
	uint32_t made; /* entries that were ever used */
	uint32_t used;
	uint32_t free; /* a chain */
	uint32_t hand; /* where the next look for an idle entry begins */
	uint64_t refused, uncounted, evicted;
};

struct source_table {
	unsigned refs; /* control thread only */
	enum source_extra extra;
	size_t more_size;                      /* further bytes of an entry */
	uint32_t shards_n, entries_n, heads_n; /* the latter two of a shard */
	uint64_t seed;
	/* Entries of all shards, then their further bytes, then heads of all
	 * shards. */
	void *memory;
	size_t memory_size;
	struct source_entry *entries;
	char *more;
	uint32_t *heads;
	struct source_shard shards[];
};

/* A shard with the hash of a key: the lock is held. */
struct place {
	struct source_shard *shard;
	struct source_entry *entries; /* of the shard */
	uint32_t *heads, *head;
};

/* -- keys -- */

/* Clears all but the first bits. */
static void
keep_bits(uint8_t *ip, size_t len, unsigned bits)
{
	for (size_t i = 0; i < len; i++, bits -= bits < 8 ? bits : 8)
		if (bits < 8)
			ip[i] &= (uint8_t)(0xff00u >> bits);
}

struct source_key
source_key_of(const struct endpoint *client, unsigned prefix4, unsigned prefix6)
{
	struct source_key key = {.ip = {0}};
	uint8_t ip[16];

	if (client->family == AF_INET) {
		memcpy(ip, addr_v4_mapped, 12);
		memcpy(ip + 12, client->ip, 4);
		keep_bits(ip + 12, 4, prefix4);
	} else if (client->family == AF_INET6) {
		memcpy(ip, client->ip, 16);
		keep_bits(ip, 16, prefix6);
	} else {
		return key;
	}
	memcpy(key.ip, ip, sizeof(ip));
	return key;
}

void
source_key_endpoint(const struct source_key *key, struct endpoint *ret_endpoint)
{
	uint8_t ip[16];

	memcpy(ip, key->ip, sizeof(ip));
	*ret_endpoint = (struct endpoint){.family = AF_UNIX};
	if (memcmp(ip, addr_v4_mapped, 12) == 0)
		endpoint_set_ip(ret_endpoint, AF_INET, ip + 12, 0);
	else if ((key->ip[0] | key->ip[1]) != 0)
		endpoint_set_ip(ret_endpoint, AF_INET6, ip, 0);
}

static bool
key_equal(const struct source_key *a, const struct source_key *b)
{
	return a->ip[0] == b->ip[0] && a->ip[1] == b->ip[1];
}

/* The seed keeps peers from choosing addresses that share a chain. */
static uint64_t
hash_of(const struct source_table *t, const struct source_key *key)
{
	return mix64(mix64(key->ip[0] ^ t->seed) ^ key->ip[1]);
}

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
	           : 0;
}

/* Pages that no entry has used stay the kernel's zero page. */
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

/* -- entries of a shard, under its lock -- */

static uint32_t *
head_of(const struct source_table *t, uint32_t *heads, uint64_t hash)
{
	return &heads[(uint32_t)hash & (t->heads_n - 1)];
}

static struct place
place_at(struct source_table *t, uint32_t shard)
{
	return (struct place){.shard = &t->shards[shard],
	    .entries = t->entries + (size_t)shard * t->entries_n,
	    .heads = t->heads + (size_t)shard * t->heads_n};
}

/* Takes the lock of the key's shard. */
static struct place
place_lock(struct source_table *t, const struct source_key *key)
{
	uint64_t hash = hash_of(t, key);
	struct place p =
	    place_at(t, (uint32_t)(hash >> 32) & (t->shards_n - 1));

	p.head = head_of(t, p.heads, hash);
	/* The chain's memory comes while the lock is waited for. */
	__builtin_prefetch(p.head);
	lock_acquire(&p.shard->lock);
	return p;
}

static void
place_unlock(const struct place *p)
{
	lock_release(&p->shard->lock);
}

static struct source_entry *
find_source(const struct place *p, const struct source_key *key)
{
	uint32_t at = *p->head;

	while (at != 0 && !key_equal(&p->entries[at - 1].key, key))
		at = p->entries[at - 1].next;
	return at != 0 ? &p->entries[at - 1] : NULL;
}

/* The head is that of the entry's chain. */
static void
unlink_entry(
    const struct place *p, uint32_t *head, const struct source_entry *e)
{
	uint32_t self = (uint32_t)(e - p->entries) + 1;

	while (*head != self)
		head = &p->entries[*head - 1].next;
	*head = e->next;
	p->shard->used--;
}

/* Returns the entry that has been idle the longest of the next SOURCE_LOOKS, or
 * else the first one without sessions among the next LOOKS_MAX; NULL: none. */
static struct source_entry *
find_idle(const struct source_table *t, const struct place *p)
{
	struct source_entry *oldest = NULL;
	uint32_t looks = t->entries_n < LOOKS_MAX ? t->entries_n : LOOKS_MAX;

	for (uint32_t i = 0; i < looks && (i < SOURCE_LOOKS || !oldest); i++) {
		struct source_entry *e = &p->entries[p->shard->hand];

		if (++p->shard->hand == t->entries_n)
			p->shard->hand = 0;
		if (e->sessions == 0 && (!oldest || e->due_ns < oldest->due_ns))
			oldest = e;
	}
	return oldest;
}

/* Returns an entry that is in no chain, or NULL. */
static struct source_entry *
take_entry(const struct source_table *t, const struct place *p)
{
	struct source_shard *s = p->shard;
	struct source_entry *e;

	if (s->free != 0) {
		e = &p->entries[s->free - 1];
		s->free = e->next;
		return e;
	}
	if (s->made < t->entries_n)
		return &p->entries[s->made++];
	e = find_idle(t, p);
	if (!e)
		return NULL;
	unlink_entry(p, head_of(t, p->heads, hash_of(t, &e->key)), e);
	s->evicted++;
	return e;
}

/* Returns the further bytes of the entry. */
static void *
more_of(const struct source_table *t, const struct source_entry *e)
{
	return t->more + (size_t)(e - t->entries) * t->more_size;
}

/* NULL: the table has none. */
static struct source_bytes *
bytes_of(const struct source_table *t, const struct source_entry *e)
{
	return t->extra == SOURCE_WITH_BYTES ? more_of(t, e) : NULL;
}

/* Returns the key's entry, a new one if needed; NULL: all places have
 * sessions. */
static struct source_entry *
make_entry(const struct source_table *t, const struct place *p,
    const struct source_key *key)
{
	struct source_entry *e = find_source(p, key);

	if (e)
		return e;
	e = take_entry(t, p);
	if (!e)
		return NULL;
	*e = (struct source_entry){.key = *key, .next = *p->head};
	memset(more_of(t, e), 0, t->more_size);
	*p->head = (uint32_t)(e - p->entries) + 1;
	p->shard->used++;
	return e;
}

/* -- the bounds of a source -- */

static uint64_t
max_u64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Returns how long it takes until a schedule is at most so far ahead. */
static uint64_t
wait_of(uint64_t due_ns, uint64_t ahead_ns, uint64_t now_ns)
{
	return due_ns > now_ns + ahead_ns ? due_ns - now_ns - ahead_ns : 0;
}

/* Returns how long so many bytes take to grow back, a double of the bounds'
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

/* bytes: of the entry, or NULL. */
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
	*ret_wait_ns = max_u64(for_rate, for_bytes);
	return SOURCE_COUNTED;
}

enum source_answer
source_table_enter(struct source_table *table, const struct source_key *key,
    const struct source_bounds *bounds, uint64_t now_ns, uint64_t *ret_wait_ns)
{
	struct place p = place_lock(table, key);
	struct source_entry *e = make_entry(table, &p, key);
	enum source_answer answer = SOURCE_UNCOUNTED;

	*ret_wait_ns = 0;
	if (e)
		answer = judge_source(
		    e, bytes_of(table, e), bounds, now_ns, ret_wait_ns);
	if (answer == SOURCE_COUNTED) {
		e->sessions++;
		e->accepted++;
		e->due_ns = max_u64(e->due_ns, now_ns) + bounds->share_ns;
	} else if (answer == SOURCE_UNCOUNTED) {
		p.shard->uncounted++;
	} else {
		e->refused++;
		p.shard->refused++;
	}
	place_unlock(&p);
	return answer;
}

enum source_answer
source_table_peek(struct source_table *table, const struct source_key *key,
    const struct source_bounds *bounds, uint64_t now_ns, uint64_t *ret_wait_ns)
{
	struct place p = place_lock(table, key);
	const struct source_entry *e = find_source(&p, key);
	enum source_answer answer = SOURCE_COUNTED;

	*ret_wait_ns = 0;
	if (e)
		answer = judge_source(
		    e, bytes_of(table, e), bounds, now_ns, ret_wait_ns);
	place_unlock(&p);
	return answer;
}

void
source_table_leave(struct source_table *table, const struct source_key *key)
{
	struct place p = place_lock(table, key);
	struct source_entry *e = find_source(&p, key);

	if (e && e->sessions > 0)
		e->sessions--;
	place_unlock(&p);
}

void
source_table_cancel(struct source_table *table, const struct source_key *key,
    const struct source_bounds *bounds)
{
	struct place p = place_lock(table, key);
	struct source_entry *e = find_source(&p, key);

	if (e && e->sessions > 0) {
		e->sessions--;
		e->accepted--;
		e->due_ns -=
		    bounds->share_ns < e->due_ns ? bounds->share_ns : e->due_ns;
	}
	place_unlock(&p);
}

void
source_table_charge(struct source_table *table, const struct source_key *key,
    const struct source_bounds *bounds, const uint64_t bytes[BAND_DIRECTIONS],
    uint64_t now_ns)
{
	uint64_t cost_ns =
	    bytes_cost_ns(bounds, bytes[BAND_IN] + bytes[BAND_OUT]);
	struct place p = place_lock(table, key);
	struct source_entry *e = find_source(&p, key);
	struct source_bytes *b = e ? bytes_of(table, e) : NULL;

	if (b) {
		for (enum band_direction d = 0; d < BAND_DIRECTIONS; d++)
			b->used[d] += bytes[d];
		b->due_ns = max_u64(b->due_ns, now_ns) + cost_ns;
		if (b->due_ns > now_ns + 2 * bounds->bytes_ns)
			b->due_ns = now_ns + 2 * bounds->bytes_ns;
	}
	place_unlock(&p);
}

struct bucket *
source_table_buckets(struct source_table *table, const struct source_key *key)
{
	struct bucket *buckets = NULL;
	struct source_entry *e;
	struct place p;

	if (table->extra != SOURCE_WITH_BUCKETS)
		return NULL;
	p = place_lock(table, key);
	e = find_source(&p, key);
	if (e)
		buckets = more_of(table, e);
	place_unlock(&p);
	return buckets;
}

uint64_t
source_bytes_left(const struct source_facts *facts,
    const struct source_bounds *bounds, uint64_t now_ns)
{
	uint64_t due_ns = max_u64(facts->bytes_due_ns, now_ns);
	uint64_t full_ns = now_ns + bounds->bytes_ns;

	if (bounds->bytes == 0 || due_ns >= full_ns)
		return 0;
	return (uint64_t)((double)(full_ns - due_ns) * (double)bounds->bytes /
	                  (double)bounds->bytes_ns);
}

uint64_t
source_tokens(const struct source_facts *facts,
    const struct source_bounds *bounds, uint64_t now_ns)
{
	uint64_t full_ns = now_ns + bounds->burst * bounds->share_ns;

	if (bounds->share_ns == 0 || facts->due_ns >= full_ns)
		return 0;
	return (full_ns - max_u64(facts->due_ns, now_ns)) / bounds->share_ns;
}

/* -- the control thread -- */

static struct source_facts
entry_facts(const struct source_table *t, const struct source_entry *e)
{
	const struct source_bytes *b = bytes_of(t, e);
	struct source_facts facts = {.key = e->key,
	    .sessions = e->sessions,
	    .accepted = e->accepted,
	    .refused = e->refused,
	    .due_ns = e->due_ns};

	if (b) {
		memcpy(facts.bytes, b->used, sizeof(facts.bytes));
		facts.bytes_due_ns = b->due_ns;
	}
	return facts;
}

bool
source_table_find(struct source_table *table, const struct source_key *key,
    struct source_facts *ret_facts)
{
	struct place p = place_lock(table, key);
	const struct source_entry *e = find_source(&p, key);

	if (e)
		*ret_facts = entry_facts(table, e);
	place_unlock(&p);
	return e;
}

/* Returns whether the entry is in its chain; free entries are not. */
static bool
is_linked(const struct source_table *t, const struct place *p,
    const struct source_entry *e)
{
	struct place chain = *p;

	chain.head = head_of(t, p->heads, hash_of(t, &e->key));
	return find_source(&chain, &e->key) == e;
}

bool
source_table_next(struct source_table *table, uint64_t *at,
    struct source_facts *ret_facts, bool *ret_found)
{
	uint64_t shard = *at / table->entries_n;
	uint32_t i = (uint32_t)(*at % table->entries_n);
	struct place p;

	*ret_found = false;
	if (shard >= table->shards_n)
		return false;
	p = place_at(table, (uint32_t)shard);
	lock_acquire(&p.shard->lock);
	for (uint32_t n = 0; i < p.shard->made && n < SOURCE_STEP; n++) {
		const struct source_entry *e = &p.entries[i++];

		if (is_linked(table, &p, e)) {
			*ret_facts = entry_facts(table, e);
			*ret_found = true;
			break;
		}
	}
	*at = i < p.shard->made ? shard * table->entries_n + i
	                        : (shard + 1) * table->entries_n;
	lock_release(&p.shard->lock);
	return true;
}

bool
source_table_set(struct source_table *table, const struct source_facts *facts)
{
	struct place p = place_lock(table, &facts->key);
	struct source_entry *e = make_entry(table, &p, &facts->key);
	struct source_bytes *b = e ? bytes_of(table, e) : NULL;

	if (e) {
		e->accepted = facts->accepted;
		e->refused = facts->refused;
		e->due_ns = facts->due_ns;
	}
	if (b) {
		memcpy(b->used, facts->bytes, sizeof(b->used));
		b->due_ns = facts->bytes_due_ns;
	}
	place_unlock(&p);
	return e;
}

bool
source_table_remove(struct source_table *table, const struct source_key *key)
{
	struct place p = place_lock(table, key);
	struct source_entry *e = find_source(&p, key);
	bool busy = e && e->sessions > 0;

	if (e && !busy) {
		unlink_entry(&p, p.head, e);
		e->next = p.shard->free;
		p.shard->free = (uint32_t)(e - p.entries) + 1;
	}
	place_unlock(&p);
	return !busy;
}

void
source_table_totals(
    struct source_table *table, struct source_totals *ret_totals)
{
	struct source_totals sum = {
	    .size = (uint64_t)table->shards_n * table->entries_n};

	for (uint32_t i = 0; i < table->shards_n; i++) {
		struct source_shard *s = &table->shards[i];

		lock_acquire(&s->lock);
		sum.used += s->used;
		sum.refused += s->refused;
		sum.uncounted += s->uncounted;
		sum.evicted += s->evicted;
		lock_release(&s->lock);
	}
	*ret_totals = sum;
}

void
source_table_memory(struct source_table *table, struct memory_use *use)
{
	use->count++;
	memory_add_block(use, table);
	for (uint32_t i = 0; i < table->shards_n; i++) {
		struct source_shard *s = &table->shards[i];

		lock_acquire(&s->lock);
		use->mapped += (uint64_t)s->made *
		               (sizeof(struct source_entry) + table->more_size +
		                   sizeof(uint32_t));
		lock_release(&s->lock);
	}
}
