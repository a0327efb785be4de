/* SPDX-License-Identifier: MIT
 * `set pool` on pools with real threads: `main` with four in two classes and
 * two shards, and `other`, which has one of each.
 */
#include "unit.h"

#include <ev.h>
#include <stdlib.h>

#include "commands/fixture.h"
#include "stats/pool_facts.h"
#include "commands/commands.h"
#include "config/cpus.h"
#include "config/pool_text.h"

static struct pool_spec pool_specs[] = {
    {.name = (char[]){"main"},
        .classes = {{.threads = 3}, {.threads = 1, .nice = 5}},
        .classes_n = 2,
        .shards = 2},
    {.name = (char[]){"other"},
        .classes = {{.threads = 1}},
        .classes_n = 1,
        .shards = 1},
};
static const struct spec spec = {.pools = pool_specs, .pools_n = 2};

static struct proxy proxy;
static struct ev_loop *loop;
static struct pools *pools;
static struct pool *pool;

static int
setup(void **state)
{
	struct fixture *f;
	struct err err;

	fixture_setup(state);
	f = *state;
	assert_int_equal(proxy_init(&proxy, 16, 0, 0), 0);
	loop = ev_loop_new(EVFLAG_AUTO);
	pools = pools_start(loop, &spec, &proxy, f->grace, &err);
	if (!pools)
		fail_msg("%s", err.text);
	pool = pools_at(pools, 0);
	return 0;
}

static int
teardown(void **state)
{
	pools_free(pools);
	ev_loop_destroy(loop);
	proxy_fini(&proxy);
	return fixture_teardown(state);
}

static struct set_pool_change changed;

/* Cuts the text at blanks, as the admin socket does. */
static bool
set(const char *text, struct err *err)
{
	char copy[4000], *rest = copy, *words[64];
	size_t n = 0;

	snprintf(copy, sizeof(copy), "%s", text);
	while ((words[n] = strsep(&rest, " ")))
		n += *words[n] != '\0';
	return set_pool(pools, words, &changed, err);
}

static void
assert_set(const char *text)
{
	struct err err;

	if (!set(text, &err))
		fail_msg("set pool %s: %s", text, err.text);
}

/* Everything that can be set, as one text. */
static void
settings(char *out, size_t size)
{
	char threads[THREADS_TEXT_SIZE], cpus[CPU_LIST_TEXT_SIZE];
	struct pool_facts f;

	pool_facts_read(pools, pool, &f);
	snprintf(out, size, "%s, %u..%u, shards %u, %s, %s, %.100s",
	    threads_text(f.classes, f.classes_n, threads), f.autoscale_min,
	    f.autoscale_max, f.status.shards, policy_name(f.status.policy),
	    promotion_order_name(f.status.order), cpu_list_text(&f.cpus, cpus));
}

/* It is refused in these words, to begin with, and changes nothing. */
static void
assert_refused(const char *text, const char *why)
{
	char before[300], after[300];
	struct err err;

	settings(before, sizeof(before));
	assert_false(set(text, &err));
	if (strncmp(err.text, why, strlen(why)) != 0)
		fail_msg("expected '%s', got '%s'", why, err.text);
	settings(after, sizeof(after));
	assert_string_equal(before, after);
}

static unsigned
resident(void)
{
	struct pool_status status;

	(void)pool_tick(pool);
	pool_status(pool, &status);
	return status.threads;
}

static void
threads_are_set_in_every_form(void **state)
{
	struct pool_class classes[POOL_CLASSES_MAX];
	cpu_set_t usable;
	unsigned min = 0, max = 0;

	(void)state;
	assert_set("main threads 7");
	assert_int_equal(pool_threads(pool), 7);
	assert_true(unit_wait(resident() == 7));
	assert_set("main threads 2 nice=1, 3 nice=2");
	assert_int_equal(pool_classes(pool, classes), 2);
	assert_int_equal(classes[0].threads, 2);
	assert_int_equal(classes[1].nice, 2);
	assert_true(unit_wait(resident() == 5));
	assert_set("main threads 3..6");
	assert_true(pools_autoscale(pools, pool, &min, &max));
	assert_int_equal(min, 3);
	assert_int_equal(max, 6);
	assert_int_equal(pool_threads(pool), 5);
	assert_set("main shards 1");
	assert_set("main threads auto");
	assert_false(pools_autoscale(pools, pool, &min, &max));
	cpus_allowed(&usable);
	assert_int_equal(pool_threads(pool), threads_auto(&usable));
}

