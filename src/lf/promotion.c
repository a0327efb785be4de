/* SPDX-License-Identifier: MIT
 * Functions for all kinds of promotion.  See promotion.h.
 */
#include "lf/promotion.h"

const char *
promotion_order_name(enum promotion_order order)
{
	static const char *const names[] = {
	    [ORDER_LIFO] = "lifo",
	    [ORDER_FIFO] = "fifo",
	    [ORDER_PRIORITY] = "priority",
	};
	_Static_assert(ORDER_PRIORITY + 1 == sizeof(names) / sizeof(names[0]),
	    "a name each");

	return names[order];
}

static struct member *
member_of(struct list *node)
{
	return container_of(node, struct member, bench);
}

/* Looks at each member of the bench, which has at most as many as the pool has
 * threads.  A promotion costs a wake-up of some microseconds, and the search
 * adds little to that. */
static struct member *
best_of(struct list *bench)
{
	struct member *best = member_of(bench->prev);

	for (struct list *n = bench->prev; n != bench; n = n->prev)
		if (member_of(n)->grade < best->grade)
			best = member_of(n);
	return best;
}

bool
promotion_outranks(struct list *bench, const struct member *self)
{
	return !list_empty(bench) && best_of(bench)->grade < self->grade;
}

struct member *
promotion_pick(const struct promotion *promotion, struct list *bench)
{
	switch ((enum promotion_order)atomic_load_relaxed(&promotion->order)) {
	case ORDER_FIFO:
		return member_of(bench->next);
	case ORDER_PRIORITY:
		return best_of(bench);
	case ORDER_LIFO:
		break;
	}
	return member_of(bench->prev);
}
