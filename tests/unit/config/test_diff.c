/* SPDX-License-Identifier: MIT
 * What a reload says of two configurations, and that every key says what a
 * reload does with it.
 */
#include <stdlib.h>
#include <string.h>

#include "config/diff.h"
#include "config/support.h"
#include "config/values.h"
#include "unit.h"

#define GLOBAL "[global]\nnode = n\n[pool main]\nthreads = 2\n"

/* One line for each change, `! ` before one that takes a restart; new is the
 * caller's. */
static char *
diff(const char *old_text, const char *new_text, struct spec **ret_new)
{
	struct spec *old = load(old_text), *new = load(new_text);
	struct changes changes;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	changes_init(&changes);
	assert_true(config_diff(old, new, &changes));
	for (size_t i = 0; i < changes.n; i++)
		fprintf(out, "%s%s\n", changes.all[i].restart ? "! " : "",
		    changes.all[i].text);
	assert_int_equal(fclose(out), 0);
	changes_fini(&changes);
	spec_free(old);
	if (ret_new)
		*ret_new = new;
	else
		spec_free(new);
	return text;
}

static void
assert_diff(const char *old_text, const char *new_text, const char *expected)
{
	char *got = diff(old_text, new_text, NULL);

	assert_string_equal(got, expected);
	free(got);
}

static void
equal_files_differ_in_nothing(void **state)
{
	(void)state;
	assert_diff(
	    GLOBAL FRONTEND BACKEND, GLOBAL "\n; x\n" FRONTEND BACKEND, "");
}

static void
each_live_value_is_told_with_old_and_new(void **state)
{
	(void)state;
	assert_diff(GLOBAL FRONTEND BACKEND,
	    "[global]\nnode = m\nlog = off\n[pool main]\nthreads = 5\n" FRONTEND
	    "timeout_client = 7s\n" BACKEND
	    "check = http path=/x\nretries = 0\n",
	    "global: log: stderr format=tcplog sample=1/1 -> off\n"
	    "global: node: n -> m\n"
	    "frontend f: timeout_client: 5m -> 7s\n"
	    "backend b: check: connect interval=2s jitter=10% init_state=up "
	    "timeout=2s fall=3 rise=2 -> "
	    "http path=/x method=GET status=200-399 version=1.1 interval=2s "
	    "jitter=10% init_state=up timeout=2s fall=3 rise=2\n"
	    "backend b: retries: 3 -> 0\n");
}

/* n ranges, the last of them another one. */
static char *
with_ranges(unsigned n, unsigned last)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	fputs(GLOBAL FRONTEND "listen = :9 accept_proxy\n", out);
	for (unsigned i = 1; i < n; i++)
		fprintf(out, "proxy_from = 10.%u.%u.0/24\n", i / 256, i % 256);
	fprintf(out, "proxy_from = 192.0.2.%u\n", last);
	fputs(BACKEND, out);
	assert_int_equal(fclose(out), 0);
	return text;
}

static void
limits_on_bandwidth_are_told(void **state)
{
	(void)state;
	assert_diff(FRONTEND "bandwidth = in=1m per=session\n" BACKEND
	                     "server = t 10.0.0.2:80 bandwidth_in=8k\n",
	    FRONTEND "bandwidth = in=2m per=session\n"
	             "bandwidth = out=1m per=frontend\n" BACKEND
	             "server = t 10.0.0.2:80 bandwidth_in=9k\n"
	             "bandwidth = out=1m per=server\n",
	    "frontend f: bandwidth: in=1MiB/s per=session -> "
	    "in=2MiB/s per=session, out=1MiB/s per=frontend\n"
	    "backend b: server t: bandwidth_in: 8KiB/s -> 9KiB/s\n"
	    "backend b: bandwidth: (no limit) -> out=1MiB/s per=server\n");
	assert_diff("[list a]\n" FRONTEND
	            "bandwidth = in=1m per=session only=list:a\n" BACKEND,
	    "[list a]\n" FRONTEND
	    "bandwidth = in=1m per=session except=list:a\n" BACKEND,
	    "frontend f: bandwidth: in=1MiB/s per=session only=list:a -> "
	    "in=1MiB/s per=session except=list:a\n");
}

static void
a_difference_behind_many_values_is_told(void **state)
{
	char *old = with_ranges(400, 1), *new = with_ranges(400, 2);
	char *longer = with_ranges(401, 1);

	(void)state;
	assert_diff(old, old, "");
	assert_diff(old, new,
	    "frontend f: proxy_from: ..., 192.0.2.1 -> ..., 192.0.2.2\n");
	assert_diff(old, longer,
	    "frontend f: proxy_from: ..., 192.0.2.1 -> ..., 10.1.144.0/24, "
	    "192.0.2.1\n");
	free(old);
	free(new);
	free(longer);
}

