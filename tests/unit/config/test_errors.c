/* SPDX-License-Identifier: MIT
 * What a configuration may not say, and the words in which it is told.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "config/support.h"

struct row {
	const char *head, *line, *expected;
};

static void
assert_rows(const struct row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++)
		assert_line_error(rows[i].head, rows[i].line, rows[i].expected);
}

#define ASSERT_ROWS(rows) assert_rows(rows, sizeof(rows) / sizeof(rows[0]))

static void
unknown_sections(void **state)
{
	(void)state;
	assert_errors(FRONTEND BACKEND "[frontent web]\nx = 1\n[Global]\n[x]\n",
	    "6: unknown section [frontent web]; did you mean 'frontend'? "
	    "allowed are global, pool, defaults, frontend, backend\n"
	    "8: unknown section [Global]; did you mean 'global'?\n"
	    "9: unknown section [x]; allowed are global");
}

static void
unknown_keys(void **state)
{
	static const struct row rows[] = {
	    {"global", "adnim = /x",
	        "unknown key 'adnim' in [global]; did you mean 'admin'? "
	        "allowed are admin, log, user, group, node, drain_timeout"},
	    {"pool p", "thread = 1",
	        "unknown key 'thread' in [pool p]; did you mean 'threads'? "
	        "allowed are threads, shards, promotion, order, cpus"},
	    {"defaults", "timeout-client = 1s",
	        "unknown key 'timeout-client' in [defaults]; did you mean "
	        "'timeout_client'? allowed are timeout_client, "},
	    {"frontend web", "xyzzy = 1",
	        "unknown key 'xyzzy' in [frontend web]; allowed are listen, "
	        "backend, pool, association, timeout_client, "
	        "timeout_client_fin"},
	    {"backend x", "Retries = 1",
	        "unknown key 'Retries' in [backend x]; did you mean"},
	    {"defaults", "listen = :80",
	        "the key 'listen' does not belong in [defaults] but in "
	        "[frontend NAME]"},
	    {"backend x", "timeout_client = 1s",
	        "the key 'timeout_client' does not belong in [backend x] but "
	        "in [frontend NAME]"},
	    {"frontend web", "threads = 2",
	        "the key 'threads' does not belong in [frontend web] but in "
	        "[pool NAME]"},
	    /* As HAProxy writes it; the first ':' is taken for a separator. */
	    {"backend x", "server a 10.0.0.1:80",
	        "'server a 10.0.0.1' is no key; write KEY = VALUE"},
	};

	(void)state;
	ASSERT_ROWS(rows);
}

static void
names_of_sections(void **state)
{
	(void)state;
	assert_errors(FRONTEND BACKEND
	    "[pool]\n[pool a b]\n[pool a/b]\n[global x]\n"
	    "[defaults x]\n"
	    "[pool aaaaaaaaaabbbbbbbbbbccccccccccdddddddddde]",
	    "6: [pool] has no name; write [pool NAME]\n"
	    "7: [pool a b]: 'a b' is no name; allowed are letters, digits and "
	    "-_.:, at most 40 of them\n"
	    "8: [pool a/b]: 'a/b' is no name\n"
	    "9: [global x] has a name; write [global], of which there is one\n"
	    "10: [defaults x] has a name; write [defaults], of which there\n"
	    "11: [pool aaaaaaaaaabbbbbbbbbbccccccccccdddddddddde]: 'aaaa");
}

static void
longest_name_is_taken(void **state)
{
	(void)state;
	spec_free(load(FRONTEND BACKEND
	    "[pool -aaaaaaaa_bbbbbbbbb.ccccccccc:ddddddddd9]\n"));
}

