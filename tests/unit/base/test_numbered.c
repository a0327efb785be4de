/* SPDX-License-Identifier: MIT
 * Bounded lists of numbered items.
 */
#include "base/numbered.h"

#include <stdio.h>
#include <string.h>

#include "unit.h"

#define ROOM 4

struct item {
	uint64_t number;
	char name;
};

static struct item items[ROOM];
static struct numbered list;

static int
setup(void **state)
{
	(void)state;
	memset(items, 0, sizeof(items));
	list = (struct numbered){
	    .items = items, .item_size = sizeof(items[0]), .room = ROOM};
	return 0;
}

static void
add(char name)
{
	((struct item *)numbered_add(&list))->name = name;
}

static bool
restore(uint64_t number, char name)
{
	struct item *item = numbered_restore(&list, number);

	if (item)
		item->name = name;
	return item != NULL;
}

/* Returns all items as `1a 2b`. */
static const char *
listed(void)
{
	static char text[200];
	size_t len = 0;

	text[0] = '\0';
	for (size_t i = 0; i < numbered_count(&list); i++) {
		const struct item *item = numbered_at(&list, i);

		len += (size_t)snprintf(text + len, sizeof(text) - len,
		    "%s%lu%c", i > 0 ? " " : "", (unsigned long)item->number,
		    item->name);
	}
	return text;
}

static void
new_item_replaces_the_oldest_one(void **state)
{
	(void)state;
	assert_string_equal(listed(), "");
	for (char name = 'a'; name <= 'f'; name++)
		add(name);
	assert_string_equal(listed(), "3c 4d 5e 6f");
}

static void
restored_items_keep_numbers_in_front_of_the_own(void **state)
{
	(void)state;
	add('x');
	add('y');
	assert_true(restore(7, 'a'));
	assert_string_equal(listed(), "7a 8x 9y");
	/* A gap stays one. */
	assert_true(restore(10, 'b'));
	assert_string_equal(listed(), "7a 10b 11x 12y");
	add('z');
	assert_string_equal(listed(), "10b 11x 12y 13z");
	assert_true(restore(11, 'c'));
	assert_string_equal(listed(), "11c 12x 13y 14z");
}

static void
number_that_is_not_higher_is_refused(void **state)
{
	(void)state;
	assert_false(restore(0, 'a'));
	assert_true(restore(5, 'a'));
	assert_false(restore(5, 'b'));
	assert_false(restore(4, 'b'));
	assert_false(restore(UINT64_MAX, 'b'));
	add('x');
	assert_false(restore(5, 'b'));
	assert_string_equal(listed(), "5a 6x");
}

static void
own_items_that_fill_the_list_stay_with_higher_numbers(void **state)
{
	(void)state;
	for (char name = 'a'; name <= 'e'; name++)
		add(name);
	assert_false(restore(100, 'x'));
	assert_string_equal(listed(), "102b 103c 104d 105e");
	add('f');
	assert_string_equal(listed(), "103c 104d 105e 106f");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(new_item_replaces_the_oldest_one, setup),
	    cmocka_unit_test_setup(
	        restored_items_keep_numbers_in_front_of_the_own, setup),
	    cmocka_unit_test_setup(number_that_is_not_higher_is_refused, setup),
	    cmocka_unit_test_setup(
	        own_items_that_fill_the_list_stay_with_higher_numbers, setup),
	};

	unit_watchdog();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
