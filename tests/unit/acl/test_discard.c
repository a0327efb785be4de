/* SPDX-License-Identifier: MIT
 * Discarded contents are freed, whatever their size.  A sanitizer
 * replaces malloc, whose statistics are 0 then, and finds what is left.
 */
#include "acl/discard.h"

#include <endian.h>
#include <ev.h>
#include <malloc.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/worker.h"
#include "unit.h"

/* A thread that has ended leaves memory behind, and so does the arena of
 * another one. */
#define SLACK 65536u

static struct ev_loop *loop;

static struct acl_content *
make_content(uint32_t n)
{
	struct acl_content *c = acl_content_new();

	assert_non_null(c);
	for (uint32_t i = 0; i < n; i++) {
		struct acl_entry e = {.range = {.family = AF_INET, .bits = 32}};
		uint32_t ip = htobe32(2 * i);

		memcpy(e.range.ip, &ip, sizeof(ip));
		assert_true(acl_content_add(c, &e));
	}
	assert_true(acl_content_seal(c));
	return c;
}

static size_t
heap_bytes(void)
{
	struct mallinfo2 m = mallinfo2();

	return m.uordblks + m.hblkhd;
}

static void
await_heap(size_t bytes)
{
	assert_true(
	    unit_wait((ev_run(loop, EVRUN_NOWAIT), heap_bytes() <= bytes)));
}

static void
discarded_contents_are_freed(void **state)
{
	static const uint32_t sizes[] = {0, 10, 400000};
	size_t before = heap_bytes();

	(void)state;
	acl_content_discard(NULL);
	for (size_t i = 0; i < UNIT_N(sizes); i++) {
		acl_content_discard(make_content(sizes[i]));
		await_heap(before + SLACK);
	}
}

static int
begin(void **state)
{
	(void)state;
	loop = ev_loop_new(EVFLAG_AUTO);
	worker_start(loop);
	return 0;
}

static int
end(void **state)
{
	(void)state;
	assert_true(worker_stop(UNIT_DEADLINE_S * 1000));
	ev_loop_destroy(loop);
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(discarded_contents_are_freed),
	};

	unit_watchdog();
	return cmocka_run_group_tests(tests, begin, end);
}