static void
values_from_defaults_are_those_of_the_section(void **state)
{
	(void)state;
	assert_diff("[defaults]\ntimeout_client = 1m\n" FRONTEND BACKEND,
	    FRONTEND BACKEND "[defaults]\ntimeout_client = 2m\n",
	    "frontend f: timeout_client: 1m -> 2m\n");
}

static void
sections_come_and_go_by_name(void **state)
{
	(void)state;
	assert_diff(GLOBAL FRONTEND BACKEND,
	    GLOBAL "[pool p]\n[frontend g]\nlisten = :80\nbackend = c\n"
	           "[backend c]\nserver = s 10.0.0.1:80\n",
	    "pool p is new\n"
	    "frontend f is removed\nfrontend g is new\n"
	    "backend b is removed\nbackend c is new\n");
}

static void
references_are_compared_by_name(void **state)
{
	(void)state;
	assert_diff("[backend c]\nserver = s 10.0.0.1:80\n" BACKEND FRONTEND,
	    FRONTEND BACKEND "[backend c]\nserver = s 10.0.0.1:80\n", "");
}

/* In whichever line they stand, and with which others. */
static void
names_of_rules_are_compared_one_by_one(void **state)
{
	static const char *const rest =
	    BACKEND "[backend c]\nserver = s 10.0.0.1:80\n";
	char old[600], new[600];

	(void)state;
	snprintf(old, sizeof(old), "%s%s%s", FRONTEND,
	    "sni = x y *.z backend=b\nsni = w backend=c\n", rest);
	snprintf(new, sizeof(new), "%s%s%s", FRONTEND,
	    "sni = w X backend=c\nsni = *.z backend=b\nsni = q backend=b\n",
	    rest);
	assert_diff(old, new,
	    "frontend f: sni: q -> b is new\n"
	    "frontend f: sni: x: b -> c\n"
	    "frontend f: sni: y -> b is removed\n");
	snprintf(new, sizeof(new), "%s%s%s", FRONTEND,
	    "sni = w backend=c\nsni = *.z backend=b\nsni = x y backend=b\n",
	    rest);
	assert_diff(old, new, "");
}

static void
servers_are_compared_by_name(void **state)
{
	(void)state;
	assert_diff(FRONTEND "[backend b]\nserver = s 10.0.0.1:80\n"
	                     "server = t 10.0.0.2:80\nserver = u 10.0.0.3:80\n",
	    FRONTEND "[backend b]\nserver = t 10.0.0.2:80 weight=7\n"
	             "server = s 10.0.0.9:80\nserver = v 10.0.0.4:80\n",
	    "backend b: server s: 10.0.0.1:80 -> 10.0.0.9:80, another server\n"
	    "backend b: server t: weight: 100 -> 7\n"
	    "backend b: server u is removed\n"
	    "backend b: server v is new\n");
}

static void
shares_of_backends_are_told(void **state)
{
	static const char more[] = "[backend c]\nserver = s 10.0.0.1:80\n";
	char before[500], after[500];

	(void)state;
	snprintf(before, sizeof(before), "%s%s%s", FRONTEND, BACKEND, more);
	snprintf(after, sizeof(after), "%s%s%s%s", FRONTEND,
	    "backend = c weight=5\n", BACKEND, more);
	assert_diff(before, after,
	    "frontend f: backend: b -> b weight=100, c weight=5\n");
}

static void
a_word_alone_is_told_as_on(void **state)
{
	(void)state;
	assert_diff(FRONTEND "[backend b]\nserver = s 10.0.0.1:80\n"
	                     "server = t 10.0.0.2:80 backup slow_start=5s\n",
	    FRONTEND "[backend b]\nserver = s 10.0.0.1:80 backup\n"
	             "server = t 10.0.0.2:80 slow_start=off on_down=close\n",
	    "backend b: server s: backup: (no) -> on\n"
	    "backend b: server t: backup: on -> (no)\n"
	    "backend b: server t: slow_start: 5s -> off\n"
	    "backend b: server t: on_down: (the backend's) -> close\n");
}

static void
listens_are_compared_by_address(void **state)
{
	(void)state;
	assert_diff(
	    "[frontend f]\nlisten = 127.0.0.1:0\nlisten = unix:/a\n"
	    "listen = 127.0.0.1:0\nlisten = 127.0.0.1:0\nbackend = b\n" BACKEND,
	    "[frontend f]\nlisten = 127.0.0.1:0\nlisten = unix:/a mode=0600\n"
	    "listen = 127.0.0.1:0\nlisten = :81\nbackend = b\n" BACKEND,
	    "frontend f: listen: unix:/a: mode: 0666 -> 0600\n"
	    "frontend f: listen: 127.0.0.1:0 is removed\n"
	    "frontend f: listen: :81 is new\n");
}

