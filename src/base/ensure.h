/* SPDX-License-Identifier: MIT
 * ENSURE: a condition that only a bug in lfproxy can break.
 *
 * Always on, in every build.  ENSURE is never used for what a peer, an operator
 * or the kernel under load can cause: such errors are handled.
 */
#ifndef BASE_ENSURE_H
#define BASE_ENSURE_H

/* Reports the condition on standard error and aborts. Called by ENSURE only. */
_Noreturn void ensure_failed(const char *condition, const char *file, int line);

#define ENSURE(condition)                                                      \
	do {                                                                   \
		if (__builtin_expect(!(condition), 0))                         \
			ensure_failed(#condition, __FILE__, __LINE__);         \
	} while (0)

#endif
