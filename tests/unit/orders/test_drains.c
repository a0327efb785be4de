/* SPDX-License-Identifier: MIT
 * A drain's share of a number over a time, and the text of an order.
 */
#include "orders/drains.h"

#include "unit.h"

static void
share_grows_evenly_to_the_whole(void **state)
{
	uint32_t before = 0;

	(void)state;
	assert_int_equal(drain_share(10, 0, 5000), 0);
	assert_int_equal(drain_share(10, 1, 5000), 1);
	assert_int_equal(drain_share(10, 2500, 5000), 5);
	assert_int_equal(drain_share(10, 5000, 5000), 10);
	assert_int_equal(drain_share(10, 9999, 5000), 10);
	assert_int_equal(drain_share(0, 100, 5000), 0);
	for (uint64_t ms = 0; ms <= 5000; ms += 50) {
		uint32_t now = drain_share(100000, ms, 5000);

		assert_int_equal(now - before, ms > 0 ? 1000 : 0);
		before = now;
	}
}

static void
orders_read_as_they_are_written(void **state)
{
	char text[DRAIN_TEXT_SIZE];

	(void)state;
	assert_string_equal(
	    drain_order_text(&(struct drain_order){0}, text), "drain");
	assert_string_equal(
	    drain_order_text(&(struct drain_order){.over_ms = 600000,
	                         .then = DRAIN_THEN_KILL},
	        text),
	    "drain over 10m then kill");
	assert_string_equal(
	    drain_order_text(
	        &(struct drain_order){.then = DRAIN_THEN_MAINT}, text),
	    "drain then maint");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(share_grows_evenly_to_the_whole),
	    cmocka_unit_test(orders_read_as_they_are_written),
	};

	unit_watchdog();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