static void
admin_sockets_are_compared_by_address(void **state)
{
	(void)state;
	assert_diff("[global]\nnode = n\nadmin = /a mode=0600\nadmin = /b\n"
	            "admin = 127.0.0.1:0\nadmin = 127.0.0.1:0\n"
	            "http = 127.0.0.1:1\n" FRONTEND BACKEND,
	    "[global]\nnode = n\nadmin = 127.0.0.1:0 level=admin\n"
	    "admin = /c\nadmin = unix:/a maxconn=3\n" FRONTEND BACKEND,
	    "global: admin: unix:/a: mode: 0600 -> 0660\n"
	    "global: admin: unix:/a: maxconn: 256 -> 3\n"
	    "global: admin: /b is removed\n"
	    "global: admin: 127.0.0.1:0: level: user -> admin\n"
	    "global: admin: 127.0.0.1:0 is removed\n"
	    "global: admin: /c is new\n"
	    "global: http: 127.0.0.1:1 level=user -> (none)\n");
}

static void
what_takes_a_restart_stays_in_force_and_is_told_each_time(void **state)
{
	static const char old[] =
	    "[global]\nnode = n\nuser = root\nchroot = /a\n" FRONTEND BACKEND;
	static const char new[] =
	    "[global]\nnode = n\ngroup = root\nstrict_limits = off\n" FRONTEND
	        BACKEND;
	struct spec *after;
	char *got = diff(old, new, &after);

	(void)state;
	assert_string_equal(got,
	    "! global: user: root -> (the user who started lfproxy) takes a "
	    "restart; it stays root\n"
	    "! global: group: (the user's) -> root takes a restart; it stays "
	    "(the user's)\n"
	    "! global: chroot: /a -> (/) takes a restart; it stays /a\n"
	    "! global: strict_limits: on -> off takes a restart; it stays "
	    "on\n");
	assert_string_equal(after->global.user, "root");
	assert_true(after->global.strict_limits);
	assert_null(after->global.group);
	free(got);
	spec_free(after);
}

static void
a_filter_of_system_calls_becomes_stricter_only(void **state)
{
	(void)state;
	assert_diff("[global]\nnode = n\nseccomp = off\n" FRONTEND BACKEND,
	    "[global]\nnode = n\nseccomp = on\n" FRONTEND BACKEND,
	    "global: seccomp: off -> on\n");
	assert_diff("[global]\nnode = n\nseccomp = on\n" FRONTEND BACKEND,
	    "[global]\nnode = n\nseccomp = auto\n" FRONTEND BACKEND,
	    "global: seccomp: on -> auto\n");
	assert_diff("[global]\nnode = n\nseccomp = auto\n" FRONTEND BACKEND,
	    "[global]\nnode = n\nseccomp = log\n" FRONTEND BACKEND,
	    "! global: seccomp: auto -> log takes a restart; it stays "
	    "auto\n");
	assert_diff("[global]\nnode = n\nseccomp = log\n" FRONTEND BACKEND,
	    "[global]\nnode = n\nseccomp = off\n" FRONTEND BACKEND,
	    "! global: seccomp: log -> off takes a restart; it stays log\n");
}

static void
check_key(const char *section, const struct key *key, const struct key *within)
{
	if ((key->restart || key->loosens) && !config_diff_keeps(key))
		fail_msg("[%s] %s takes a restart, but config/diff.c does not "
		         "know how to keep a value of its type",
		    section, key->name);
	if (within && within->restart && !key->restart)
		fail_msg("[%s] %s is live, but %s takes a restart", section,
		    key->name, within->name);
}

static void
reloads_keep_the_value_of_each_key_that_takes_a_restart(void **state)
{
	(void)state;
	for (enum section_kind s = 0; s < SECTION_KINDS; s++) {
		const struct key *k;

		for (k = NULL; (k = key_next(s, k));) {
			check_key(sections[s].name, k, NULL);
			for (const struct key *o = k->options; o && o->name;
			     o++)
				check_key(sections[s].name, o, k);
		}
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(equal_files_differ_in_nothing),
	    cmocka_unit_test(each_live_value_is_told_with_old_and_new),
	    cmocka_unit_test(limits_on_bandwidth_are_told),
	    cmocka_unit_test(a_difference_behind_many_values_is_told),
	    cmocka_unit_test(values_from_defaults_are_those_of_the_section),
	    cmocka_unit_test(sections_come_and_go_by_name),
	    cmocka_unit_test(references_are_compared_by_name),
	    cmocka_unit_test(names_of_rules_are_compared_one_by_one),
	    cmocka_unit_test(servers_are_compared_by_name),
	    cmocka_unit_test(shares_of_backends_are_told),
	    cmocka_unit_test(a_word_alone_is_told_as_on),
	    cmocka_unit_test(listens_are_compared_by_address),
	    cmocka_unit_test(admin_sockets_are_compared_by_address),
	    cmocka_unit_test(
	        what_takes_a_restart_stays_in_force_and_is_told_each_time),
	    cmocka_unit_test(a_filter_of_system_calls_becomes_stricter_only),
	    cmocka_unit_test(
	        reloads_keep_the_value_of_each_key_that_takes_a_restart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
