/* SPDX-License-Identifier: MIT
 * See source_entries.h.
 */
#include "model/source_entries.h"

#include <string.h>

#include "base/mix.h"

/* The most entries that are looked at to find a place for a source. */
#define LOOKS_MAX 256u

/* Returns the hash of the key.  The seed keeps peers from choosing addresses
 * that share a chain. */
static uint64_t
hash_of(const struct source_table *t, const struct source_key *key)
{
	return mix64(mix64(key->ip[0] ^ t->seed) ^ key->ip[1]);
}

static uint32_t *
head_of(const struct source_table *t, uint32_t *heads, uint64_t hash)
{
	return &heads[(uint32_t)hash & (t->heads_n - 1)];
}

struct place
source_place_at(struct source_table *t, uint32_t shard)
{
	return (struct place){.shard = &t->shards[shard],
	    .entries = t->entries + (size_t)shard * t->entries_n,
	    .heads = t->heads + (size_t)shard * t->heads_n};
}

struct place
source_place_lock(struct source_table *t, const struct source_key *key)
{
	uint64_t hash = hash_of(t, key);
	struct place p =
	    source_place_at(t, (uint32_t)(hash >> 32) & (t->shards_n - 1));

	p.head = head_of(t, p.heads, hash);
	/* The CPU fetches the chain's memory while this thread waits for the
	 * lock. */
	__builtin_prefetch(p.head);
	lock_acquire(&p.shard->lock);
	return p;
}

void
source_place_unlock(const struct place *p)
{
	lock_release(&p->shard->lock);
}

struct source_entry *
source_entry_find(const struct place *p, const struct source_key *key)
{
	uint32_t at = *p->head;

	while (at != 0 && !source_key_equal(&p->entries[at - 1].key, key))
		at = p->entries[at - 1].next;
	return at != 0 ? &p->entries[at - 1] : NULL;
}

/* Takes the entry out of its chain, which begins at head. */
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

void *
source_entry_more(const struct source_table *t, const struct source_entry *e)
{
	return t->more + (size_t)(e - t->entries) * t->more_size;
}

struct source_bytes *
source_entry_bytes(const struct source_table *t, const struct source_entry *e)
{
	return t->extra == SOURCE_WITH_BYTES ? source_entry_more(t, e) : NULL;
}

struct source_choice *
source_entry_choice(const struct source_table *t, const struct source_entry *e)
{
	return t->extra == SOURCE_WITH_CHOICE ? source_entry_more(t, e) : NULL;
}

struct source_entry *
source_entry_make(const struct source_table *t, const struct place *p,
    const struct source_key *key)
{
	struct source_entry *e = source_entry_find(p, key);

	if (e)
		return e;
	e = take_entry(t, p);
	if (!e)
		return NULL;
	*e = (struct source_entry){.key = *key, .next = *p->head};
	memset(source_entry_more(t, e), 0, t->more_size);
	*p->head = (uint32_t)(e - p->entries) + 1;
	p->shard->used++;
	return e;
}

void
source_entry_free(const struct place *place, struct source_entry *entry)
{
	unlink_entry(place, place->head, entry);
	entry->next = place->shard->free;
	place->shard->free = (uint32_t)(entry - place->entries) + 1;
}

bool
source_entry_is_used(const struct source_table *t, const struct place *p,
    const struct source_entry *e)
{
	struct place chain = *p;

	chain.head = head_of(t, p->heads, hash_of(t, &e->key));
	return source_entry_find(&chain, &e->key) == e;
}
