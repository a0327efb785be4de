/* SPDX-License-Identifier: MIT
 * Pipes: lent out, bounded, and never with another one's bytes.
 */
#include "net/splice.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "page_size.h"
#include "unit.h"

#define NOW 1000000000ull

/* The size of each pipe on a machine where no other is granted; 0: this one. */
static int only_size;

/* In the place of the C library's. */
int
fcntl(int fd, int command, ...)
{
	va_list list;
	long argument;

	va_start(list, command);
	argument = va_arg(list, long);
	va_end(list);
	if (only_size && command == F_SETPIPE_SZ) {
		errno = EPERM;
		return -1;
	}
	if (only_size && command == F_GETPIPE_SZ)
		return only_size;
	return (int)syscall(SYS_fcntl, fd, command, argument);
}

static struct splice_pool pool;
static int in[2], out[2]; /* we write in[0] and read out[1] */

static int
set_up(void **state)
{
	(void)state;
	page_size = 4096;
	only_size = 0;
	splice_pool_init(&pool, 2);
	assert_int_equal(
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, in), 0);
	assert_int_equal(
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, out), 0);
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	splice_pool_fini(&pool);
	for (int i = 0; i < 2; i++) {
		close(in[i]);
		close(out[i]);
	}
	return 0;
}

static void
bytes_go_through_a_pipe(void **state)
{
	struct splice_pipe *pipe = splice_pool_take(&pool, NOW);
	char got[16] = "";

	(void)state;
	assert_non_null(pipe);
	assert_true(pipe->size / page_size >= SPLICE_PIPE_PAGES);
	assert_int_equal(splice_in(pipe, in[1], 4096), -EAGAIN);
	assert_int_equal(write(in[0], "hello", 5), 5);
	assert_int_equal(splice_in(pipe, in[1], 4096), 5);
	assert_int_equal(pipe->held, 5);
	assert_int_equal(splice_out(pipe, out[0]), 5);
	assert_int_equal(pipe->held, 0);
	assert_int_equal(read(out[1], got, sizeof(got)), 5);
	assert_string_equal(got, "hello");
	splice_pool_give(&pool, pipe);
}

static void
the_end_of_a_socket_is_0(void **state)
{
	struct splice_pipe *pipe = splice_pool_take(&pool, NOW);

	(void)state;
	shutdown(in[0], SHUT_WR);
	assert_int_equal(splice_in(pipe, in[1], 4096), 0);
	splice_pool_give(&pool, pipe);
}

static void
a_full_socket_takes_nothing_and_nothing_is_lost(void **state)
{
	struct splice_pipe *pipe = splice_pool_take(&pool, NOW);
	char data[4096] = "";
	ssize_t n;

	(void)state;
	while (write(out[0], data, sizeof(data)) > 0)
		;
	assert_int_equal(write(in[0], "hello", 5), 5);
	assert_int_equal(splice_in(pipe, in[1], 4096), 5);
	assert_int_equal(splice_out(pipe, out[0]), -EAGAIN);
	assert_int_equal(pipe->held, 5);
	while (read(out[1], data, sizeof(data)) > 0)
		;
	assert_int_equal(splice_out(pipe, out[0]), 5);
	n = read(out[1], data, sizeof(data));
	assert_int_equal(n, 5);
	assert_memory_equal(data, "hello", 5);
	splice_pool_give(&pool, pipe);
}

static void
an_empty_pipe_is_used_again(void **state)
{
	struct splice_pipe *pipe = splice_pool_take(&pool, NOW);

	(void)state;
	splice_pool_give(&pool, pipe);
	assert_ptr_equal(splice_pool_take(&pool, NOW), pipe);
	assert_int_equal(splice_pool_status(&pool).made, 1);
	splice_pool_give(&pool, pipe);
}

static void
a_pipe_that_holds_something_is_closed(void **state)
{
	struct splice_pipe *pipe = splice_pool_take(&pool, NOW);

	(void)state;
	assert_int_equal(write(in[0], "secret", 6), 6);
	assert_int_equal(splice_in(pipe, in[1], 4096), 6);
	splice_pool_give(&pool, pipe);
	assert_int_equal(splice_pool_status(&pool).open, 0);
	pipe = splice_pool_take(&pool, NOW);
	assert_int_equal(pipe->held, 0);
	assert_int_equal(read(pipe->read_fd, (char[8]){0}, 8), -1);
	assert_int_equal(errno, EAGAIN);
	splice_pool_give(&pool, pipe);
}

static void
there_are_never_more_than_max(void **state)
{
	struct splice_pipe *a = splice_pool_take(&pool, NOW);
	struct splice_pipe *b = splice_pool_take(&pool, NOW);

	(void)state;
	assert_non_null(a);
	assert_non_null(b);
	assert_null(splice_pool_take(&pool, NOW));
	assert_int_equal(splice_pool_status(&pool).refused, 1);
	splice_pool_give(&pool, a);
	assert_ptr_equal(splice_pool_take(&pool, NOW), a);
	splice_pool_give(&pool, a);
	splice_pool_give(&pool, b);
	assert_int_equal(splice_pool_status(&pool).idle, 2);
}

