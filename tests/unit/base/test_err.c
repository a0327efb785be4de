/* SPDX-License-Identifier: MIT
 * Errors for people, and lists of them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/err.h"

/* What err_list_print writes; to be freed. */
static char *
print(const struct err_list *list)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	assert_non_null(f);
	err_list_print(list, "", f);
	assert_int_equal(fclose(f), 0);
	return text;
}

static void
assert_prints(const struct err_list *list, const char *expected)
{
	char *text = print(list);

	assert_string_equal(text, expected);
	free(text);
}

static void
err_set_is_false_and_keeps_the_sentence(void **state)
{
	struct err err;

	(void)state;
	assert_false(err_set(&err, "%s has %d", "it", 3));
	assert_string_equal(err.text, "it has 3");
	assert_false(err_set(NULL, "nobody %s", "listens"));
}

static void
err_set_cuts_what_is_too_long(void **state)
{
	char lots[2000];
	struct err err;

	(void)state;
	memset(lots, 'x', sizeof(lots) - 1);
	lots[sizeof(lots) - 1] = '\0';
	err_set(&err, "%s", lots);
	assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
}

static void
empty_list_prints_nothing(void **state)
{
	struct err_list list;

	(void)state;
	err_list_init(&list);
	assert_int_equal(list.n, 0);
	assert_prints(&list, "");
	err_list_fini(&list);
}

static void
list_copies_file_and_text(void **state)
{
	char file[] = "a.ini", text[] = "first";
	struct err_list list;

	(void)state;
	err_list_init(&list);
	err_list_add(&list, file, 3, "%s", text);
	file[0] = text[0] = 'X';
	assert_int_equal(list.n, 1);
	assert_prints(&list, "a.ini:3: first\n");
	err_list_fini(&list);
	assert_int_equal(list.n, 0);
}

static void
list_prints_by_file_then_line_then_arrival(void **state)
{
	struct err_list list;

	(void)state;
	err_list_init(&list);
	err_list_add(&list, "z.ini", 9, "nine");
	err_list_add(&list, "a.ini", 1, "other file");
	err_list_add(&list, "z.ini", 10, "ten");
	err_list_add(&list, "z.ini", 2, "two, first");
	err_list_add(&list, "z.ini", 2, "two, then");
	err_list_add(&list, "z.ini", 0, "all of it");
	assert_prints(&list,
	    "z.ini: all of it\nz.ini:2: two, first\nz.ini:2: two, then\n"
	    "z.ini:9: nine\nz.ini:10: ten\na.ini:1: other file\n");
	err_list_fini(&list);
}

static void
list_without_file_prints_the_sentence_alone(void **state)
{
	struct err_list list;

	(void)state;
	err_list_init(&list);
	err_list_add(&list, NULL, 0, "out of luck");
	assert_prints(&list, "out of luck\n");
	err_list_fini(&list);
}

static void
list_keeps_many_and_long_sentences(void **state)
{
	char lots[3000];
	struct err_list list;
	char *text;
	size_t lines = 0;

	(void)state;
	memset(lots, 'y', sizeof(lots) - 1);
	lots[sizeof(lots) - 1] = '\0';
	err_list_init(&list);
	for (unsigned i = 1000; i > 0; i--)
		err_list_add(&list, "f", i, "%s", lots);
	assert_int_equal(list.n, 1000);
	text = print(&list);
	for (const char *p = text; (p = strchr(p, '\n')); p++)
		lines++;
	assert_int_equal(lines, 1000);
	assert_memory_equal(text, "f:1: yyy", 8);
	free(text);
	err_list_fini(&list);
}

/* What err_list_add leaves behind when memory was short. */
static void
list_that_lost_its_entries_says_so(void **state)
{
	struct err_list list = {.entries = NULL, .n = 2};

	(void)state;
	assert_prints(&list, "out of memory: 2 errors not shown\n");
	err_list_add(&list, "f", 1, "a third");
	assert_int_equal(list.n, 3);
	assert_prints(&list, "out of memory: 3 errors not shown\n");
	err_list_fini(&list);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(err_set_is_false_and_keeps_the_sentence),
	    cmocka_unit_test(err_set_cuts_what_is_too_long),
	    cmocka_unit_test(empty_list_prints_nothing),
	    cmocka_unit_test(list_copies_file_and_text),
	    cmocka_unit_test(list_prints_by_file_then_line_then_arrival),
	    cmocka_unit_test(list_without_file_prints_the_sentence_alone),
	    cmocka_unit_test(list_keeps_many_and_long_sentences),
	    cmocka_unit_test(list_that_lost_its_entries_says_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
