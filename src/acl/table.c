/* SPDX-License-Identifier: MIT
 * See table.h.
 */
#include "acl/table.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "acl/parity.h"
#include "acl/rank.h"
#include "base/ensure.h"

/* A /64 that has borders within. */
struct within {
	uint32_t lower : 31; /* index of the first border's lower half */
	uint32_t before : 1; /* parity of the borders before the /64 */
};

struct acl_table {
	bool has_unix;
	/* If base is not NULL, the table has only these three, see
	 * acl_table_patch; else it has all members below them. */
	const struct acl_table *base;
	struct acl_table *changed, *inside;
	struct acl_parity v4; /* all borders */
	/* The upper halves of /64s before and after which addresses differ in
	 * being inside: an odd number of borders is at the beginning of the /64
	 * or in it. */
	struct acl_parity v6;
	struct acl_rank split;  /* upper halves of /64s with borders within */
	struct within *withins; /* one for each of split, and one for the end */
	uint64_t *lowers;       /* sorted within a /64 */
	uint64_t lowers_each;   /* average of a split, times 2^16 */
};

/* -- search -- */

/* Returns the number of sorted lower halves that are not greater than lower. */
static size_t
count_lower(const uint64_t *lowers, size_t n, uint64_t lower)
{
	size_t low = 0;

	while (n > 0) {
		size_t half = n / 2;

		if (lowers[low + half] <= lower) {
			low += half + 1;
			n -= half + 1;
		} else {
			n = half;
		}
	}
	return low;
}

static bool
has_within(const struct acl_table *t, size_t split, uint64_t lo)
{
	const struct within *w = &t->withins[split];
	size_t below =
	    count_lower(t->lowers + w->lower, w[1].lower - w->lower, lo);

	return (w->before + below) % 2 == 1;
}

/* Prefetches what a look-up of hi probably needs.  Otherwise the CPU waits for
 * the upper half, then for the entry of its /64, then for the lower half; a
 * guess where these are lets it wait once. */
static void
prefetch_within(const struct acl_table *t, uint64_t hi)
{
	size_t at = acl_rank_near(&t->split, hi);
	const char *withins = (const char *)&t->withins[at];
	const char *lowers =
	    (const char *)&t->lowers[at * t->lowers_each >> 16];

	__builtin_prefetch(withins);
	for (size_t line = 0; line < 3; line++)
		__builtin_prefetch(lowers + line * 64);
}

static bool
has6(const struct acl_table *t, uint64_t hi, uint64_t lo)
{
	size_t split;

	if (t->split.n > 0)
		prefetch_within(t, hi);
	split = acl_rank_of(&t->split, hi);

	if (split > 0 && ((const uint64_t *)t->split.keys)[split - 1] == hi)
		return has_within(t, split - 1, lo);
	return acl_parity_of(&t->v6, hi);
}

static uint64_t
read_be64(const uint8_t *bytes)
{
	uint64_t n;

	memcpy(&n, bytes, sizeof(n));
	return be64toh(n);
}

bool
acl_table_has(const struct acl_table *table, const struct endpoint *peer)
{
	uint32_t n;

	if (table->base && peer->family != AF_UNIX)
		return acl_table_has(table->changed, peer)
		           ? acl_table_has(table->inside, peer)
		           : acl_table_has(table->base, peer);
	switch (peer->family) {
	case AF_INET:
		memcpy(&n, peer->ip, sizeof(n));
		return acl_parity_of(&table->v4, ntohl(n));
	case AF_INET6:
		return has6(
		    table, read_be64(peer->ip), read_be64(peer->ip + 8));
	case AF_UNIX:
		return table->has_unix;
	default:
		return false;
	}
}

/* -- making -- */

struct border6 {
	uint64_t hi, lo;
};

/* The borders so far.  A later range may move the last border of an array.  An
 * end behind the last address has no border. */
struct acl_table_maker {
	uint32_t *borders4;
	size_t n4, max4;
	struct border6 *borders6;
	size_t n6, max6;
	bool full4, full6; /* the last range has reached the last address */
};

struct acl_table_maker *
acl_table_maker_new(size_t n4, size_t n6)
{
	struct acl_table_maker *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->max4 = 2 * n4;
	m->max6 = 2 * n6;
	m->borders4 = malloc((m->max4 + 1) * sizeof(*m->borders4));
	m->borders6 = malloc((m->max6 + 1) * sizeof(*m->borders6));
	if (m->borders4 && m->borders6)
		return m;
	free(m->borders4);
	free(m->borders6);
	free(m);
	return NULL;
}

void
acl_table_add4(struct acl_table_maker *maker, struct acl_range4 range)
{
	struct acl_table_maker *m = maker;
	uint32_t end = range.last + 1; /* 0: behind the last address */

	if (m->full4)
		return;
	if (m->n4 > 0 && range.first <= m->borders4[m->n4 - 1]) {
		if (end != 0 && end <= m->borders4[m->n4 - 1])
			return;
		m->n4--;
	} else {
		ENSURE(m->n4 + 2 <= m->max4);
		m->borders4[m->n4++] = range.first;
	}
	m->full4 = end == 0;
	if (end != 0)
		m->borders4[m->n4++] = end;
}

static int
compare_borders6(struct border6 a, struct border6 b)
{
	if (a.hi != b.hi)
		return a.hi < b.hi ? -1 : 1;
	return (a.lo > b.lo) - (a.lo < b.lo);
}

