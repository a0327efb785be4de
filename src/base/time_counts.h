/* SPDX-License-Identifier: MIT
 * Counts over the last day, by time: ten minutes in slots of 10 s, an hour in
 * slots of a minute, a day in slots of ten minutes.
 *
 * A window is a whole number of slots, of the finest that reach back far
 * enough.  So it begins up to one slot earlier than was asked for, and its
 * count is exact: the caller tells where the window begins.
 *
 * Times are those of clock_now_ns.  The functions take no lock.
 */
#ifndef BASE_TIME_COUNTS_H
#define BASE_TIME_COUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define TIME_COUNTS_LEVELS 3
/* Each level has one slot more than its span: the beginning of a window cuts
 * its oldest slot. */
#define TIME_COUNTS_SLOTS (61 + 61 + 145)

/* The longest window. */
#define TIME_COUNTS_SPAN_S 86400

/* All zero: nothing was counted. */
struct time_counts {
	uint64_t total; /* also of what is older than the slots */
	uint32_t newest[TIME_COUNTS_LEVELS]; /* slot: time by its length */
	uint32_t n[TIME_COUNTS_SLOTS];       /* level by level */
};

/* Counts n at a time, which may be before what was counted last. */
void time_counts_add(struct time_counts *counts, uint64_t at_ns, uint32_t n);

/* A slot that is not empty, for another process. */
struct time_slot {
	uint32_t level, number, n;
};

/* Lists the slots that are not empty.  Returns how many there are. */
size_t time_counts_list(
    const struct time_counts *counts, struct time_slot out[TIME_COUNTS_SLOTS]);

/* Adds a slot, but not to the total.  Ignores an empty slot,
 * and a level that does not exist. */
void time_counts_add_slot(
    struct time_counts *counts, const struct time_slot *slot);

/* Adds all counts of more, slot by slot. */
void time_counts_merge(
    struct time_counts *counts, const struct time_counts *more);

struct time_window {
	uint64_t begin_ns; /* 0: everything */
	unsigned level;
};

/* Makes the window of the last ago_ns.  Returns false if that is more than
 * TIME_COUNTS_SPAN_S. */
bool time_window_of(uint64_t now_ns, uint64_t ago_ns,
    struct time_window *ret_window) MUST_CHECK;

/* Returns what was counted since the window's beginning. */
uint64_t time_counts_in(
    const struct time_counts *counts, const struct time_window *window);

#endif
