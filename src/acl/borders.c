/* SPDX-License-Identifier: MIT
 * See borders.h.
 */
#include "acl/borders.h"

#include <stdlib.h>

#include "base/ensure.h"

/* The borders between two samples, and before and behind them. */
#define GAP 64u
/* A search among fewer borders needs no index, which takes 256 KiB. */
#define INDEXED_MIN 16384u

#define INDEX_BITS 16
#define SLOTS      (1u << INDEX_BITS)

struct acl_borders {
	unsigned refs;
	size_t n, room;
	uint64_t *hi, *lo; /* of each border; lo NULL: all are 0 */
	/* The borders 0, GAP, 2 * GAP and so on: a search among these stays in
	 * the caches of a CPU. */
	struct acl_key *samples;
	size_t samples_n;
	/* The number of samples whose first 16 bits are less than the place in
	 * the index, which has a place for the end too.  NULL: no index. */
	uint32_t *index;
};

/* -- look-ups -- */

static struct acl_key
border_at(const struct acl_borders *b, size_t at)
{
	return (struct acl_key){b->hi[at], b->lo ? b->lo[at] : 0};
}

/* Returns the number of samples that are not greater than the address. */
static size_t
count_samples(const struct acl_borders *b, struct acl_key key)
{
	size_t low = 0, n = b->samples_n;

	if (b->index) {
		size_t slot = key.hi >> (64 - INDEX_BITS);

		low = b->index[slot];
		n = b->index[slot + 1] - low;
	}
	while (n > 0) {
		size_t half = n / 2;

		if (acl_key_compare(b->samples[low + half], key) <= 0) {
			low += half + 1;
			n -= half + 1;
		} else {
			n = half;
		}
	}
	return low;
}

/* Returns the number of borders that are not greater than the address. */
static size_t
count_borders(const struct acl_borders *b, struct acl_key key)
{
	size_t samples = count_samples(b, key), low, n;

	if (samples == 0)
		return 0;
	low = (samples - 1) * GAP;
	n = b->n - low < GAP ? b->n - low : GAP;
	for (size_t i = 0; i < n; i += 64 / sizeof(b->hi[0]))
		__builtin_prefetch(&b->hi[low + i]);
	while (n > 0) {
		size_t half = n / 2, at = low + half;

		if (b->hi[at] < key.hi ||
		    (b->hi[at] == key.hi && border_at(b, at).lo <= key.lo)) {
			low = at + 1;
			n -= half + 1;
		} else {
			n = half;
		}
	}
	return low;
}

bool
acl_borders_have(const struct acl_borders *borders, struct acl_key key)
{
	return count_borders(borders, key) % 2 == 1;
}

/* -- making -- */

struct acl_borders *
acl_borders_new(size_t n, bool wide)
{
	struct acl_borders *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	b->refs = 1;
	b->room = 2 * n;
	if (n > 0)
		b->hi = reallocarray(NULL, n, 2 * sizeof(*b->hi));
	if (n > 0 && wide)
		b->lo = reallocarray(NULL, n, 2 * sizeof(*b->lo));
	if (n == 0 || (b->hi && (b->lo || !wide) && b->room < UINT32_MAX))
		return b;
	acl_borders_unref(b);
	return NULL;
}

/* Appends a border, or drops the last one if both are equal: then the ranges on
 * either side touch. */
static void
append_border(struct acl_borders *b, struct acl_key key)
{
	if (b->n > 0 && acl_key_compare(border_at(b, b->n - 1), key) == 0) {
		b->n--;
		return;
	}
	ENSURE(b->n < b->room && (b->lo || key.lo == 0));
	b->hi[b->n] = key.hi;
	if (b->lo)
		b->lo[b->n] = key.lo;
	b->n++;
}

/* Gets the first address behind the range.  Returns false if the range reaches
 * the last address. */
static bool
end_of(const struct acl_prefix *range, struct acl_key *ret)
{
	struct acl_key end = range->first;

	if (range->bits > 64) {
		end.lo += UINT64_C(1) << (128 - range->bits);
		end.hi += end.lo == 0;
	} else {
		end.hi +=
		    range->bits > 0 ? UINT64_C(1) << (64 - range->bits) : 0;
	}
	*ret = end;
	return end.hi > 0 || end.lo > 0;
}

