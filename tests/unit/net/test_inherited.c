/* SPDX-License-Identifier: MIT
 * Listening sockets that a process was given.
 */
#include "net/inherited.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "net/sock.h"
#include "unit.h"

static struct addr
loopback(unsigned port)
{
	struct addr a = {.in = {.sin_family = AF_INET,
	                     .sin_port = htons((uint16_t)port),
	                     .sin_addr.s_addr = htonl(INADDR_LOOPBACK)},
	    .len = sizeof(a.in)};

	return a;
}

/* Returns a listening socket that an earlier process might have had. */
static int
made(const struct addr *at, struct addr *ret_bound)
{
	struct err err;
	int fd = sock_listen(at, false, 0600, &err);

	assert_true(fd >= 0);
	assert_true(sock_local_addr(fd, ret_bound));
	return fd;
}

static void
a_socket_is_found_by_what_was_asked_and_by_what_it_has(void **state)
{
	struct addr any = loopback(0), first, second;
	int one = made(&any, &first), two = made(&any, &second);
	struct err err;
	bool foreign = true;

	(void)state;
	assert_true(inherited_add(one, &any, &err));
	assert_true(inherited_add(two, &any, &err));
	assert_true(inherited_has(&any, false));
	assert_false(inherited_has(&any, true));
	assert_int_equal(inherited_take(&second, false, &foreign), two);
	assert_false(foreign);
	assert_int_equal(inherited_take(&second, false, &foreign), -1);
	assert_int_equal(inherited_take(&any, false, &foreign), one);
	assert_int_equal(inherited_take(&any, false, &foreign), -1);
	close(one);
	close(two);
}

static void
a_name_is_the_address_of_all_its_sockets(void **state)
{
	struct addr any = loopback(0), first, second, web, api;
	int one = made(&any, &first), two = made(&any, &second);
	struct err err;
	bool foreign = false;

	(void)state;
	assert_true(addr_set_descriptor("web", &web, &err));
	assert_true(addr_set_descriptor("api", &api, &err));
	assert_true(inherited_add(one, &web, &err));
	assert_true(inherited_add(two, &web, &err));
	assert_false(inherited_has(&api, false));
	assert_int_equal(sock_listen(&api, false, 0600, &err), -1);
	assert_string_equal(err.text,
	    "no socket has the name 'api'; the service manager has passed web");
	assert_int_equal(inherited_take(&web, false, &foreign), one);
	assert_true(foreign);
	assert_int_equal(sock_listen(&web, false, 0600, &err), two);
	assert_false(inherited_has(&web, false));
	assert_int_equal(sock_listen(&web, false, 0600, &err), -1);
	assert_non_null(strstr(err.text, "a restart brings them back"));
	close(one);
	close(two);
}

static void
a_listen_gets_the_socket_with_its_backlog(void **state)
{
	struct addr any = loopback(0), at;
	int fd = made(&any, &at), client, again;
	bool connected;
	struct err err;

	(void)state;
	client = sock_connect(&at, &connected);
	assert_true(client >= 0);
	assert_true(inherited_add(fd, NULL, &err));
	again = sock_listen(&at, false, 0, &err);
	assert_int_equal(again, fd);
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	assert_true(fcntl(fd, F_GETFL) & O_NONBLOCK);
	client = accept(again, NULL, NULL);
	assert_true(client >= 0);
	close(client);
	close(again);
}

static void
what_does_not_listen_is_refused(void **state)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	int datagram = socket(AF_INET, SOCK_DGRAM, 0);
	struct err err;

	(void)state;
	assert_false(inherited_add(fd, NULL, &err));
	assert_non_null(strstr(err.text, "is not a listening stream socket"));
	assert_int_equal(fcntl(fd, F_GETFD), -1);
	assert_false(inherited_add(datagram, NULL, &err));
	assert_false(inherited_add(-1, NULL, &err));
	assert_int_equal(inherited_close(), 0);
}

static void
an_ipv6_wildcard_keeps_its_families(void **state)
{
	struct addr at = {
	    .in6 = {.sin6_family = AF_INET6}, .len = sizeof(at.in6)};
	struct addr bound;
	struct err err;
	int fd = sock_listen(&at, true, 0, &err);
	bool foreign;

	(void)state;
	if (fd < 0 || !sock_local_addr(fd, &bound) ||
	    bound.sa.sa_family != AF_INET6) {
		close(fd);
		print_message("without IPv6 there is nothing to test\n");
		skip();
	}
	assert_true(inherited_add(fd, NULL, &err));
	assert_int_equal(inherited_take(&bound, false, &foreign), -1);
	assert_int_equal(inherited_take(&bound, true, &foreign), fd);
	close(fd);
}

static void
a_file_that_nobody_takes_goes_when_no_other_process_has_it(void **state)
{
	char dir[] = "/tmp/lfproxy-inherited-XXXXXX";
	struct addr at = {.un.sun_family = AF_UNIX, .len = sizeof(at.un)};
	struct addr bound;
	struct err err;
	int fd;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(at.un.sun_path, sizeof(at.un.sun_path), "%s/s", dir);
	fd = made(&at, &bound);
	inherited_share_files(true);
	assert_true(inherited_add(fd, &at, &err));
	assert_int_equal(inherited_close(), 1);
	assert_int_equal(fcntl(fd, F_GETFD), -1);
	assert_int_equal(access(at.un.sun_path, F_OK), 0);
	inherited_share_files(false);
	assert_int_equal(access(at.un.sun_path, F_OK), -1);
	assert_int_equal(rmdir(dir), 0);
}

static void
variables_for_another_process_are_left_out(void **state)
{
	struct err err;

	(void)state;
	setenv("LISTEN_PID", "1", 1);
	setenv("LISTEN_FDS", "1000000", 1);
	assert_true(inherited_from_manager(&err));
	assert_null(getenv("LISTEN_FDS"));
	setenv("LISTEN_FDS", "x", 1);
	assert_true(inherited_from_manager(&err));
	assert_int_equal(inherited_close(), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(
	        a_socket_is_found_by_what_was_asked_and_by_what_it_has),
	    cmocka_unit_test(a_name_is_the_address_of_all_its_sockets),
	    cmocka_unit_test(a_listen_gets_the_socket_with_its_backlog),
	    cmocka_unit_test(what_does_not_listen_is_refused),
	    cmocka_unit_test(an_ipv6_wildcard_keeps_its_families),
	    cmocka_unit_test(
	        a_file_that_nobody_takes_goes_when_no_other_process_has_it),
	    cmocka_unit_test(variables_for_another_process_are_left_out),
	};

	unit_watchdog();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
