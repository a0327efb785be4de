/* SPDX-License-Identifier: MIT
 * Elements found by name, with an index and without.
 */
#include "base/name_table.h"

#include "unit.h"

struct thing {
	char *name;
	int number;
};

static struct {
	struct thing *things;
	size_t things_n;
	struct name_index things_index;
} shelf;

/* n things with the names 0 to n - 1, and an index. */
static void
fill(size_t n)
{
	shelf.things = calloc(n + 1, sizeof(*shelf.things));
	assert_non_null(shelf.things);
	shelf.things_n = n;
	for (size_t i = 0; i < n; i++)
		assert_true(asprintf(&shelf.things[i].name, "%zu", i) > 0);
	INDEX_NAMES(&shelf, things);
}

static int
clear(void **state)
{
	for (size_t i = 0; i < shelf.things_n; i++)
		free(shelf.things[i].name);
	free(shelf.things);
	free(shelf.things_index.slots);
	memset(&shelf, 0, sizeof(shelf));
	return 0;
}

static void
assert_found_at(const char *name, size_t at)
{
	size_t with, without;

	assert_true(
	    name_table_find(INDEXED_TABLE(&shelf, things), name, &with));
	assert_true(name_table_find(
	    NAME_TABLE(shelf.things, shelf.things_n), name, &without));
	assert_int_equal(with, at);
	assert_int_equal(without, at);
}

static void
assert_not_found(const char *name)
{
	size_t i = 77;

	assert_false(name_table_find(INDEXED_TABLE(&shelf, things), name, &i));
	assert_false(name_table_find(
	    NAME_TABLE(shelf.things, shelf.things_n), name, &i));
	assert_int_equal(i, 77);
}

static void
each_name_is_found_and_no_other(void **state)
{
	for (size_t n = 0; n < 300; n++) {
		char name[24];

		fill(n);
		for (size_t i = 0; i < n; i++)
			assert_found_at(shelf.things[i].name, i);
		snprintf(name, sizeof(name), "%zu", n);
		assert_not_found(name);
		assert_not_found("");
		clear(NULL);
	}
}

static void
of_equal_names_the_first_is_found(void **state)
{
	fill(100);
	for (size_t i = 10; i < 100; i += 10)
		strcpy(shelf.things[i].name, "0");
	INDEX_NAMES(&shelf, things);
	assert_found_at("0", 0);
	assert_found_at("11", 11);
	assert_not_found("20");
}

static void
index_made_anew_follows_the_array(void **state)
{
	fill(50);
	free(shelf.things[20].name);
	shelf.things_n--;
	memmove(&shelf.things[20], &shelf.things[21],
	    (shelf.things_n - 20) * sizeof(*shelf.things));
	INDEX_NAMES(&shelf, things);
	assert_not_found("20");
	assert_found_at("19", 19);
	assert_found_at("49", 48);
}

/* An index that could not be made. */
static void
without_an_index_names_are_found_as_well(void **state)
{
	fill(50);
	free(shelf.things_index.slots);
	shelf.things_index = (struct name_index){.slots_n = 0};
	assert_found_at("49", 49);
	assert_not_found("50");
}

static void
half_of_the_slots_stay_free(void **state)
{
	for (size_t n = 0; n < 1000; n += 9) {
		size_t used = 0;

		fill(n);
		for (size_t i = 0; i < shelf.things_index.slots_n; i++)
			used += shelf.things_index.slots[i] != 0;
		assert_int_equal(used, n);
		assert_true(2 * n <= shelf.things_index.slots_n);
		assert_true(shelf.things_index.slots_n > n);
		clear(NULL);
	}
}

static void
text_table_finds_the_first_of_equal_texts(void **state)
{
	struct text_table table = {.all_n = 0};
	static int numbers[500];
	char text[24];

	assert_null(text_table_find(&table, "0"));
	for (int i = 0; i < 500; i++) {
		snprintf(text, sizeof(text), "%d", i % 300);
		assert_true(text_table_add(&table, text, &numbers[i]));
		assert_ptr_equal(
		    text_table_find(&table, text), &numbers[i % 300]);
	}
	for (int i = 0; i < 300; i++) {
		snprintf(text, sizeof(text), "%d", i);
		assert_ptr_equal(text_table_find(&table, text), &numbers[i]);
	}
	assert_null(text_table_find(&table, "300"));
	text_table_clear(&table);
	assert_null(text_table_find(&table, "0"));
	assert_int_equal(table.all_n, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_teardown(each_name_is_found_and_no_other, clear),
	    cmocka_unit_test_teardown(of_equal_names_the_first_is_found, clear),
	    cmocka_unit_test_teardown(index_made_anew_follows_the_array, clear),
	    cmocka_unit_test_teardown(
	        without_an_index_names_are_found_as_well, clear),
	    cmocka_unit_test(text_table_finds_the_first_of_equal_texts),
	    cmocka_unit_test_teardown(half_of_the_slots_stay_free, clear),
	};

	unit_watchdog();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
