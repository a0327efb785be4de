/* SPDX-License-Identifier: MIT
 * Intrusive doubly linked list with a head that is itself a node.
 *
 * No allocation, no locking: the owner of the head owns the list.
 */
#ifndef BASE_LIST_H
#define BASE_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct list {
	struct list *prev, *next;
};

#define container_of(ptr, type, member)                                        \
	((type *)(void *)((char *)(ptr)-offsetof(type, member)))

static inline void
list_init(struct list *l)
{
	l->prev = l->next = l;
}

static inline bool
list_empty(const struct list *l)
{
	return l->next == l;
}

static inline void
list_append(struct list *head, struct list *node)
{
	node->prev = head->prev;
	node->next = head;
	head->prev->next = node;
	head->prev = node;
}

/* Leaves the node as an empty list, so that removing it again is harmless. */
static inline void
list_remove(struct list *node)
{
	node->prev->next = node->next;
	node->next->prev = node->prev;
	list_init(node);
}

/* Moves all nodes of from, in their order, to the end of to; from is then
 * empty. */
static inline void
list_splice(struct list *from, struct list *to)
{
	if (list_empty(from))
		return;
	from->next->prev = to->prev;
	to->prev->next = from->next;
	from->prev->next = to;
	to->prev = from->prev;
	list_init(from);
}

#define list_for_each(node, head)                                              \
	for (struct list *node = (head)->next; node != (head);                 \
	     node = node->next)

/* The body may remove and free `node`. */
#define list_for_each_safe(node, head)                                         \
	for (struct list *node = (head)->next, *node##_next = node->next;      \
	     node != (head); node = node##_next, node##_next = node->next)

#endif