static void
impossible_threads_change_nothing(void **state)
{
	(void)state;
	assert_refused(
	    "main threads 0", "'0' is not a number of threads; allowed");
	assert_refused(
	    "main threads 1025", "'1025' is not a number of threads");
	assert_refused("main threads 1000, 25", "'1000, 25' makes 1025");
	assert_refused("main threads 8..2", "'8..2' is not a range of threads");
	assert_refused("main threads 2 nice=20", "'nice=20' is not possible");
	assert_refused("main threads 1", "1 thread cannot serve 2 shards");
	assert_refused("main threads 1..4", "1 thread cannot serve 2 shards");
	assert_refused("main threads", "the value of threads is missing; "
	                               "allowed are auto, 1 to 1024");
}

static void
shards_are_as_many_as_threads_at_most(void **state)
{
	(void)state;
	assert_set("main shards 4");
	assert_int_equal(pool_shards_wanted(pool), 4);
	assert_set("main shards auto");
	assert_int_equal(pool_shards_wanted(pool), 2);
	assert_refused("main shards 5",
	    "5 shards need at least 5 threads, and there are 4; allowed are 1 "
	    "to 4");
	assert_refused("main shards 0", "'0' is not a number of shards");
	assert_refused("main shards", "the value of shards is missing");
	assert_set("main threads 2..8");
	assert_refused("main shards 3",
	    "3 shards need at least 3 threads, and autoscaling may leave 2");
	assert_set("main shards 2");
}

static void
promotion_and_order_are_choices(void **state)
{
	struct pool_status status;

	(void)state;
	assert_set("main promotion kernel");
	assert_set("main order priority");
	pool_status(pool, &status);
	assert_int_equal(status.policy, POLICY_KERNEL);
	assert_int_equal(status.order, ORDER_PRIORITY);
	assert_set("main promotion always");
	assert_set("main order fifo");
	pool_status(pool, &status);
	assert_int_equal(status.policy, POLICY_ALWAYS);
	assert_int_equal(status.order, ORDER_FIFO);
	assert_refused("main promotion alway",
	    "'alway' is unknown; did you mean 'always'? allowed are adaptive, "
	    "always, kernel");
	assert_refused("main order",
	    "the value of order is missing; allowed are lifo, fifo, priority");
	assert_refused("main order lifo fifo", "'lifo fifo' is unknown");
}

static void
cpus_are_those_of_this_machine(void **state)
{
	char text[CPU_LIST_TEXT_SIZE], list[CPU_LIST_TEXT_SIZE];
	cpu_set_t usable, one, now;
	int cpu = 0;

	(void)state;
	cpus_allowed(&usable);
	while (!CPU_ISSET(cpu, &usable))
		cpu++;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	snprintf(text, sizeof(text), "main cpus %d", cpu);
	assert_set(text);
	pool_cpus(pool, &now);
	assert_true(CPU_EQUAL(&now, &one));
	assert_set("main threads 5");
	pool_cpus(pool, &now);
	assert_true(CPU_EQUAL(&now, &one));
	snprintf(text, sizeof(text),
	    "CPU 1024 does not exist or may not be used here; allowed are "
	    "%.300s, or all",
	    cpu_list_text(&usable, list));
	assert_refused("main cpus 1024", text);
	assert_refused("main cpus 1-", "'1-' is not a list of CPUs");
	assert_set("main cpus all");
	pool_cpus(pool, &now);
	assert_true(CPU_EQUAL(&now, &usable));
}

static void
unknown_pools_and_settings_are_told_from_those_there_are(void **state)
{
	char text[4000] = "main threads ";

	(void)state;
	assert_refused("", "the name of a pool is missing");
	assert_refused("mian threads 2", "unknown pool 'mian'; did you mean "
	                                 "'main'? there are main, other");
	assert_refused("nonesuch threads 2",
	    "unknown pool 'nonesuch'; there are main, other");
	assert_refused("main", "what to set is missing; allowed are threads, "
	                       "shards, promotion, order, cpus");
	assert_refused("main thread 2", "'thread' cannot be set; did you mean "
	                                "'threads'? allowed are threads, ");
	memset(text + strlen(text), '1', 3000);
	assert_refused(text, "the value is too long; it may have 2599 ");
}

#undef TEST
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(threads_are_set_in_every_form),
	    TEST(impossible_threads_change_nothing),
	    TEST(shards_are_as_many_as_threads_at_most),
	    TEST(promotion_and_order_are_choices),
	    TEST(cpus_are_those_of_this_machine),
	    TEST(unknown_pools_and_settings_are_told_from_those_there_are),
	};

	unit_watchdog();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
