/* SPDX-License-Identifier: MIT
 * A weighted cycle: which member the next step belongs to, smooth and exact.
 *
 * The member whose turn it is follows from the number of the turn alone, so
 * threads that share a counter take turns with one atomic addition each.  Among
 * any n turns in a row, n being the sum of the weights after division by their
 * greatest common divisor, each member has as many turns as its divided weight.
 *
 * Members of equal weight form a group, in which they take turns in rotation.
 * The groups are the leaves of a binary tree.  The left child of an inner node
 * gets floor(t * share + phase) of the node's first t turns, and the right
 * child gets the rest.  So the turns of a child are numbered as well, and are
 * spread evenly over those of the node.  Whatever the weights are, a turn costs
 * two multiplications for each level, and making a cycle takes O(n log n).
 *
 * A member's credit is the number of turns that its weight entitled it to, less
 * the number that it had.  A cycle that follows another one begins with the
 * credits that the former ended with: a member with the most credit goes first
 * within its group, and the phases are set by the credits of a node's children.
 * So members keep their place when others come and go, or weights change.
 */
#ifndef MODEL_CYCLE_H
#define MODEL_CYCLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/atomics.h"

/* Credits are in fractions of a turn. */
#define CYCLE_TURN (INT64_C(1) << 32)

/* Members of equal weight, weight for each. */
struct cycle_group {
	uint32_t first, n; /* its part of cycle.order */
	uint32_t parent;   /* node; UINT32_MAX: it is the only group */
	uint32_t weight;
	int64_t credit; /* of all of them, at the beginning */
};

/* An inner node.  A child is a node or, from nodes_n on, a group. */
struct cycle_node {
	uint64_t share; /* of the left child, in fractions of 2^64 */
	uint64_t phase; /* likewise */
	uint32_t child[2];
	uint32_t parent;
};

struct cycle {
	/* Turns taken so far; any thread adds, relaxed. */
	uint64_t taken CACHE_LINE_ALIGNED;
	/* Written before the cycle is published, then only read. */
	size_t n CACHE_LINE_ALIGNED; /* turns until the cycle repeats */
	uint32_t members_n, groups_n, nodes_n;
	uint64_t weight_sum;
	struct cycle_node *nodes;
	struct cycle_group *groups;
	uint32_t *order;   /* members by group, in rotation */
	uint32_t *weights; /* by member */
	/* Control thread only: by member, at the beginning. */
	int64_t *credits;
	void *scratch; /* room for 4 numbers of 64 bits by member */
	unsigned refs;
};

/* Returns the size of a cycle of n weights in bytes. */
size_t cycle_size(uint32_t n);

/* Makes a cycle of n weights, which are not all 0, without credits, in room:
 * cycle_size(n) bytes, aligned to cache lines. */
void cycle_init(struct cycle *room, const uint32_t *weights, uint32_t n);

/* Makes a cycle on the heap, with one reference.  Returns NULL when memory is
 * short. */
struct cycle *cycle_new(const uint32_t *weights, uint32_t n);

/* Adds a reference.  Returns cycle.  Runs on the control thread. */
struct cycle *cycle_ref(struct cycle *cycle);

/* Drops a reference; the last one frees the cycle.  Runs on the control
 * thread. */
void cycle_unref(struct cycle *cycle);

/* Starts the cycle with the credits that were written to cycle->credits.  Runs
 * on the control thread, before the cycle is published. */
void cycle_begin(struct cycle *cycle);

/* Writes each member's credit after that many turns.  Runs on the control
 * thread. */
void cycle_credits(
    const struct cycle *cycle, uint64_t taken, int64_t *ret_credits);

/* Writes for each member how many turns after turn `at` its next one comes, 0
 * if turn `at` is its own, -1 for a member of weight 0, which has none. */
void cycle_steps_until(
    const struct cycle *cycle, uint64_t at, double *ret_turns);

/* Returns the greatest common divisor; that of 0 and another number is the
 * other number. */
static inline uint32_t
common_divisor(uint32_t a, uint32_t b)
{
	while (b != 0) {
		uint32_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/* Returns how many turns were taken so far.  Any thread. */
static inline uint64_t
cycle_taken(const struct cycle *cycle)
{
	return atomic_load_relaxed(&cycle->taken);
}

/* Returns how many of a node's first t turns are its left child's. */
static inline uint64_t
cycle_left(const struct cycle_node *node, uint64_t t)
{
	return (
	    uint64_t)(((unsigned __int128)t * node->share + node->phase) >> 64);
}

/* Returns the member that has turn `at`.  Any thread. */
static inline uint32_t
cycle_turn(const struct cycle *cycle, uint64_t at)
{
	const struct cycle_group *group;
	uint32_t i = 0;

	while (i < cycle->nodes_n) {
		const struct cycle_node *node = &cycle->nodes[i];
		uint64_t left = cycle_left(node, at);
		bool right = cycle_left(node, at + 1) == left;

		at = right ? at - left : left;
		i = node->child[right];
	}
	group = &cycle->groups[i - cycle->nodes_n];
	return cycle->order[group->first + at % group->n];
}

#endif
