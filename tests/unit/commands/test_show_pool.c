/* SPDX-License-Identifier: MIT
 * `show pool` and `show threads`, rendered as text and as JSON.
 */
#include "commands/fixture.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "commands/show.h"

static struct pool_facts
quiet_pool(void)
{
	struct pool_facts f = {
	    .name = "main",
	    .threads = 6,
	    .classes = {{.threads = 4}, {.threads = 2, .nice = 5}},
	    .classes_n = 2,
	    .key_rate = 6,
	    .status = {.threads = 7,
	        .shards = 2,
	        .roles = {[ROLE_LEADING] = 2,
	            [ROLE_PROCESSING] = 1,
	            [ROLE_FOLLOWING] = 4},
	        .in_batch = 1,
	        .taken_over = 12,
	        .guarded = 3,
	        .handlers = 17,
	        .long_limit = 5,
	        .long_nice = 10,
	        .long_running = 4,
	        .long_waiting = 3,
	        .long_waits = 22,
	        .long_waited_ns = 1500,
	        .turn_ns = {[TURN_RELAY] = 4250, [TURN_ACCEPT] = 24999},
	        .wake_ns = 10477,
	        .policy = POLICY_ALWAYS,
	        .order = ORDER_PRIORITY},
	};

	CPU_SET(0, &f.cpus);
	CPU_SET(1, &f.cpus);
	CPU_SET(5, &f.cpus);
	f.status.sum = (struct thread_stats){.waits = 50,
	    .fetched = 100,
	    .dispatched = 60,
	    .merged = 30,
	    .stale = 9,
	    .resumed = 8,
	    .turns = 68,
	    .inline_turns = 20,
	    .promotions = 48,
	    .wakes = 47,
	    .adoptions = 5,
	    .wait_errors = 4,
	    .moved = 21,
	    .key_operations = 33};
	for (int i = 0; i < 98; i++)
		histogram_add(&f.status.sum.service, 1000);
	histogram_add(&f.status.sum.service, 50000);
	histogram_add(&f.status.sum.service, 2000000);
	histogram_add(&f.status.sum.poll_gap, 7500);
	return f;
}

static void
put_pool(struct fixture *f, const struct pool_facts *facts, bool json)
{
	struct report r;

	report_begin(&r, json, output(f));
	show_pool_put(&r, facts);
	report_end(&r);
}

static void
put_thread(struct fixture *f, const struct thread_status *thread, bool json)
{
	struct report r;

	report_begin(&r, json, output(f));
	show_threads_put(&r, "main", thread, 1);
	report_end(&r);
}

static void
pool_is_a_line_for_each_group_of_facts(void **state)
{
	struct pool_facts facts = quiet_pool();
	struct fixture *f = *state;

	put_pool(f, &facts, false);
	assert_string_equal(written(f),
	    "pool main\n"
	    "  threads     6 wanted, 7 resident\n"
	    "  roles       2 leading, 1 processing, 0 standby, 4 following\n"
	    "  classes     4 nice=0, 2 nice=5\n"
	    "  autoscale   off\n"
	    "  shards      2\n"
	    "  promotion   always, order priority\n"
	    "  cpus        0-1,5\n"
	    "  handlers    17, moved 21\n"
	    "  ledger      fetched 100 = dispatched 60 + merged 30 + stale 9 "
	    "+ in batch 1\n"
	    "  waits       50, errors 4\n"
	    "  turns       68, inline 20, resumed 8\n"
	    "  promotions  48, wakes 47\n"
	    "  leadership  adoptions 5, taken over 12, guarded 3\n"
	    "  long turns  4 running of 5, nicer by 10, 3 waiting, waits 22, "
	    "waited 1.5 us\n"
	    "  costs       wake 10.5 us, relay turn 4.2 us, accept turn 25.0 "
	    "us\n"
	    "  TLS keys    operations 33, in the last second 6\n"
	    "  times in us           count         p50         p90         p99"
	    "         max\n"
	    "  promotion delay           0         0.0         0.0         0.0"
	    "         0.0\n"
	    "  poll gap                  1         7.5         7.5         7.5"
	    "         7.5\n"
	    "  service                 100         1.0         1.0        57.3"
	    "      2000.0\n");
}

static void
ledger_in_motion_does_not_claim_to_balance(void **state)
{
	struct pool_facts facts = quiet_pool();
	struct fixture *f = *state;

	facts.status.sum.fetched++;
	put_pool(f, &facts, false);
	assert_non_null(strstr(written(f), " fetched 101 ~ dispatched 60 "));
}

