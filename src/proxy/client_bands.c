/* SPDX-License-Identifier: MIT
 * See client_bands.h.
 */
#include "proxy/client_bands.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grace.h"

struct band_ranges {
	size_t n;
	struct band_range {
		struct cidr range;
		uint8_t place;
	} all[];
};

void
client_bands_fini(struct client_bands *bands)
{
	free(bands->ranges);
}

static bool
is_same(const struct cidr *a, const struct cidr *b)
{
	return a->family == b->family && a->bits == b->bits &&
	       memcmp(a->ip, b->ip, sizeof(a->ip)) == 0;
}

static const struct band_range *
find_range(const struct client_bands *bands, const struct cidr *range)
{
	const struct band_ranges *r = bands->ranges;

	for (size_t i = 0; r && i < r->n; i++)
		if (is_same(&r->all[i].range, range))
			return &r->all[i];
	return NULL;
}

/* Returns a place without a range, 0: none. */
static uint8_t
free_place(const struct client_bands *bands)
{
	bool used[CLIENT_BANDS_MAX + 1] = {false};
	unsigned place = 1;

	for (size_t i = 0; i < client_bands_count(bands); i++)
		used[bands->ranges->all[i].place] = true;
	while (place <= CLIENT_BANDS_MAX && used[place])
		place++;
	return place <= CLIENT_BANDS_MAX ? (uint8_t)place : 0;
}

/* Publishes the ranges, with one more or without one; NULL: neither.  Returns
 * false when memory is short. */
static bool
publish(struct client_bands *bands, struct grace *grace,
    const struct band_range *more, const struct band_range *without)
{
	struct band_ranges *old = bands->ranges, *next;
	size_t n = client_bands_count(bands), at = 0;

	next = malloc(sizeof(*next) + (n + 1) * sizeof(next->all[0]));
	if (!next)
		return false;
	next->n = 0;
	while (more && at < n && old->all[at].range.bits >= more->range.bits)
		next->all[next->n++] = old->all[at++];
	if (more)
		next->all[next->n++] = *more;
	for (; at < n; at++)
		if (&old->all[at] != without)
			next->all[next->n++] = old->all[at];
	if (next->n == 0) {
		free(next);
		next = NULL;
	}
	atomic_store_release(&bands->ranges, next); /* [P45] */
	grace_retire(grace, free, old);
	return true;
}

int
client_bands_set(struct client_bands *bands, struct grace *grace,
    const struct cidr *range, const uint64_t rate[BAND_DIRECTIONS])
{
	const struct band_range *found = find_range(bands, range);
	bool ends = rate[BAND_IN] == 0 && rate[BAND_OUT] == 0;
	struct band_range more = {.range = *range};

	if (!found && ends)
		return 0;
	more.place = found ? found->place : free_place(bands);
	if (more.place == 0)
		return -ENOSPC;
	if ((!found && !publish(bands, grace, &more, NULL)) ||
	    (ends && !publish(bands, grace, NULL, found)))
		return -ENOMEM;
	for (enum band_direction d = 0; d < BAND_DIRECTIONS; d++)
		(void)bucket_set_rate(
		    &client_bands_buckets(bands, more.place)[d], rate[d]);
	return 0;
}

size_t
client_bands_count(const struct client_bands *bands)
{
	return bands->ranges ? bands->ranges->n : 0;
}

static void
read_band(const struct client_bands *bands, const struct band_range *range,
    struct client_band *ret)
{
	const struct bucket *buckets = bands->buckets[range->place - 1];

	ret->range = range->range;
	for (enum band_direction d = 0; d < BAND_DIRECTIONS; d++) {
		ret->rate[d] = atomic_load_relaxed(&buckets[d].rate);
		ret->waiting[d] = atomic_load_relaxed(&buckets[d].waiting);
	}
}

void
client_bands_at(
    const struct client_bands *bands, size_t i, struct client_band *ret_band)
{
	read_band(bands, &bands->ranges->all[i], ret_band);
}

void
client_bands_get(const struct client_bands *bands, const struct cidr *range,
    struct client_band *ret_band)
{
	const struct band_range *found = find_range(bands, range);

	if (found)
		read_band(bands, found, ret_band);
	else
		*ret_band = (struct client_band){.range = *range};
}

uint8_t
client_bands_place(
    const struct client_bands *bands, const struct endpoint *client)
{
	const struct band_ranges *r =
	    atomic_load_acquire(&bands->ranges); /* [P45] */

	for (size_t i = 0; r && i < r->n; i++)
		if (cidr_has(&r->all[i].range, client))
			return r->all[i].place;
	return 0;
}
