/* SPDX-License-Identifier: MIT
 * Values as people write them: durations, numbers.
 *
 * Parsers take the whole string or refuse it.  On failure they return false,
 * the output is untouched, and err says what was found and what is allowed.
 */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* Parses a duration: a whole number with one unit (ms, s, m, h or d), as in
 * `250ms` or `5m`.  The unit is required: `30` is milliseconds to HAProxy and
 * seconds to nginx, so a bare number would surprise half of its readers.  Only
 * 0 needs no unit: `0` and `0s` are the same. */
bool text_parse_duration(const char *s, uint64_t min_ms, uint64_t max_ms,
    uint64_t *ret_ms, struct err *err) MUST_CHECK;

/* Parses a decimal number between min and max, both included. */
bool text_parse_number(const char *s, uint64_t min, uint64_t max,
    uint64_t *ret_number, struct err *err) MUST_CHECK;

/* Parses a whole number of percent, with the sign or without: `20%` and `20`.
 */
bool text_parse_percent(const char *s, uint64_t min, uint64_t max,
    uint64_t *ret_percent, struct err *err) MUST_CHECK;

/* Parses a number of bytes: a whole number, alone or with k, m or g (of 1024),
 * as in `64k`. */
bool text_parse_size(const char *s, uint64_t min, uint64_t max,
    uint64_t *ret_bytes, struct err *err) MUST_CHECK;

#define TEXT_SIZE_SIZE 24

/* Writes the shortest exact form (`64k`, `1536`).  Returns out. */
const char *text_size(uint64_t bytes, char out[TEXT_SIZE_SIZE]);

/* Parses bytes per second: a whole number, alone or with k, m, g (or KiB, MiB,
 * GiB) of 1024, kB, MB, GB of 1000, or kbit, Mbit, Gbit of 1000 bits; in any
 * case, and with `/s` or without, as in `10MiB/s` and `5Gbit/s`. */
bool text_parse_byte_rate(const char *s, uint64_t min, uint64_t max,
    uint64_t *ret_rate, struct err *err) MUST_CHECK;

#define TEXT_BYTE_RATE_SIZE 32

/* Writes the rate with the largest unit that is exact (`10MiB/s`, `5Gbit/s`,
 * `1001B/s`).  Returns out. */
const char *text_byte_rate(uint64_t rate, char out[TEXT_BYTE_RATE_SIZE]);

/* Return the ending of a noun that follows the number, "" for 1 and else "s",
 * as in `"%u session%s", n, text_s(n)`; and the verb, "is" or "are". */
static inline const char *
text_s(uint64_t n)
{
	return n == 1 ? "" : "s";
}

static inline const char *
text_are(uint64_t n)
{
	return n == 1 ? "is" : "are";
}

/* Parses an octal file mode of up to four digits, 0 to 0777. */
bool text_parse_mode(
    const char *s, uint32_t *ret_mode, struct err *err) MUST_CHECK;

#define TEXT_DURATION_SIZE 24

/* Writes the shortest exact form (`90s`, `5m`, `1500ms`).  Returns out. */
const char *text_duration(uint64_t ms, char out[TEXT_DURATION_SIZE]);

#endif