static void
duplicate_sections(void **state)
{
	(void)state;
	assert_errors("[global]\n[defaults]\n[pool p]\n" FRONTEND BACKEND
	              "[global]\n[defaults]\n[pool p]\n" FRONTEND BACKEND
	              "[pool f]\n[pool b]\n",
	    "9: there is a second [global], first in line 1; make one\n"
	    "10: there is a second [defaults], first in line 2\n"
	    "11: there is a second [pool p], first in line 3\n"
	    "12: there is a second [frontend f], first in line 4\n"
	    "13: listen: ':80' is listened on already, first in line 5\n"
	    "15: there is a second [backend b], first in line 7");
}

static void
repeated_keys(void **state)
{
	(void)state;
	assert_errors(FRONTEND "backend = b\n" BACKEND
	                       "retries = 1\nretries = 11\nretries = 2\n"
	                       "[defaults]\ncheck = off\ncheck = off\n",
	    "4: backend stands twice in [frontend f], first in line 3; keep\n"
	    "8: retries stands twice in [backend b], first in line 7\n"
	    "8: retries: '11' is no whole number from 0 to 10\n"
	    "9: retries stands twice in [backend b], first in line 7\n"
	    "12: check stands twice in [defaults], first in line 11");
}

static void
missing_keys_and_sections(void **state)
{
	(void)state;
	assert_errors("[frontend f]\n[frontend g]\nlisten = :80\n[backend b]\n",
	    "1: [frontend f] has no listen; write listen = ... (IP:PORT, \n"
	    "1: [frontend f] has no backend; write backend = NAME, there is b\n"
	    "2: [frontend g] has no backend; write backend = NAME, there is b\n"
	    "4: [backend b] has no server; write server = ... (NAME and HOST");
	assert_errors(
	    BACKEND, " there is no frontend; write a [frontend NAME]");
	assert_errors(FRONTEND,
	    " there is no backend; write a [backend NAME] with 'server'\n"
	    "3: backend: there is no backend 'b'; there are none");
	assert_errors("[global]\n",
	    " there is no frontend; write\n there is no backend; write");
}

static void
dangling_references(void **state)
{
	(void)state;
	assert_errors("[frontend f]\nlisten = :80\nbackend = ap\npool = slow\n"
	              "[backend app]\nserver = s 10.0.0.1:80\n"
	              "[backend db]\nserver = s 10.0.0.1:80\n",
	    "3: backend: there is no backend 'ap'; did you mean 'app'? there "
	    "are app, db\n"
	    "4: pool: there is no pool 'slow'; there is main");
}

static void
durations(void **state)
{
	static const struct row rows[] = {
	    {"global", "drain_timeout = 30",
	        "drain_timeout: '30' has no unit; write 30s or 30ms"},
	    {"global", "drain_timeout = 9ms",
	        "drain_timeout: '9ms' is out of range; allowed is 10ms to 30d"},
	    {"frontend x", "timeout_client = 31d",
	        "timeout_client: '31d' is out of range; allowed is 10ms to 30"},
	    {"frontend x", "timeout_client_fin = 0s",
	        "timeout_client_fin: '0s' is out of range"},
	    {"backend x", "timeout_connect = 5x",
	        "timeout_connect: '5x' has the unknown unit 'x'; allowed are"},
	    {"backend x", "timeout_server = forever",
	        "timeout_server: 'forever' is no duration; write a whole"},
	    {"backend x",
	        "timeout_server_fin =", "timeout_server_fin has no value"},
	    {"defaults", "timeout_server = 30",
	        "timeout_server: '30' has no unit"},
	};

	(void)state;
	ASSERT_ROWS(rows);
}

