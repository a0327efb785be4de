/* SPDX-License-Identifier: MIT
 * The limits of a frontend: which one refuses a client, in which it counts,
 * and what a reload keeps.
 */
#include "model/limit.h"
#include "model/source_facts.h"

#include "base/clock.h"
#include "unit.h"

#define NOW (1000 * NS_PER_S)

static struct limit_spec specs[LIMITS_MAX];
static struct frontend_spec spec = {.name = "web", .limits = specs};

static struct limit_spec
limit_of(unsigned sessions, unsigned rate)
{
	return (struct limit_spec){.sessions = sessions,
	    .rate = {.count = rate, .unit = 's'},
	    .prefix4 = 32,
	    .prefix6 = 64,
	    .action = {.action = GATE_RESET},
	    .size = 100};
}

static struct endpoint
client_of(const char *text)
{
	struct endpoint e;
	struct addr addr;

	assert_true(addr_parse_ip(text, &addr));
	endpoint_set(&e, &addr.sa, addr.len);
	return e;
}

static uint32_t
sessions_of(const struct limits *limits, size_t which, const char *text)
{
	struct endpoint client = client_of(text);
	const struct limit *l = &limits->all[which];
	struct source_key key = limit_key(l, &client);
	struct source_facts facts;

	return source_table_find(l->table, &key, &facts) ? facts.sessions : 0;
}

static void
a_client_that_one_limit_refuses_counts_in_none(void **state)
{
	struct endpoint a = client_of("10.0.0.1"), b = client_of("10.0.0.2");
	struct limit_answer answer;
	struct limits *l;

	(void)state;
	specs[0] = limit_of(5, 0);
	specs[1] = limit_of(2, 0);
	specs[1].per = LIMIT_PER_FRONTEND;
	spec.limits_n = 2;
	l = limits_new(&spec, &(struct limit_origin){.model = NULL});
	for (int i = 0; i < 2; i++) {
		answer = limits_enter(l, i ? &a : &b, NOW);
		assert_null(answer.by);
		assert_int_equal(answer.counted, 3);
	}
	answer = limits_enter(l, &a, NOW);
	assert_ptr_equal(answer.by, &l->all[1]);
	assert_int_equal(answer.what, SOURCE_SESSIONS);
	assert_int_equal(answer.counted, 0);
	assert_int_equal(sessions_of(l, 0, "10.0.0.1"), 1);
	limits_leave(l, 3, &b);
	assert_null(limits_peek(l, &a, NOW).by);
	assert_int_equal(sessions_of(l, 0, "10.0.0.2"), 0);
	assert_int_equal(sessions_of(l, 1, "10.0.0.2"), 1);
	limits_free(l);
}

static void
the_longest_wait_holds(void **state)
{
	struct endpoint a = client_of("2001:db8::1");
	struct limits *l;

	(void)state;
	specs[0] = limit_of(0, 10);
	specs[1] = limit_of(0, 2);
	specs[0].burst = specs[1].burst = 1;
	specs[0].action = specs[1].action =
	    (struct gate_reply){.action = GATE_DELAY, .hold_ms = 600};
	spec.limits_n = 2;
	l = limits_new(&spec, &(struct limit_origin){.model = NULL});
	assert_int_equal(limits_enter(l, &a, NOW).wait_ms, 0);
	assert_int_equal(limits_peek(l, &a, NOW).wait_ms, 500);
	assert_int_equal(limits_enter(l, &a, NOW).wait_ms, 500);
	assert_ptr_equal(limits_enter(l, &a, NOW).by, &l->all[1]);
	assert_true(limits_peek(l, &a, NOW).what == SOURCE_RATE);
	assert_int_equal(limit_reply(&specs[0]).action, GATE_RESET);
	limits_free(l);
}

