/* SPDX-License-Identifier: MIT
 * See entries.h.
 */
#include "acl/entries.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <xxhash.h>

#include "base/ensure.h"
#include "base/grow.h"

static struct acl_packed
pack(const struct acl_entry *e)
{
	return (struct acl_packed){
	    .first = acl_key_of(e->range.family, e->range.ip),
	    .line = e->line,
	    .bits = e->range.bits,
	    .source = (uint8_t)e->source};
}

static void
unpack(uint16_t family, const struct acl_packed *e, struct acl_entry *ret)
{
	uint64_t ip[2] = {htobe64(e->first.hi), htobe64(e->first.lo)};

	*ret = (struct acl_entry){.range = {.family = family, .bits = e->bits},
	    .source = e->source,
	    .line = e->line};
	memcpy(ret->range.ip, ip, sizeof(ip));
}

static struct acl_prefix
prefix_of(const struct acl_packed *e)
{
	return (struct acl_prefix){e->first, e->bits};
}

static int
compare_packed(const struct acl_packed *a, const struct acl_packed *b)
{
	int order = acl_key_compare(a->first, b->first);

	return order ? order : (int)a->bits - (int)b->bits;
}

/* Returns whether e, which is not before other, is within other's range. */
static bool
is_within(const struct acl_packed *e, const struct acl_packed *other)
{
	return acl_key_compare(
	           acl_key_mask(e->first, other->bits), other->first) == 0;
}

/* -- making -- */

bool
acl_entries_append(struct acl_entries *entries, const struct acl_entry *entry)
{
	struct acl_entries *es = entries;
	struct acl_packed *grown =
	    grow(es->all, es->n, &es->room, sizeof(*grown));

	if (!grown)
		return false;
	es->all = grown;
	es->all[es->n++] = pack(entry);
	es->wide |= entry->range.bits > 64;
	return true;
}

/* Entries with the same range are in the order in which they were read. */
static int
compare_for_sort(const void *one, const void *other)
{
	const struct acl_packed *a = one, *b = other;
	int order = compare_packed(a, b);

	if (order)
		return order;
	if (a->source != b->source)
		return a->source < b->source ? -1 : 1;
	return (a->line > b->line) - (a->line < b->line);
}

/* Sorts the array, unless it is sorted already: most lists that programs write
 * are. */
static void
sort_entries(struct acl_entries *es)
{
	size_t sorted = 1;

	while (sorted < es->n &&
	       compare_for_sort(&es->all[sorted - 1], &es->all[sorted]) <= 0)
		sorted++;
	if (sorted < es->n)
		qsort(es->all, es->n, sizeof(es->all[0]), compare_for_sort);
}

/* Gives back the room behind the last entry. */
static void
shrink(struct acl_entries *es)
{
	struct acl_packed *less =
	    es->n > 0 ? reallocarray(es->all, es->n, sizeof(*less)) : NULL;

	if (!less)
		return;
	es->all = less;
	es->room = es->n;
}

/* Two ranges are disjoint, or one is within the other, so the last entry that
 * is not within another one reaches furthest. */
void
acl_entries_seal(struct acl_entries *entries,
    void (*covered)(void *arg, const struct acl_entry *entry,
        const struct acl_entry *cover),
    void *arg)
{
	struct acl_entries *es = entries;
	size_t kept = 0, furthest = 0;
	struct acl_entry entry, by;

	sort_entries(es);
	for (size_t i = 0; i < es->n; i++) {
		const struct acl_packed e = es->all[i];
		bool within = kept > 0 && is_within(&e, &es->all[furthest]);

		if (within) {
			unpack(es->family, &e, &entry);
			unpack(es->family, &es->all[furthest], &by);
			covered(arg, &entry, &by);
		}
		if (within && compare_packed(&es->all[kept - 1], &e) == 0)
			continue;
		if (!within)
			furthest = kept;
		es->all[kept++] = e;
	}
	es->n = kept;
	shrink(es);
}

uint64_t
acl_entries_hash(const struct acl_entries *entries, uint64_t seed)
{
	const struct acl_entries *es = entries;

	return es->n > 0 ? XXH64(es->all, es->n * sizeof(es->all[0]), seed)
	                 : seed;
}

uint64_t
acl_entries_hash_ranges(const struct acl_entries *entries, uint64_t seed)
{
	for (size_t i = 0; i < entries->n; i++) {
		struct acl_packed e = entries->all[i];

		e.line = e.source = 0;
		seed = XXH64(&e, sizeof(e), seed);
	}
	return seed;
}

/* -- look-ups -- */

