/* SPDX-License-Identifier: MIT
 * Values that were set at run time in place of the file's.  An override holds
 * until the file's value changes: then the file's is in force again, and the
 * override has ended for good.
 *
 *   override_set --> in force --the file's value changes--> override_follow
 *
 * A model that is PREPARED reads the file's new value before override_follow,
 * by override_holds, while the present model still has the override.
 */
#ifndef MODEL_OVERRIDE_H
#define MODEL_OVERRIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct override {
	bool is_set;
	unsigned value; /* if a number is enough */
	uint64_t base;  /* the file's value then: a number, or its digest */
};

/* Returns a number for a file's value that is none. */
uint64_t override_digest(const void *value, size_t n);

/* Sets a value in place of the file's. */
static inline void
override_set(struct override *override, unsigned value, uint64_t file)
{
	*override =
	    (struct override){.is_set = true, .value = value, .base = file};
}

/* Returns whether the override holds while the file has that value. */
static inline bool
override_holds(const struct override *override, uint64_t file)
{
	return override->is_set && override->base == file;
}

/* Returns the number in force. */
static inline unsigned
override_or(const struct override *override, unsigned file)
{
	return override_holds(override, file) ? override->value : file;
}

/* Ends the override unless it holds.  Called once the file's value is in
 * force. */
static inline void
override_follow(struct override *override, uint64_t file)
{
	if (!override_holds(override, file))
		*override = (struct override){.is_set = false};
}

#endif
