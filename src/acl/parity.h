/* SPDX-License-Identifier: MIT
 * Whether the number of keys that are not greater than a given one is odd.
 *
 * Many keys that are spread evenly are in lines: the bits behind those that all
 * keys have in common select a line, which has the rest of each of its keys,
 * and whether the number of keys before it is odd.  A line is a cache line, so
 * that a look-up waits for memory once.
 *
 * A line whose keys are too many has none of them.  They are the keys of a rank
 * (rank.h), and so are all keys that are few or close together.
 */
#ifndef ACL_PARITY_H
#define ACL_PARITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "acl/rank.h"
#include "base/err.h"
#include "base/memory_use.h"

/* With all zeros there are no keys. */
struct acl_parity {
	struct acl_rank rest; /* keys that are in no line */
	char *lines;          /* NULL: all keys are in `rest` */
	size_t lines_n;
	uint64_t base;    /* the bits in common, and zeros */
	uint8_t shift;    /* of the bits behind those of the line */
	uint8_t tail;     /* zeros at the end of all keys */
	uint8_t key_size; /* bytes of a key in a line */
	bool all_odd;     /* the number of all keys is odd */
};

/* Makes the index of n keys, in ascending order and each once: an array of
 * uint64_t if wide, otherwise of uint32_t, which the caller keeps and which is
 * not changed.  Returns false when memory is short or n is too large. */
bool acl_parity_make(
    struct acl_parity *parity, void *keys, size_t n, bool wide) MUST_CHECK;

/* Frees what the parity has, also after a failure. */
void acl_parity_fini(struct acl_parity *parity);

/* Returns whether the number of keys that are not greater is odd.  Any thread.
 * Never blocks. */
bool acl_parity_of(const struct acl_parity *parity, uint64_t key);

/* Adds the memory of keys and index. */
void acl_parity_memory(const struct acl_parity *parity, struct memory_use *use);

#endif
