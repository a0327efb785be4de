/* SPDX-License-Identifier: MIT
 * Base64: the vectors of RFC 4648 section 10, and all lengths.
 */
#include "base/base64.h"

#include "unit.h"

static const char *const base64_vectors[][2] = {
    {"", ""},
    {"f", "Zg=="},
    {"fo", "Zm8="},
    {"foo", "Zm9v"},
    {"foob", "Zm9vYg=="},
    {"fooba", "Zm9vYmE="},
    {"foobar", "Zm9vYmFy"},
    {"\xff\xfe\xfd>?", "//79Pj8="},
};

static void
texts_are_those_of_the_rfc(void **state)
{
	char text[16], bytes[16];
	size_t n;

	for (size_t i = 0; i < UNIT_N(base64_vectors); i++) {
		const char *plain = base64_vectors[i][0];
		size_t len = base64_encode(plain, strlen(plain), text);

		assert_string_equal(text, base64_vectors[i][1]);
		assert_int_equal(len, strlen(text));
		assert_true(base64_decode(text, len, bytes, &n));
		assert_int_equal(n, strlen(plain));
		assert_memory_equal(bytes, plain, n);
	}
}

static void
any_bytes_come_back_also_in_place(void **state)
{
	unsigned char bytes[100];
	char text[BASE64_SIZE(sizeof(bytes))];
	uint32_t random = 1;
	size_t n;

	for (size_t size = 0; size < sizeof(bytes); size++) {
		for (size_t i = 0; i < size; i++)
			bytes[i] = (unsigned char)unit_random(&random);
		n = base64_encode(bytes, size, text);
		assert_true(n < BASE64_SIZE(size));
		assert_true(size <= BASE64_BYTES(n));
		assert_true(base64_decode(text, n, text, &n));
		assert_int_equal(n, size);
		assert_memory_equal(text, bytes, size);
	}
}

static void
what_is_not_base64_is_refused(void **state)
{
	const char *const wrong[] = {"Zg",
	    "Zg=", "Z===", "=g==", "Zm9v!A==", "Zg==Zg==", "Zm 9", "Zm9v\n",
	    "====", "Zm-_"};
	char out[16];
	size_t n = 99;

	for (size_t i = 0; i < UNIT_N(wrong); i++)
		assert_false(
		    base64_decode(wrong[i], strlen(wrong[i]), out, &n));
	assert_int_equal(n, 99);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(texts_are_those_of_the_rfc),
	    cmocka_unit_test(any_bytes_come_back_also_in_place),
	    cmocka_unit_test(what_is_not_base64_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