static void
a_client_without_a_place_counts_nowhere(void **state)
{
	struct endpoint a = client_of("10.0.0.1"), b = client_of("10.0.0.2");
	struct limit_answer answer;
	struct limits *l;

	(void)state;
	specs[0] = limit_of(1, 0);
	specs[0].size = 1;
	spec.limits_n = 1;
	l = limits_new(&spec, &(struct limit_origin){.model = NULL});
	assert_int_equal(limits_enter(l, &a, NOW).counted, 1);
	answer = limits_enter(l, &b, NOW);
	assert_null(answer.by);
	assert_int_equal(answer.counted, 0);
	limits_free(l);
}

static void
a_reload_keeps_tables_with_the_same_key(void **state)
{
	struct endpoint a = client_of("10.0.0.1");
	struct limits *before, *l;

	(void)state;
	specs[0] = limit_of(9, 0);
	specs[1] = limit_of(9, 0);
	specs[1].prefix4 = 24;
	specs[2] = limit_of(9, 0);
	spec.limits_n = 3;
	before = limits_new(&spec, &(struct limit_origin){.model = NULL});
	assert_int_equal(limits_enter(before, &a, NOW).counted, 7);
	limits_leave(before, 4, &a);
	/* Other bounds, another order. */
	static struct limit_spec others[3];
	others[0] = limit_of(3, 5);
	others[0].prefix4 = 24;
	others[1] = limit_of(4, 0);
	others[2] = limit_of(4, 0);
	others[2].size = 101;
	spec.limits = others;
	l = limits_new(&spec, &(struct limit_origin){.before = before});
	assert_ptr_equal(l->all[0].table, before->all[1].table);
	assert_ptr_equal(l->all[1].table, before->all[0].table);
	assert_ptr_not_equal(l->all[2].table, before->all[2].table);
	limits_free(before);
	assert_int_equal(sessions_of(l, 0, "10.0.0.200"), 1);
	assert_int_equal(sessions_of(l, 1, "10.0.0.1"), 1);
	assert_int_equal(sessions_of(l, 2, "10.0.0.1"), 0);
	assert_string_equal(l->all[0].name, "web");
	assert_string_equal(l->all[2].name, "web/3");
	limits_free(l);
	spec.limits = specs;
}

static void
bytes_and_the_bandwidth_of_sources_have_tables_of_their_own(void **state)
{
	struct endpoint a = client_of("10.0.0.1"), b = client_of("10.0.0.2");
	const uint64_t bytes[] = {3000, 3000};
	struct limits *before, *l;

	(void)state;
	specs[0] = limit_of(9, 0);
	specs[1] = limit_of(9, 0);
	specs[1].bytes = (struct limit_bytes){.count = 6000, .unit = 'm'};
	spec.limits_n = 2;
	spec.bandwidth =
	    (struct bandwidth_spec){.rate[BAND_SOURCE][BAND_OUT] = 1000,
	        .prefix4 = 32,
	        .prefix6 = 64,
	        .size = 100};
	before = limits_new(&spec, &(struct limit_origin){.model = NULL});
	assert_int_equal(before->n, 3);
	assert_int_equal(limits_enter(before, &a, NOW).counted, 7);
	assert_non_null(limits_buckets(before, 7, &a));
	assert_null(limits_buckets(before, 3, &a));
	limits_charge(before, 7, &a, bytes, NOW);
	assert_ptr_equal(limits_peek(before, &a, NOW).by, &before->all[1]);
	assert_int_equal(limits_peek(before, &a, NOW).what, SOURCE_BYTES);
	assert_null(limits_peek(before, &b, NOW).by);
	/* The buckets are kept by a reload that changes the rate, and no other
	 * table takes their place. */
	spec.bandwidth.rate[BAND_SOURCE][BAND_IN] = 50;
	specs[0].sessions = 3;
	l = limits_new(&spec, &(struct limit_origin){.before = before});
	for (size_t i = 0; i < 3; i++)
		assert_ptr_equal(l->all[i].table, before->all[i].table);
	assert_string_equal(l->all[2].name, "web/bandwidth");
	assert_int_equal(sessions_of(l, 2, "10.0.0.1"), 1);
	limits_free(before);
	limits_free(l);
	spec.bandwidth = (struct bandwidth_spec){.prefix4 = 0};
}

