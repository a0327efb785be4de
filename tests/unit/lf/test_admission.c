/* SPDX-License-Identifier: MIT
 * Admission of long turns: the limit, the order, and the time of the waits.
 */
#include "lf/admission.h"

#include "lf/event_handler.h"
#include "unit.h"

static struct event_handler handlers[8];

static void
begin(struct admission *a, uint32_t limit)
{
	memset(handlers, 0, sizeof(handlers));
	for (size_t i = 0; i < UNIT_N(handlers); i++)
		event_handler_declare_long(&handlers[i]);
	admission_init(a);
	admission_set_limit(a, limit);
}

static void
as_many_are_admitted_as_the_limit_allows(void **state)
{
	struct admission a;

	(void)state;
	begin(&a, 2);
	assert_true(admission_ask(&a, &handlers[0], 0));
	assert_true(admission_ask(&a, &handlers[1], 0));
	assert_int_equal(handlers[1].next_turn, NEXT_ADMITTED);
	assert_false(admission_ask(&a, &handlers[2], 0));
	assert_int_equal(handlers[2].next_turn, NEXT_LONG);
	assert_int_equal(a.running, 2);
	assert_int_equal(a.waiting, 1);
	assert_int_equal(a.waits, 1);
	assert_null(admission_take(&a, 0));
	admission_fini(&a);
}

static void
the_first_that_asked_is_the_first_to_be_admitted(void **state)
{
	struct admission a;

	(void)state;
	begin(&a, 1);
	assert_true(admission_ask(&a, &handlers[0], 0));
	for (int i = 1; i < 4; i++)
		assert_false(admission_ask(&a, &handlers[i], 0));
	assert_ptr_equal(admission_end(&a, 0), &handlers[1]);
	assert_int_equal(handlers[1].next_turn, NEXT_ADMITTED);
	assert_false(admission_ask(&a, &handlers[4], 0));
	for (int i = 2; i < 5; i++)
		assert_ptr_equal(admission_end(&a, 0), &handlers[i]);
	assert_null(admission_end(&a, 0));
	assert_int_equal(a.running, 0);
	/* The empty queue can be used again. */
	assert_true(admission_ask(&a, &handlers[5], 0));
	assert_false(admission_ask(&a, &handlers[6], 0));
	assert_ptr_equal(admission_end(&a, 0), &handlers[6]);
	admission_fini(&a);
}

static void
a_lower_limit_lets_those_admitted_end_first(void **state)
{
	struct admission a;

	(void)state;
	begin(&a, 3);
	for (int i = 0; i < 5; i++)
		assert_int_equal(admission_ask(&a, &handlers[i], 0), i < 3);
	admission_set_limit(&a, 1);
	assert_null(admission_end(&a, 0));
	assert_null(admission_end(&a, 0));
	assert_int_equal(a.running, 1);
	assert_ptr_equal(admission_end(&a, 0), &handlers[3]);
	admission_fini(&a);
}

static void
a_higher_limit_lets_more_be_taken(void **state)
{
	struct admission a;

	(void)state;
	begin(&a, 1);
	for (int i = 0; i < 5; i++)
		assert_int_equal(admission_ask(&a, &handlers[i], 0), i < 1);
	admission_set_limit(&a, 3);
	assert_ptr_equal(admission_take(&a, 0), &handlers[1]);
	assert_ptr_equal(admission_take(&a, 0), &handlers[2]);
	assert_null(admission_take(&a, 0));
	assert_int_equal(a.running, 3);
	assert_int_equal(a.waiting, 2);
	admission_fini(&a);
}

static void
the_times_of_all_waits_are_summed_up(void **state)
{
	struct admission a;

	(void)state;
	begin(&a, 1);
	assert_true(admission_ask(&a, &handlers[0], 1000));
	assert_false(admission_ask(&a, &handlers[1], 1100));
	assert_false(admission_ask(&a, &handlers[2], 1200));
	/* Another thread's time may be older. */
	assert_false(admission_ask(&a, &handlers[3], 1150));
	assert_ptr_equal(admission_end(&a, 1300), &handlers[1]);
	assert_ptr_equal(admission_end(&a, 1400), &handlers[2]);
	assert_ptr_equal(admission_end(&a, 1600), &handlers[3]);
	assert_null(admission_end(&a, 2000));
	assert_int_equal(a.waits, 3);
	assert_int_equal(a.waited_ns, 200 + 200 + 400);
	admission_fini(&a);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(as_many_are_admitted_as_the_limit_allows),
	    cmocka_unit_test(the_first_that_asked_is_the_first_to_be_admitted),
	    cmocka_unit_test(a_lower_limit_lets_those_admitted_end_first),
	    cmocka_unit_test(a_higher_limit_lets_more_be_taken),
	    cmocka_unit_test(the_times_of_all_waits_are_summed_up),
	};

	unit_watchdog();
	return cmocka_run_group_tests_name("admission", tests, NULL, NULL);
}
