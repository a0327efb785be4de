/* SPDX-License-Identifier: MIT
 * Keys as the tests of ranks and parities need them.
 */
#ifndef UNIT_ACL_KEYS_H
#define UNIT_ACL_KEYS_H

#include <stddef.h>
#include <stdint.h>

/* Sorts the keys, and keeps each once.  Returns how many are left. */
size_t keys_sort(uint64_t *keys, size_t n);

#endif
