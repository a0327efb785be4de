/* SPDX-License-Identifier: MIT
 * Rules on names: which of them a name gets, and what the look costs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "model/sni_map.h"
#include "unit.h"

/* Rule i of the map has route i. */
static struct sni_map *
make(struct frontend_spec *f, struct rule_spec *rules, size_t n)
{
	uint16_t *routes = calloc(n, sizeof(*routes));
	struct sni_map *map;

	assert_non_null(routes);
	for (size_t i = 0; i < n; i++)
		routes[i] = (uint16_t)i;
	*f = (struct frontend_spec){.rules = rules, .rules_n = n};
	map = sni_map_new(rules, 0, n, routes);
	assert_non_null(map);
	free(routes);
	return map;
}

static int
find(const struct sni_map *map, const char *name)
{
	const struct sni_entry *e = sni_map_find(map, name, strlen(name));

	if (!e)
		return -1;
	assert_int_equal(e->route, e->rule);
	return e->route;
}

static void
exact_goes_before_the_longest_wildcard(void **state)
{
	static char names[][80] = {"*.example.com", "a.example.com b.org",
	    "*.b.example.com *.c.org", "*.com", "x.y.b.example.com"};
	struct rule_spec rules[5] = {0};
	struct frontend_spec f;
	struct sni_map *map;

	for (int i = 0; i < 5; i++)
		rules[i].names = names[i];
	map = make(&f, rules, 5);
	assert_int_equal(find(map, "a.example.com"), 1);
	assert_int_equal(find(map, "b.org"), 1);
	assert_int_equal(find(map, "z.example.com"), 0);
	assert_int_equal(find(map, "z.a.example.com"), 0);
	assert_int_equal(find(map, "b.example.com"), 0);
	assert_int_equal(find(map, "z.b.example.com"), 2);
	assert_int_equal(find(map, "w.y.b.example.com"), 2);
	assert_int_equal(find(map, "x.y.b.example.com"), 4);
	assert_int_equal(find(map, "example.com"), 3);
	assert_int_equal(find(map, "q.c.org"), 2);
	assert_int_equal(find(map, "com"), -1);
	assert_int_equal(find(map, "c.org"), -1);
	assert_int_equal(find(map, "xexample.org"), -1);
	assert_int_equal(find(map, "a.example.co"), -1);
	free(map);
}

static void
without_wildcards_only_the_whole_name_counts(void **state)
{
	static char name[] = "a.b";
	struct rule_spec rule = {.names = name};
	struct frontend_spec f;
	struct sni_map *map = make(&f, &rule, 1);

	assert_int_equal(find(map, "a.b"), 0);
	assert_int_equal(find(map, "x.a.b"), -1);
	assert_int_equal(find(map, "b"), -1);
	free(map);
}

static double
cpu_ns(void)
{
	struct timespec t;

	assert_int_equal(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t), 0);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* The CPU nanoseconds that a look takes, among twice so many names. */
static double
cost(unsigned n, const char *before, const char *behind, bool there)
{
	struct rule_spec *rules = calloc(n, sizeof(*rules));
	struct frontend_spec f;
	struct sni_map *map;
	char wanted[64];
	double from, ns;

	assert_non_null(rules);
	for (unsigned i = 0; i < n; i++)
		assert_true(asprintf(&rules[i].names,
		                "h%u.example.com *.w%u.org", i, i) > 0);
	map = make(&f, rules, n);
	from = cpu_ns();
	for (unsigned i = 0; i < 100000; i++) {
		unsigned which = i * 7919u % n;

		snprintf(
		    wanted, sizeof(wanted), "%s%u%s", before, which, behind);
		assert_int_equal(find(map, wanted), there ? (int)which : -1);
	}
	ns = (cpu_ns() - from) / 100000;
	for (unsigned i = 0; i < n; i++)
		free(rules[i].names);
	free(rules);
	free(map);
	return ns;
}

static void
ten_thousand_names_are_found_as_quickly_as_ten(void **state)
{
	double none = cost(10000, "a.b.c.d", ".net", false);

	print_message("ns for exact, wildcard, none; 10 names: %.0f %.0f %.0f; "
	              "20000: %.0f %.0f %.0f\n",
	    cost(5, "h", ".example.com", true), cost(5, "a.b.w", ".org", true),
	    cost(5, "a.b.c.d", ".net", false),
	    cost(10000, "h", ".example.com", true),
	    cost(10000, "a.b.w", ".org", true), none);
	unit_skip_unless_time_is_judged();
	/* A walk over all of them would take 50 us and more. */
	assert_true(none < 20000);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(exact_goes_before_the_longest_wildcard),
	    cmocka_unit_test(without_wildcards_only_the_whole_name_counts),
	    cmocka_unit_test(ten_thousand_names_are_found_as_quickly_as_ten),
	};

	unit_watchdog();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
