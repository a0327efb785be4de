/* SPDX-License-Identifier: MIT
 * Events that are kept.
 */
#include "base/events.h"

#include <malloc.h>
#include <string.h>

#include "unit.h"

static void
an_event_has_its_number_kind_subject_and_text(void **state)
{
	const struct event *e;

	(void)state;
	event_add(EVENT_SERVER_DOWN, LOG_LEVEL_WARNING, "app", "a",
	    "server app/a is down: %s", "refused");
	event_add(EVENT_BACKEND_DOWN, LOG_LEVEL_ERROR, "app", NULL, "none");
	event_add(EVENT_START, LOG_LEVEL_INFO, NULL, NULL, "ready");
	assert_int_equal(events_count(), 3);
	e = events_at(0);
	assert_int_equal(e->number, 1);
	assert_int_equal(e->kind, EVENT_SERVER_DOWN);
	assert_int_equal(e->level, LOG_LEVEL_WARNING);
	assert_string_equal(e->about, "app/a");
	assert_string_equal(e->text, "server app/a is down: refused");
	assert_true(e->wall_us > 1600000000000000u);
	assert_string_equal(events_at(1)->about, "app");
	assert_string_equal(events_at(2)->about, "");
	assert_int_equal(events_at(2)->number, 3);
}

static void
the_oldest_go_first_and_leave_a_gap_in_the_numbers(void **state)
{
	uint64_t first = events_at(events_count() - 1)->number + 1;

	(void)state;
	for (unsigned i = 0; i < EVENTS_MAX + 7; i++)
		event_add(EVENT_CHANGE, LOG_LEVEL_INFO, NULL, NULL, "%u", i);
	assert_int_equal(events_count(), EVENTS_MAX);
	assert_int_equal(events_at(0)->number, first + 7);
	assert_string_equal(events_at(0)->text, "7");
	for (size_t i = 1; i < EVENTS_MAX; i++)
		assert_int_equal(
		    events_at(i)->number, events_at(i - 1)->number + 1);
}

static void
a_text_that_is_too_long_is_cut(void **state)
{
	char text[2 * EVENT_TEXT_SIZE];
	const struct event *e;

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	event_add(EVENT_CHANGE, LOG_LEVEL_INFO, text, text, "%s", text);
	e = events_at(events_count() - 1);
	assert_int_equal(strlen(e->text), EVENT_TEXT_SIZE - 1);
	assert_int_equal(strlen(e->about), EVENT_ABOUT_SIZE - 1);
}

static uint64_t
heap_after_filling(int width)
{
	for (unsigned i = 0; i < EVENTS_MAX; i++)
		event_add(
		    EVENT_CHANGE, LOG_LEVEL_INFO, "app", "a", "%0*u", width, i);
	return mallinfo2().uordblks;
}

static void
texts_take_what_they_need_and_go_with_the_event(void **state)
{
	uint64_t few, many;

	(void)state;
	if (mallinfo2().uordblks == 0) {
		print_message("this malloc does not tell what is in use\n");
		skip();
	}
	few = heap_after_filling(5);
	many = heap_after_filling(200);
	assert_in_range(
	    many - few, (uint64_t)EVENTS_MAX * 150, (uint64_t)EVENTS_MAX * 240);
	/* malloc counts what a thread keeps of freed blocks as in use. */
	assert_in_range(heap_after_filling(5), few - 16384, few + 16384);
	events_forget();
	assert_int_equal(events_count(), 0);
	assert_in_range(
	    mallinfo2().uordblks, 0, few - (uint64_t)EVENTS_MAX * 16);
}

static void
restored_events_precede_the_own_and_keep_numbers(void **state)
{
	struct event former = {.number = 40,
	    .wall_us = 1600000000000000u,
	    .kind = EVENT_SERVER_DOWN,
	    .level = LOG_LEVEL_WARNING,
	    .about = "app/a",
	    .text = "down\tagain"};

	(void)state;
	events_forget();
	event_add(EVENT_START, LOG_LEVEL_INFO, NULL, NULL, "ready");
	event_restore(&former);
	former.text = "another with this number";
	event_restore(&former);
	former.number = 0;
	former.text = "late";
	event_restore(&former);
	assert_int_equal(events_count(), 3);
	assert_int_equal(events_at(0)->number, 40);
	assert_int_equal(events_at(0)->wall_us, 1600000000000000u);
	assert_int_equal(events_at(0)->kind, EVENT_SERVER_DOWN);
	assert_string_equal(events_at(0)->text, "down?again");
	assert_int_equal(events_at(1)->number, 41);
	assert_string_equal(events_at(1)->text, "ready");
	assert_int_equal(events_last(), 42);
	assert_string_equal(events_at(2)->text, "late");
	for (unsigned i = 1; i <= 2 * EVENTS_MAX; i++) {
		former.number = 42 + i;
		event_restore(&former);
	}
	assert_int_equal(events_count(), EVENTS_MAX);
	assert_string_equal(events_at(EVENTS_MAX - 1)->text, "late");
	assert_int_equal(events_last(), 44 + 2 * EVENTS_MAX);
}

static void
every_kind_has_a_name_of_its_own(void **state)
{
	(void)state;
	for (int i = 0; i < EVENT_KINDS; i++) {
		enum event_kind found;

		assert_true(event_find(event_name((enum event_kind)i), &found));
		assert_int_equal(found, i);
	}
	assert_false(event_find("none", &(enum event_kind){0}));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(an_event_has_its_number_kind_subject_and_text),
	    cmocka_unit_test(
	        the_oldest_go_first_and_leave_a_gap_in_the_numbers),
	    cmocka_unit_test(a_text_that_is_too_long_is_cut),
	    cmocka_unit_test(texts_take_what_they_need_and_go_with_the_event),
	    cmocka_unit_test(restored_events_precede_the_own_and_keep_numbers),
	    cmocka_unit_test(every_kind_has_a_name_of_its_own),
	};

	int rc;

	unit_watchdog();
	rc = cmocka_run_group_tests(tests, NULL, NULL);
	events_forget();
	return rc;
}
