/* SPDX-License-Identifier: MIT
 * See entries.h.
 */
#include "acl/entries.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/ensure.h"
#include "base/grow.h"

/* The most entries of a block, and the room of a block that an insertion
 * begins. */
#define BLOCK_MAX 4096u
#define BLOCK_MIN 64u

void
acl_entries_init(struct acl_entries *entries, bool is_v6)
{
	*entries = (struct acl_entries){
	    .is_v6 = is_v6, .size = acl_packed_size(is_v6)};
}

static int
compare_packed(const struct acl_entries *es, const void *a, const void *b)
{
	return acl_packed_compare(es->is_v6, a, b);
}

/* -- making -- */

static void
drop_blocks(struct acl_entries *es)
{
	for (size_t i = 0; i < es->blocks_n; i++)
		if (es->blocks[i].owned)
			free(es->blocks[i].entries);
	es->blocks_n = 0;
}

bool
acl_entries_append(struct acl_entries *entries, const struct acl_entry *entry)
{
	struct acl_entries *es = entries;
	union acl_packed packed = acl_pack(entry);
	char *grown = grow(es->all, es->n, &es->all_room, es->size);

	if (!grown)
		return false;
	es->all = grown;
	es->wide |= entry->range.bits > 64;
	drop_blocks(es);
	memcpy(es->all + es->n++ * es->size, &packed, es->size);
	return true;
}

/* Sorts the array, unless it is sorted already: most lists that programs write
 * are. */
static void
sort_appended(struct acl_entries *es)
{
	int (*compare)(const void *, const void *) =
	    es->is_v6 ? acl_packed_order6 : acl_packed_order4;
	size_t sorted = 1;

	while (sorted < es->n && compare(es->all + (sorted - 1) * es->size,
	                             es->all + sorted * es->size) <= 0)
		sorted++;
	if (sorted < es->n)
		qsort(es->all, es->n, es->size, compare);
}

/* The callback for entries within others. */
struct cover_report {
	void (*covered)(void *arg, const struct acl_entry *entry,
	    const struct acl_entry *cover);
	void *arg;
};

static void
tell_covered(const struct acl_entries *es, const struct cover_report *report,
    const void *e, const void *cover)
{
	struct acl_entry entry, by;

	if (!report->covered)
		return;
	acl_unpack(es->is_v6, e, &entry);
	acl_unpack(es->is_v6, cover, &by);
	report->covered(report->arg, &entry, &by);
}

/* Drops entries with the same range as the one before.  The array is sorted.
 * Two ranges are disjoint, or one is within the other, so the last entry that
 * is not within another one reaches furthest. */
static void
drop_repeated(struct acl_entries *es, const struct cover_report *report)
{
	const char *furthest = NULL;
	size_t kept = 0;

	for (size_t i = 0; i < es->n; i++) {
		const char *e = es->all + i * es->size;
		char *next = es->all + kept * es->size;
		bool within =
		    furthest && acl_packed_is_within(es->is_v6, e, furthest);

		if (within)
			tell_covered(es, report, e, furthest);
		if (within && compare_packed(es, next - es->size, e) == 0)
			continue;
		if (next != e)
			memcpy(next, e, es->size);
		if (!within)
			furthest = next;
		kept++;
	}
	es->n = kept;
}

/* Gives back the room behind the last entry. */
static void
shrink(struct acl_entries *es)
{
	char *less = es->n > 0 ? reallocarray(es->all, es->n, es->size) : NULL;

	if (!less)
		return;
	es->all = less;
	es->all_room = es->n;
}

/* Divides the array into blocks.  Returns false when memory is short. */
static bool
divide_all(struct acl_entries *es)
{
	size_t blocks = (es->n + BLOCK_MAX - 1) / BLOCK_MAX;

	drop_blocks(es);
	free(es->blocks);
	es->blocks = calloc(blocks + 1, sizeof(*es->blocks));
	es->blocks_room = es->blocks ? blocks + 1 : 0;
	if (!es->blocks)
		return false;
	for (; es->blocks_n < blocks; es->blocks_n++) {
		struct acl_block *b = &es->blocks[es->blocks_n];

		b->before = es->blocks_n * BLOCK_MAX;
		b->entries = es->all + b->before * es->size;
		b->n = es->n - b->before < BLOCK_MAX
		           ? (uint32_t)(es->n - b->before)
		           : BLOCK_MAX;
		b->room = b->n;
		memcpy(&b->first, b->entries, es->size);
	}
	return true;
}

