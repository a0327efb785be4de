/* SPDX-License-Identifier: MIT
 * See cycle.h.
 */
#include "model/cycle.h"

#include <stdlib.h>
#include <string.h>

#include "base/ensure.h"

#define DIGIT_BITS 8
#define DIGITS     (64 / DIGIT_BITS)

/* The sort order: by weight, the greatest first, then by credit, the greatest
 * first, then by member. */
struct entry {
	uint64_t key;
	uint32_t member;
};

static size_t
aligned(size_t size)
{
	return (size + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
}

/* Points the cycle at the parts of its room, in this order.  Returns the size
 * of the room.  c and room NULL: only returns the size. */
static size_t
lay_out(struct cycle *c, char *room, uint32_t n)
{
	size_t at = aligned(sizeof(*c));
	size_t sizes[] = {n * sizeof(c->nodes[0]), n * sizeof(c->groups[0]),
	    n * sizeof(c->order[0]), n * sizeof(c->weights[0]),
	    n * sizeof(c->credits[0]), 2 * n * sizeof(struct entry)};
	void *parts[sizeof(sizes) / sizeof(sizes[0])];

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		parts[i] = room ? room + at : NULL;
		at += aligned(sizes[i]);
	}
	if (!c)
		return at;
	c->nodes = parts[0];
	c->groups = parts[1];
	c->order = parts[2];
	c->weights = parts[3];
	c->credits = parts[4];
	c->scratch = parts[5];
	return at;
}

size_t
cycle_size(uint32_t n)
{
	return lay_out(NULL, NULL, n);
}

/* Sorts by one digit, and keeps the order of entries that are equal in it.
 * Returns false, and does nothing, if all entries are equal in it. */
static bool
sort_by_digit(
    const struct entry *from, struct entry *to, size_t n, unsigned shift)
{
	const uint64_t mask = (1u << DIGIT_BITS) - 1;
	size_t starts[1u << DIGIT_BITS] = {0}, sum = 0;

	for (size_t i = 0; i < n; i++)
		starts[from[i].key >> shift & mask]++;
	if (starts[from[0].key >> shift & mask] == n)
		return false;
	for (size_t digit = 0; digit <= mask; digit++) {
		size_t count = starts[digit];

		starts[digit] = sum;
		sum += count;
	}
	for (size_t i = 0; i < n; i++)
		to[starts[from[i].key >> shift & mask]++] = from[i];
	return true;
}

/* Returns the array that holds the sorted entries. */
static const struct entry *
sort_entries(struct entry *a, struct entry *b, size_t n)
{
	for (unsigned i = 0; i < DIGITS; i++) {
		struct entry *other = b;

		if (!sort_by_digit(a, b, n, i * DIGIT_BITS))
			continue;
		b = a;
		a = other;
	}
	return a;
}

/* Returns the rank of a credit, less for a greater credit: in steps of 2^-24
 * turns, within 127 turns either way. */
static uint32_t
credit_rank(int64_t credit)
{
	int64_t limit = 127 * CYCLE_TURN;

	if (credit > limit)
		credit = limit;
	if (credit < -limit)
		credit = -limit;
	return (uint32_t)((limit - credit) >> 8);
}

static void
list_groups(struct cycle *c)
{
	struct entry *entries = c->scratch;
	const struct entry *sorted;

	for (uint32_t i = 0; i < c->members_n; i++)
		entries[i] = (struct entry){.member = i,
		    .key = (uint64_t)~c->weights[i] << 32 |
		           credit_rank(c->credits[i])};
	sorted = sort_entries(entries, entries + c->members_n, c->members_n);
	c->groups_n = 0;
	for (uint32_t i = 0; i < c->members_n; i++) {
		uint32_t weight = c->weights[sorted[i].member];
		struct cycle_group *last = NULL;

		if (c->groups_n > 0)
			last = &c->groups[c->groups_n - 1];
		c->order[i] = sorted[i].member;
		/* Members of weight 0 come last and have no turns. */
		if (weight == 0)
			break;
		if (!last || last->weight != weight) {
			last = &c->groups[c->groups_n++];
			*last =
			    (struct cycle_group){.first = i, .weight = weight};
		}
		last->n++;
		last->credit += c->credits[sorted[i].member];
	}
}

static uint64_t
group_weight(const struct cycle_group *group)
{
	return (uint64_t)group->n * group->weight;
}

/* The sum over groups in a row. */
struct sum {
	uint64_t weight;
	int64_t credit;
};

/* Returns how many of the n groups from first on go to the left child, so that
 * both children have about the same weight. */
static uint32_t
find_cut(const struct cycle *c, uint32_t first, uint32_t n, uint64_t weight)
{
	uint64_t left = group_weight(&c->groups[first]);
	uint32_t cut = 1;

	while (cut < n - 1 &&
	       2 * left + group_weight(&c->groups[first + cut]) <= weight)
		left += group_weight(&c->groups[first + cut++]);
	return cut;
}

/* Returns the phase of a node.  The left child is owed its credit less its
 * share of the credit of both children.  A phase can hold half a turn either
 * way at most: then the left child has its turn at once, or as late as
 * possible. */
static uint64_t
phase_of(struct sum left, struct sum right)
{
	__int128 both = (__int128)left.credit + right.credit;
	__int128 owed =
	    left.credit - both * (__int128)left.weight /
	                      (__int128)(left.weight + right.weight);
	__int128 phase = owed + CYCLE_TURN / 2;

	if (phase < 0)
		return 0;
	return phase >= CYCLE_TURN ? UINT64_MAX : (uint64_t)phase << 32;
}

