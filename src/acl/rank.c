/* SPDX-License-Identifier: MIT
 * See rank.h.
 */
#include "acl/rank.h"

#include <stdlib.h>
#include <string.h>

#include "acl/block.h"
#include "base/ensure.h"
#include "base/grow.h"

/* Keys of a slot, on average. */
#define SLOT_KEYS 8u
/* A slot with more keys has a tree. */
#define SCANNED_MAX 32u

/* Keys of a node of a tree, and of a leaf. */
#define NODE UINT32_C(16)
#define LEAF UINT32_C(32)
/* The most levels of nodes above the leaves: enough for ACL_RANK_KEYS_MAX keys.
 */
#define LEVELS_MAX 7u

/* The value of a slot is CLUSTER plus the number of a cluster, TREE for the
 * tree of all keys, or else the index of the slot's first key. */
#define CLUSTER ACL_RANK_KEYS_MAX
#define TREE    UINT32_MAX

/* The places of the levels of a tree in an array of keys.  A level has the
 * first key of each node of the level below, or of each leaf; the first level
 * is one node, and the first key of a level is 0.  The last node of a level,
 * and the last leaf, are filled up with the greatest value. */
struct acl_tree {
	uint32_t levels;
	uint32_t starts[LEVELS_MAX];
	uint32_t leaves;
	void *nodes; /* of the tree of all keys: its levels; rank->keys has the
	              * leaves */
};

/* The keys of a slot. */
struct acl_cluster {
	uint64_t base;  /* the first key */
	uint32_t first; /* index of that key */
	uint32_t n;
	uint8_t shift; /* zero bits at the end of all keys */
	struct acl_tree tree;
};

/* -- search -- */

/* Returns the number of keys of a node that are not greater than key.  A branch
 * for each key would be mispredicted in most nodes. */
#define COUNT(node, key)                                                       \
	({                                                                     \
		uint32_t even_ = 0, odd_ = 0;                                  \
		_Pragma("GCC unroll 8") for (uint32_t i_ = 0; i_ < NODE;       \
		                             i_ += 2)                          \
		{                                                              \
			even_ += (node)[i_] <= (key);                          \
			odd_ += (node)[i_ + 1] <= (key);                       \
		}                                                              \
		even_ + odd_;                                                  \
	})

/* Returns the number of keys of the tree that are not greater than a key that
 * is less than the greatest value.  The cache lines of a leaf are read at once.
 */
#define DESCEND(type, tree, nodes, leaves, key)                                \
	({                                                                     \
		const type *nodes_ = (nodes), *leaf_ = (leaves);               \
		const type key_ = (type)(key);                                 \
		size_t at_ = 0;                                                \
		for (uint32_t l_ = 0; l_ < (tree)->levels; l_++)               \
			at_ = at_ * NODE - 1 +                                 \
			      COUNT(nodes_ + (tree)->starts[l_] + at_ * NODE,  \
			          key_);                                       \
		at_ *= LEAF;                                                   \
		for (uint32_t i_ = 0; i_ < LEAF * sizeof(type); i_ += 64)      \
			__builtin_prefetch((const char *)(leaf_ + at_) + i_);  \
		at_ += leaf_[at_ + NODE - 1] <= key_ ? NODE : 0;               \
		at_ + COUNT(leaf_ + at_, key_);                                \
	})
_Static_assert(LEAF == 2 * NODE, "a leaf has two halves");

/* Returns how many keys are not greater than key, at least `from`.  Later slots
 * have only greater keys, so the end of the slot does not matter. */
#define SCAN(type, rank, from, key)                                            \
	({                                                                     \
		const type *keys_ = (rank)->keys;                              \
		size_t at_ = (from);                                           \
		while (at_ < (rank)->n && keys_[at_] <= (key))                 \
			at_++;                                                 \
		at_;                                                           \
	})

static size_t
rank_in_cluster(
    const struct acl_rank *rank, const struct acl_cluster *c, uint64_t key)
{
	uint64_t difference = (key - c->base) >> c->shift;

	if (key < c->base)
		return c->first;
	if (difference >= UINT32_MAX)
		return c->first + c->n;
	return c->first + DESCEND(uint32_t, &c->tree, rank->nodes,
	                      rank->nodes + c->tree.leaves, difference);
}

static size_t
rank_in_tree(const struct acl_rank *rank, uint64_t key)
{
	const struct acl_tree *t = rank->tree;

	if (key >= (rank->wide ? UINT64_MAX : UINT32_MAX))
		return rank->n;
	return rank->wide ? DESCEND(uint64_t, t, t->nodes, rank->keys, key)
	                  : DESCEND(uint32_t, t, t->nodes, rank->keys, key);
}

