/* SPDX-License-Identifier: MIT
 * See table.h.
 */
#include "acl/table.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/atomics.h"
#include "base/ensure.h"

/* Keys of a node. */
#define NODE 16u
/* 16 to the power of 8: more borders than memory has room for. */
#define LEVELS_MAX 8u

/* Keys are compared as signed numbers, for which every vector unit has an
 * instruction: the sign bit is flipped. */
static inline int32_t
key4_of(uint32_t address)
{
	return (int32_t)(address ^ UINT32_C(0x80000000));
}

static inline int64_t
key6_of(uint64_t upper)
{
	return (int64_t)(upper ^ UINT64_C(0x8000000000000000));
}

/* A level has the first key of each node of the level below; the last level has
 * all keys.  Each ends in a whole node, filled with the greatest key. */
struct level {
	size_t n; /* keys, without those that fill the last node */
	void *keys;
};

struct tree {
	unsigned levels;
	struct level level[LEVELS_MAX]; /* from the root on */
	void *block;                    /* has the keys of all levels */
};

/* The borders that have an upper half in common. */
struct upper {
	uint32_t lower;   /* index of the first border's lower half */
	uint32_t borders; /* with this upper half; 0: one, whose lower half is
	                   * 0 */
	uint32_t before;  /* parity of the borders with lower upper halves */
};

struct acl_table {
	bool has_unix;
	struct tree v4, v6;
	struct upper *uppers; /* for each key of v6 */
	uint64_t *lowers;     /* sorted within an upper half */
};

/* -- search -- */

/* Four keys that are compared at once, with gcc's vector extensions. */
typedef int32_t keys4 __attribute__((vector_size(16)));

/* A comparison that holds is -1. */
static inline size_t
count4(const int32_t *node, int32_t key)
{
	const keys4 *keys = (const keys4 *)(const void *)node;
	const keys4 all = {key, key, key, key};
	keys4 n = (keys[0] <= all) + (keys[1] <= all) + (keys[2] <= all) +
	          (keys[3] <= all);

	return (size_t) - (n[0] + n[1] + n[2] + n[3]);
}

/* Few processors compare 64-bit keys as vectors in one instruction, so this is
 * a binary search without branches. */
static inline size_t
count6(const int64_t *node, int64_t key)
{
	size_t n = (size_t)(node[7] <= key) * 8;

	n += (size_t)(node[n + 3] <= key) * 4;
	n += (size_t)(node[n + 1] <= key) * 2;
	n += (size_t)(node[n] <= key);
	return n + (n == 15 && node[15] <= key);
}

/* Returns how many keys are not greater.  In every level but the last, the node
 * to go to is the last one whose first key is not greater. */
#define SEARCH(tree, type, count, key)                                         \
	({                                                                     \
		size_t rank_ = 0;                                              \
		for (unsigned l_ = 0; l_ < (tree)->levels; l_++) {             \
			const struct level *level_ = &(tree)->level[l_];       \
			size_t at_ = rank_ > 0 ? rank_ - 1 : 0;                \
			rank_ = at_ * NODE +                                   \
			        count((const type *)level_->keys + at_ * NODE, \
			            key);                                      \
			if (rank_ > level_->n)                                 \
				rank_ = level_->n;                             \
		}                                                              \
		rank_;                                                         \
	})

static bool
has4(const struct acl_table *t, uint32_t address)
{
	return SEARCH(&t->v4, int32_t, count4, key4_of(address)) % 2 == 1;
}

