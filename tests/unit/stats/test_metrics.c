/* SPDX-License-Identifier: MIT
 * Every column of `show stat` and every key of `show info` is a metric, or it
 * is written why not (stats/metrics_table.c).
 */
#include <stdlib.h>
#include <string.h>

#include "stats/metrics.h"
#include "stats/metrics_table.h"
#include "stats/metrics_text.h"
#include "stats/info.h"
#include "unit.h"

static const unsigned kinds[] = {ROW_FRONTEND, ROW_BACKEND, ROW_SERVER};

/* Servers that are checked, or that track another one, are servers. */
static bool
rows_have(enum stat_name column, unsigned kind)
{
	unsigned have = stat_columns_kinds(column);

	if (have & (ROW_CHECKED | ROW_AGENT | ROW_TRACKING))
		have |= ROW_SERVER;
	return have & kind;
}

static void
a_column_is_a_metric_or_has_a_reason(void **state)
{
	unsigned wrong = 0;

	(void)state;
	for (enum stat_name i = 0; i < STAT_NAMES; i++)
		for (size_t k = 0; k < 3; k++) {
			bool has = metrics_have_column(i, kinds[k]);
			const char *why = stat_metric_lacks(i, kinds[k]);

			if (rows_have(i, kinds[k]) ? has == !why : !why)
				continue;
			wrong++;
			print_error("column %d (%s) of kind %u: %s\n", i,
			    stat_columns_description(i), kinds[k],
			    !why  ? "neither a metric nor a reason"
			    : has ? "a metric, and a reason"
			          : "a reason, and no such rows");
		}
	assert_int_equal(wrong, 0);
}

static bool
key_is_metric(enum info_key key)
{
	for (size_t i = 0; i < info_metrics_n; i++)
		if (info_metrics[i].key == key)
			return true;
	return false;
}

static void
a_key_is_a_metric_or_has_a_reason(void **state)
{
	unsigned wrong = 0;

	(void)state;
	for (enum info_key i = 0; i < INFO_KEYS; i++) {
		if (key_is_metric(i) == !info_metric_exhaustion(i))
			continue;
		wrong++;
		print_error("key %d (%s): %s\n", i, info_key_description(i),
		    key_is_metric(i) ? "a metric, and a reason"
		                     : "neither a metric nor a reason");
	}
	assert_int_equal(wrong, 0);
}

static bool
ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n >= m && strcmp(text + n - m, end) == 0;
}

/* HAProxy's names are as they are. */
static void
names_of_ours_say_unit_and_kind(void **state)
{
	(void)state;
	for (size_t i = 0; i < stat_metrics_n; i++) {
		const struct stat_metric *m = &stat_metrics[i];

		if (!m->own)
			continue;
		assert_int_equal(m->counter, ends_with(m->name, "_total"));
		assert_int_equal(m->parts > 1, ends_with(m->name, "_seconds"));
	}
	for (size_t i = 0; i < info_metrics_n; i++) {
		const struct info_metric *m = &info_metrics[i];

		if (!m->own)
			continue;
		assert_int_equal(m->counter, ends_with(m->name, "_total"));
		assert_int_equal(m->parts > 1, ends_with(m->name, "_seconds"));
	}
}

static const struct metric_labels odd = {{"a", "q\"b\\c\nd", NULL}};

static void
text_is_escaped_as_prometheus_reads_it(void **state)
{
	const struct metric_labels none = {{NULL}};
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	metric_begin(out, "m_total", "counter", "one\ntwo");
	metric_number(out, "m_total", &odd, 7);
	metric_text(out, "m", &none, "-1");
	metric_parts(out, "m_seconds", &none, 12034, 1000);
	metric_parts(out, "m_seconds", &none, 12034, 1000000);
	fclose(out);
	assert_string_equal(text, "# HELP m_total one\\ntwo\n"
	                          "# TYPE m_total counter\n"
	                          "m_total{a=\"q\\\"b\\\\c\\nd\"} 7\n"
	                          "m -1\n"
	                          "m_seconds 12.034\n"
	                          "m_seconds 0.012034\n");
	free(text);
}

/* Each bucket has those of the ones before, the last has all. */
static void
a_histogram_adds_up(void **state)
{
	static struct histogram h;
	const struct metric_labels labels = {{"p", "x", NULL}};
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	histogram_add(&h, 1000);
	histogram_add(&h, 3000);
	histogram_add(&h, 3000);
	histogram_add(&h, UINT64_C(60) * 1000000000);
	metric_histogram(out, "t", &labels, &h);
	fclose(out);
	assert_non_null(strstr(text, "t_bucket{p=\"x\",le=\"2.048e-06\"} 1\n"));
	assert_non_null(strstr(text, "t_bucket{p=\"x\",le=\"8.192e-06\"} 3\n"));
	assert_non_null(strstr(text, "le=\"34.3597384\"} 3\n"));
	assert_non_null(strstr(text, "t_bucket{p=\"x\",le=\"+Inf\"} 4\n"));
	assert_non_null(strstr(text, "t_sum{p=\"x\"} 60.000007000\n"));
	assert_non_null(strstr(text, "t_count{p=\"x\"} 4\n"));
	free(text);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_column_is_a_metric_or_has_a_reason),
	    cmocka_unit_test(a_key_is_a_metric_or_has_a_reason),
	    cmocka_unit_test(names_of_ours_say_unit_and_kind),
	    cmocka_unit_test(text_is_escaped_as_prometheus_reads_it),
	    cmocka_unit_test(a_histogram_adds_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