size_t
acl_rank_of(const struct acl_rank *rank, uint64_t key)
{
	uint64_t slot = (key - rank->base) >> rank->shift;
	uint32_t at;

	if (rank->n == 0 || key < rank->base)
		return 0;
	if (slot >= rank->slots_n)
		return rank->n;
	at = rank->slots[slot];
	if (at < CLUSTER)
		return rank->wide ? SCAN(uint64_t, rank, at, key)
		                  : SCAN(uint32_t, rank, at, key);
	return at == TREE
	           ? rank_in_tree(rank, key)
	           : rank_in_cluster(rank, &rank->clusters[at - CLUSTER], key);
}

size_t
acl_rank_near(const struct acl_rank *rank, uint64_t key)
{
	uint64_t slot = (key - rank->base) >> rank->shift;
	uint32_t at;

	if (rank->n == 0 || key < rank->base || slot >= rank->slots_n)
		return 0;
	at = rank->slots[slot];
	return at < CLUSTER ? at : 0;
}

/* -- making -- */

/* Returns how many groups of that size n keys make. */
static size_t
groups(size_t n, size_t size)
{
	return (n + size - 1) / size;
}

bool
acl_rank_init(struct acl_rank *rank, size_t n, bool wide)
{
	*rank = (struct acl_rank){.n = n, .wide = wide};
	if (n == 0)
		return true;
	if (n < ACL_RANK_KEYS_MAX)
		rank->keys = acl_block_alloc(groups(n, LEAF) * LEAF,
		    wide ? sizeof(uint64_t) : sizeof(uint32_t));
	return rank->keys != NULL;
}

/* -- trees -- */

/* Lays out the levels of a tree of n keys, from the index `at` on.  Returns the
 * index behind the last level. */
static uint32_t
plan_levels(struct acl_tree *tree, size_t n, uint32_t at)
{
	size_t sizes[LEVELS_MAX], size = groups(n, LEAF);

	*tree = (struct acl_tree){.levels = 0};
	for (; size > 1; size = groups(size, NODE)) {
		ENSURE(tree->levels < LEVELS_MAX);
		sizes[tree->levels++] = size;
	}
	for (uint32_t l = 0; l < tree->levels; l++) {
		tree->starts[l] = at;
		at += groups(sizes[tree->levels - 1 - l], NODE) * NODE;
	}
	return at;
}

/* Fills the levels of a tree whose leaves have n keys, and the rest of its last
 * leaf. */
#define FILL_TREE(type, tree, nodes, leaves, n)                                \
	do {                                                                   \
		type *below_ = (leaves);                                       \
		size_t below_n_ = (n), size_ = LEAF;                           \
		for (uint32_t l_ = (tree)->levels + 1; l_-- > 0;) {            \
			type *level_ = (type *)(nodes);                        \
			size_t whole_ = groups(below_n_, size_) * size_;       \
			while (below_n_ < whole_)                              \
				below_[below_n_++] = (type)-1;                 \
			if (l_ == 0)                                           \
				break;                                         \
			level_ += (tree)->starts[l_ - 1];                      \
			for (size_t i_ = 0; i_ < whole_ / size_; i_++)         \
				level_[i_] = below_[i_ * size_];               \
			level_[0] = 0;                                         \
			below_n_ = whole_ / size_;                             \
			below_ = level_;                                       \
			size_ = NODE;                                          \
		}                                                              \
	} while (0)

static bool
make_tree_of_all(struct acl_rank *r)
{
	size_t size = r->wide ? sizeof(uint64_t) : sizeof(uint32_t);
	uint32_t room;

	r->tree = malloc(sizeof(*r->tree));
	if (!r->tree)
		return false;
	room = plan_levels(r->tree, r->n, 0);
	r->tree->nodes = acl_block_alloc(room + 1u, size);
	if (!r->tree->nodes)
		return false;
	if (r->wide)
		FILL_TREE(uint64_t, r->tree, r->tree->nodes, r->keys, r->n);
	else
		FILL_TREE(uint32_t, r->tree, r->tree->nodes, r->keys, r->n);
	return true;
}

static void
fill_cluster(struct acl_rank *r, struct acl_cluster *c)
{
	uint32_t *leaves = r->nodes + c->tree.leaves;

	for (uint32_t i = 0; i < c->n; i++)
		leaves[i] =
		    (uint32_t)((acl_rank_key(r, c->first + i) - c->base) >>
		               c->shift);
	FILL_TREE(uint32_t, &c->tree, r->nodes, leaves, c->n);
}

