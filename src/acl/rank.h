/* SPDX-License-Identifier: MIT
 * Tells how many keys of a sorted array are not greater than a given one.
 *
 * The bits that all keys have in common are skipped, and the next ones select a
 * slot.  The number of slots is such that each has 8 keys if the keys are
 * spread evenly.  A slot with up to 32 keys has the index of the first one in
 * the array.  A search compares key by key from there on: two cache misses.
 *
 * The prefixes of a few providers lie so close together that a slot has
 * thousands of them.  Such a slot has a tree of its own, whose nodes have 16
 * keys.  A search compares all keys of a node without a branch.  It goes down
 * from the root, which stays in the caches of a CPU with the levels below it,
 * to one of the leaves of 32 keys.  So the time of a search does not depend on
 * how the keys are spread.  The keys of the tree are the differences to its
 * first key, without the zeros that all have at their ends.  Most differences
 * fit 32 bits; a tree of all keys serves the slots whose differences do not.
 */
#ifndef ACL_RANK_H
#define ACL_RANK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/memory_use.h"

/* The number of keys is less than this. */
#define ACL_RANK_KEYS_MAX (UINT32_C(1) << 31)

struct acl_cluster;
struct acl_tree;

/* All zeros: no keys. */
struct acl_rank {
	bool wide;  /* keys are uint64_t; otherwise uint32_t */
	void *keys; /* in ascending order, each once */
	size_t n;
	uint64_t base; /* the common bits, then zeros */
	uint8_t shift; /* number of bits behind those of the slot */
	uint32_t *slots;
	size_t slots_n;
	struct acl_tree *tree; /* of all keys; NULL: no slot needs it */
	struct acl_cluster *clusters;
	size_t clusters_n, clusters_room;
	uint32_t *nodes; /* of the trees of clusters */
	size_t nodes_n;  /* words */
};

/* Allocates an array for n keys: rank->keys, which the caller fills before
 * acl_rank_index.  Returns false when memory is short or n is too large. */
bool acl_rank_init(struct acl_rank *rank, size_t n, bool wide) MUST_CHECK;

/* Makes the index.  Returns false when memory is short. */
bool acl_rank_index(struct acl_rank *rank) MUST_CHECK;

/* Frees the memory of the rank; to be called also after a failure. */
void acl_rank_fini(struct acl_rank *rank);

/* Returns the key with that index, which is less than n. */
static inline uint64_t
acl_rank_key(const struct acl_rank *rank, size_t index)
{
	return rank->wide ? ((const uint64_t *)rank->keys)[index]
	                  : ((const uint32_t *)rank->keys)[index];
}

/* Returns the number of keys that are not greater than key.  Any thread.  Never
 * blocks. */
size_t acl_rank_of(const struct acl_rank *rank, uint64_t key);

/* Returns roughly the index of the key among the keys, 0 to n, with one access
 * to memory: to prefetch what belongs to the key. */
size_t acl_rank_near(const struct acl_rank *rank, uint64_t key);

/* Adds the memory of keys and index to use. */
void acl_rank_memory(const struct acl_rank *rank, struct memory_use *use);

#endif