/* Does what acl_entries_find does. */
static bool
find_packed(
    const struct acl_entries *es, const struct acl_packed *e, size_t *ret_index)
{
	size_t low = 0, high = es->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (compare_packed(&es->all[mid], e) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	*ret_index = low;
	return low < es->n && compare_packed(&es->all[low], e) == 0;
}

bool
acl_entries_find(const struct acl_entries *entries, const struct cidr *range,
    size_t *ret_index)
{
	struct acl_packed e = pack(&(struct acl_entry){.range = *range});

	return find_packed(entries, &e, ret_index);
}

bool
acl_entries_find_longest(const struct acl_entries *entries, struct acl_key key,
    int bits, size_t *ret_index)
{
	for (; bits >= 0; bits--) {
		struct acl_packed e = {
		    .first = acl_key_mask(key, (unsigned)bits),
		    .bits = (uint8_t)bits};

		if (find_packed(entries, &e, ret_index))
			return true;
	}
	return false;
}

void
acl_entries_at(
    const struct acl_entries *entries, size_t index, struct acl_entry *ret)
{
	unpack(entries->family, &entries->all[index], ret);
}

/* -- changes -- */

bool
acl_entries_reserve(struct acl_entries *entries)
{
	struct acl_entries *es = entries;
	size_t room = es->n + es->n / 8 + 16;
	struct acl_packed *grown;

	if (es->n < es->room)
		return true;
	grown = reallocarray(es->all, room, sizeof(*grown));
	if (!grown)
		return false;
	es->all = grown;
	es->room = room;
	return true;
}

void
acl_entries_insert(struct acl_entries *entries, const struct acl_entry *entry)
{
	struct acl_entries *es = entries;
	struct acl_packed e = pack(entry);
	size_t at;
	bool found = find_packed(es, &e, &at);

	ENSURE(!found && es->n < es->room);
	memmove(&es->all[at + 1], &es->all[at], (es->n++ - at) * sizeof(e));
	es->all[at] = e;
	es->wide |= e.bits > 64;
}

void
acl_entries_remove(struct acl_entries *entries, size_t index)
{
	struct acl_packed *at = &entries->all[index];

	memmove(at, at + 1, (--entries->n - index) * sizeof(*at));
}

void
acl_entries_part(struct acl_entries *entries, struct acl_entries *others)
{
	struct acl_entries *es = entries, *os = others;
	size_t kept = 0, both = 0, at = 0;

	for (size_t i = 0; i < es->n; i++) {
		int order = -1;

		while (at < os->n &&
		       (order = compare_packed(&os->all[at], &es->all[i])) < 0)
			at++;
		if (at < os->n && order == 0)
			os->all[both++] = es->all[i];
		else
			es->all[kept++] = es->all[i];
	}
	es->n = kept;
	os->n = both;
}

/* -- borders -- */

struct acl_borders *
acl_entries_make_borders(const struct acl_entries *entries)
{
	const struct acl_entries *es = entries;
	struct acl_borders *b = acl_borders_new(es->n, es->wide);

	for (size_t i = 0; b && i < es->n; i++) {
		struct acl_prefix range = prefix_of(&es->all[i]);

		acl_borders_add(b, &range);
	}
	return b ? acl_borders_seal(b) : NULL;
}

/* Returns whether an entry with fewer bits has all of the range. */
static bool
is_covered(const struct acl_entries *es, const struct acl_prefix *range)
{
	size_t index;

	return acl_entries_find_longest(
	    es, range->first, (int)range->bits - 1, &index);
}

struct acl_borders *
acl_entries_borders_with(const struct acl_entries *entries,
    struct acl_borders *from, const struct cidr *range)
{
	struct acl_packed e = pack(&(struct acl_entry){.range = *range});
	struct acl_prefix prefix = prefix_of(&e);
	struct acl_borders *b;

	if (is_covered(entries, &prefix))
		return acl_borders_ref(from);
	b = acl_borders_begin_change(
	    from, &prefix, 1, entries->wide || prefix.bits > 64);
	if (!b)
		return NULL;
	acl_borders_add(b, &prefix);
	return acl_borders_end_change(b, from, &prefix);
}

/* The entries within the removed range stay; they follow it in the array. */
struct acl_borders *
acl_entries_borders_without(
    const struct acl_entries *entries, struct acl_borders *from, size_t index)
{
	const struct acl_packed *all = entries->all, *outer = &all[index];
	struct acl_prefix range = prefix_of(outer);
	size_t end = index + 1;
	struct acl_borders *b;

	if (is_covered(entries, &range))
		return acl_borders_ref(from);
	while (end < entries->n && is_within(&all[end], outer))
		end++;
	b = acl_borders_begin_change(
	    from, &range, end - index - 1, entries->wide);
	for (size_t i = index + 1; b && i < end; i++) {
		struct acl_prefix left = prefix_of(&all[i]);

		acl_borders_add(b, &left);
	}
	return b ? acl_borders_end_change(b, from, &range) : NULL;
}
