/* SPDX-License-Identifier: MIT
 * What libraries take is counted, and so is what they give back.
 */
#include "check/library_memory.h"

#include <curl/curl.h>
#include <openssl/bio.h>

#include "unit.h"

static void
openssl_is_counted_from_the_first_block_on(void **state)
{
	char text[5000] = {0};
	struct memory_use before, with;
	BIO *bio;

	(void)state;
	library_count_openssl();
	bio = BIO_new(BIO_s_mem()); /* and whatever is made once */
	BIO_free(bio);
	before = library_memory_openssl();
	assert_true(before.count > 0);
	bio = BIO_new(BIO_s_mem());
	assert_int_equal(BIO_write(bio, text, sizeof(text)), sizeof(text));
	with = library_memory_openssl();
	assert_true(with.heap >= before.heap + sizeof(text));
	/* Grown by realloc. */
	for (int i = 0; i < 20; i++)
		BIO_write(bio, text, sizeof(text));
	assert_int_equal(library_memory_openssl().count, with.count);
	assert_true(
	    library_memory_openssl().heap >= before.heap + 21 * sizeof(text));
	BIO_free(bio);
	with = library_memory_openssl();
	assert_int_equal(with.count, before.count);
	assert_int_equal(with.heap, before.heap);
}

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
	    cmocka_unit_test(openssl_is_counted_from_the_first_block_on),
	    cmocka_unit_test(curl_gives_back_all),
	};

	unit_watchdog();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
