/* SPDX-License-Identifier: MIT
 * Which rule decides about a client.
 */
#include "model/access.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "model/spec.h"
#include "unit.h"

#define RULES_MAX 8

static struct access_spec rules[RULES_MAX];
static struct frontend_spec spec = {.access = rules};
static struct access *access_now;

/* Takes rules as `allow 10.0.0.0/8`, NULL at the end. */
static void
set_rules(const char *const *text)
{
	spec.access_n = 0;
	for (; *text; text++) {
		struct access_spec *r = &rules[spec.access_n++];
		const char *range = strchr(*text, ' ') + 1;

		*r = (struct access_spec){.allow = **text == 'a',
		    .kind =
		        strcmp(range, "all") == 0 ? ACCESS_ALL : ACCESS_RANGE};
		if (r->kind == ACCESS_RANGE)
			assert_true(cidr_parse(range, &r->range, NULL));
	}
	free(access_now);
	access_now = access_new(&spec, NULL);
	assert_non_null(access_now);
}
#define SET_RULES(...) set_rules((const char *const[]){__VA_ARGS__, NULL})

static size_t
find(const char *client)
{
	struct endpoint e = {.family = AF_UNIX};
	struct addr addr;

	if (strcmp(client, "unix") == 0) {
		/* The number of the listen, and whatever was there before. */
		memset(e.ip, 0xaa, sizeof(e.ip));
		e.port = 3;
	} else {
		assert_true(addr_parse_ip(client, &addr));
		endpoint_set(&e, &addr.sa, addr.len);
	}
	return access_find(access_now, &e);
}

static void
the_first_match_decides(void **state)
{
	(void)state;
	SET_RULES("deny 10.1.0.0/16", "allow 10.0.0.0/8", "deny all");
	assert_int_equal(find("10.1.255.255"), 0);
	assert_int_equal(find("10.2.0.0"), 1);
	assert_int_equal(find("11.0.0.0"), 2);
	assert_int_equal(find("::1"), 2);
	assert_int_equal(find("unix"), 2);
	assert_false(access_admits(&spec, 0));
	assert_true(access_admits(&spec, 1));
	assert_false(access_admits(&spec, 2));
}

static void
without_a_match_a_client_is_admitted(void **state)
{
	(void)state;
	SET_RULES("deny 10.0.0.0/8");
	assert_int_equal(find("9.255.255.255"), ACCESS_NO_RULE);
	assert_true(access_admits(&spec, ACCESS_NO_RULE));
}

static void
a_range_is_of_its_family_alone(void **state)
{
	(void)state;
	SET_RULES("deny 0.0.0.0/0", "allow ::/0", "deny unix");
	assert_int_equal(find("127.0.0.1"), 0);
	assert_int_equal(find("::"), 1);
	assert_int_equal(find("::ffff:127.0.0.1"), 0);
	assert_int_equal(find("unix"), 2);
}

static void
ranges_end_at_any_bit(void **state)
{
	(void)state;
	SET_RULES("deny 128.0.0.0/1", "deny 2001:db8::8000:0/97",
	    "deny 10.0.0.6/31", "deny ::1");
	assert_int_equal(find("127.255.255.255"), ACCESS_NO_RULE);
	assert_int_equal(find("128.0.0.0"), 0);
	assert_int_equal(find("2001:db8::7fff:ffff"), ACCESS_NO_RULE);
	assert_int_equal(find("2001:db8::8000:0"), 1);
	assert_int_equal(find("2001:db8::1:0:0"), ACCESS_NO_RULE);
	assert_int_equal(find("10.0.0.7"), 2);
	assert_int_equal(find("10.0.0.8"), ACCESS_NO_RULE);
	assert_int_equal(find("::1"), 3);
	assert_int_equal(find("::2"), ACCESS_NO_RULE);
}

static void
rules_are_written_as_they_are_read(void **state)
{
	char text[ACCESS_TEXT_SIZE];

	(void)state;
	SET_RULES("deny 10.1.0.0/16", "allow all", "allow unix");
	assert_string_equal(
	    access_spec_text(&rules[0], text), "deny 10.1.0.0/16");
	assert_string_equal(access_spec_text(&rules[1], text), "allow all");
	assert_string_equal(access_spec_text(&rules[2], text), "allow unix");
}

static int
free_rules(void **state)
{
	(void)state;
	free(access_now);
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_first_match_decides),
	    cmocka_unit_test(without_a_match_a_client_is_admitted),
	    cmocka_unit_test(a_range_is_of_its_family_alone),
	    cmocka_unit_test(ranges_end_at_any_bit),
	    cmocka_unit_test(rules_are_written_as_they_are_read),
	};

	unit_watchdog();
	return cmocka_run_group_tests(tests, NULL, free_rules);
}
