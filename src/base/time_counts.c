/* SPDX-License-Identifier: MIT
 * See time_counts.h.
 */
#include "base/time_counts.h"

#include "base/clock.h"

static const struct level {
	uint64_t length_ns;
	uint32_t slots, first; /* first: index into time_counts.n */
} levels[TIME_COUNTS_LEVELS] = {
    {10 * NS_PER_S, 61, 0},
    {60 * NS_PER_S, 61, 61},
    {600 * NS_PER_S, 145, 122},
};
_Static_assert(TIME_COUNTS_SLOTS == 122 + 145, "all levels have their slots");

static uint32_t *
slot_of(struct time_counts *c, const struct level *level, uint32_t slot)
{
	return &c->n[level->first + slot % level->slots];
}

/* Empties the slots between the newest one and this one, which becomes the
 * newest.  Returns false if the slot is too old to be kept. */
static bool
reach_slot(struct time_counts *c, unsigned i, uint32_t slot)
{
	const struct level *level = &levels[i];
	uint32_t *newest = &c->newest[i];
	uint32_t n = 0;

	if (slot <= *newest)
		return *newest - slot < level->slots;
	while (*newest < slot && n++ < level->slots)
		*slot_of(c, level, ++*newest) = 0;
	/* After a long pause all slots are empty now. */
	*newest = slot;
	return true;
}

void
time_counts_add(struct time_counts *counts, uint64_t at_ns, uint32_t n)
{
	counts->total += n;
	for (unsigned i = 0; i < TIME_COUNTS_LEVELS; i++) {
		uint32_t slot = (uint32_t)(at_ns / levels[i].length_ns);

		if (reach_slot(counts, i, slot))
			*slot_of(counts, &levels[i], slot) += n;
	}
}

size_t
time_counts_list(
    const struct time_counts *counts, struct time_slot out[TIME_COUNTS_SLOTS])
{
	size_t slots = 0;

	for (uint32_t i = 0; i < TIME_COUNTS_LEVELS; i++) {
		const struct level *level = &levels[i];
		uint32_t newest = counts->newest[i];

		for (uint32_t k = 0; k < level->slots && k <= newest; k++) {
			uint32_t number = newest - k;
			uint32_t n =
			    counts->n[level->first + number % level->slots];

			if (n > 0)
				out[slots++] = (struct time_slot){
				    .level = i, .number = number, .n = n};
		}
	}
	return slots;
}

void
time_counts_add_slot(struct time_counts *counts, const struct time_slot *slot)
{
	if (slot->n > 0 && slot->level < TIME_COUNTS_LEVELS &&
	    reach_slot(counts, slot->level, slot->number))
		*slot_of(counts, &levels[slot->level], slot->number) += slot->n;
}

void
time_counts_merge(struct time_counts *counts, const struct time_counts *more)
{
	struct time_slot slots[TIME_COUNTS_SLOTS];
	size_t n = time_counts_list(more, slots);

	counts->total += more->total;
	for (size_t i = 0; i < n; i++)
		time_counts_add_slot(counts, &slots[i]);
}

bool
time_window_of(uint64_t now_ns, uint64_t ago_ns, struct time_window *ret_window)
{
	uint64_t from_ns = now_ns > ago_ns ? now_ns - ago_ns : 0;

	for (unsigned i = 0; i < TIME_COUNTS_LEVELS; i++) {
		uint64_t length_ns = levels[i].length_ns;

		if (ago_ns > (levels[i].slots - 1) * length_ns)
			continue;
		*ret_window = (struct time_window){
		    .begin_ns = from_ns / length_ns * length_ns, .level = i};
		return true;
	}
	return false;
}

uint64_t
time_counts_in(
    const struct time_counts *counts, const struct time_window *window)
{
	const struct level *level = &levels[window->level];
	uint32_t newest = counts->newest[window->level];
	uint64_t from = window->begin_ns / level->length_ns, n = 0;

	if (window->begin_ns == 0)
		return counts->total;
	for (uint32_t k = 0; k < level->slots && newest >= from + k; k++)
		n += counts->n[level->first + (newest - k) % level->slots];
	return n;
}
