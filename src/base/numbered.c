/* SPDX-License-Identifier: MIT
 * See numbered.h.
 */
#include "base/numbered.h"

#include <string.h>

#include "base/ensure.h"

/* No process adds as many; higher numbers of others are not taken. */
#define NUMBERED_MAX (UINT64_MAX / 2)

/* Returns the item that was added as the at-th, from 0. */
static void *
item_at(const struct numbered *h, uint64_t at)
{
	return (char *)h->items + at % h->room * h->item_size;
}

static void
set_number(void *item, uint64_t number)
{
	memcpy(item, &number, sizeof(number));
}

void *
numbered_add(struct numbered *list)
{
	struct numbered *h = list;
	void *item = item_at(h, h->added++);

	h->own++;
	set_number(item, ++h->last);
	return item;
}

static void
swap_items(void *a, void *b, size_t size)
{
	char *x = a, *y = b;

	for (size_t i = 0; i < size; i++) {
		char kept = x[i];

		x[i] = y[i];
		y[i] = kept;
	}
}

void *
numbered_restore(struct numbered *list, uint64_t number)
{
	struct numbered *h = list;
	uint64_t own = h->own < h->room ? h->own : h->room, at;

	if (number <= h->last - h->own || number > NUMBERED_MAX)
		return NULL;
	h->last = number + h->own;
	for (uint64_t i = 0; i < own; i++)
		set_number(item_at(h, h->added - 1 - i), h->last - i);
	if (own == h->room)
		return NULL;
	at = h->added++;
	for (; own > 0; own--, at--)
		swap_items(item_at(h, at), item_at(h, at - 1), h->item_size);
	set_number(item_at(h, at), number);
	return item_at(h, at);
}

size_t
numbered_count(const struct numbered *list)
{
	return list->added < list->room ? (size_t)list->added : list->room;
}

void *
numbered_at(const struct numbered *list, size_t i)
{
	ENSURE(i < numbered_count(list));
	return item_at(list, list->added - numbered_count(list) + i);
}
