/* SPDX-License-Identifier: MIT
 * A number, or the value of an enum, that may be unset.  All bytes 0: unset.
 */
#ifndef BASE_OPTIONAL_H
#define BASE_OPTIONAL_H

#include <stdbool.h>

struct optional {
	unsigned value;
	bool is_set;
};

static inline struct optional
optional_of(unsigned value)
{
	return (struct optional){.value = value, .is_set = true};
}

/* Returns the value, or other if it is unset. */
static inline unsigned
optional_or(struct optional optional, unsigned other)
{
	return optional.is_set ? optional.value : other;
}

#endif
