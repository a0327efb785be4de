/* SPDX-License-Identifier: MIT
 * What every unit test needs: cmocka, deadlines, threads, captured output.
 *
 * cmocka's assertions jump and so belong to the main thread; other threads
 * count what is wrong, and the main thread asserts that it was nothing.
 */
#ifndef UNIT_UNIT_H
#define UNIT_UNIT_H

#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/atomics.h"

/* The name of cmocka 1, deprecated in cmocka 2, whose new name is a macro. */
#ifdef assert_uint_in_range
#undef assert_in_range
#define assert_in_range assert_uint_in_range
#endif

#define UNIT_N(array) (sizeof(array) / sizeof((array)[0]))

/* How often a test repeats itself: n times, and a tenth of that under a
 * sanitizer, which looks at each access and learns nothing from another
 * thousand, and in a build for the emulator (UNIT_EMULATED), which takes ten
 * times as long for each. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) ||           \
    defined(UNIT_EMULATED)
#define UNIT_TIMES(n) ((n) / 10)
#else
#define UNIT_TIMES(n) (n)
#endif

/* Nothing that a test waits for takes longer, on any machine. */
#define UNIT_DEADLINE_S 60

/* Call it first in main: a test that hangs ends its program. */
static inline void
unit_watchdog(void)
{
	alarm(15 * UNIT_DEADLINE_S);
}

/* Whether tests judge time: LFPROXY_TIMING=1 is set, as `make check-timing`
 * does.  A machine that is busy with other work tells nothing; a test measures
 * there all the same, and does not judge. */
static inline bool
unit_judges_time(void)
{
	const char *timing = getenv("LFPROXY_TIMING");

	return timing && strcmp(timing, "1") == 0;
}

/* Ends a test that has done its work and would only have time to judge. */
static inline void
unit_skip_unless_time_is_judged(void)
{
	if (!unit_judges_time()) {
		print_message("time is judged with LFPROXY_TIMING=1 alone\n");
		skip();
	}
}

/* Skips a test whose subject needs something of the kernel that the emulator of
 * `make check-arm64` has not. */
static inline void
unit_skip_when_emulated(const char *what)
{
	if (getenv("LFPROXY_EMULATED")) {
		print_message("skipped: the emulator has no %s\n", what);
		skip();
	}
}

/* Not clock_now_ms, which tests replace. */
static inline uint64_t
unit_now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000u + (uint64_t)ts.tv_nsec / 1000000u;
}

static inline void
unit_nap(void)
{
	struct timespec nap = {.tv_nsec = 50000};

	nanosleep(&nap, NULL);
}

/* Waits until the condition holds; false after UNIT_DEADLINE_S.  Any thread. */
#define unit_wait(condition)                                                   \
	({                                                                     \
		uint64_t unit_end_ = unit_now_ms() + UNIT_DEADLINE_S * 1000u;  \
		bool unit_holds_;                                              \
		while (                                                        \
		    !(unit_holds_ = (condition)) && unit_now_ms() < unit_end_) \
			unit_nap();                                            \
		unit_holds_;                                                   \
	})

#define UNIT_THREADS_MAX 8

/* Threads that start together: all are there before the first begins.  Every
 * one runs main_of with the same arg. */
struct unit_threads {
	pthread_t ids[UNIT_THREADS_MAX];
	unsigned n;
	pthread_barrier_t gate;
	void *(*main_of)(void *arg);
	void *arg;
};

static inline void *
unit_thread_main(void *threads)
{
	struct unit_threads *t = threads;

	pthread_barrier_wait(&t->gate);
	return t->main_of(t->arg);
}

/* t stays where it is until the join. */
static inline void
unit_threads_start(
    struct unit_threads *t, unsigned n, void *(*main_of)(void *arg), void *arg)
{
	assert_true(n <= UNIT_THREADS_MAX);
	t->main_of = main_of;
	t->arg = arg;
	pthread_barrier_init(&t->gate, NULL, n);
	for (t->n = 0; t->n < n; t->n++)
		assert_int_equal(
		    pthread_create(&t->ids[t->n], NULL, unit_thread_main, t),
		    0);
}

static inline void
unit_threads_join(struct unit_threads *t)
{
	while (t->n > 0)
		assert_int_equal(pthread_join(t->ids[--t->n], NULL), 0);
	pthread_barrier_destroy(&t->gate);
}

/* A number of its own for each of the threads that share *next. */
static inline uint32_t
unit_ticket(uint32_t *next)
{
	return atomic_add_relaxed(next, 1u);
}

/* A small generator, the same on every run: tests are to be repeatable. */
static inline uint32_t
unit_random(uint32_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state;
}

/* Standard error goes into a pipe until unit_stderr_end. */
struct unit_stderr {
	int saved, reader;
};

static inline void
unit_stderr_begin(struct unit_stderr *s)
{
	int ends[2];

	fflush(stderr);
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	s->saved = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	assert_true(s->saved >= 0);
	assert_int_equal(dup2(ends[1], STDERR_FILENO), STDERR_FILENO);
	close(ends[1]);
	s->reader = ends[0];
}

/* Puts the former one back; what was written is still to be read. */
static inline void
unit_stderr_restore(struct unit_stderr *s)
{
	fflush(stderr);
	assert_int_equal(dup2(s->saved, STDERR_FILENO), STDERR_FILENO);
	close(s->saved);
}

/* The text so far, for output that a pipe holds. */
static inline void
unit_stderr_end(struct unit_stderr *s, char *ret_text, size_t size)
{
	size_t len = 0;
	ssize_t n;

	unit_stderr_restore(s);
	while ((n = read(s->reader, ret_text + len, size - 1 - len)) > 0)
		len += (size_t)n;
	ret_text[len] = '\0';
	close(s->reader);
}

#endif