static void
autoscaling_and_closing_shards_are_told(void **state)
{
	struct pool_facts facts = quiet_pool();
	struct fixture *f = *state;
	const char *text;

	facts.autoscale_min = 2;
	facts.autoscale_max = 8;
	facts.shards_closing = 1;
	put_pool(f, &facts, false);
	text = written(f);
	assert_non_null(strstr(text, "\n  autoscale   2..8 threads\n"));
	assert_non_null(strstr(text, "\n  shards      2, and 1 closing\n"));
}

static struct thread_stats stats = {.waits = 1,
    .wait_errors = 2,
    .promotions = 3,
    .wakes = 4,
    .adoptions = 5,
    .fetched = 4000000000,
    .dispatched = 10,
    .merged = 11,
    .stale = 12,
    .resumed = 13,
    .turns = 14,
    .inline_turns = 15};

static struct thread_status
busy_thread(void)
{
	struct thread_status t = {.place = 1023,
	    .tid = 4194304,
	    .nice = -20,
	    .grade = 3,
	    .shard = 255,
	    .role = ROLE_PROCESSING,
	    .role_ns = {[ROLE_FOLLOWING] = 1500000000,
	        [ROLE_LEADING] = 86400000000000,
	        [ROLE_PROCESSING] = 1000000},
	    .stats = &stats};

	memset(&stats.service, 0, sizeof(stats.service));
	memset(&stats.promotion_delay, 0, sizeof(stats.promotion_delay));
	histogram_add(&stats.service, 500);
	histogram_add(&stats.promotion_delay, 3000000000);
	return t;
}

static void
threads_are_tables_of_80_columns(void **state)
{
	const struct thread_status t = busy_thread();
	struct fixture *f = *state;
	const char *text;

	put_thread(f, &t, false);
	text = written(f);
	assert_string_equal(text,
	    "pool main\n"
	    "                                             seconds spent\n"
	    "  thread     tid shard class nice role       follows  "
	    "standby    leads processes\n"
	    "    1023 4194304   255     3  -20 processing      1.5      "
	    "0.0  86400.0      0.0\n"
	    "  thread    fetched dispatched    merged    stale  resumed      "
	    "turns     inline\n"
	    "    1023 4000000000         10        11       12       13      "
	    "   14         15\n"
	    "  thread       waits      errors  promotions       wakes   "
	    "adoptions\n"
	    "    1023           1           2           3           4       "
	    "    5\n"
	    "          promotion delay, us          poll gap, us           "
	    "service, us\n"
	    "  thread     p50     p99     max     p50     p99     max     p50 "
	    "    p99     max\n"
	    "    1023 3000000 3000000 3000000     0.0     0.0     0.0     0.5 "
	    "    0.5     0.5\n");
	while (*text) {
		size_t len = strcspn(text, "\n");

		assert_true(len <= 80);
		text += len + 1;
	}
}

static void
retiring_thread_is_called_so(void **state)
{
	struct thread_status t = busy_thread();
	struct fixture *f = *state;

	t.retiring = true;
	put_thread(f, &t, false);
	assert_non_null(strstr(written(f), " -20 retiring  "));
}

/* Reads the JSON that was written. */
static json_t *
reread(struct fixture *f)
{
	json_error_t error;
	const char *text = written(f);
	json_t *value = json_loads(text, 0, &error);

	if (!value)
		fail_msg("%s in:\n%s", error.text, text);
	assert_null(strstr(text, "\n\n"));
	assert_int_equal(text[strlen(text) - 1], '\n');
	return value;
}

static void
assert_integer(const json_t *object, const char *name, json_int_t expected)
{
	const json_t *value = json_object_get(object, name);

	if (!json_is_integer(value) || json_integer_value(value) != expected)
		fail_msg("%s is %lld, not %lld", name,
		    (long long)json_integer_value(value), (long long)expected);
}

static void
assert_text(const json_t *object, const char *name, const char *expected)
{
	const char *text = json_string_value(json_object_get(object, name));

	if (!text || strcmp(text, expected) != 0)
		fail_msg("%s is '%s', not '%s'", name, text ? text : "missing",
		    expected);
}

static void
assert_us(const json_t *object, const char *name, double expected)
{
	const json_t *value = json_object_get(object, name);

	if (!json_is_real(value) || json_real_value(value) != expected)
		fail_msg(
		    "%s is %f, not %f", name, json_real_value(value), expected);
}