bool
acl_entries_seal(struct acl_entries *entries,
    void (*covered)(void *arg, const struct acl_entry *entry,
        const struct acl_entry *cover),
    void *arg)
{
	sort_appended(entries);
	drop_repeated(entries, &(struct cover_report){covered, arg});
	shrink(entries);
	return divide_all(entries);
}

uint64_t
acl_entries_hash(const struct acl_entries *entries, uint64_t seed)
{
	const struct acl_entries *es = entries;

	return es->n > 0 ? XXH64(es->all, es->n * es->size, seed) : seed;
}

uint64_t
acl_entries_hash_ranges(const struct acl_entries *entries, uint64_t seed)
{
	const struct acl_entries *es = entries;

	for (size_t i = 0; i < es->n; i++) {
		union acl_packed e;

		memcpy(&e, es->all + i * es->size, es->size);
		if (es->is_v6)
			e.v6.line = e.v6.source = 0;
		else
			e.v4.line = e.v4.source = 0;
		seed = XXH64(&e, es->size, seed);
	}
	return seed;
}

/* -- look-ups -- */

/* Returns the block that has the entry, or would have it; NULL if there are no
 * blocks. */
static struct acl_block *
find_block(const struct acl_entries *es, const union acl_packed *e)
{
	size_t low = 0, n = es->blocks_n;

	while (n > 1) {
		size_t half = n / 2;

		if (compare_packed(es, &es->blocks[low + half].first, e) <= 0) {
			low += half;
			n -= half;
		} else {
			n = half;
		}
	}
	return n > 0 ? &es->blocks[low] : NULL;
}

/* Gets the index within the block of the first entry that is not before e.
 * Returns whether that entry has the same range. */