static void
numbers_and_choices(void **state)
{
	static const struct row rows[] = {
	    {"backend x", "retries = 11",
	        "retries: '11' is no whole number from 0 to 10"},
	    {"defaults", "retries = -1",
	        "retries: '-1' is no whole number from 0 to 10"},
	    {"pool x", "threads = 0",
	        "threads: '0' is no number of threads; allowed are auto, 1 "
	        "to 1024, a range as in 2..8, or classes as in 4 nice=0, 2 "
	        "nice=5 (at most 4)"},
	    {"pool x", "threads = 1025", "threads: '1025' is no number of"},
	    {"pool x", "promotion = adaptiv",
	        "promotion: 'adaptiv' is unknown; did you mean 'adaptive'? "
	        "allowed are adaptive, always, kernel"},
	    {"pool x", "order = random",
	        "order: 'random' is unknown; allowed are lifo, fifo, "
	        "priority"},
	    {"frontend x", "association = bond",
	        "association: 'bond' is unknown; did you mean 'bound'? "
	        "allowed are unbound, bound"},
	    {"pool x", "shards = 0",
	        "shards: '0' is no number of shards; allowed are auto, or 1 to "
	        "the number of threads"},
	    {"pool x", "cpus = 1024",
	        "cpus: CPU 1024 does not exist or may not be used here; "
	        "allowed are "},
	    {"pool x", "cpus = one",
	        "cpus: 'one' is no list of CPUs; write numbers and ranges, as "
	        "in 0-3,5; allowed are "},
	    {"backend x", "balance = leastconn",
	        "balance: 'leastconn' is unknown; allowed is roundrobin"},
	    {"global", "log = syslog",
	        "log: 'syslog' is unknown; allowed are stderr, off"},
	};

	(void)state;
	ASSERT_ROWS(rows);
}

static void
more_shards_than_threads(void **state)
{
	(void)state;
	assert_errors("[pool p]\nshards = 5\nthreads = 2 nice=0, 2 nice=1\n"
	              "[pool q]\nthreads = 2..8\nshards = 3\n"
	              "[pool r]\nthreads = 0\nshards = 2\n" FRONTEND BACKEND,
	    "2: shards: 5 shards need at least 5 threads, and there are 4; "
	    "allowed are 1 to 4, or use more threads\n"
	    "6: shards: 3 shards need at least 3 threads, and autoscaling may "
	    "leave 2; allowed are 1 to 2, or use more threads\n"
	    "8: threads: '0' is no number of threads");
}

static void
bound_sessions_where_nobody_leads(void **state)
{
	(void)state;
	assert_errors("[pool k]\npromotion = kernel\n"
	              "[frontend g]\nlisten = :81\nbackend = b\n"
	              "association = bound\npool = k\n" FRONTEND BACKEND,
	    "3: [frontend g]: association = bound needs a leader, and [pool k] "
	    "has promotion = kernel; use unbound here, or adaptive or always "
	    "there");
}

static void
global_names_and_paths(void **state)
{
	static const struct row rows[] = {
	    {"global", "user = no-such-user",
	        "user: this host has no user 'no-such-user'; create it"},
	    {"global", "group = no-such-group",
	        "group: this host has no group 'no-such-group'; create it"},
	    {"global", "node = a b", "node: 'a b' is no name; allowed are"},
	    {"global", "admin = /run/a mode=888",
	        "admin: mode: '888' is no file mode; write it in octal"},
	    {"global", "admin = /run/a moed=600",
	        "admin: unknown option 'moed'; did you mean 'mode'? allowed"},
	    {"global",
	        "admin = /aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeee"
	        "aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffff",
	        "admin: the path '/aaaaaaaaaabbbbbbbbbbccccccccccdddddddddd"},
	};

	(void)state;
	ASSERT_ROWS(rows);
}

static void
addresses_to_listen_on(void **state)
{
	static const struct row rows[] = {
	    {"frontend x", "listen = 10.0.0.1",
	        "listen: '10.0.0.1' has no port; write"},
	    {"frontend x", "listen = :99999",
	        "listen: ':99999' has no port from 1 to 65535"},
	    {"frontend x", "listen = localhost:81",
	        "listen: 'localhost' is no IP address"},
	    {"frontend x", "listen = :81 mode=0600",
	        "listen: the option 'mode' is for unix sockets only"},
	    {"frontend x", "listen = unix:/x mode=9",
	        "listen: mode: '9' is no file mode"},
	    {"frontend x", "listen = unix:/x mode",
	        "listen: mode: the value is missing; write mode=..."},
	    {"frontend x", "listen = unix:/x mode=600 mode=600",
	        "listen: mode: given twice; keep one"},
	    {"frontend x", "listen = :81 ssl",
	        "listen: unknown option 'ssl'; allowed are none"},
	};

	(void)state;
	ASSERT_ROWS(rows);
}