static void
pool_as_json_has_every_fact(void **state)
{
	struct pool_facts facts = quiet_pool();
	json_t *o, *part;

	put_pool(*state, &facts, true);
	o = reread(*state);
	assert_text(o, "name", "main");
	assert_integer(o, "threads", 6);
	assert_integer(o, "resident", 7);
	part = json_object_get(o, "roles");
	assert_integer(part, "leading", 2);
	assert_integer(part, "processing", 1);
	assert_integer(part, "following", 4);
	part = json_object_get(o, "classes");
	assert_int_equal(json_array_size(part), 2);
	assert_integer(json_array_get(part, 0), "threads", 4);
	assert_integer(json_array_get(part, 1), "nice", 5);
	assert_true(json_is_null(json_object_get(o, "autoscale")));
	assert_integer(o, "shards", 2);
	assert_integer(o, "shards_closing", 0);
	assert_text(o, "promotion", "always");
	assert_text(o, "order", "priority");
	assert_text(o, "cpus", "0-1,5");
	assert_integer(o, "handlers", 17);
	assert_integer(o, "fetched", 100);
	assert_integer(o, "dispatched", 60);
	assert_integer(o, "merged", 30);
	assert_integer(o, "stale", 9);
	assert_integer(o, "in_batch", 1);
	assert_integer(o, "waits", 50);
	assert_integer(o, "wait_errors", 4);
	assert_integer(o, "turns", 68);
	assert_integer(o, "inline_turns", 20);
	assert_integer(o, "resumed", 8);
	assert_integer(o, "promotions", 48);
	assert_integer(o, "wakes", 47);
	assert_integer(o, "adoptions", 5);
	assert_integer(o, "moved", 21);
	assert_integer(o, "taken_over", 12);
	assert_integer(o, "guarded", 3);
	assert_integer(o, "long_running", 4);
	assert_integer(o, "long_limit", 5);
	assert_integer(o, "long_nice", 10);
	assert_integer(o, "long_waiting", 3);
	assert_integer(o, "long_waits", 22);
	assert_us(o, "long_waited_us", 1.5);
	assert_integer(o, "key_operations", 33);
	assert_integer(o, "key_rate", 6);
	assert_us(o, "wake_us", 10.477);
	assert_us(o, "relay_turn_us", 4.25);
	assert_us(o, "accept_turn_us", 24.999);
	part = json_object_get(o, "service_us");
	assert_integer(part, "count", 100);
	assert_us(part, "p99", 57.343);
	assert_us(part, "max", 2000);
	assert_integer(json_object_get(o, "poll_gap_us"), "count", 1);
	assert_us(json_object_get(o, "promotion_delay_us"), "p50", 0);
	json_decref(o);

	facts.autoscale_min = 2;
	facts.autoscale_max = 8;
	put_pool(*state, &facts, true);
	o = reread(*state);
	part = json_object_get(o, "autoscale");
	assert_integer(part, "min", 2);
	assert_integer(part, "max", 8);
	json_decref(o);
}

static void
thread_as_json_has_every_fact(void **state)
{
	const struct thread_status t = busy_thread();
	json_t *o;

	put_thread(*state, &t, true);
	o = reread(*state);
	assert_text(o, "pool", "main");
	assert_integer(o, "thread", 1023);
	assert_integer(o, "tid", 4194304);
	assert_integer(o, "shard", 255);
	assert_integer(o, "class", 3);
	assert_integer(o, "nice", -20);
	assert_true(json_is_false(json_object_get(o, "retiring")));
	assert_text(o, "role", "processing");
	assert_us(o, "following_us", 1500000);
	assert_us(o, "standby_us", 0);
	assert_us(o, "leading_us", 86400000000);
	assert_us(o, "processing_us", 1000);
	assert_integer(o, "fetched", 4000000000);
	assert_integer(o, "inline_turns", 15);
	assert_us(json_object_get(o, "service_us"), "max", 0.5);
	assert_us(json_object_get(o, "promotion_delay_us"), "max", 3000000);
	json_decref(o);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(pool_is_a_line_for_each_group_of_facts),
	    TEST(ledger_in_motion_does_not_claim_to_balance),
	    TEST(autoscaling_and_closing_shards_are_told),
	    TEST(threads_are_tables_of_80_columns),
	    TEST(retiring_thread_is_called_so),
	    TEST(pool_as_json_has_every_fact),
	    TEST(thread_as_json_has_every_fact),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
