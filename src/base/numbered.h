/* SPDX-License-Identifier: MIT
 * A bounded list of numbered items in the order in which they were added, for
 * example events.  When the list is full, a new item takes the place of the
 * oldest one.
 *
 * Numbers go up and are never given out twice.  Items of a former process keep
 * their numbers; the items that this process has added so far come behind them
 * and are numbered anew.  So a client that is let in after the former items
 * have come goes on behind the number that it has seen last.
 *
 * Not thread-safe.
 */
#ifndef BASE_NUMBERED_H
#define BASE_NUMBERED_H

#include <stddef.h>
#include <stdint.h>

struct numbered {
	/* room items of item_size bytes each, which begin with their number, a
	 * uint64_t; 0: the item was never added.  Borrowed. */
	void *items;
	size_t item_size, room;
	uint64_t added; /* items so far, with those that are gone */
	uint64_t own;   /* of these, added by this process */
	uint64_t last;  /* the last number; 0: none */
};

/* Returns the place for a new item, with its number set and the contents of the
 * item that it replaces otherwise. */
void *numbered_add(struct numbered *list);

/* Returns the place, as numbered_add does, for a former process's item of that
 * number, behind those that were restored before it and in front of the
 * process's own.  Returns NULL if its number is not higher than those of the
 * items before it, or if there is no room in front of the own items. */
void *numbered_restore(struct numbered *list, uint64_t number);

/* Returns the number of items in the list. */
size_t numbered_count(const struct numbered *list);

/* Returns the i-th item, the oldest first; i < numbered_count(). */
void *numbered_at(const struct numbered *list, size_t i);

#endif
