/* SPDX-License-Identifier: MIT
 * Nanoseconds that a table of 1 048 576 sources costs for an accepted
 * connection and for the end of its session, with 10, 10 000 and 200 000
 * sources in random order.
 *
 *   build/release/bench/source_accept
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "base/ensure.h"
#include "base/mix.h"
#include "model/source_table.h"

#define SIZE    (1u << 20)
#define ACCEPTS 4000000u
#define ROUNDS  3

/* Other programs do not count. */
static uint64_t
cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static struct source_key
draw_key(uint32_t sources, uint32_t i)
{
	struct endpoint e = {.family = AF_INET};
	uint32_t ip = htonl(0x7f000000u + (uint32_t)(mix64(i) % sources));

	memcpy(e.ip, &ip, sizeof(ip));
	return source_key_of(&e, 32, 64);
}

/* A connection of a source: a rate, and a number of sessions. */
static void
enter_all(struct source_table *t, uint32_t sources)
{
	const struct source_bounds bounds = {
	    .sessions = 1000000, .share_ns = 1, .burst = 1000000};
	static uint64_t now_ns;
	uint64_t wait_ns;

	for (uint32_t i = 0; i < ACCEPTS; i++) {
		struct source_key key = draw_key(sources, i);

		ENSURE(source_table_enter(t, &key, &bounds, now_ns += 1000,
		           &wait_ns) == SOURCE_COUNTED);
	}
}

static void
leave_all(struct source_table *t, uint32_t sources)
{
	for (uint32_t i = 0; i < ACCEPTS; i++) {
		struct source_key key = draw_key(sources, i);

		source_table_leave(t, &key);
	}
}

static void
measure(uint32_t sources)
{
	struct source_table *t = source_table_new(SIZE, SOURCE_PLAIN);
	uint64_t enter_ns = UINT64_MAX, leave_ns = UINT64_MAX;

	ENSURE(t);
	for (unsigned round = 0; round < ROUNDS; round++) {
		uint64_t begin_ns = cpu_ns(), middle_ns, end_ns;

		enter_all(t, sources);
		middle_ns = cpu_ns();
		leave_all(t, sources);
		end_ns = cpu_ns();
		if (middle_ns - begin_ns < enter_ns)
			enter_ns = middle_ns - begin_ns;
		if (end_ns - middle_ns < leave_ns)
			leave_ns = end_ns - middle_ns;
	}
	printf("%7u sources: accept %3.0f ns, end %3.0f ns\n", sources,
	    (double)enter_ns / ACCEPTS, (double)leave_ns / ACCEPTS);
	source_table_unref(t);
}

int
main(void)
{
	measure(10);
	measure(10000);
	measure(200000);
	return 0;
}