void
acl_table_add6(struct acl_table_maker *maker, struct acl_range6 range)
{
	struct acl_table_maker *m = maker;
	struct border6 first = {range.first_hi, range.first_lo};
	struct border6 end = {range.last_hi, range.last_lo + 1};

	end.hi += end.lo == 0;
	if (m->full6)
		return;
	m->full6 = end.hi == 0 && end.lo == 0;
	if (m->n6 > 0 && compare_borders6(first, m->borders6[m->n6 - 1]) <= 0) {
		if (!m->full6 &&
		    compare_borders6(end, m->borders6[m->n6 - 1]) <= 0)
			return;
		m->n6--;
	} else {
		ENSURE(m->n6 + 2 <= m->max6);
		m->borders6[m->n6++] = first;
	}
	if (!m->full6)
		m->borders6[m->n6++] = end;
}

/* Returns how many borders from the first on have the same upper half. */
static size_t
count_same(const struct border6 *borders, size_t n)
{
	size_t same = 1;

	while (same < n && borders[same].hi == borders[0].hi)
		same++;
	return same;
}

static bool
has_no_lower(const struct border6 *borders, size_t same)
{
	return same == 1 && borders[0].lo == 0;
}

/* The result of count6. */
struct counts6 {
	size_t upper, split, lower;
};

static struct counts6
count6(const struct acl_table_maker *m)
{
	struct counts6 n = {.upper = 0};
	size_t same;

	for (size_t i = 0; i < m->n6; i += same) {
		same = count_same(&m->borders6[i], m->n6 - i);
		n.upper += same % 2;
		if (has_no_lower(&m->borders6[i], same))
			continue;
		n.split++;
		n.lower += same;
	}
	return n;
}

static bool
init_split(struct acl_table *t, const struct counts6 *n)
{
	if (!acl_rank_init(&t->split, n->split, true) ||
	    n->lower >= ACL_RANK_KEYS_MAX)
		return false;
	if (n->split == 0)
		return true;
	t->withins = reallocarray(NULL, n->split + 1, sizeof(*t->withins));
	t->lowers = reallocarray(NULL, n->lower, sizeof(*t->lowers));
	return t->withins && t->lowers;
}

/* Fills in t->split with its withins and lowers, and upper, the keys of t->v6,
 * which overwrite borders that were read already. */
static void
fill6(struct acl_table *t, const struct border6 *borders, size_t n,
    uint64_t *upper)
{
	uint64_t *split = t->split.keys, *lower = t->lowers;
	struct within *within = t->withins;
	size_t same;

	for (size_t i = 0; i < n; i += same) {
		const struct border6 *b = &borders[i];

		same = count_same(b, n - i);
		if (same % 2 == 1)
			*upper++ = b->hi;
		if (has_no_lower(b, same))
			continue;
		*split++ = b->hi;
		*within++ = (struct within){
		    .lower = (uint32_t)(lower - t->lowers) & INT32_MAX,
		    .before = i % 2};
		for (size_t j = 0; j < same; j++)
			*lower++ = b[j].lo;
	}
	if (within)
		t->lowers_each =
		    ((uint64_t)(lower - t->lowers) << 16) / t->split.n;
	if (within)
		*within = (struct within){
		    .lower = (uint32_t)(lower - t->lowers) & INT32_MAX};
}

static bool
make6(struct acl_table *t, struct acl_table_maker *m)
{
	struct counts6 n = count6(m);
	uint64_t *upper = (void *)m->borders6;

	if (!init_split(t, &n))
		return false;
	fill6(t, m->borders6, m->n6, upper);
	return acl_parity_make(&t->v6, upper, n.upper, true) &&
	       acl_rank_index(&t->split);
}

struct acl_table *
acl_table_make(struct acl_table_maker *maker, bool has_unix)
{
	struct acl_table *t = calloc(1, sizeof(*t));

	if (t) {
		t->has_unix = has_unix;
		if (!acl_parity_make(
		        &t->v4, maker->borders4, maker->n4, false) ||
		    !make6(t, maker)) {
			acl_table_free(t);
			t = NULL;
		}
	}
	free(maker->borders4);
	free(maker->borders6);
	free(maker);
	return t;
}

struct acl_table *
acl_table_patch(const struct acl_table *base, struct acl_table *changed,
    struct acl_table *inside, bool has_unix)
{
	struct acl_table *t = calloc(1, sizeof(*t));

	if (t && changed && inside) {
		*t = (struct acl_table){.has_unix = has_unix,
		    .base = base,
		    .changed = changed,
		    .inside = inside};
		return t;
	}
	free(t);
	acl_table_free(changed);
	acl_table_free(inside);
	return NULL;
}

void
acl_table_free(struct acl_table *table)
{
	if (!table)
		return;
	acl_table_free(table->changed);
	acl_table_free(table->inside);
	acl_parity_fini(&table->v4);
	acl_parity_fini(&table->v6);
	acl_rank_fini(&table->split);
	free(table->withins);
	free(table->lowers);
	free(table);
}

void
acl_table_memory(const struct acl_table *table, struct memory_use *use)
{
	memory_add_block(use, table);
	if (table->base) {
		acl_table_memory(table->changed, use);
		acl_table_memory(table->inside, use);
	}
	acl_parity_memory(&table->v4, use);
	acl_parity_memory(&table->v6, use);
	acl_rank_memory(&table->split, use);
	memory_add_block(use, table->withins);
	memory_add_block(use, table->lowers);
}
