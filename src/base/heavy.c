/* SPDX-License-Identifier: MIT
 * See heavy.h.
 */
#include "base/heavy.h"

/* Returns the place of the key, or HEAVY_WAYS. */
static unsigned
find_place(const struct heavy *heavy, uint64_t key)
{
	unsigned i = 0;

	while (i < HEAVY_WAYS && (heavy->key[i] != key || heavy->count[i] == 0))
		i++;
	return i;
}

static unsigned
find_least(const struct heavy *heavy)
{
	unsigned least = 0;

	for (unsigned i = 1; i < HEAVY_WAYS; i++)
		if (heavy->count[i] < heavy->count[least])
			least = i;
	return least;
}

void
heavy_add(struct heavy *heavy, uint64_t key, uint64_t n)
{
	unsigned i = find_place(heavy, key);

	if (i == HEAVY_WAYS) {
		i = find_least(heavy);
		heavy->key[i] = key;
		heavy->over[i] = heavy->count[i];
	}
	heavy->count[i] += n;
}

uint64_t
heavy_least(const struct heavy *heavy)
{
	return heavy->count[find_least(heavy)];
}

void
heavy_sum(const struct heavy *heavy, uint64_t key, uint64_t *ret_low,
    uint64_t *ret_high)
{
	unsigned i = find_place(heavy, key);

	if (i < HEAVY_WAYS) {
		*ret_high = heavy->count[i];
		*ret_low = heavy->count[i] - heavy->over[i];
	} else {
		*ret_high = heavy_least(heavy);
		*ret_low = 0;
	}
}