static void
servers(void **state)
{
	static const struct row rows[] = {
	    {"backend x", "server = a",
	        "server: 'a' lacks a name or an address; write NAME HOST:PORT"},
	    {"backend x", "server = 10.0.0.1:80 weight=1",
	        "server: '10.0.0.1:80 weight=1' lacks a name or an address"},
	    {"backend x", "server = a/b 10.0.0.1:80",
	        "server: 'a/b' is no name; allowed are letters, digits"},
	    {"backend x", "server = a 10.0.0.1",
	        "server: '10.0.0.1' has no port"},
	    {"backend x", "server = a :80", "server: ':80' names no host"},
	    {"backend x", "server = a 10.0.0.1:80 weight=257",
	        "server: weight: '257' is no whole number from 0 to 256"},
	    {"backend x", "server = a 10.0.0.1:80 wieght=1",
	        "server: unknown option 'wieght'; did you mean 'weight'? "
	        "allowed is weight"},
	    {"backend x", "server = a 10.0.0.1:80 5",
	        "server: unknown option '5'; allowed is weight"},
	};

	(void)state;
	ASSERT_ROWS(rows);
}

static void
all_errors_of_one_line(void **state)
{
	(void)state;
	assert_line_error("backend x", "server = a! 10.0.0.1 weight=x foo=1",
	    "server: 'a!' is no name\n"
	    "2: server: '10.0.0.1' has no port\n"
	    "2: server: weight: 'x' is no whole number\n"
	    "2: server: unknown option 'foo'");
}

static void
duplicate_server_names(void **state)
{
	(void)state;
	assert_errors(FRONTEND "[backend b]\nserver = a 10.0.0.1:80\n"
	                       "server = b 10.0.0.1\nserver = a 10.0.0.2:80\n"
	                       "server = b 10.0.0.3:80\n",
	    "6: server: '10.0.0.1' has no port\n"
	    "7: server: the name 'a' is taken by another server of "
	    "[backend b], first in line 5; names must differ\n"
	    "8: server: the name 'b' is taken by another server of "
	    "[backend b], first in line 6");
	/* In another backend, or at the same address, they are fine. */
	spec_free(load(FRONTEND BACKEND "server = t 10.0.0.1:80\n"
	                                "[backend c]\n"
	                                "server = s 10.0.0.1:80\n"));
}

static void
duplicate_addresses(void **state)
{
	(void)state;
	assert_errors("[global]\nadmin = /run/a\n"
	              "[frontend x]\nbackend = b\n"
	              "listen = 10.0.0.1:80\nlisten = 10.0.0.1:80\n"
	              "listen = [::ffff:10.0.0.1]:80\n"
	              "listen = unix:/run/a\nlisten = :81\nlisten = *:81\n"
	              "[frontend y]\nbackend = b\n"
	              "listen = 0.0.0.0:81\nlisten = [::]:81\n"
	              "listen = unix:/run/b mode=600\nlisten = unix:/run/b\n"
	              "listen = 10.0.0.1:82\nlisten = 10.0.0.2:80\n" BACKEND,
	    "6: listen: '10.0.0.1:80' is listened on already, first in line 5; "
	    "each address can be used once\n"
	    "7: listen: '[::ffff:10.0.0.1]:80' is listened on already, first\n"
	    "8: listen: 'unix:/run/a' is the admin socket's address; each\n"
	    "10: listen: '*:81' is listened on already, first in line 9\n"
	    "13: listen: '0.0.0.0:81' is listened on already, first in line 9\n"
	    "14: listen: '[::]:81' is listened on already, first in line 9\n"
	    "16: listen: 'unix:/run/b' is listened on already, first in line "
	    "15");
	/* Port 0 is a new one each time. */
	spec_free(load(FRONTEND "listen = :0\nlisten = :0\n" BACKEND));
}

