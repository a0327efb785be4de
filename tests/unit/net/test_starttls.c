/* SPDX-License-Identifier: MIT
 * PostgreSQL's requests for encryption, cut at every byte and changed at every
 * byte, and the error for clients that ask for nothing.
 */
#include <stdlib.h>
#include <string.h>

#include "net/starttls.h"
#include "unit.h"

static const uint8_t ssl[] = {0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f};
static const uint8_t gss[] = {0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x30};

/* Reads from a block of just that size, so that a sanitizer sees any read
 * beyond it. */
static enum pgsql_request
request_of(const uint8_t *data, size_t size)
{
	uint8_t *block = malloc(size + !size);
	enum pgsql_request request;

	assert_non_null(block);
	memcpy(block, data, size);
	request = pgsql_request_read(block, size);
	free(block);
	return request;
}

static void
the_request_sent_is_the_one_read(void **state)
{
	(void)state;
	assert_memory_equal(pgsql_tls_request, ssl, sizeof(ssl));
	assert_int_equal(
	    request_of(pgsql_tls_request, PGSQL_REQUEST_SIZE), PGSQL_TLS);
	assert_int_equal(request_of(gss, sizeof(gss)), PGSQL_GSS);
}

static void
every_part_of_a_request_asks_for_more(void **state)
{
	(void)state;
	for (size_t n = 0; n < PGSQL_REQUEST_SIZE; n++) {
		assert_int_equal(request_of(ssl, n), PGSQL_MORE);
		assert_int_equal(request_of(gss, n), PGSQL_MORE);
	}
}

static void
a_change_of_any_byte_makes_it_another_message(void **state)
{
	(void)state;
	for (size_t i = 0; i < PGSQL_REQUEST_SIZE; i++) {
		uint8_t data[PGSQL_REQUEST_SIZE];

		memcpy(data, ssl, sizeof(data));
		data[i] ^= 0x80;
		/* The changed byte decides, however many follow. */
		for (size_t n = 0; n <= sizeof(data); n++)
			assert_int_equal(request_of(data, n),
			    n <= i ? PGSQL_MORE : PGSQL_NONE);
	}
}

static void
bytes_behind_a_request_do_not_change_it(void **state)
{
	uint8_t data[PGSQL_REQUEST_SIZE + 1] = {0};

	(void)state;
	memcpy(data, ssl, sizeof(ssl));
	assert_int_equal(request_of(data, sizeof(data)), PGSQL_TLS);
	memcpy(data, gss, sizeof(gss));
	assert_int_equal(request_of(data, sizeof(data)), PGSQL_GSS);
}

static void
other_first_messages_are_no_requests(void **state)
{
	static const uint8_t startup[] = {0, 0, 0, 23, 0, 3, 0, 0};
	static const uint8_t cancel[] = {0, 0, 0, 16, 0x04, 0xd2, 0x16, 0x2e};
	static const uint8_t hello[] = {0x16, 3, 1, 0, 5, 1, 0, 0};

	(void)state;
	assert_int_equal(request_of(startup, sizeof(startup)), PGSQL_NONE);
	assert_int_equal(request_of(cancel, sizeof(cancel)), PGSQL_NONE);
	assert_int_equal(request_of(hello, 1), PGSQL_NONE);
	assert_int_equal(request_of(hello, sizeof(hello)), PGSQL_NONE);
}

static void
an_error_has_its_severity_state_and_text(void **state)
{
	static const char fields[] = "SFATAL\0VFATAL\0C28000\0Mno\0";
	uint8_t out[PGSQL_ERROR_MAX];
	size_t n = pgsql_error_make("28000", "no", out);

	(void)state;
	/* sizeof counts the NUL that ends the list of fields. */
	assert_int_equal(n, 5 + sizeof(fields));
	assert_memory_equal(out, "E\0\0\0", 4);
	assert_int_equal(out[4], n - 1);
	assert_memory_equal(out + 5, fields, sizeof(fields));
}

static void
an_error_of_any_length_ends_within_its_room(void **state)
{
	char text[2 * PGSQL_ERROR_MAX + 1];
	size_t longest = 0;

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	for (size_t length = 0; length < sizeof(text); length++) {
		uint8_t out[PGSQL_ERROR_MAX + 1];
		size_t n;

		text[length] = 0;
		memset(out, 0xaa, sizeof(out));
		n = pgsql_error_make("28000", text, out);
		text[length] = 'x';
		assert_in_range(n, 1, PGSQL_ERROR_MAX);
		assert_int_equal(out[PGSQL_ERROR_MAX], 0xaa);
		/* The length excludes the type. */
		assert_int_equal(out[3] << 8 | out[4], n - 1);
		assert_memory_equal(out + n - 2, "\0", 2);
		longest = n > longest ? n : longest;
	}
	assert_in_range(longest, PGSQL_ERROR_MAX - 8, PGSQL_ERROR_MAX);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_request_sent_is_the_one_read),
	    cmocka_unit_test(every_part_of_a_request_asks_for_more),
	    cmocka_unit_test(a_change_of_any_byte_makes_it_another_message),
	    cmocka_unit_test(bytes_behind_a_request_do_not_change_it),
	    cmocka_unit_test(other_first_messages_are_no_requests),
	    cmocka_unit_test(an_error_has_its_severity_state_and_text),
	    cmocka_unit_test(an_error_of_any_length_ends_within_its_room),
	};

	unit_watchdog();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