/* The number of sorted lower halves that are not greater. */
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
has6(const struct acl_table *t, uint64_t hi, uint64_t lo)
{
	int64_t key = key6_of(hi);
	size_t rank = SEARCH(&t->v6, int64_t, count6, key);
	const struct level *last = &t->v6.level[t->v6.levels - 1];
	const struct upper *u;
	size_t below;

	if (rank == 0)
		return false;
	u = &t->uppers[rank - 1];
	if (u->borders == 0)
		return (u->before + 1) % 2 == 1;
	below = u->borders;
	if (((const int64_t *)last->keys)[rank - 1] == key)
		below = count_lower(t->lowers + u->lower, u->borders, lo);
	return (u->before + below) % 2 == 1;
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

	switch (peer->family) {
	case AF_INET:
		memcpy(&n, peer->ip, sizeof(n));
		return table->v4.levels > 0 && has4(table, ntohl(n));
	case AF_INET6:
		return table->v6.levels > 0 && has6(table, read_be64(peer->ip),
		                                   read_be64(peer->ip + 8));
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

/* The borders so far; the last of an array is open: a later range may move it.
 * An end behind the last address has no border. */
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

static size_t
nodes_of(size_t keys)
{
	return (keys + NODE - 1) / NODE;
}

/* Divides one block into levels for n keys, the last level for all of them.
 * Returns false when memory is short.  size: of a key. */
static bool
tree_init(struct tree *tree, size_t n, size_t size)
{
	size_t counts[LEVELS_MAX], bytes = 0;
	unsigned levels = 0;
	char *at;

	*tree = (struct tree){.levels = 0};
	if (n == 0)
		return true;
	for (size_t keys = n;; keys = nodes_of(keys)) {
		counts[levels++] = keys;
		bytes += nodes_of(keys) * NODE * size;
		if (keys <= NODE)
			break;
	}
	tree->block = aligned_alloc(CACHE_LINE, bytes);
	if (!tree->block)
		return false;
	at = tree->block;
	tree->levels = levels;
	for (unsigned i = 0; i < levels; i++) {
		tree->level[i].n = counts[levels - 1 - i];
		tree->level[i].keys = at;
		at += nodes_of(tree->level[i].n) * NODE * size;
	}
	return true;
}

/* Fills the levels above the last one, and the rest of each last node. */
#define FILL(tree, type, greatest)                                             \
	do {                                                                   \
		for (unsigned l_ = (tree)->levels; l_-- > 0;) {                \
			struct level *level_ = &(tree)->level[l_];             \
			type *keys_ = level_->keys;                            \
			if (l_ + 1 < (tree)->levels)                           \
				for (size_t i_ = 0; i_ < level_->n; i_++)      \
					keys_[i_] = ((const type *)level_[1]   \
					                 .keys)[i_ * NODE];    \
			for (size_t i_ = level_->n;                            \
			     i_ < nodes_of(level_->n) * NODE; i_++)            \
				keys_[i_] = greatest;                          \
		}                                                              \
	} while (0)

static bool
make4(struct acl_table *t, const struct acl_table_maker *m)
{
	int32_t *keys;

	if (!tree_init(&t->v4, m->n4, sizeof(*keys)))
		return false;
	if (m->n4 == 0)
		return true;
	keys = t->v4.level[t->v4.levels - 1].keys;
	for (size_t i = 0; i < m->n4; i++)
		keys[i] = key4_of(m->borders4[i]);
	FILL(&t->v4, int32_t, INT32_MAX);
	return true;
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

static bool
make6(struct acl_table *t, const struct acl_table_maker *m)
{
	size_t uppers = 0, lowers = 0, same;
	int64_t *keys;

	for (size_t i = 0; i < m->n6; i += same, uppers++) {
		same = count_same(&m->borders6[i], m->n6 - i);
		lowers += has_no_lower(&m->borders6[i], same) ? 0 : same;
	}
	if (!tree_init(&t->v6, uppers, sizeof(*keys)))
		return false;
	if (uppers == 0)
		return true;
	t->uppers = malloc(uppers * sizeof(*t->uppers));
	t->lowers = malloc((lowers + 1) * sizeof(*t->lowers));
	if (!t->uppers || !t->lowers)
		return false;
	keys = t->v6.level[t->v6.levels - 1].keys;
	uppers = lowers = 0;
	for (size_t i = 0; i < m->n6; i += same, uppers++) {
		const struct border6 *b = &m->borders6[i];

		same = count_same(b, m->n6 - i);
		keys[uppers] = key6_of(b->hi);
		t->uppers[uppers] =
		    (struct upper){.before = i % 2, .lower = (uint32_t)lowers};
		if (has_no_lower(b, same))
			continue;
		t->uppers[uppers].borders = (uint32_t)same;
		for (size_t j = 0; j < same; j++)
			t->lowers[lowers++] = b[j].lo;
	}
	FILL(&t->v6, int64_t, INT64_MAX);
	return true;
}

struct acl_table *
acl_table_make(struct acl_table_maker *maker, bool has_unix)
{
	struct acl_table *t = calloc(1, sizeof(*t));

	if (t) {
		t->has_unix = has_unix;
		if (!make4(t, maker) || !make6(t, maker)) {
			acl_table_free(t);
			t = NULL;
		}
	}
	free(maker->borders4);
	free(maker->borders6);
	free(maker);
	return t;
}

void
acl_table_free(struct acl_table *table)
{
	if (!table)
		return;
	free(table->v4.block);
	free(table->v6.block);
	free(table->uppers);
	free(table->lowers);
	free(table);
}

void
acl_table_memory(const struct acl_table *table, struct memory_use *use)
{
	memory_add_block(use, table);
	memory_add_block(use, table->v4.block);
	memory_add_block(use, table->v6.block);
	memory_add_block(use, table->uppers);
	memory_add_block(use, table->lowers);
}