static void
checks(void **state)
{
	static const struct row rows[] = {
	    {"backend x", "check = https",
	        "check: 'https' is unknown; did you mean 'http'? allowed are "
	        "off, connect, http"},
	    {"backend x", "check = interval=5s",
	        "check: 'interval=5s' is unknown; allowed are"},
	    {"backend x", "check = off interval=5s",
	        "check: 'off' takes no options"},
	    {"backend x", "check = connect path=/x",
	        "check: the option 'path' is for http checks only, as in"},
	    {"defaults", "check = connect host=x",
	        "check: the option 'host' is for http checks only"},
	    {"backend x", "check = connect method=GET",
	        "check: the option 'method' is for http checks only"},
	    {"backend x", "check = connect status=200",
	        "check: the option 'status' is for http checks only"},
	    {"backend x", "check = connect pth=/x",
	        "check: unknown option 'pth'; allowed are interval, timeout, "
	        "fall, rise"},
	    {"backend x", "check = http intervall=5s",
	        "check: unknown option 'intervall'; did you mean 'interval'? "
	        "allowed are path, host, method, status, interval, timeout, "
	        "fall, rise"},
	    {"backend x", "check = http path=healthz",
	        "check: path: 'healthz' is no path; write one that starts"},
	    {"backend x", "check = http host=a/b",
	        "check: host: 'a/b' is no host"},
	    {"backend x", "check = http method=POST",
	        "check: method: 'POST' is unknown; allowed are GET, HEAD, "
	        "OPTIONS"},
	    {"backend x", "check = http status=99",
	        "check: status: '99' is no status; write one from 100 to 599 "
	        "or a range, as in 200-399"},
	    {"backend x", "check = http status=300-200", "check: status: '300"},
	    {"backend x", "check = http status=200-600", "check: status: '200"},
	    {"backend x", "check = http status=200-", "check: status: '200-'"},
	    {"backend x", "check = http status=-200", "check: status: '-200'"},
	    {"backend x", "check = http status=2-3-4", "check: status: '2-3"},
	    {"backend x", "check = http status=0000000200",
	        "check: status: '0000000200' is no status"},
	    {"backend x", "check = connect interval=2",
	        "check: interval: '2' has no unit; write 2s or 2ms"},
	    {"backend x", "check = connect interval=25h",
	        "check: interval: '25h' is out of range; allowed is 10ms to "
	        "1d"},
	    {"backend x", "check = connect timeout=9ms",
	        "check: timeout: '9ms' is out of range; allowed is 10ms to 1d"},
	    {"backend x", "check = connect fall=0",
	        "check: fall: '0' is no whole number from 1 to 1000"},
	    {"backend x", "check = connect rise=1001",
	        "check: rise: '1001' is no whole number from 1 to 1000"},
	    {"backend x", "check = http path=/a path=/b",
	        "check: path: given twice; keep one"},
	    {"backend x", "check = http path=",
	        "check: path: the value is missing; write path=..."},
	};

	(void)state;
	ASSERT_ROWS(rows);
}

static void
longest_value_is_180_characters(void **state)
{
	char line[300];

	(void)state;
	snprintf(line, sizeof(line), "check = http path=/%0170d", 1);
	assert_line_error("backend x", line,
	    "the value of check has 181 characters; at most 180 are allowed");
	assert_line_error("defaults", line,
	    "the value of check has 181 characters; at most 180 are allowed");
}

