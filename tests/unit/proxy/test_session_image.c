/* SPDX-License-Identifier: MIT
 * Images of sessions: what is written can be read, by older and newer readers,
 * and what does not fit together is refused.
 */
#include "proxy/session_image.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "proxy/inspection.h"
#include "proxy/side.h"
#include "unit.h"

static uint8_t bytes[IMAGE_FIELDS_MAX + 2 * RELAY_BUFFER];
static uint8_t large[RELAY_BUFFER];

/* A session that relays, with all that it may have. */
static struct session_image
whole_image(void)
{
	struct session_image i = {.client = {.family = AF_INET, .port = 7},
	    .source = {.family = AF_INET6, .port = 8},
	    .destination = {.family = AF_INET6, .port = 9},
	    .name = "www.example",
	    .pending = {large, large},
	    .pending_size = {sizeof(large), 3}};

	for (int n = 0; n < IMAGE_NUMBERS; n++)
		i.n[n] = 1;
	i.n[IMAGE_PHASE] = IMAGE_RELAYS;
	i.n[IMAGE_FLAGS] = IMAGE_INSPECTED | IMAGE_ASKED;
	i.n[IMAGE_PIPED_C] = i.n[IMAGE_PIPED_S] = 0;
	i.n[IMAGE_RECEIVED_C] = UINT64_MAX;
	return i;
}

static size_t
encode(const struct session_image *image)
{
	static uint8_t fields[IMAGE_FIELDS_MAX];
	struct iovec parts[IMAGE_PARTS_MAX];
	size_t n = session_image_encode(image, fields, parts), size = 0;

	assert_in_range(n, 1, IMAGE_PARTS_MAX);
	for (size_t i = 0; i < n; i++) {
		memcpy(bytes + size, parts[i].iov_base, parts[i].iov_len);
		size += parts[i].iov_len;
	}
	assert_in_range(size, 1, sizeof(bytes));
	return size;
}

static bool
decodes(const struct session_image *image)
{
	struct session_image got;
	struct err err = {.text = ""};
	size_t size = encode(image);
	bool ok = session_image_decode(
	    bytes, size, session_image_fds(image), &got, &err);

	assert_int_equal(ok, *err.text == '\0');
	return ok;
}

static void
what_is_written_is_read(void **state)
{
	struct session_image image = whole_image(), got;
	struct err err;
	size_t size;

	(void)state;
	for (size_t i = 0; i < sizeof(large); i++)
		large[i] = (uint8_t)(i * 7);
	size = encode(&image);
	assert_true(session_image_decode(bytes, size, 2, &got, &err));
	assert_memory_equal(got.n, image.n, sizeof(got.n));
	assert_memory_equal(&got.client, &image.client, sizeof(got.client));
	assert_memory_equal(&got.source, &image.source, sizeof(got.source));
	assert_memory_equal(
	    &got.destination, &image.destination, sizeof(got.destination));
	assert_string_equal(got.name, image.name);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(got.pending_size[i], image.pending_size[i]);
		assert_memory_equal(got.pending[i], large, got.pending_size[i]);
	}
}

static void
an_unknown_field_is_passed_over(void **state)
{
	struct session_image image = whole_image(), got;
	const uint32_t field[3] = {4711, 4, 0};
	struct err err;
	size_t size = encode(&image);

	(void)state;
	memcpy(bytes + size, field, sizeof(field));
	assert_true(
	    session_image_decode(bytes, size + sizeof(field), 2, &got, &err));
	assert_string_equal(got.name, image.name);
}

static void
an_image_that_is_cut_off_is_refused(void **state)
{
	struct session_image image = whole_image(), got;
	struct err err;
	size_t size;

	(void)state;
	image.pending_size[0] = 100;
	size = encode(&image);
	for (size_t n = 1; n < size; n++) {
		uint8_t *cut = malloc(n);

		/* Cut between two fields it may be another image. */
		memcpy(cut, bytes, n);
		if (session_image_decode(cut, n, 2, &got, &err))
			assert_true(got.pending_size[1] == 0);
		free(cut);
	}
	assert_false(session_image_decode(bytes, 0, 2, &got, &err));
}