void
acl_borders_add(struct acl_borders *borders, const struct acl_prefix *range)
{
	struct acl_borders *b = borders;
	struct acl_key end;

	/* A last range without an end has all addresses that follow. */
	if (b->n % 2 == 1)
		return;
	if (b->n > 0 &&
	    acl_key_compare(range->first, border_at(b, b->n - 1)) < 0)
		return;
	append_border(b, range->first);
	if (end_of(range, &end))
		append_border(b, end);
}

/* Gives back the room behind the last border. */
static void
shrink_half(uint64_t **half, size_t n)
{
	uint64_t *less =
	    *half && n > 0 ? reallocarray(*half, n, sizeof(*less)) : NULL;

	if (less)
		*half = less;
}

static bool
make_samples(struct acl_borders *b)
{
	b->samples_n = (b->n + GAP - 1) / GAP;
	b->samples = reallocarray(NULL, b->samples_n + 1, sizeof(*b->samples));
	for (size_t i = 0; b->samples && i < b->samples_n; i++)
		b->samples[i] = border_at(b, i * GAP);
	return b->samples != NULL;
}

static bool
make_index(struct acl_borders *b)
{
	size_t at = 0;

	if (b->n < INDEXED_MIN)
		return true;
	b->index = reallocarray(NULL, SLOTS + 1, sizeof(*b->index));
	if (!b->index)
		return false;
	for (size_t slot = 0; slot <= SLOTS; slot++) {
		while (at < b->samples_n &&
		       b->samples[at].hi >> (64 - INDEX_BITS) < slot)
			at++;
		b->index[slot] = (uint32_t)at;
	}
	return true;
}

struct acl_borders *
acl_borders_seal(struct acl_borders *borders)
{
	struct acl_borders *b = borders;

	shrink_half(&b->hi, b->n);
	shrink_half(&b->lo, b->n);
	b->room = b->n;
	if (make_samples(b) && make_index(b))
		return b;
	acl_borders_unref(b);
	return NULL;
}

/* -- changes -- */

static void
copy_borders(
    struct acl_borders *to, const struct acl_borders *from, size_t at, size_t n)
{
	if (n == 0)
		return;
	ENSURE(n <= to->room - to->n);
	memcpy(&to->hi[to->n], &from->hi[at], n * sizeof(to->hi[0]));
	if (from->lo)
		memcpy(&to->lo[to->n], &from->lo[at], n * sizeof(to->lo[0]));
	else if (to->lo)
		memset(&to->lo[to->n], 0, n * sizeof(to->lo[0]));
	to->n += n;
}

/* Returns the number of borders that are less than the address. */
static size_t
count_less(const struct acl_borders *b, struct acl_key key)
{
	if (key.hi == 0 && key.lo == 0)
		return 0;
	key.hi -= key.lo == 0;
	key.lo--;
	return count_borders(b, key);
}

struct acl_borders *
acl_borders_begin_change(const struct acl_borders *from,
    const struct acl_prefix *range, size_t n, bool wide)
{
	/* Besides, the ends of what is left of a former range. */
	struct acl_borders *b =
	    acl_borders_new(from->n / 2 + n + 2, wide || from->lo);
	size_t before = count_less(from, range->first);

	if (!b)
		return NULL;
	copy_borders(b, from, 0, before);
	if (before % 2 == 1)
		append_border(b, range->first);
	return b;
}

struct acl_borders *
acl_borders_end_change(struct acl_borders *borders,
    const struct acl_borders *from, const struct acl_prefix *range)
{
	struct acl_borders *b = borders;
	struct acl_key end;

	if (end_of(range, &end)) {
		size_t at = count_borders(from, end);

		if (at % 2 == 1)
			append_border(b, end);
		copy_borders(b, from, at, from->n - at);
	}
	return acl_borders_seal(b);
}

/* -- life -- */

struct acl_borders *
acl_borders_ref(struct acl_borders *borders)
{
	borders->refs++;
	return borders;
}

void
acl_borders_unref(struct acl_borders *borders)
{
	if (!borders || --borders->refs > 0)
		return;
	free(borders->hi);
	free(borders->lo);
	free(borders->samples);
	free(borders->index);
	free(borders);
}