static void
without_descriptors_there_is_none_until_a_while_has_passed(void **state)
{
	struct rlimit before, none;
	struct splice_pipe *pipe;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = before;
	none.rlim_cur = 3;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	pipe = splice_pool_take(&pool, NOW);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_null(pipe);
	assert_null(splice_pool_take(&pool, NOW + 1));
	assert_int_equal(splice_pool_status(&pool).refused, 2);
	assert_int_equal(splice_pool_status(&pool).open, 0);
	pipe = splice_pool_take(&pool, NOW + 1000000000);
	assert_non_null(pipe);
	splice_pool_give(&pool, pipe);
}

static void
pipes_that_nobody_needed_for_a_while_are_closed(void **state)
{
	struct splice_pipe *a = splice_pool_take(&pool, NOW);
	struct splice_pipe *b = splice_pool_take(&pool, NOW);

	(void)state;
	splice_pool_give(&pool, a);
	splice_pool_give(&pool, b);
	splice_pool_trim(&pool);
	assert_int_equal(splice_pool_status(&pool).open, 2);
	/* One is needed now and then, the other one never. */
	splice_pool_give(&pool, splice_pool_take(&pool, NOW));
	splice_pool_trim(&pool);
	assert_int_equal(splice_pool_status(&pool).open, 1);
	splice_pool_trim(&pool);
	assert_int_equal(splice_pool_status(&pool).open, 0);
}

/* Also of another process's, and beyond max. */
static void
a_filled_pipe_is_adopted(void **state)
{
	struct splice_pipe *adopted[3];
	char got[16] = "";
	int ends[2];

	(void)state;
	for (int i = 0; i < 3; i++) {
		assert_int_equal(pipe2(ends, O_NONBLOCK | O_CLOEXEC), 0);
		assert_int_equal(write(ends[1], "hello", 5), 5);
		adopted[i] = splice_pool_adopt(&pool, ends[0], ends[1], 5);
		assert_non_null(adopted[i]);
	}
	assert_int_equal(splice_pool_status(&pool).open, 3);
	assert_null(splice_pool_take(&pool, NOW));
	assert_int_equal(splice_out(adopted[2], out[0]), 5);
	assert_int_equal(read(out[1], got, sizeof(got)), 5);
	assert_string_equal(got, "hello");
	for (int i = 0; i < 3; i++)
		splice_pool_give(&pool, adopted[i]);
	assert_int_equal(splice_pool_status(&pool).open, 0);
	assert_int_equal(splice_pool_status(&pool).bytes, 0);
}

/* A user above the limit gets pipes of two pages, which hold two packets. */
static void
a_pipe_of_two_pages_is_too_small_however_large_they_are(void **state)
{
	(void)state;
	for (size_t i = 0; i < UNIT_N(page_sizes); i++) {
		uint64_t now = NOW * (i + 1);
		struct splice_pipe *pipe;

		page_size = page_sizes[i];
		only_size = (int)(2 * page_size);
		assert_null(splice_pool_take(&pool, now));
		only_size = (int)(SPLICE_PIPE_PAGES * (unsigned)page_size);
		pipe = splice_pool_take(&pool, now + NOW / 2);
		assert_non_null(pipe);
		assert_int_equal(
		    splice_pool_status(&pool).pages, SPLICE_PIPE_PAGES);
		pipe->held = 1; /* so that it is closed */
		splice_pool_give(&pool, pipe);
	}
}

static void
pages_are_those_of_the_machine(void **state)
{
	struct splice_pipe *pipe = splice_pool_take(&pool, NOW);
	uint64_t bytes = pipe->size;

	(void)state;
	assert_int_equal(splice_pool_status(&pool).pages, bytes / 4096);
	page_size = 65536;
	assert_int_equal(splice_pool_status(&pool).pages, bytes / 65536);
	splice_pool_give(&pool, pipe);
}

int
main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
	    T(bytes_go_through_a_pipe),
	    T(the_end_of_a_socket_is_0),
	    T(a_full_socket_takes_nothing_and_nothing_is_lost),
	    T(an_empty_pipe_is_used_again),
	    T(a_pipe_that_holds_something_is_closed),
	    T(there_are_never_more_than_max),
	    T(without_descriptors_there_is_none_until_a_while_has_passed),
	    T(pipes_that_nobody_needed_for_a_while_are_closed),
	    T(a_filled_pipe_is_adopted),
	    T(a_pipe_of_two_pages_is_too_small_however_large_they_are),
	    T(pages_are_those_of_the_machine),
	};

	unit_watchdog();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
