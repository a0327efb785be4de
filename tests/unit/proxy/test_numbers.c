/* SPDX-License-Identifier: MIT
 * Numbers of sessions, of which their ids are made, in one process after
 * another.
 */
#include "proxy/proxy.h"
#include "proxy/session_facts.h"
#include "unit.h"

#define ROOM 100u /* for sessions */

static void
the_numbers_of_a_process_end_where_those_of_the_next_begin(void **state)
{
	static struct proxy former, next;
	uint32_t last;

	(void)state;
	assert_int_equal(proxy_init(&former, ROOM, 0, 0), 0);
	assert_int_equal(proxy_init(&next, ROOM, 0, 0), 0);
	proxy_number_from(&former, 0);
	assert_int_equal(proxy_number(&former, 0), 1);
	/* The slab makes whole chunks. */
	last = proxy_number(&former, ROOM + SLAB_CHUNK - 1);
	proxy_number_from(&next, proxy_numbers_end(&former));
	assert_true(proxy_number(&next, 0) > last);
	proxy_fini(&next);
	proxy_fini(&former);
}

static void
numbers_begin_again_where_too_few_are_left(void **state)
{
	static struct proxy proxy;

	(void)state;
	assert_int_equal(proxy_init(&proxy, ROOM, 0, 0), 0);
	proxy_number_from(&proxy, UINT32_MAX - ROOM - SLAB_CHUNK);
	assert_true(proxy_number(&proxy, ROOM) > ROOM);
	assert_true(proxy_numbers_end(&proxy) > ROOM);
	proxy_number_from(&proxy, UINT32_MAX - ROOM - SLAB_CHUNK + 1);
	assert_int_equal(proxy_number(&proxy, 0), 1);
	proxy_fini(&proxy);
}

static void
an_id_is_of_the_number_and_the_time(void **state)
{
	(void)state;
	assert_true(
	    session_id(7, UINT64_C(0x100000009)) == UINT64_C(0x900000007));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(
	        the_numbers_of_a_process_end_where_those_of_the_next_begin),
	    cmocka_unit_test(numbers_begin_again_where_too_few_are_left),
	    cmocka_unit_test(an_id_is_of_the_number_and_the_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
