/* SPDX-License-Identifier: MIT
 * See keys.h.
 */
#include "acl/keys.h"

#include <stdlib.h>

static int
compare_keys(const void *one, const void *other)
{
	const uint64_t *a = one, *b = other;

	return (*a > *b) - (*a < *b);
}

size_t
keys_sort(uint64_t *keys, size_t n)
{
	size_t kept = 0;

	qsort(keys, n, sizeof(keys[0]), compare_keys);
	for (size_t i = 0; i < n; i++)
		if (kept == 0 || keys[kept - 1] != keys[i])
			keys[kept++] = keys[i];
	return kept;
}
