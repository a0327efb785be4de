/* SPDX-License-Identifier: MIT
 * See override.h.
 */
#include "model/override.h"

#include <xxhash.h>

uint64_t
override_digest(const void *value, size_t n)
{
	return XXH64(value, n, 0);
}
