/* SPDX-License-Identifier: MIT
 * The effective configuration as text, and the list of all keys.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/text.h"
#include "config/config.h"
#include "config/cpus.h"
#include "config/keys.h"
#include "config/pool_text.h"
#include "config/support.h"
#include "config/values.h"

/* Loads, prints, loads what was printed, prints that: twice the same. */
static char *
round_trip(const char *text)
{
	struct spec *spec = load(text), *again;
	char *printed = print(spec), *printed_again;

	spec_free(spec);
	again = load(printed);
	printed_again = print(again);
	spec_free(again);
	assert_string_equal(printed, printed_again);
	free(printed_again);
	return printed;
}

static void
assert_prints(const char *text, const char *line)
{
	char *printed = round_trip(text);

	if (!strstr(printed, line))
		fail_msg("no '%s' in:\n%s", line, printed);
	free(printed);
}

static void
every_default_is_printed(void **state)
{
	char *printed = round_trip(
	    "[global]\nnode = n\n[pool main]\nthreads = 2\n" FRONTEND BACKEND);

	(void)state;
	assert_string_equal(printed,
	    "; lfproxy " LFPROXY_VERSION
	    ": the effective configuration, with every default\n"
	    "\n[global]\n"
	    "; admin is not set: none\n"
	    "log = stderr\n"
	    "; user is not set: whoever started lfproxy\n"
	    "; group is not set: the user's\n"
	    "node = n\n"
	    "drain_timeout = 30s\n"
	    "\n[pool main]\n"
	    "threads = 2\n"
	    "shards = auto ; here 1\n"
	    "promotion = adaptive\n"
	    "order = lifo\n"
	    "cpus = all\n"
	    "\n[frontend f]\n"
	    "listen = :80\n"
	    "backend = b\n"
	    "pool = main\n"
	    "association = unbound\n"
	    "timeout_client = 5m\n"
	    "timeout_client_fin = 30s\n"
	    "\n[backend b]\n"
	    "balance = roundrobin\n"
	    "server = s 10.0.0.1:80 weight=100\n"
	    "check = connect interval=2s timeout=2s fall=3 rise=2\n"
	    "retries = 3\n"
	    "timeout_connect = 5s\n"
	    "timeout_server = 5m\n"
	    "timeout_server_fin = 5m\n");
	free(printed);
}

static void
what_was_set_is_printed(void **state)
{
	(void)state;
	assert_prints("[global]\nadmin=/run/a\n" FRONTEND BACKEND,
	    "\nadmin = /run/a mode=0660\n");
	assert_prints("[global]\nuser=root\ngroup=root\n" FRONTEND BACKEND,
	    "\nuser = root\ngroup = root\n");
	assert_prints(FRONTEND "timeout_client=90s\n" BACKEND,
	    "\ntimeout_client = 90s\n");
	assert_prints(FRONTEND "listen = unix:/run/x mode=7\n" BACKEND,
	    "\nlisten = :80\nlisten = unix:/run/x mode=0007\n");
	assert_prints(FRONTEND BACKEND "check = off\n", "\ncheck = off\n");
	assert_prints(FRONTEND BACKEND
	    "check = http path=/h host=h:1 method=OPTIONS status=200-204\n",
	    "\ncheck = http path=/h host=h:1 method=OPTIONS status=200-204 "
	    "interval=2s timeout=2s fall=3 rise=2\n");
	assert_prints(FRONTEND BACKEND "check = http status=200-200\n",
	    "\ncheck = http path=/ method=GET status=200 interval=2s");
	assert_prints(
	    FRONTEND BACKEND "[defaults]\nretries = 7\n", "\nretries = 7\n");
}

static void
pools_are_printed_as_short_as_they_can_be_written(void **state)
{
	(void)state;
	assert_prints("[pool p]\nthreads=2..8\nshards=2\n" FRONTEND BACKEND,
	    "\nthreads = 2..8\nshards = 2\n");
	assert_prints("[pool p]\nthreads=4 nice=0\n" FRONTEND BACKEND,
	    "\nthreads = 4\nshards = auto ; here 1\n");
	assert_prints("[pool p]\nthreads=4  nice=3\n" FRONTEND BACKEND,
	    "\nthreads = 4 nice=3\n");
	assert_prints("[pool p]\nthreads=4,2 nice=-1\n" FRONTEND BACKEND,
	    "\nthreads = 4 nice=0, 2 nice=-1\n");
	assert_prints(
	    "[pool p]\norder=priority\npromotion=kernel\n" FRONTEND BACKEND,
	    "\npromotion = kernel\norder = priority\n");
	assert_prints(
	    FRONTEND "association=bound\n" BACKEND, "\nassociation = bound\n");
}

static void
cpus_are_printed_as_a_list(void **state)
{
	char list[CPU_LIST_TEXT_SIZE], text[3000], line[3000];
	cpu_set_t usable;

	(void)state;
	cpus_allowed(&usable);
	cpu_list_text(&usable, list);
	if (strlen(list) > 100)
		skip();
	snprintf(
	    text, sizeof(text), "[pool p]\ncpus = %s\n" FRONTEND BACKEND, list);
	snprintf(line, sizeof(line), "\ncpus = %s\n", list);
	assert_prints(text, line);
}