static struct sum
sum_up(const struct cycle *c, uint32_t first, uint32_t n)
{
	struct sum sum = {0};

	for (uint32_t i = first; i < first + n; i++) {
		sum.weight += group_weight(&c->groups[i]);
		sum.credit += c->groups[i].credit;
	}
	return sum;
}

/* Makes the tree of n groups from first on, and returns its root.  parent is
 * UINT32_MAX for the root of all groups. */
static uint32_t
plant(struct cycle *c, uint32_t first, uint32_t n, uint32_t parent)
{
	struct sum left, right;
	struct cycle_node *node;
	uint32_t cut, at;

	if (n == 1) {
		c->groups[first].parent = parent;
		return c->groups_n - 1 + first;
	}
	at = c->nodes_n++;
	node = &c->nodes[at];
	cut = find_cut(c, first, n, sum_up(c, first, n).weight);
	left = sum_up(c, first, cut);
	right = sum_up(c, first + cut, n - cut);
	node->parent = parent;
	node->share = (uint64_t)(((unsigned __int128)left.weight << 64) /
	                         (left.weight + right.weight));
	node->phase = phase_of(left, right);
	node->child[0] = plant(c, first, cut, at);
	node->child[1] = plant(c, first + cut, n - cut, at);
	return at;
}

void
cycle_begin(struct cycle *cycle)
{
	list_groups(cycle);
	cycle->nodes_n = 0;
	(void)plant(cycle, 0, cycle->groups_n, UINT32_MAX);
	ENSURE(cycle->nodes_n == cycle->groups_n - 1);
}

void
cycle_init(struct cycle *room, const uint32_t *weights, uint32_t n)
{
	struct cycle *c = room;
	uint32_t divisor = 0;

	*c = (struct cycle){.members_n = n, .refs = 1};
	(void)lay_out(c, (char *)room, n);
	for (uint32_t i = 0; i < n; i++) {
		c->weights[i] = weights[i];
		c->weight_sum += weights[i];
		divisor = common_divisor(weights[i], divisor);
	}
	ENSURE(divisor > 0);
	c->n = c->weight_sum / divisor;
	memset(c->credits, 0, n * sizeof(c->credits[0]));
	cycle_begin(c);
}

struct cycle *
cycle_new(const uint32_t *weights, uint32_t n)
{
	struct cycle *c = aligned_alloc(CACHE_LINE, cycle_size(n));

	if (c)
		cycle_init(c, weights, n);
	return c;
}

struct cycle *
cycle_ref(struct cycle *cycle)
{
	cycle->refs++;
	return cycle;
}

void
cycle_unref(struct cycle *cycle)
{
	if (cycle && --cycle->refs == 0)
		free(cycle);
}

/* Returns how many of the first `taken` turns of the cycle belong to that child
 * of the parent. */
static uint64_t
turns_of(const struct cycle *c, uint32_t child, uint32_t parent, uint64_t taken)
{
	const struct cycle_node *node = &c->nodes[parent];
	uint64_t left;

	if (parent == UINT32_MAX)
		return taken;
	taken = turns_of(c, parent, node->parent, taken);
	left = cycle_left(node, taken);
	return child == node->child[0] ? left : taken - left;
}

static uint64_t
group_turns(const struct cycle *c, uint32_t group, uint64_t taken)
{
	return turns_of(c, c->nodes_n + group, c->groups[group].parent, taken);
}

void
cycle_credits(const struct cycle *cycle, uint64_t taken, int64_t *ret_credits)
{
	const struct cycle *c = cycle;

	memcpy(ret_credits, c->credits, c->members_n * sizeof(c->credits[0]));
	for (uint32_t g = 0; g < c->groups_n; g++) {
		const struct cycle_group *group = &c->groups[g];
		uint64_t had = group_turns(c, g, taken);
		int64_t due =
		    (int64_t)(((unsigned __int128)taken * group->weight << 32) /
		              c->weight_sum);

		for (uint32_t i = 0; i < group->n; i++) {
			uint64_t own = (had + group->n - 1 - i) / group->n;

			ret_credits[c->order[group->first + i]] +=
			    due - (int64_t)(own << 32);
		}
	}
}

/* Returns which of a node's turns is turn `at` of its child. */
static uint64_t
turn_of_parent(const struct cycle_node *node, bool right, uint64_t at)
{
	unsigned __int128 one = (unsigned __int128)1 << 64;

	if (right)
		return (
		    uint64_t)((at * one + node->phase) / (one - node->share));
	return (uint64_t)(((at + 1) * one - node->phase - 1) / node->share);
}

static uint64_t
turns_until(
    const struct cycle *c, uint32_t group, uint64_t group_turn, uint64_t at)
{
	uint32_t child = c->nodes_n + group, parent = c->groups[group].parent;
	uint64_t turn = group_turn;

	while (parent != UINT32_MAX) {
		const struct cycle_node *node = &c->nodes[parent];

		turn = turn_of_parent(node, child == node->child[1], turn);
		child = parent;
		parent = node->parent;
	}
	return turn - at;
}

void
cycle_steps_until(const struct cycle *cycle, uint64_t at, double *ret_turns)
{
	const struct cycle *c = cycle;

	for (uint32_t i = 0; i < c->members_n; i++)
		ret_turns[i] = -1;
	for (uint32_t g = 0; g < c->groups_n; g++) {
		const struct cycle_group *group = &c->groups[g];
		uint64_t next = group_turns(c, g, at);

		for (uint64_t turn = next; turn < next + group->n; turn++)
			ret_turns[c->order[group->first + turn % group->n]] =
			    (double)turns_until(c, g, turn, at);
	}
}
