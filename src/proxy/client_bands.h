/* SPDX-License-Identifier: MIT
 * Limits on the bandwidth of client ranges, which operators set while lfproxy
 * runs (`set bandwidth client`): all sessions of a range share two buckets
 * (model/bandwidth.h), one for each direction.  Of the ranges that have a
 * client the longest prefix counts.
 *
 * The buckets stay where they are, so that a session may know the one for which
 * it waits by a byte, its place.  The ranges that they belong to are an
 * immutable array, which the control thread replaces.  Without ranges a session
 * costs nothing (pacer.limited).
 */
#ifndef PROXY_CLIENT_BANDS_H
#define PROXY_CLIENT_BANDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/bandwidth.h"
#include "net/cidr.h"

struct grace;
struct band_ranges;

/* The number of ranges; a place is 1 to this, 0: none. */
#define CLIENT_BANDS_MAX 255u

struct client_bands {
	/* Sorted, the longest prefix first; NULL: there are none.  The control
	 * thread writes.  [P45] */
	struct band_ranges *ranges;
	struct bucket buckets[CLIENT_BANDS_MAX][BAND_DIRECTIONS];
};

struct client_band {
	struct cidr range;
	/* Bytes per second, 0: no limit. */
	uint64_t rate[BAND_DIRECTIONS];
	/* Directions that wait now. */
	uint32_t waiting[BAND_DIRECTIONS];
};

/* Frees the ranges.  No thread may use them any more. */
void client_bands_fini(struct client_bands *bands);

/* Limits the range, or ends its limits if both rates are 0.  Returns 0, -ENOMEM
 * when memory is short, or -ENOSPC if CLIENT_BANDS_MAX other ranges are
 * limited.  Runs on the control thread. */
int client_bands_set(struct client_bands *bands, struct grace *grace,
    const struct cidr *range, const uint64_t rate[BAND_DIRECTIONS]) MUST_CHECK;

/* Returns the number of ranges.  Runs on the control thread. */
size_t client_bands_count(const struct client_bands *bands);

/* Copies range number i, in an order that lasts until the next
 * client_bands_set.  Runs on the control thread. */
void client_bands_at(
    const struct client_bands *bands, size_t i, struct client_band *ret_band);

/* Copies the range, with rates of 0 if it is not limited.  Runs on the control
 * thread. */
void client_bands_get(const struct client_bands *bands,
    const struct cidr *range, struct client_band *ret_band);

/* Returns the place of the buckets of the client's range, 0: none.  Any thread,
 * in a grace section; the control thread.  Never blocks. */
uint8_t client_bands_place(
    const struct client_bands *bands, const struct endpoint *client);

/* Returns the buckets of a place above 0, by enum band_direction. */
static inline struct bucket *
client_bands_buckets(struct client_bands *bands, uint8_t place)
{
	return bands->buckets[place - 1];
}

#endif
