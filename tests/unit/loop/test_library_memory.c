/* SPDX-License-Identifier: MIT
 * What libraries take is counted, and so is what they give back.
 */
#include "loop/library_memory.h"

#include <curl/curl.h>

#include "unit.h"

static void
curl_gives_back_all(void **state)
{
	struct memory_use before, with;
	CURL *easy;

	(void)state;
	assert_true(library_curl_init());
	before = library_memory_curl();
	easy = curl_easy_init();
	assert_non_null(easy);
	curl_easy_setopt(easy, CURLOPT_URL, "http://127.0.0.1:1/");
	with = library_memory_curl();
	assert_true(with.count > before.count);
	assert_true(with.heap > before.heap + 1000);
	curl_easy_cleanup(easy);
	with = library_memory_curl();
	assert_int_equal(with.count, before.count);
	assert_int_equal(with.heap, before.heap);
	curl_global_cleanup();
	assert_int_equal(library_memory_curl().heap, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(curl_gives_back_all),
	};

	unit_watchdog();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