static void
each_number_has_its_bounds(void **state)
{
	static const struct {
		enum image_number which;
		uint64_t value;
	} wrong[] = {
	    {IMAGE_PHASE, 0},
	    {IMAGE_PHASE, IMAGE_FLUSHES + 1},
	    {IMAGE_FRONTEND, 0},
	    {IMAGE_ROUTE, 0},
	    {IMAGE_SERVER, 0},
	    {IMAGE_SERVER, 1ull << 32},
	    {IMAGE_TRIES, 256},
	    {IMAGE_CLOSER, 4},
	    {IMAGE_SERVER_PORT, 65536},
	    {IMAGE_END_C, SIDE_GONE + 1},
	    {IMAGE_END_S, END_SHUT},
	    {IMAGE_PIPED_C, 1},
	    {IMAGE_STEPS, 8},
	    {IMAGE_AUTHORITY, TLS_NAME_MAX + 1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct session_image image = whole_image();

		image.n[wrong[i].which] = wrong[i].value;
		assert_false(decodes(&image));
	}
}

static void
phases_and_ends_have_to_fit(void **state)
{
	static const struct {
		uint64_t phase;
		unsigned client, server;
		bool fits;
	} rows[] = {
	    {IMAGE_RELAYS, SIDE_EOF, SIDE_BROKEN, true},
	    {IMAGE_RELAYS, SIDE_SHUT, SIDE_EOF, false},
	    {IMAGE_CLIENT_EOF, SIDE_EOF, SIDE_SHUT, true},
	    {IMAGE_CLIENT_EOF, SIDE_EOF, SIDE_GONE, true},
	    {IMAGE_CLIENT_EOF, SIDE_EOF, SIDE_OPEN, false},
	    {IMAGE_CLIENT_EOF, SIDE_OPEN, SIDE_SHUT, false},
	    {IMAGE_CLIENT_EOF, SIDE_FINISHED, SIDE_SHUT, false},
	    {IMAGE_SERVER_EOF, SIDE_SHUT, SIDE_EOF, true},
	    {IMAGE_SERVER_EOF, SIDE_EOF, SIDE_SHUT, false},
	    {IMAGE_FLUSHES, SIDE_BROKEN, SIDE_OPEN, true},
	    {IMAGE_FLUSHES, SIDE_EOF, SIDE_EOF, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct session_image image = whole_image();

		image.pending_size[0] = image.pending_size[1] = 0;
		image.n[IMAGE_PHASE] = rows[i].phase;
		image.n[IMAGE_END_C] = rows[i].client;
		image.n[IMAGE_END_S] = rows[i].server;
		assert_int_equal(decodes(&image), rows[i].fits);
	}
}

static void
a_session_that_is_inspected_has_no_route(void **state)
{
	struct session_image image = {.client = {.family = AF_UNIX}};

	(void)state;
	image.n[IMAGE_PHASE] = IMAGE_INSPECTS;
	image.n[IMAGE_FRONTEND] = 1;
	image.n[IMAGE_STEPS] = INSPECT_HELLO;
	assert_false(decodes(&image));
	image.n[IMAGE_FLAGS] = IMAGE_INSPECTED;
	assert_true(decodes(&image));
	image.n[IMAGE_ROUTE] = 2;
	assert_false(decodes(&image));
}

static void
pipes_have_descriptors(void **state)
{
	struct session_image image = whole_image(), got;
	struct err err;
	size_t size;

	(void)state;
	image.pending_size[0] = image.pending_size[1] = 0;
	image.n[IMAGE_PIPED_C] = image.n[IMAGE_PIPED_S] = 70000;
	size = encode(&image);
	assert_int_equal(session_image_fds(&image), IMAGE_FDS_MAX);
	assert_true(session_image_decode(bytes, size, 6, &got, &err));
	assert_false(session_image_decode(bytes, size, 4, &got, &err));
	assert_false(session_image_decode(bytes, size, 2, &got, &err));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_is_written_is_read),
	    cmocka_unit_test(an_unknown_field_is_passed_over),
	    cmocka_unit_test(an_image_that_is_cut_off_is_refused),
	    cmocka_unit_test(each_number_has_its_bounds),
	    cmocka_unit_test(phases_and_ends_have_to_fit),
	    cmocka_unit_test(a_session_that_is_inspected_has_no_route),
	    cmocka_unit_test(pipes_have_descriptors),
	};

	unit_watchdog();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
