/* SPDX-License-Identifier: MIT
 * How many keys of a sorted array are not greater than a given one.
 *
 * An index of nodes leads to the place in the array.  A node has a run of keys;
 * it skips the bits that all of them have in common, and the next bits select a
 * slot.  There are as many slots as put 8 keys in each, if the keys are spread
 * evenly.  A slot with up to 32 keys has the place of the first one in the
 * array, which is compared key by key from there on; a slot with more has a
 * node of its own.  So random keys need one node and one place in the array:
 * two cache misses.  Keys that lie close together, as the prefixes of a few
 * providers do, need two or three nodes.
 */
#ifndef ACL_RANK_H
#define ACL_RANK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/memory_use.h"

/* There are fewer keys. */
#define ACL_RANK_KEYS_MAX (UINT32_C(1) << 31)

struct acl_rank_node;

/* With all zeros there are no keys. */
struct acl_rank {
	bool wide;  /* keys are uint64_t; otherwise uint32_t */
	void *keys; /* in ascending order, each once */
	size_t n;
	struct acl_rank_node *nodes; /* the first one is the root */
	size_t nodes_n, nodes_room;
	uint32_t *slots;
	size_t slots_n, slots_room;
};

/* Allocates an array for n keys: rank->keys, which the caller fills before
 * acl_rank_index.  Returns false when memory is short or n is too large. */
bool acl_rank_init(struct acl_rank *rank, size_t n, bool wide) MUST_CHECK;

/* Makes the index.  Returns false when memory is short. */
bool acl_rank_index(struct acl_rank *rank) MUST_CHECK;

/* Frees what the rank has, also after a failure. */
void acl_rank_fini(struct acl_rank *rank);

/* Returns the number of keys that are not greater.  Any thread.  Never blocks.
 */
size_t acl_rank_of(const struct acl_rank *rank, uint64_t key);

/* Adds the memory of keys and index. */
void acl_rank_memory(const struct acl_rank *rank, struct memory_use *use);

#endif
