/* SPDX-License-Identifier: MIT
 * What every fuzz target has.
 *
 * A target is one file that defines LLVMFuzzerTestOneInput.  `make fuzz` links
 * it with clang's libFuzzer, which makes up inputs; `make check` links it with
 * replay.c, which has the stored ones read again, in any build.  What is wrong
 * ends the process: a sanitizer's report, or an ENSURE, ours or the target's.
 *
 * log lines go to standard error, as they do in lfproxy: both drivers send that
 * away while a target runs.
 */
#ifndef FUZZ_FUZZ_H
#define FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/ensure.h"

/* One input.  Always 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The input as a string of its own, so that a sanitizer sees who reads beyond
 * it; the caller frees it.  What comes after a NUL is not seen by those who
 * take strings. */
static inline char *
fuzz_string(const uint8_t *data, size_t size)
{
	char *s = malloc(size + 1);

	ENSURE(s);
	if (size > 0)
		memcpy(s, data, size);
	s[size] = '\0';
	return s;
}

/* Passes that many milliseconds in no time: the clock that deadlines and timers
 * go by is ahead from then on (fuzz_clock.c).  The time of day is not. */
void fuzz_pass_ms(uint64_t ms);

#endif