/* The same value serves every backend: it is told once, at its place. */
static void
error_in_defaults_is_told_once(void **state)
{
	(void)state;
	assert_errors(FRONTEND BACKEND "[backend c]\nserver = s 10.0.0.1:80\n"
	                               "[defaults]\ncheck = foo\n",
	    "9: check: 'foo' is unknown");
}

static void
all_errors_come_at_once_in_the_order_of_lines(void **state)
{
	(void)state;
	assert_errors("x = 1\n"
	              "[frontend f]\n"
	              "listen = 80\n"
	              "backend = nowhere\n"
	              "plain\n"
	              "[backend b]\n"
	              "retries = many\n"
	              "[what]\n"
	              "[unfinished\n",
	    "1: the key 'x' stands before\n"
	    "3: listen: '80' has no port\n"
	    "4: backend: there is no backend 'nowhere'; there is b\n"
	    "5: the line is neither\n"
	    "6: [backend b] has no server\n"
	    "7: retries: 'many' is no whole number\n"
	    "8: unknown section [what]\n"
	    "9: the section has no ']'\n"
	    "9: unknown section [unfinished]");
}

/* Each byte of a file replaced and left out in turn: whatever it becomes, it
 * either loads or has an error, and nothing leaks or goes out of bounds.  No
 * server has a host, or else a resolver would be asked about it. */
static void
mutilated_files_load_or_fail(void **state)
{
	static const char whole[] =
	    "[global]\nadmin = /run/a mode=0660\nlog = off\nnode = n\n"
	    "[pool p]\nthreads = 2\npromotion = always\n"
	    "[defaults]\ntimeout_client = 5s\ncheck = off\n"
	    "[frontend f]\nlisten = :80\nlisten = unix:/run/f mode=600 ; c\n"
	    "backend = b\npool = p\n"
	    "[backend b]\nserver = s unix:/run/s weight=3\n"
	    "check = http path=/h host=h status=200-299 interval=2s fall=1\n";
	static const char into[] = "\0\n \t\r;#[]=:-/90zZ\xff";
	size_t loaded = 0, failed = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(whole) - 1; i++) {
		for (size_t j = 0; j < sizeof(into); j++) {
			char text[sizeof(whole)], *errors;
			size_t size = sizeof(whole) - 1;
			struct spec *spec;

			memcpy(text, whole, sizeof(whole));
			text[i] = into[j];
			if (j == sizeof(into) - 1)
				memmove(text + i, text + i + 1, --size - i);
			spec = load_bytes(text, size, &errors);
			spec ? loaded++ : failed++;
			assert_int_equal(spec == NULL, *errors != '\0');
			if (spec)
				free(print(spec));
			spec_free(spec);
			free(errors);
		}
	}
	assert_true(loaded > 100);
	assert_true(failed > 1000);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(unknown_sections),
	    cmocka_unit_test(unknown_keys),
	    cmocka_unit_test(names_of_sections),
	    cmocka_unit_test(longest_name_is_taken),
	    cmocka_unit_test(duplicate_sections),
	    cmocka_unit_test(repeated_keys),
	    cmocka_unit_test(missing_keys_and_sections),
	    cmocka_unit_test(dangling_references),
	    cmocka_unit_test(durations),
	    cmocka_unit_test(numbers_and_choices),
	    cmocka_unit_test(more_shards_than_threads),
	    cmocka_unit_test(bound_sessions_where_nobody_leads),
	    cmocka_unit_test(global_names_and_paths),
	    cmocka_unit_test(addresses_to_listen_on),
	    cmocka_unit_test(servers),
	    cmocka_unit_test(all_errors_of_one_line),
	    cmocka_unit_test(duplicate_server_names),
	    cmocka_unit_test(duplicate_addresses),
	    cmocka_unit_test(checks),
	    cmocka_unit_test(longest_value_is_180_characters),
	    cmocka_unit_test(error_in_defaults_is_told_once),
	    cmocka_unit_test(all_errors_come_at_once_in_the_order_of_lines),
	    cmocka_unit_test(mutilated_files_load_or_fail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
