/* SPDX-License-Identifier: MIT
 * Grants: who has which level.
 */
#include "commands/fixture.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "admin/grants.h"

static struct grants grants;
static struct peer peer;
static int pair[2];

static int
setup(void **state)
{
	(void)state;
	grants = (struct grants){NULL, 0};
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0)
		return -1;
	peer_learn(pair[0], &peer);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	grants_fini(&grants);
	close(pair[0]);
	close(pair[1]);
	return 0;
}

static enum admin_level
level(void)
{
	return grants_level(&grants, pair[0], &peer, LEVEL_USER);
}

static void
grant(const char *names, enum admin_level what)
{
	struct err err;

	if (!grants_add(&grants, names, what, &err))
		fail_msg("%s", err.text);
}

static void
names_that_are_not_there_are_errors(void **state)
{
	struct err err;

	(void)state;
	assert_false(
	    grants_add(&grants, "root,no-such-user", LEVEL_ADMIN, &err));
	assert_string_equal(err.text, "unknown user 'no-such-user'");
	assert_false(grants_add(&grants, "@no-such-group", LEVEL_ADMIN, &err));
	assert_string_equal(err.text, "unknown group 'no-such-group'");
}

static void
nobody_named_means_the_least(void **state)
{
	(void)state;
	grant(NULL, LEVEL_ADMIN);
	assert_int_equal(level(), LEVEL_USER);
}

static void
user_is_known_by_number(void **state)
{
	(void)state;
	grant("root", LEVEL_ADMIN);
	peer.uid = 0;
	assert_int_equal(level(), LEVEL_ADMIN);
	peer.uid = 4000000000u;
	assert_int_equal(level(), LEVEL_USER);
}

static void
highest_level_counts_and_never_less_than_the_sockets(void **state)
{
	(void)state;
	grant("root", LEVEL_OPERATOR);
	peer.uid = 0;
	assert_int_equal(level(), LEVEL_OPERATOR);
	assert_int_equal(
	    grants_level(&grants, pair[0], &peer, LEVEL_ADMIN), LEVEL_ADMIN);
	grant("root", LEVEL_ADMIN);
	assert_int_equal(level(), LEVEL_ADMIN);
}

static void
primary_group_counts(void **state)
{
	(void)state;
	grant("@nogroup", LEVEL_ADMIN);
	peer.gid = grants.all[0].id;
	assert_int_equal(level(), LEVEL_ADMIN);
}

/* A number that nobody vouches for is none. */
static void
unknown_peer_has_the_least(void **state)
{
	(void)state;
	grant("root", LEVEL_ADMIN);
	peer.uid = 0;
	peer.known = false;
	assert_int_equal(level(), LEVEL_USER);
}

int
main(void)
{
#undef TEST
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
	    TEST(names_that_are_not_there_are_errors),
	    TEST(nobody_named_means_the_least),
	    TEST(user_is_known_by_number),
	    TEST(highest_level_counts_and_never_less_than_the_sockets),
	    TEST(primary_group_counts),
	    TEST(unknown_peer_has_the_least),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
