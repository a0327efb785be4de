/* SPDX-License-Identifier: MIT
 * A stream into memory, whole or not at all.
 */
#include "base/text_out.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "unit.h"

static void
everything_written_is_there(void **state)
{
	struct text_out out;

	(void)state;
	assert_true(text_out_open(&out));
	for (int i = 0; i < 100000; i++)
		fprintf(out.stream, "%d\n", i);
	assert_true(text_out_close(&out));
	assert_int_equal(out.size, 588890);
	assert_int_equal(strlen(out.text), out.size);
	assert_memory_equal(out.text, "0\n1\n2\n", 6);
	assert_string_equal(out.text + out.size - 6, "99999\n");
	free(out.text);
}

/* Answers end a part when it has grown to a size. */
static void
ftell_says_how_much_was_written(void **state)
{
	struct text_out out;
	long n = 0;

	(void)state;
	assert_true(text_out_open(&out));
	assert_int_equal(ftell(out.stream), 0);
	for (int i = 0; i < 10000; i++) {
		n += fprintf(out.stream, "%d\n", i);
		assert_int_equal(ftell(out.stream), n);
	}
	assert_true(text_out_close(&out));
	assert_int_equal(out.size, n);
	free(out.text);
}

static void
nothing_written_is_an_empty_text(void **state)
{
	struct text_out out;

	(void)state;
	assert_true(text_out_open(&out));
	assert_true(text_out_close(&out));
	assert_string_equal(out.text, "");
	assert_int_equal(out.size, 0);
	free(out.text);
}

/* Symptom: with open_memstream(3) fclose(3) succeeded, and the text had a hole.
 */
static void
text_without_memory_is_none_and_counted(void **state)
{
	uint64_t before = text_out_failures();
	struct rlimit was, little;
	struct text_out out;
	char page[4096];

	(void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	skip();
#endif
	unit_skip_when_emulated("limit of memory (RLIMIT_AS)");
	memset(page, 'x', sizeof(page));
	assert_int_equal(getrlimit(RLIMIT_AS, &was), 0);
	assert_true(text_out_open(&out));
	little =
	    (struct rlimit){.rlim_cur = 64 << 20, .rlim_max = was.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_AS, &little), 0);
	for (int i = 0; i < 32768; i++)
		fwrite(page, 1, sizeof(page), out.stream);
	assert_int_equal(setrlimit(RLIMIT_AS, &was), 0);
	/* What would fit again does not make it whole. */
	fputs("the end", out.stream);
	assert_false(text_out_close(&out));
	assert_null(out.text);
	assert_int_equal(text_out_failures(), before + 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(everything_written_is_there),
	    cmocka_unit_test(ftell_says_how_much_was_written),
	    cmocka_unit_test(nothing_written_is_an_empty_text),
	    cmocka_unit_test(text_without_memory_is_none_and_counted),
	};

	unit_watchdog();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
