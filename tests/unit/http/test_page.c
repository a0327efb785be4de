/* SPDX-License-Identifier: MIT
 * Texts of others in the page, and the page's policy.
 */
#include "http/page.h"

#include <stdlib.h>
#include <string.h>

#include "http/assets.h"
#include "unit.h"

static char *
put(const char *text)
{
	char *got = NULL;
	size_t size;
	FILE *out = open_memstream(&got, &size);

	page_put_text(text, out);
	assert_int_equal(fclose(out), 0);
	return got;
}

static void
texts_stay_texts(void **state)
{
	static const char *const rows[][2] = {
	    {"", ""},
	    {"app1", "app1"},
	    {"</td><script>alert(1)</script>",
	        "&lt;/td&gt;&lt;script&gt;alert(1)&lt;/script&gt;"},
	    {"\" onload='x'", "&quot; onload=&#39;x&#39;"},
	    {"&lt;", "&amp;lt;"},
	    {"\xc3\xa4\xff", "\xc3\xa4\xff"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *got = put(rows[i][0]);

		assert_string_equal(got, rows[i][1]);
		free(got);
	}
}

static void
the_policy_names_style_and_script(void **state)
{
	const char *policy = page_policy();

	(void)state;
	assert_non_null(strstr(policy, "style-src 'sha256-"));
	assert_non_null(strstr(policy, "script-src 'sha256-"));
	assert_non_null(strstr(policy, "frame-ancestors 'none'"));
	assert_ptr_equal(page_policy(), policy);
}

/* Each word of the template occurs once, and the files do not end the elements
 * that they are put into. */
static void
the_files_fit_together(void **state)
{
	static const char *const words[] = {
	    "{{style}}", "{{script}}", "{{rows}}"};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		const char *at = strstr(asset_page_html, words[i]);

		assert_non_null(at);
		assert_null(strstr(at + 1, words[i]));
	}
	assert_null(strstr(asset_page_css, "</"));
	assert_null(strstr(asset_page_js, "</script"));
	assert_null(strstr(asset_page_js, "innerHTML"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(texts_stay_texts),
	    cmocka_unit_test(the_policy_names_style_and_script),
	    cmocka_unit_test(the_files_fit_together),
	};

	unit_watchdog();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
