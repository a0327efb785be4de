/* SPDX-License-Identifier: MIT
 * Client ranges with limits on their bandwidth: which one a client is in, and
 * their places, which are used again.
 */
#include "proxy/client_bands.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "base/grace.h"
#include "unit.h"

static struct client_bands bands;
static struct grace *grace;

static int
set_up(void **state)
{
	(void)state;
	memset(&bands, 0, sizeof(bands));
	grace = grace_new();
	assert_non_null(grace);
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	client_bands_fini(&bands);
	grace_free(grace);
	return 0;
}

static int
limit(const char *range, uint64_t in, uint64_t out)
{
	const uint64_t rate[BAND_DIRECTIONS] = {
	    [BAND_IN] = in, [BAND_OUT] = out};
	struct cidr cidr;
	struct err err;

	assert_true(cidr_parse(range, &cidr, &err));
	return client_bands_set(&bands, grace, &cidr, rate);
}

/* Returns the rate to the client, 0: none. */
static uint64_t
out_of(const char *client)
{
	struct endpoint e = {
	    .family = strchr(client, ':') ? AF_INET6 : AF_INET};
	uint8_t place;

	assert_int_equal(inet_pton(e.family, client, e.ip), 1);
	place = client_bands_place(&bands, &e);
	return place == 0 ? 0
	                  : client_bands_buckets(&bands, place)[BAND_OUT].rate;
}

static void
the_longest_prefix_counts_however_they_came(void **state)
{
	(void)state;
	assert_int_equal(limit("10.1.0.0/16", 0, 2000), 0);
	assert_int_equal(limit("10.0.0.0/8", 0, 1500), 0);
	assert_int_equal(limit("10.1.2.3", 0, 3000), 0);
	assert_int_equal(limit("2001:db8::/32", 0, 4000), 0);
	assert_int_equal(limit("0.0.0.0/0", 0, 1100), 0);
	assert_int_equal(client_bands_count(&bands), 5);
	assert_int_equal(out_of("10.1.2.3"), 3000);
	assert_int_equal(out_of("10.1.2.4"), 2000);
	assert_int_equal(out_of("10.2.2.3"), 1500);
	assert_int_equal(out_of("11.2.2.3"), 1100);
	assert_int_equal(out_of("2001:db8::1"), 4000);
	assert_int_equal(out_of("2001:db9::1"), 0);
}

static void
a_range_that_ends_leaves_the_others(void **state)
{
	struct client_band band;

	(void)state;
	assert_int_equal(limit("10.0.0.0/8", 1200, 1500), 0);
	assert_int_equal(limit("10.1.0.0/16", 0, 2000), 0);
	assert_int_equal(limit("10.1.0.0/16", 0, 0), 0);
	assert_int_equal(limit("10.2.0.0/16", 0, 0), 0);
	assert_int_equal(client_bands_count(&bands), 1);
	assert_int_equal(out_of("10.1.2.4"), 1500);
	client_bands_at(&bands, 0, &band);
	assert_int_equal(band.rate[BAND_IN], 1200);
	assert_int_equal(limit("10.0.0.0/8", 0, 0), 0);
	assert_int_equal(client_bands_count(&bands), 0);
	assert_null(bands.ranges);
	assert_int_equal(out_of("10.1.2.4"), 0);
}

static void
another_rate_forgets_what_was_taken_and_keeps_the_place(void **state)
{
	struct bucket *bucket;

	(void)state;
	assert_int_equal(limit("10.0.0.0/8", 0, 1500), 0);
	bucket = &client_bands_buckets(&bands, 1)[BAND_OUT];
	bucket->due_ns = 7;
	assert_int_equal(limit("10.0.0.0/8", 1200, 1500), 0);
	assert_int_equal(bucket->due_ns, 7);
	assert_int_equal(limit("10.0.0.0/8", 1200, 1600), 0);
	assert_int_equal(bucket->due_ns, 0);
	assert_int_equal(bucket->rate, 1600);
	assert_int_equal(client_bands_count(&bands), 1);
}

static void
the_last_place_is_used_and_one_more_refused(void **state)
{
	char range[CIDR_TEXT_SIZE];

	(void)state;
	for (unsigned i = 0; i < CLIENT_BANDS_MAX; i++) {
		snprintf(range, sizeof(range), "10.0.%u.0/24", i);
		assert_int_equal(limit(range, 0, 2000 + i), 0);
	}
	assert_int_equal(out_of("10.0.0.1"), 2000);
	assert_int_equal(out_of("10.0.254.1"), 2254);
	assert_int_equal(limit("10.0.255.0/24", 0, 5000), -ENOSPC);
	assert_int_equal(limit("10.0.7.0/24", 0, 5000), 0);
	assert_int_equal(limit("10.0.9.0/24", 0, 0), 0);
	assert_int_equal(limit("10.0.255.0/24", 0, 6000), 0);
	assert_int_equal(out_of("10.0.7.1"), 5000);
	assert_int_equal(out_of("10.0.9.1"), 0);
	assert_int_equal(out_of("10.0.255.1"), 6000);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(the_longest_prefix_counts_however_they_came),
	    TEST(a_range_that_ends_leaves_the_others),
	    TEST(another_rate_forgets_what_was_taken_and_keeps_the_place),
	    TEST(the_last_place_is_used_and_one_more_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
