/* SPDX-License-Identifier: MIT
 * The servers of an answer that takes several turns, while others come and go.
 */
#include <string.h>

#include "model/backend_servers.h"
#include "model/server_cursor.h"
#include "rig.h"
#include "servers.h"
#include "unit.h"

#define SERVERS 6u

static struct rig rig;
static struct server_cursor cursor;

static int
setup(void **state)
{
	(void)state;
	rig_init(&rig, &balance_roundrobin, SERVERS, NULL, false);
	INDEX_POINTERS(rig.spec, servers);
	cursor = (struct server_cursor){.at = 0};
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	rig_fini(&rig);
	return 0;
}

/* Replaces `less` servers from index at on by a new one, unless name is NULL.
 */
static void
change(size_t at, size_t less, const char *name)
{
	const struct backend_spec *b = rig.spec;
	size_t more = name != NULL, rest = b->servers_n - at - less;
	struct server_spec **list = calloc(at + more + rest + 1, sizeof(*list));
	struct backend_change c;

	assert_non_null(list);
	memcpy(list, b->servers, at * sizeof(struct server_spec *));
	if (name) {
		list[at] = calloc(1, sizeof(struct server_spec));
		assert_non_null(list[at]);
		list[at]->name = strdup(name);
		list[at]->weight = 1;
	}
	memcpy(list + at + more, b->servers + at + less,
	    rest * sizeof(struct server_spec *));
	assert_true(backend_change_prepare(
	    &c, rig.backend, list, at + more + rest, at + more + rest));
	backend_change_commit(&c);
	backend_change_fini(&c);
	model_update(rig.model);
}

/* Passes the next n servers.  Returns their names. */
static const char *
pass(unsigned n)
{
	static char text[128];
	const struct server *s;
	size_t len = 0;

	text[0] = '\0';
	while (n-- > 0 && (s = server_cursor_get(&cursor, rig.backend))) {
		assert_ptr_equal(s, server_cursor_get(&cursor, rig.backend));
		len += (size_t)snprintf(
		    text + len, sizeof(text) - len, "%s ", s->spec->name);
		server_cursor_pass(&cursor, s);
	}
	return text;
}

static void
the_cursor_passes_each_server_once(void **state)
{
	(void)state;
	assert_string_equal(pass(2), "s0 s1 ");
	assert_string_equal(pass(9), "s2 s3 s4 s5 ");
	assert_null(server_cursor_get(&cursor, rig.backend));
}

static void
a_server_that_comes_before_it_repeats_none(void **state)
{
	(void)state;
	(void)pass(3);
	change(1, 0, "x");
	assert_string_equal(pass(9), "s3 s4 s5 ");
}

static void
servers_that_go_before_it_leave_none_out(void **state)
{
	(void)state;
	(void)pass(3);
	change(0, 2, NULL);
	assert_string_equal(pass(9), "s3 s4 s5 ");
}

static void
the_last_one_passed_may_go(void **state)
{
	(void)state;
	(void)pass(3);
	change(2, 1, NULL);
	assert_ptr_equal(
	    server_cursor_get(&cursor, rig.backend), rig.backend->servers[2]);
	assert_string_equal(pass(9), "s3 s4 s5 ");
}

static void
all_that_were_passed_may_go(void **state)
{
	(void)state;
	(void)pass(1);
	change(0, 1, NULL);
	assert_string_equal(pass(9), "s1 s2 s3 s4 s5 ");
	change(0, 5, NULL);
	assert_null(server_cursor_get(&cursor, rig.backend));
	change(0, 0, "x");
	assert_string_equal(pass(9), "x ");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(the_cursor_passes_each_server_once),
	    TEST(a_server_that_comes_before_it_repeats_none),
	    TEST(servers_that_go_before_it_leave_none_out),
	    TEST(the_last_one_passed_may_go),
	    TEST(all_that_were_passed_may_go),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
