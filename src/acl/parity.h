/* SPDX-License-Identifier: MIT
 * Tells whether the number of keys that are not greater than a given one is
 * odd.
 *
 * If the keys are many and spread evenly, they are in lines.  The bits behind
 * those that all keys have in common select a line, which has the rest of each
 * of its keys, and whether the number of keys before it is odd.  A line is a
 * cache line, so that a look-up waits for memory once.
 *
 * A line that has no room for all of its keys has none of them: they are in a
 * rank (rank.h).  If the keys are few or close together, all of them are in the
 * rank.
 */
#ifndef ACL_PARITY_H
#define ACL_PARITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "acl/rank.h"
#include "base/err.h"
#include "base/memory_use.h"

/* All zeros: no keys. */
struct acl_parity {
	struct acl_rank rest; /* keys that are in no line */
	char *lines;          /* NULL: all keys are in `rest` */
	size_t lines_n;
	uint64_t base;    /* the common bits, then zeros */
	uint8_t shift;    /* number of bits behind those of the line */
	uint8_t tail;     /* zeros at the end of all keys */
	uint8_t key_size; /* bytes of a key in a line */
	bool all_odd;     /* the number of all keys is odd */
};

/* Makes the index of n keys, in ascending order and without repetition.  keys:
 * an array of uint64_t if wide, otherwise of uint32_t, which stays the caller's
 * and is not changed.  Returns false when memory is short or n is too large. */
bool acl_parity_make(
    struct acl_parity *parity, void *keys, size_t n, bool wide) MUST_CHECK;

/* Frees the memory of the parity; to be called also after acl_parity_make
 * failed. */
void acl_parity_fini(struct acl_parity *parity);

/* Returns whether the number of keys that are not greater than key is odd.  Any
 * thread.  Never blocks. */
bool acl_parity_of(const struct acl_parity *parity, uint64_t key);

/* Adds the memory of keys and index to use. */
void acl_parity_memory(const struct acl_parity *parity, struct memory_use *use);

#endif
