/* SPDX-License-Identifier: MIT
 * Each column of `show stat` and each key of `show info` is a metric or has a
 * reason not to be one; the text format of Prometheus.
 */
#include <stdlib.h>
#include <string.h>

#include "stats/metrics_filter.h"
#include "stats/metrics_text.h"
#include "stats/info.h"
#include "stats/stat_columns.h"
#include "unit.h"

static void
a_column_is_a_metric_or_has_a_reason(void **state)
{
	(void)state;
	for (size_t i = 0; i < stat_columns_n; i++) {
		const struct stat_column *c = &stat_columns[i];

		if (!c->metric != !c->no_metric)
			continue;
		fail_msg("column %s: %s", c->name,
		    c->metric ? "a metric, and a reason not to be one"
		              : "neither a metric nor a reason");
	}
}

static void
metrics_are_of_the_rows_of_their_column(void **state)
{
	static const unsigned kinds[] = {ROW_FRONTEND, ROW_BACKEND, ROW_SERVER};

	(void)state;
	for (size_t i = 0; i < stat_columns_n; i++)
		for (size_t k = 0; k < 3; k++)
			if (!stat_column_applies(&stat_columns[i], kinds[k]))
				assert_null(stat_column_metric(
				    &stat_columns[i], kinds[k]));
}

static void
servers_have_their_own_name(void **state)
{
	unsigned renamed = 0;

	(void)state;
	for (size_t i = 0; i < stat_columns_n; i++) {
		const struct stat_column *c = &stat_columns[i];
		const char *name = stat_column_metric(c, ROW_SERVER);

		if (!c->server_metric)
			continue;
		assert_non_null(stat_column_metric(c, ROW_BACKEND));
		assert_string_equal(name, c->server_metric);
		renamed++;
	}
	assert_int_equal(renamed, 3); /* active, backup, usable */
}

static void
a_key_is_a_metric_or_has_a_reason(void **state)
{
	(void)state;
	for (size_t i = 0; i < INFO_KEYS; i++) {
		const struct info_key *key = &info_keys[i];

		if (!key->metric != !key->no_metric)
			continue;
		fail_msg("key %s: %s", key->field.name,
		    key->metric ? "a metric, and a reason not to be one"
		                : "neither a metric nor a reason");
	}
}

static bool
ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n >= m && strcmp(text + n - m, end) == 0;
}

static void
check_own_name(const char *name, const char *tags, unsigned parts)
{
	assert_int_equal(tags[1] == 'C', ends_with(name, "_total"));
	assert_int_equal(parts > 1, ends_with(name, "_seconds"));
}

/* HAProxy's names follow no such rule. */
static void
own_names_end_in_their_unit_or_total(void **state)
{
	(void)state;
	for (size_t i = 0; i < stat_columns_n; i++)
		if (stat_columns[i].own)
			check_own_name(stat_columns[i].metric,
			    stat_columns[i].tags, stat_columns[i].parts);
	for (size_t i = 0; i < INFO_KEYS; i++)
		if (info_keys[i].own)
			check_own_name(info_keys[i].metric,
			    info_keys[i].field.tags, info_keys[i].parts);
}

static const struct metric_labels odd = {{"a", "q\"b\\c\nd", NULL}};

static void
label_and_help_texts_are_escaped(void **state)
{
	const struct metric_labels none = {{NULL}};
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	metric_begin(out, "m_total", "counter", "one\ntwo");
	metric_number(out, "m_total", &odd, 7);
	metric_text(out, "m", &none, "-1", 0);
	metric_text(out, "m_seconds", &none, "12034", 1000);
	metric_text(out, "m_seconds", &none, "12034", 1000000);
	fclose(out);
	assert_string_equal(text, "# HELP m_total one\\ntwo\n"
	                          "# TYPE m_total counter\n"
	                          "m_total{a=\"q\\\"b\\\\c\\nd\"} 7\n"
	                          "m -1\n"
	                          "m_seconds 12.034\n"
	                          "m_seconds 0.012034\n");
	free(text);
}

static void
histogram_buckets_are_cumulative(void **state)
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

/* Takes the values of `scope` one after the other, up to NULL. */
static enum metrics_scope
scopes_of(const char *const *values)
{
	struct metrics_filter filter = METRICS_FILTER_ALL;

	for (; *values; values++)
		assert_true(metrics_filter_take(&filter, "scope", *values));
	assert_false(filter.no_maint);
	return filter.scopes;
}

#define SCOPES(...) scopes_of((const char *const[]){__VA_ARGS__, NULL})

static void
scopes_add_up_and_an_empty_one_undoes_them(void **state)
{
	(void)state;
	assert_int_equal(scopes_of((const char *const[]){NULL}), SCOPE_ALL);
	assert_int_equal(SCOPES("server"), SCOPE_SERVER);
	assert_int_equal(SCOPES("server", "global", "resolver"),
	    SCOPE_SERVER | SCOPE_GLOBAL | SCOPE_RESOLVER);
	assert_int_equal(SCOPES("frontend", "*"), SCOPE_ALL);
	assert_int_equal(SCOPES(""), SCOPE_NONE);
	assert_int_equal(SCOPES("*", ""), SCOPE_NONE);
	assert_int_equal(SCOPES("server", "", "backend"), SCOPE_BACKEND);
	assert_int_equal(SCOPES("listener", "sticktable"), SCOPE_NONE);
}

static void
unknown_scopes_are_refused_and_other_parameters_ignored(void **state)
{
	struct metrics_filter filter = METRICS_FILTER_ALL;

	(void)state;
	assert_false(metrics_filter_take(&filter, "scope", "Server"));
	assert_false(metrics_filter_take(&filter, "scope", "serve"));
	assert_false(metrics_filter_take(&filter, "scope", NULL));
	filter = METRICS_FILTER_ALL;
	assert_true(metrics_filter_take(&filter, "extra-counters", NULL));
	assert_int_equal(filter.scopes, SCOPE_ALL);
	assert_false(filter.no_maint);
	assert_true(metrics_filter_take(&filter, "no-maint", NULL));
	assert_int_equal(filter.scopes, SCOPE_ALL);
	assert_true(filter.no_maint);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_column_is_a_metric_or_has_a_reason),
	    cmocka_unit_test(metrics_are_of_the_rows_of_their_column),
	    cmocka_unit_test(servers_have_their_own_name),
	    cmocka_unit_test(a_key_is_a_metric_or_has_a_reason),
	    cmocka_unit_test(own_names_end_in_their_unit_or_total),
	    cmocka_unit_test(label_and_help_texts_are_escaped),
	    cmocka_unit_test(histogram_buckets_are_cumulative),
	    cmocka_unit_test(scopes_add_up_and_an_empty_one_undoes_them),
	    cmocka_unit_test(
	        unknown_scopes_are_refused_and_other_parameters_ignored),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