static void
automatic_threads_stay_automatic(void **state)
{
	struct spec *spec = load(FRONTEND BACKEND);
	char expected[80];

	(void)state;
	snprintf(expected, sizeof(expected), "\nthreads = auto ; here %u\n",
	    spec->pools[0].classes[0].threads);
	spec_free(spec);
	assert_prints(FRONTEND BACKEND, expected);
}

static void
assert_lines_fit(const char *text)
{
	char *printed = round_trip(text);

	for (const char *p = printed; *p; p += strcspn(p, "\n") + 1)
		assert_true(strcspn(p, "\n") < 200);
	free(printed);
}

/* With all its options written out the line would be longer than inih reads,
 * so that those at their defaults stay away. */
static void
longest_values_come_back(void **state)
{
	char text[1024];

	(void)state;
	for (int n = 60; n <= 169; n++) {
		snprintf(text, sizeof(text),
		    FRONTEND BACKEND "check = http path=/%0*d\n", n, 1);
		assert_lines_fit(text);
	}
	snprintf(text, sizeof(text),
	    FRONTEND BACKEND
	    "check = http method=OPTIONS interval=1500ms timeout=60000ms "
	    "rise=0007 path=/%0110d\n",
	    1);
	assert_lines_fit(text);
	snprintf(text, sizeof(text),
	    FRONTEND "[backend b]\nserver = %040d unix:/%0106d weight=9\n", 1,
	    1);
	assert_lines_fit(text);
}

/* Defaults that equal their own printed form can be told apart from what was
 * set, in print_options(); and every text must be one that is allowed. */
static void
assert_default_is_canonical(const struct key *key)
{
	union {
		struct global_spec global;
		struct pool_spec pool;
		struct frontend_spec frontend;
		struct listen_spec listen;
		struct backend_spec backend;
		struct server_spec server;
		struct check_spec check;
		char *strings[64];
	} object;
	struct shown s = {.key = key, .object = &object};
	char text[VALUE_TEXT_SIZE];

	memset(&object, 0, sizeof(object));
	assert_true(key->default_text || key->default_note);
	if (!key->default_text)
		return;
	assert_true(value_set_default(key, &object, NULL));
	assert_true(key->type->print(&s, 0, text));
	if (!key->options) /* `auto ; here 2` */
		text[strcspn(text, " ")] = '\0';
	assert_int_equal(
	    strncmp(text, key->default_text, strlen(key->default_text)), 0);
	if (!key->options)
		assert_string_equal(text, key->default_text);
	if (key->type == &type_choice_text || key->type == &type_url_path)
		free(*(char **)(void *)((char *)&object + key->offset));
}

static void
defaults_in_the_table_are_canonical(void **state)
{
	(void)state;
	for (enum section_kind k = 0; k < SECTION_KINDS; k++) {
		const struct key *key;
		size_t position = 0, n = 0;
		enum section_kind home;

		while ((key = key_next(k, &position, &home))) {
			const struct key *o = key->options;

			assert_default_is_canonical(key);
			for (; o && o->name; o++)
				assert_default_is_canonical(o);
			n++;
		}
		assert_true(n > 0);
	}
}

static void
list_has_a_line_for_each_key_and_option(void **state)
{
	static const char *const lines[] = {
	    "global\tdrain_timeout\t30s\t10ms to 30d\t",
	    "global\tadmin:mode\t0660\tan octal file mode\t",
	    "pool\tthreads\tauto\t" THREADS_ALLOWED "\t",
	    "defaults\ttimeout_client\t5m\t10ms to 30d\t",
	    "defaults\tcheck:interval\t2s\t10ms to 1d\t",
	    "frontend\ttimeout_client\t5m\t10ms to 30d\t",
	    "frontend\tlisten\trequired\tIP:PORT, [V6]:PORT, :PORT or unix",
	    "backend\tserver:weight\t100\t0 to 256\t",
	    "backend\tcheck:method\tGET\tGET, HEAD, OPTIONS\t",
	    "backend\tbalance\troundrobin\troundrobin\t",
	};
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	(void)state;
	keys_list(f);
	fclose(f);
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		if (!strstr(text, lines[i]))
			fail_msg("no '%s' in:\n%s", lines[i], text);
	for (char *line = text, *end; *line; line = end + 1) {
		size_t tabs = 0;

		end = strchr(line, '\n');
		assert_non_null(end);
		*end = '\0';
		for (const char *p = line; *p; p++)
			tabs += *p == '\t';
		assert_int_equal(tabs, 4);
		assert_null(strstr(line, "(null)"));
	}
	free(text);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_default_is_printed),
	    cmocka_unit_test(what_was_set_is_printed),
	    cmocka_unit_test(pools_are_printed_as_short_as_they_can_be_written),
	    cmocka_unit_test(cpus_are_printed_as_a_list),
	    cmocka_unit_test(automatic_threads_stay_automatic),
	    cmocka_unit_test(longest_values_come_back),
	    cmocka_unit_test(defaults_in_the_table_are_canonical),
	    cmocka_unit_test(list_has_a_line_for_each_key_and_option),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
