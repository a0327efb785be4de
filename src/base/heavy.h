/* SPDX-License-Identifier: MIT
 * Heavy hitters: the keys with the largest sums of a stream, in fixed memory.
 *
 * Space-Saving (Metwally, Agrawal, El Abbadi, "Efficient computation of
 * frequent and top-k elements in data streams", 2005): a key that finds no
 * place takes that of the key with the smallest count, and begins with that
 * count, which is noted as the most that its own count may be too high.  So the
 * true sum of a key is at most its count and at least its count less `over`,
 * and that of any other key is at most heavy_least, which is at most the sum of
 * all keys but the k largest, divided by HEAVY_WAYS - k.
 *
 * The caller spreads keys over many of these by a hash, and keeps other threads
 * away.
 */
#ifndef BASE_HEAVY_H
#define BASE_HEAVY_H

#include <stdbool.h>
#include <stdint.h>

#define HEAVY_WAYS 16

/* A place whose count is 0 is free. */
struct heavy {
	uint64_t key[HEAVY_WAYS], count[HEAVY_WAYS], over[HEAVY_WAYS];
};

/* Adds n, above 0, to the sum of the key. */
void heavy_add(struct heavy *heavy, uint64_t key, uint64_t n);

/* Returns the most that the sum of a key without a place may be. */
uint64_t heavy_least(const struct heavy *heavy);

/* Gets the bounds of the key's sum: at least *ret_low, at most *ret_high. */
void heavy_sum(const struct heavy *heavy, uint64_t key, uint64_t *ret_low,
    uint64_t *ret_high);

#endif