static void
tries_count_where_all_connections_do(void **state)
{
	const uint64_t second = UINT64_C(1000000000);
	struct endpoint a = client_of("10.0.0.1");
	struct limits *l;
	uint64_t now = NOW;

	(void)state;
	specs[0] = limit_of(0, 2);
	specs[0].count = LIMIT_COUNT_ALL;
	specs[1] = limit_of(1, 0);
	spec.limits_n = 2;
	l = limits_new(&spec, &(struct limit_origin){.model = NULL});
	assert_null(limits_enter(l, &a, now).by);
	/* Refused by the second limit, and counted by the first. */
	assert_ptr_equal(limits_enter(l, &a, now).by, &l->all[1]);
	for (int i = 0; i < 100; i++, now += second / 2)
		assert_ptr_equal(limits_enter(l, &a, now).by, &l->all[0]);
	/* The client's silence ends that, after the time of its burst. */
	limits_leave(l, 3, &a);
	assert_ptr_equal(limits_peek(l, &a, now).by, &l->all[0]);
	assert_null(limits_enter(l, &a, now + 2 * second).by);
	limits_free(l);
	specs[0].count = LIMIT_COUNT_ACCEPTED;
}

static void
a_limit_is_written_as_it_is_read(void **state)
{
	char text[LIMIT_TEXT_SIZE];

	(void)state;
	specs[0] = limit_of(20, 10);
	assert_string_equal(limit_spec_text(&specs[0], text),
	    "sessions=20 rate=10/s burst=10 per=client");
	specs[0] = limit_of(1048576, 1000000);
	specs[0].burst = 1000000;
	specs[0].per = LIMIT_PER_FRONTEND;
	assert_string_equal(limit_spec_text(&specs[0], text),
	    "sessions=1048576 rate=1000000/s burst=1000000 per=frontend");
	specs[0] = limit_of(0, 0);
	specs[0].bytes = (struct limit_bytes){.count = 5 << 20, .unit = 'h'};
	specs[0].except.name = (char[]){"office"};
	assert_string_equal(limit_spec_text(&specs[0], text),
	    "bytes=5MiB/h per=client except=list:office");
}

static void
an_admitted_session_counts_beyond_every_limit(void **state)
{
	struct endpoint a = client_of("10.0.0.1");
	struct limits *l;
	uint16_t counted = 0;

	(void)state;
	specs[0] = limit_of(2, 0);
	specs[1] = limit_of(0, 1);
	spec.limits_n = 2;
	l = limits_new(&spec, &(struct limit_origin){.model = NULL});
	for (int i = 0; i < 5; i++) {
		counted = limits_rejoin(l, &a, NOW);
		assert_int_equal(counted, 3);
	}
	assert_int_equal(sessions_of(l, 0, "10.0.0.1"), 5);
	assert_ptr_equal(limits_enter(l, &a, NOW).by, &l->all[0]);
	for (int i = 0; i < 5; i++)
		limits_leave(l, counted, &a);
	/* The rate was not used. */
	assert_null(limits_enter(l, &a, NOW).by);
	limits_free(l);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(an_admitted_session_counts_beyond_every_limit),
	    cmocka_unit_test(tries_count_where_all_connections_do),
	    cmocka_unit_test(a_client_that_one_limit_refuses_counts_in_none),
	    cmocka_unit_test(the_longest_wait_holds),
	    cmocka_unit_test(a_client_without_a_place_counts_nowhere),
	    cmocka_unit_test(a_reload_keeps_tables_with_the_same_key),
	    cmocka_unit_test(
	        bytes_and_the_bandwidth_of_sources_have_tables_of_their_own),
	    cmocka_unit_test(a_limit_is_written_as_it_is_read),
	};

	unit_watchdog();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
