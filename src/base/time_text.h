/* SPDX-License-Identifier: MIT
 * The time of day as text.
 */
#ifndef BASE_TIME_TEXT_H
#define BASE_TIME_TEXT_H

#include <stdint.h>

enum time_form {
	TIME_RFC3339, /* 2026-11-22T19:05:07.123Z, in UTC */
	TIME_HAPROXY, /* 22/Nov/2026:19:05:07.123, local time */
	TIME_RFC3164, /* Nov 22 19:05:07, local time */
	TIME_FORMS,
};

#define TIME_TEXT_SIZE 40

/* Writes the time, in microseconds since 1970, with a fraction of the
 * second of 0, 3 or 6 digits.  Returns out. */
const char *time_text(enum time_form form, uint64_t wall_us, unsigned digits,
    char out[TIME_TEXT_SIZE]);

#endif
