/* SPDX-License-Identifier: MIT
 * See source_facts.h.
 */
#include "model/source_facts.h"

#include <string.h>

#include "model/source_entries.h"

uint64_t
source_bytes_left(const struct source_facts *facts,
    const struct source_bounds *bounds, uint64_t now_ns)
{
	uint64_t due_ns = source_later(facts->bytes_due_ns, now_ns);
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
	return (full_ns - source_later(facts->due_ns, now_ns)) /
	       bounds->share_ns;
}

static struct source_facts
entry_facts(const struct source_table *t, const struct source_entry *e)
{
	const struct source_bytes *b = source_entry_bytes(t, e);
	const struct source_choice *c = source_entry_choice(t, e);
	struct source_facts facts = {.key = e->key,
	    .sessions = e->sessions,
	    .accepted = e->accepted,
	    .refused = e->refused,
	    .due_ns = e->due_ns};

	if (c)
		facts.choice = *c;
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
	struct place p = source_place_lock(table, key);
	const struct source_entry *e = source_entry_find(&p, key);

	if (e)
		*ret_facts = entry_facts(table, e);
	source_place_unlock(&p);
	return e;
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
	p = source_place_at(table, (uint32_t)shard);
	lock_acquire(&p.shard->lock);
	for (uint32_t n = 0; i < p.shard->made && n < SOURCE_STEP; n++) {
		const struct source_entry *e = &p.entries[i++];

		if (source_entry_is_used(table, &p, e)) {
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
	struct place p = source_place_lock(table, &facts->key);
	struct source_entry *e = source_entry_make(table, &p, &facts->key);
	struct source_bytes *b = e ? source_entry_bytes(table, e) : NULL;
	struct source_choice *c = e ? source_entry_choice(table, e) : NULL;

	if (c)
		*c = facts->choice;
	if (e) {
		e->accepted = facts->accepted;
		e->refused = facts->refused;
		e->due_ns = facts->due_ns;
	}
	if (b) {
		memcpy(b->used, facts->bytes, sizeof(b->used));
		b->due_ns = facts->bytes_due_ns;
	}
	source_place_unlock(&p);
	return e;
}

/* Adds the time by which other_ns is ahead of now_ns to due_ns, or to now_ns if
 * that is later.  The bound keeps the sum from overflowing. */
static uint64_t
add_ahead(uint64_t due_ns, uint64_t other_ns, uint64_t now_ns)
{
	const uint64_t most_ns = 3650 * 86400ull * 1000 * 1000 * 1000;
	uint64_t ahead_ns = other_ns > now_ns ? other_ns - now_ns : 0;

	return source_later(due_ns, now_ns) +
	       (ahead_ns < most_ns ? ahead_ns : most_ns);
}

void
source_table_add(struct source_table *table, const struct source_facts *facts,
    uint64_t now_ns)
{
	struct place p = source_place_lock(table, &facts->key);
	struct source_entry *e = source_entry_make(table, &p, &facts->key);
	struct source_bytes *b = e ? source_entry_bytes(table, e) : NULL;
	struct source_choice *c = e ? source_entry_choice(table, e) : NULL;

	if (c && (c->name == 0 || e->due_ns < facts->due_ns))
		*c = facts->choice;
	if (e) {
		e->accepted += facts->accepted;
		e->refused += facts->refused;
		/* An entry that is new here and idle keeps its age. */
		e->due_ns = facts->due_ns <= now_ns
		                ? source_later(e->due_ns, facts->due_ns)
		                : add_ahead(e->due_ns, facts->due_ns, now_ns);
	}
	if (b) {
		for (enum band_direction d = 0; d < BAND_DIRECTIONS; d++)
			b->used[d] += facts->bytes[d];
		b->due_ns = add_ahead(b->due_ns, facts->bytes_due_ns, now_ns);
	}
	source_place_unlock(&p);
}

bool
source_table_remove(struct source_table *table, const struct source_key *key)
{
	struct place p = source_place_lock(table, key);
	struct source_entry *e = source_entry_find(&p, key);
	bool busy = e && e->sessions > 0;

	if (e && !busy)
		source_entry_free(&p, e);

	source_place_unlock(&p);
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