/* Allocates and fills the trees of all clusters.  Returns false when memory is
 * short. */
static bool
make_clusters(struct acl_rank *r)
{
	if (r->clusters_n == 0)
		return true;
	r->nodes = acl_block_alloc(r->nodes_n, sizeof(*r->nodes));
	if (!r->nodes)
		return false;
	for (size_t i = 0; i < r->clusters_n; i++)
		fill_cluster(r, &r->clusters[i]);
	return true;
}

/* -- slots -- */

/* Decides which bits select the slot. */
static void
divide(struct acl_rank *r)
{
	uint64_t first = acl_rank_key(r, 0);
	uint64_t differ = first ^ acl_rank_key(r, r->n - 1);
	unsigned bits = 64 - (unsigned)__builtin_clzll(differ | 1);
	unsigned width = 1;

	while (width < bits && r->n >> width > SLOT_KEYS)
		width++;
	r->slots_n = (size_t)1 << width;
	r->shift = (uint8_t)(bits - width);
	r->base = bits < 64 ? first >> bits << bits : 0;
}

/* Describes the cluster of the keys from first up to end.  Returns false if
 * their differences have more than 32 bits. */
static bool
describe(
    const struct acl_rank *r, size_t first, size_t end, struct acl_cluster *ret)
{
	uint64_t bits = 0;

	*ret = (struct acl_cluster){.base = acl_rank_key(r, first),
	    .first = (uint32_t)first,
	    .n = (uint32_t)(end - first)};
	for (size_t i = first; i < end; i++)
		bits |= acl_rank_key(r, i);
	ret->shift = (uint8_t)__builtin_ctzll(bits);
	return (acl_rank_key(r, end - 1) - ret->base) >> ret->shift <
	       UINT32_MAX;
}

/* Finds the value of a slot with many keys, and adds a cluster if it needs one.
 * Returns false when memory is short. */
static bool
add_cluster(struct acl_rank *r, size_t first, size_t end, uint32_t *ret_slot)
{
	struct acl_cluster c, *grown;

	*ret_slot = TREE;
	if (!r->wide || !describe(r, first, end, &c) ||
	    r->nodes_n > UINT32_MAX / 2)
		return true;
	grown =
	    grow(r->clusters, r->clusters_n, &r->clusters_room, sizeof(*grown));
	if (!grown)
		return false;
	r->nodes_n = plan_levels(&c.tree, c.n, (uint32_t)r->nodes_n);
	/* Each leaf is in cache lines of its own. */
	r->nodes_n = groups(r->nodes_n, LEAF) * LEAF;
	c.tree.leaves = (uint32_t)r->nodes_n;
	r->nodes_n += groups(c.n, LEAF) * LEAF;
	r->clusters = grown;
	*ret_slot = CLUSTER + (uint32_t)r->clusters_n;
	r->clusters[r->clusters_n++] = c;
	return true;
}

/* Sets *ret_tree if a slot needs the tree of all keys.  Returns false when
 * memory is short. */
static bool
fill_slots(struct acl_rank *r, bool *ret_tree)
{
	size_t next = 0, first;

	*ret_tree = false;
	for (size_t slot = 0; slot < r->slots_n; slot++) {
		first = next;
		while (next < r->n &&
		       (acl_rank_key(r, next) - r->base) >> r->shift == slot)
			next++;
		r->slots[slot] = (uint32_t)first;
		if (next - first <= SCANNED_MAX)
			continue;
		if (!add_cluster(r, first, next, &r->slots[slot]))
			return false;
		*ret_tree |= r->slots[slot] == TREE;
	}
	return true;
}

bool
acl_rank_index(struct acl_rank *rank)
{
	bool needs_tree;

	if (rank->n == 0)
		return true;
	divide(rank);
	rank->slots = acl_block_alloc(rank->slots_n, sizeof(*rank->slots));
	return rank->slots && fill_slots(rank, &needs_tree) &&
	       make_clusters(rank) && (!needs_tree || make_tree_of_all(rank));
}

void
acl_rank_fini(struct acl_rank *rank)
{
	free(rank->keys);
	free(rank->slots);
	free(rank->clusters);
	free(rank->nodes);
	if (rank->tree)
		free(rank->tree->nodes);
	free(rank->tree);
}

void
acl_rank_memory(const struct acl_rank *rank, struct memory_use *use)
{
	memory_add_block(use, rank->keys);
	memory_add_block(use, rank->slots);
	memory_add_block(use, rank->clusters);
	memory_add_block(use, rank->nodes);
	memory_add_block(use, rank->tree);
	if (rank->tree)
		memory_add_block(use, rank->tree->nodes);
}
