/* SPDX-License-Identifier: MIT
 * Which client makes room for another one.
 */
#include "commands/fixture.h"

#include <ev.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "admin/client.h"
#include "admin/client_room.h"
#include "base/clock.h"

#define MALLORY 4001
#define ALICE   4002
#define BOB     4003

static const struct command_env env = {NULL};
static struct ev_loop *loop;
static struct list clients;
static double later_s;

static uint64_t
shifted(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * NS_PER_S + (uint64_t)ts.tv_nsec +
	       (uint64_t)(later_s * NS_PER_S);
}

static void
on_gone(struct client *c)
{
	list_remove(&c->node);
}

static int
setup(void **state)
{
	(void)state;
	later_s = 0.;
	clock_replace(shifted);
	list_init(&clients);
	loop = ev_loop_new(EVFLAG_AUTO);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	list_for_each_safe (node, &clients)
		client_close(container_of(node, struct client, node));
	ev_loop_destroy(loop);
	clock_replace(NULL);
	return 0;
}

static struct command_mode
mode_of(uid_t uid, pid_t pid, enum admin_level level)
{
	return (struct command_mode){.level = level,
	    .timeout_s = 10,
	    .peer = {.known = true, .uid = uid, .pid = pid}};
}

/* Connects; every client has sent a command, so none of them is idle. */
static struct client *
join_as(struct command_mode mode)
{
	struct client *c;
	int pair[2];

	assert_int_equal(
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	close(pair[1]);
	c = client_new(loop, pair[0], &env, &mode, NULL, on_gone);
	assert_non_null(c);
	/* The client's first turn is over. */
	ev_timer_stop(loop, &c->pause);
	c->commanded = true;
	list_append(&clients, &c->node);
	return c;
}

static struct client *
join(uid_t uid, pid_t pid, enum admin_level level)
{
	return join_as(mode_of(uid, pid, level));
}

static struct client *
to_go(uid_t uid, pid_t pid, enum admin_level level)
{
	struct command_mode newcomer = mode_of(uid, pid, level);

	return client_to_close(&clients, &newcomer);
}

/* Symptom: 256 connections of as many processes of one user, each of which was
 * always doing something, kept root out. */
static void
root_displaces_a_user_whose_processes_have_one_connection_each(void **state)
{
	struct client *first;

	(void)state;
	first = join(MALLORY, 1, LEVEL_USER);
	for (pid_t pid = 2; pid <= 256; pid++)
		join(MALLORY, pid, LEVEL_USER);
	assert_ptr_equal(to_go(0, 999, LEVEL_USER), first);
	assert_ptr_equal(to_go(geteuid(), 999, LEVEL_USER), first);
}

static void
root_displaces_even_the_only_connection_of_a_user(void **state)
{
	struct client *only;

	(void)state;
	join(0, 1, LEVEL_ADMIN);
	only = join(MALLORY, 2, LEVEL_USER);
	assert_ptr_equal(to_go(0, 999, LEVEL_ADMIN), only);
}

static void
granted_user_displaces_a_lower_level(void **state)
{
	struct client *first;

	(void)state;
	first = join(MALLORY, 1, LEVEL_USER);
	join(BOB, 2, LEVEL_OPERATOR);
	assert_ptr_equal(to_go(ALICE, 3, LEVEL_ADMIN), first);
	assert_ptr_equal(to_go(ALICE, 3, LEVEL_OPERATOR), first);
}

static void
lower_level_never_displaces_one_that_is_not_idle(void **state)
{
	struct client *c;

	(void)state;
	c = join(0, 1, LEVEL_ADMIN);
	join(0, 2, LEVEL_ADMIN);
	later_s = 100.;
	assert_null(to_go(MALLORY, 3, LEVEL_USER));
	c->commanded = false;
	assert_ptr_equal(to_go(MALLORY, 3, LEVEL_USER), c);
}

static void
user_with_the_most_connections_makes_room(void **state)
{
	struct client *first;

	(void)state;
	join(BOB, 1, LEVEL_USER);
	first = join(MALLORY, 2, LEVEL_USER);
	join(MALLORY, 3, LEVEL_USER);
	join(MALLORY, 4, LEVEL_USER);
	join(BOB, 1, LEVEL_USER);
	/* Also where BOB's has been stalled and MALLORY's have not. */
	assert_ptr_equal(to_go(ALICE, 5, LEVEL_USER), first);
	assert_ptr_equal(to_go(BOB, 5, LEVEL_USER), first);
	assert_ptr_equal(to_go(MALLORY, 5, LEVEL_USER), first);
}

static void
among_equals_the_newcomers_own_user_makes_room(void **state)
{
	struct client *own;

	(void)state;
	join(MALLORY, 1, LEVEL_USER);
	join(MALLORY, 2, LEVEL_USER);
	own = join(BOB, 3, LEVEL_USER);
	join(BOB, 4, LEVEL_USER);
	assert_ptr_equal(to_go(BOB, 5, LEVEL_USER), own);
}

static void
within_a_user_the_process_with_the_most_makes_room(void **state)
{
	struct client *wild;

	(void)state;
	join(ALICE, 1, LEVEL_USER);
	wild = join(ALICE, 2, LEVEL_USER);
	join(ALICE, 2, LEVEL_USER);
	assert_ptr_equal(to_go(ALICE, 3, LEVEL_USER), wild);
}

static void
within_a_user_who_stalls_makes_room_first(void **state)
{
	struct client *quiet;

	(void)state;
	join(ALICE, 1, LEVEL_USER);
	quiet = join(ALICE, 2, LEVEL_USER);
	join(ALICE, 1, LEVEL_USER);
	later_s = 1.;
	list_for_each (node, &clients) {
		struct client *c = container_of(node, struct client, node);

		if (c != quiet)
			c->progress_at += 1.;
	}
	assert_ptr_equal(to_go(ALICE, 3, LEVEL_USER), quiet);
}

static void
only_connection_of_an_equal_stays_unless_it_stalls(void **state)
{
	struct client *first;

	(void)state;
	first = join(ALICE, 1, LEVEL_USER);
	join(BOB, 2, LEVEL_USER);
	assert_null(to_go(MALLORY, 3, LEVEL_USER));
	later_s = 1.;
	assert_ptr_equal(to_go(MALLORY, 3, LEVEL_USER), first);
}

static void
tcp_peers_are_one_party_wherever_they_connect_from(void **state)
{
	struct command_mode a = {.peer.address = "127.0.0.1:1000"};
	struct command_mode b = {.peer.address = "127.9.9.9:1001"};
	struct client *first;

	(void)state;
	first = join_as(a);
	join_as(b);
	assert_ptr_equal(client_to_close(&clients, &b), first);
}

#undef TEST
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(
	        root_displaces_a_user_whose_processes_have_one_connection_each),
	    TEST(root_displaces_even_the_only_connection_of_a_user),
	    TEST(granted_user_displaces_a_lower_level),
	    TEST(lower_level_never_displaces_one_that_is_not_idle),
	    TEST(user_with_the_most_connections_makes_room),
	    TEST(among_equals_the_newcomers_own_user_makes_room),
	    TEST(within_a_user_the_process_with_the_most_makes_room),
	    TEST(within_a_user_who_stalls_makes_room_first),
	    TEST(only_connection_of_an_equal_stays_unless_it_stalls),
	    TEST(tcp_peers_are_one_party_wherever_they_connect_from),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
