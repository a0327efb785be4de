/* SPDX-License-Identifier: MIT
 * See rank.h.
 */
#include "acl/rank.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/grow.h"

/* Keys of a slot, on average. */
#define SLOT_KEYS 8u
/* A slot with more keys has a node. */
#define RUN_MAX 32u

/* In a slot: the number of a node.  Otherwise the index of a key. */
#define CHILD ACL_RANK_KEYS_MAX

struct acl_rank_node {
	uint64_t base;       /* the bits in common, and zeros */
	uint32_t slots;      /* index of the first of 2 to the power of width */
	uint32_t first, end; /* its keys: the first one, and the one behind */
	uint8_t shift;       /* of the bits behind those of the slot */
	uint8_t width;       /* bits that select the slot */
};

/* -- search -- */

/* A later slot has greater keys only, so its end does not matter. */
#define SCAN(type, rank, from, key)                                            \
	({                                                                     \
		const type *keys_ = (rank)->keys;                              \
		size_t at_ = (from);                                           \
		while (at_ < (rank)->n && keys_[at_] <= (key))                 \
			at_++;                                                 \
		at_;                                                           \
	})

size_t
acl_rank_of(const struct acl_rank *rank, uint64_t key)
{
	const struct acl_rank_node *node = rank->nodes;
	uint32_t at;

	if (!node)
		return 0;
	for (;; node = &rank->nodes[at - CHILD]) {
		uint64_t slot = (key - node->base) >> node->shift;

		if (key < node->base)
			return node->first;
		if (slot >> node->width != 0)
			return node->end;
		at = rank->slots[node->slots + slot];
		if (at < CHILD)
			break;
	}
	return rank->wide ? SCAN(uint64_t, rank, at, key)
	                  : SCAN(uint32_t, rank, at, key);
}

/* -- making -- */

#define HUGE_PAGE ((size_t)2 << 20)

/* Returns a block that free takes, or NULL.  A large one is in huge pages, if
 * the kernel has some: a random access to small pages often waits for the page
 * tables as well. */
static void *
alloc_block(size_t n, size_t size)
{
	size_t bytes;
	void *block;

	if (n > (SIZE_MAX - HUGE_PAGE) / size)
		return NULL;
	bytes = n * size;
	if (bytes < HUGE_PAGE)
		return malloc(bytes);
	bytes = (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
	block = aligned_alloc(HUGE_PAGE, bytes);
	if (block)
		(void)madvise(block, bytes, MADV_HUGEPAGE);
	return block;
}

bool
acl_rank_init(struct acl_rank *rank, size_t n, bool wide)
{
	*rank = (struct acl_rank){.n = n, .wide = wide};
	if (n == 0)
		return true;
	if (n < ACL_RANK_KEYS_MAX)
		rank->keys =
		    alloc_block(n, wide ? sizeof(uint64_t) : sizeof(uint32_t));
	return rank->keys != NULL;
}

static uint64_t
key_at(const struct acl_rank *rank, size_t i)
{
	return rank->wide ? ((const uint64_t *)rank->keys)[i]
	                  : ((const uint32_t *)rank->keys)[i];
}

static bool
add_node(struct acl_rank *r, size_t first, size_t end)
{
	struct acl_rank_node *grown =
	    grow(r->nodes, r->nodes_n, &r->nodes_room, sizeof(*grown));

	if (!grown)
		return false;
	r->nodes = grown;
	r->nodes[r->nodes_n++] = (struct acl_rank_node){
	    .first = (uint32_t)first, .end = (uint32_t)end};
	return true;
}

static bool
add_slots(struct acl_rank *r, size_t n)
{
	uint32_t *grown;

	if (r->slots_n + n > r->slots_room) {
		size_t room = r->slots_room + r->slots_room / 2;

		if (room < r->slots_n + n)
			room = r->slots_n + n;
		grown = reallocarray(r->slots, room, sizeof(*grown));
		if (!grown)
			return false;
		r->slots = grown;
		r->slots_room = room;
	}
	r->slots_n += n;
	return true;
}

/* Decides which bits select the slot. */
static void
divide(const struct acl_rank *r, struct acl_rank_node *node)
{
	uint64_t first = key_at(r, node->first);
	uint64_t differ = first ^ key_at(r, node->end - 1);
	unsigned bits = 64 - (unsigned)__builtin_clzll(differ | 1);
	unsigned width = 1;

	while (width < bits && (node->end - node->first) >> width > SLOT_KEYS)
		width++;
	node->width = (uint8_t)width;
	node->shift = (uint8_t)(bits - width);
	node->base = bits < 64 ? first >> bits << bits : 0;
}

/* Fills the slots of a node, and adds a node for each slot with many keys. */
static bool
fill(struct acl_rank *r, size_t at)
{
	struct acl_rank_node node = r->nodes[at];
	size_t next = node.first, first;

	divide(r, &node);
	node.slots = (uint32_t)r->slots_n;
	r->nodes[at] = node;
	if (!add_slots(r, (size_t)1 << node.width))
		return false;
	for (uint64_t slot = 0; slot >> node.width == 0; slot++) {
		first = next;
		while (next < node.end &&
		       (key_at(r, next) - node.base) >> node.shift == slot)
			next++;
		r->slots[node.slots + slot] = (uint32_t)first;
		if (next - first <= RUN_MAX)
			continue;
		r->slots[node.slots + slot] = CHILD + (uint32_t)r->nodes_n;
		if (!add_node(r, first, next))
			return false;
	}
	return true;
}

/* Moves an array into a block of its size; if there is none, it stays. */
static void *
trim_array(void *array, size_t n, size_t size)
{
	void *block = alloc_block(n, size);

	if (!block)
		return array;
	memcpy(block, array, n * size);
	free(array);
	return block;
}

bool
acl_rank_index(struct acl_rank *rank)
{
	struct acl_rank *r = rank;

	if (r->n == 0)
		return true;
	if (!add_node(r, 0, r->n))
		return false;
	for (size_t i = 0; i < r->nodes_n; i++)
		if (!fill(r, i))
			return false;
	r->nodes = trim_array(r->nodes, r->nodes_n, sizeof(*r->nodes));
	r->slots = trim_array(r->slots, r->slots_n, sizeof(*r->slots));
	return true;
}

void
acl_rank_fini(struct acl_rank *rank)
{
	free(rank->keys);
	free(rank->nodes);
	free(rank->slots);
}

void
acl_rank_memory(const struct acl_rank *rank, struct memory_use *use)
{
	memory_add_block(use, rank->keys);
	memory_add_block(use, rank->nodes);
	memory_add_block(use, rank->slots);
}