static bool
find_in_block(const struct acl_entries *es, const struct acl_block *b,
    const union acl_packed *e, uint32_t *ret_at)
{
	uint32_t low = 0, high = b->n;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (compare_packed(es, b->entries + mid * es->size, e) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	*ret_at = low;
	return low < b->n &&
	       compare_packed(es, b->entries + low * es->size, e) == 0;
}

bool
acl_entries_find(const struct acl_entries *entries, const struct cidr *range,
    size_t *ret_index)
{
	union acl_packed e = acl_pack(&(struct acl_entry){.range = *range});
	const struct acl_block *b = find_block(entries, &e);
	uint32_t at = 0;
	bool found = b && find_in_block(entries, b, &e, &at);

	*ret_index = b ? b->before + at : 0;
	return found;
}

static const char *
packed_at(const struct acl_entries *es, size_t index)
{
	size_t low = 0, n = es->blocks_n;

	if (n == 0)
		return es->all + index * es->size;
	while (n > 1) {
		size_t half = n / 2;

		if (es->blocks[low + half].before <= index) {
			low += half;
			n -= half;
		} else {
			n = half;
		}
	}
	return es->blocks[low].entries +
	       (index - es->blocks[low].before) * es->size;
}

void
acl_entries_at(
    const struct acl_entries *entries, size_t index, struct acl_entry *ret)
{
	acl_unpack(entries->is_v6, packed_at(entries, index), ret);
}

/* -- changes -- */

/* Counts an entry that was added to a block (change 1) or removed from it (-1).
 */
static void
count_entry(struct acl_entries *es, struct acl_block *b, int change)
{
	b->n += (uint32_t)change;
	es->n += (size_t)change;
	while (++b < es->blocks + es->blocks_n)
		b->before += (size_t)change;
}

/* Inserts a block at that index.  Returns false when memory is short. */
static bool
insert_block(struct acl_entries *es, size_t at, const struct acl_block *block)
{
	struct acl_block *grown =
	    grow(es->blocks, es->blocks_n, &es->blocks_room, sizeof(*grown));

	if (!grown)
		return false;
	es->blocks = grown;
	memmove(
	    &grown[at + 1], &grown[at], (es->blocks_n++ - at) * sizeof(*grown));
	grown[at] = *block;
	return true;
}

static bool
begin_blocks(struct acl_entries *es, const union acl_packed *first)
{
	struct acl_block b = {
	    .entries = reallocarray(NULL, BLOCK_MIN, es->size),
	    .room = BLOCK_MIN,
	    .owned = true,
	    .first = *first};

	if (b.entries && insert_block(es, 0, &b))
		return true;
	free(b.entries);
	return false;
}

/* Gives a block room for twice as many entries, at most BLOCK_MAX.  Returns
 * false when memory is short. */
static bool
grow_block(const struct acl_entries *es, struct acl_block *b)
{
	uint32_t room = b->room < BLOCK_MAX / 2 ? 2 * b->room : BLOCK_MAX;
	char *grown =
	    reallocarray(b->owned ? b->entries : NULL, room, es->size);

	if (!grown)
		return false;
	if (!b->owned)
		memcpy(grown, b->entries, b->n * es->size);
	b->entries = grown;
	b->room = room;
	b->owned = true;
	return true;
}

/* Moves the second half of a full block to a new one behind it.  Returns false
 * when memory is short. */
static bool
split_block(struct acl_entries *es, size_t at)
{
	const struct acl_block *b = &es->blocks[at];
	uint32_t half = b->n / 2;
	struct acl_block next = {
	    .entries = reallocarray(NULL, BLOCK_MAX, es->size),
	    .n = b->n - half,
	    .room = BLOCK_MAX,
	    .before = b->before + half,
	    .owned = true};

	if (!next.entries)
		return false;
	memcpy(next.entries, b->entries + half * es->size, next.n * es->size);
	memcpy(&next.first, next.entries, es->size);
	if (!insert_block(es, at + 1, &next)) {
		free(next.entries);
		return false;
	}
	es->blocks[at].n = half;
	return true;
}

/* Returns a block that has room for the entry, or NULL when memory is short. */
static struct acl_block *
block_with_room(struct acl_entries *es, const union acl_packed *e)
{
	struct acl_block *b;

	if (es->blocks_n == 0 && !begin_blocks(es, e))
		return NULL;
	b = find_block(es, e);
	if (b->n < b->room)
		return b;
	if (b->room < BLOCK_MAX)
		return grow_block(es, b) ? b : NULL;
	return split_block(es, (size_t)(b - es->blocks)) ? find_block(es, e)
	                                                 : NULL;
}

bool
acl_entries_insert(struct acl_entries *entries, const struct acl_entry *entry)
{
	struct acl_entries *es = entries;
	union acl_packed e = acl_pack(entry);
	struct acl_block *b = block_with_room(es, &e);
	uint32_t at;
	char *place;
	bool found;

	if (!b)
		return false;
	found = find_in_block(es, b, &e, &at);
	ENSURE(!found);
	place = b->entries + at * es->size;
	memmove(place + es->size, place, (b->n - at) * es->size);
	memcpy(place, &e, es->size);
	es->wide |= entry->range.bits > 64;
	count_entry(es, b, 1);
	return true;
}

bool
acl_entries_remove(struct acl_entries *entries, const struct cidr *range)
{
	struct acl_entries *es = entries;
	union acl_packed e = acl_pack(&(struct acl_entry){.range = *range});
	struct acl_block *b = find_block(es, &e);
	uint32_t at;
	char *place;

	if (!b || !find_in_block(es, b, &e, &at))
		return false;
	place = b->entries + at * es->size;
	memmove(place, place + es->size, (b->n - at - 1) * es->size);
	count_entry(es, b, -1);
	return true;
}

/* -- the table -- */

static struct acl_prefix
prefix_of(bool is_v6, const char *packed)
{
	const struct acl_entry4 *e4 = (const void *)packed;
	const struct acl_entry6 *e6 = (const void *)packed;

	return is_v6 ? (struct acl_prefix){{e6->hi, e6->lo}, e6->bits}
	             : (struct acl_prefix){
	                   {(uint64_t)e4->first << 32, 0}, e4->bits};
}

void
acl_entries_add_ranges(
    const struct acl_entries *entries, struct acl_table *table)
{
	const struct acl_entries *es = entries;

	for (size_t i = 0; i < es->blocks_n; i++)
		for (uint32_t j = 0; j < es->blocks[i].n; j++) {
			struct acl_prefix range = prefix_of(
			    es->is_v6, es->blocks[i].entries + j * es->size);

			acl_table_add(table, es->is_v6, &range);
		}
}

void
acl_entries_memory(const struct acl_entries *entries, struct memory_use *use)
{
	memory_add_block(use, entries->all);
	memory_add_block(use, entries->blocks);
	for (size_t i = 0; i < entries->blocks_n; i++)
		if (entries->blocks[i].owned)
			memory_add_block(use, entries->blocks[i].entries);
}

void
acl_entries_fini(struct acl_entries *entries)
{
	drop_blocks(entries);
	free(entries->blocks);
	free(entries->all);
}
