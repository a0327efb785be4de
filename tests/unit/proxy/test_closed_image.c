/* SPDX-License-Identifier: MIT
 * Images of ended sessions: what is written can be read, by newer readers as
 * well, and what is cut off is refused.
 */
#include "proxy/closed_image.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "unit.h"

static uint8_t bytes[CLOSED_IMAGE_MAX + 64];

/* A record with all that it may have. */
static struct closed_session
whole_record(void)
{
	struct closed_session c = {
	    .id = 0x1234567800000009,
	    .ended_ns = 77,
	    .first = CLOSER_SERVER,
	    .session = {.client = {.family = AF_INET, .port = 9, .ip = {127}},
	        .accepted_wall_us = 1u << 20,
	        .wait_ms = -1,
	        .connect_ms = 0,
	        .total_ms = 1234,
	        .bytes_in = UINT64_MAX,
	        .reason = CLOSE_CLIENT_RESET,
	        .retries = 3,
	        .redispatched = true,
	        .tls = {.version = "TLSv1.3", .listen = 2},
	        .server_tls = {.cipher = "c",
	            .group = "g",
	            .alpn = "h2",
	            .resumed = true}},
	    .tcp_known = {false, true},
	    .tcp[1] = {.rtt_us = TCP_FACT_UNKNOWN, .mss = 1460},
	};

	for (enum closed_name i = 0; i <= CLOSED_SANS; i++)
		c.names_len +=
		    (uint16_t)(1 + sprintf(c.names + c.names_len,
		                       i % 3 ? "n%u" : "", (unsigned)i));
	return c;
}

static void
a_record_is_the_same_after_its_way(void **state)
{
	struct closed_session c = whole_record(), read;
	size_t size = closed_image_encode(&c, bytes);

	(void)state;
	assert_true(closed_image_decode(bytes, size, &read));
	assert_int_equal(read.id, c.id);
	assert_int_equal(read.ended_ns, 77);
	assert_int_equal(read.first, CLOSER_SERVER);
	assert_memory_equal(
	    &read.session.client, &c.session.client, sizeof(c.session.client));
	assert_int_equal(read.session.wait_ms, -1);
	assert_int_equal(read.session.connect_ms, 0);
	assert_int_equal(read.session.total_ms, 1234);
	assert_true(read.session.bytes_in == UINT64_MAX);
	assert_int_equal(read.session.reason, CLOSE_CLIENT_RESET);
	assert_int_equal(read.session.retries, 3);
	assert_true(read.session.redispatched);
	assert_string_equal(read.session.tls.version, "TLSv1.3");
	assert_null(read.session.tls.cipher);
	assert_int_equal(read.session.tls.listen, 2);
	assert_string_equal(read.session.server_tls.cipher, "c");
	assert_string_equal(read.session.server_tls.group, "g");
	assert_string_equal(read.session.server_tls.alpn, "h2");
	assert_true(read.session.server_tls.resumed);
	assert_false(read.tcp_known[0]);
	assert_true(read.tcp_known[1]);
	assert_memory_equal(&read.tcp[1], &c.tcp[1], sizeof(c.tcp[1]));
	for (enum closed_name i = 0; i <= CLOSED_SANS; i++)
		assert_string_equal(closed_name(&read, i), closed_name(&c, i));
}

static void
an_image_that_is_cut_off_is_refused(void **state)
{
	struct closed_session c = whole_record(), read;
	size_t size = closed_image_encode(&c, bytes);

	(void)state;
	/* Its last field has the names, without which it is none. */
	for (size_t n = 0; n < size; n++)
		assert_false(closed_image_decode(bytes, n, &read));
}

static void
an_unknown_field_is_passed_over_and_a_wrong_one_refused(void **state)
{
	const uint32_t unknown[] = {9999, 4, 0}, wrong[] = {7, 4, 0};
	struct closed_session c = whole_record(), read;
	size_t size = closed_image_encode(&c, bytes);

	(void)state;
	memcpy(bytes + size, unknown, sizeof(unknown));
	assert_true(closed_image_decode(bytes, size + sizeof(unknown), &read));
	memcpy(bytes + size, wrong, sizeof(wrong));
	assert_false(closed_image_decode(bytes, size + sizeof(wrong), &read));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_record_is_the_same_after_its_way),
	    cmocka_unit_test(an_image_that_is_cut_off_is_refused),
	    cmocka_unit_test(
	        an_unknown_field_is_passed_over_and_a_wrong_one_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
