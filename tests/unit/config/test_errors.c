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

#include "config/draft.h"
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
	    "allowed are global, pool, tls, list, resolver, defaults, "
	    "frontend, backend\n"
	    "8: unknown section [Global]; did you mean 'global'?\n"
	    "9: unknown section [x]; allowed are global");
}

static void
unknown_keys(void **state)
{
	static const struct row rows[] = {
	    {"global", "adnim = /x",
	        "unknown key 'adnim' in [global]; did you mean 'admin'?"},
	    {"global", "chroot = jail",
	        "chroot: a path that starts with / is needed"},
	    {"global", "log = /var/log/x.log",
	        "log: '/var/log/x.log' is a path; write file=/var/log/x.log"},
	    {"backend x", "check = http /ping",
	        "check: '/ping' is a path without its option; write "
	        "path=/ping"},
	    {"backend x", "check = connect /ping",
	        "check: unknown option '/ping'; allowed are"},
	    {"global", "seccomp = strict",
	        "seccomp: 'strict' is unknown; allowed are off, log, on, "
	        "auto"},
	    {"pool p", "thread = 1",
	        "unknown key 'thread' in [pool p]; did you mean 'threads'? "
	        "allowed are threads, shards, promotion, order, cpus"},
	    {"defaults", "timeout-client = 1s",
	        "unknown key 'timeout-client' in [defaults]; did you mean "
	        "'timeout_client'?"},
	    {"frontend web", "xyzzy = 1",
	        "unknown key 'xyzzy' in [frontend web]; allowed are listen, "
	        "backend, sni, route, pool, maxconn, rate, disabled, "
	        "timeout_client, timeout_client_fin, half_close, "
	        "timeout_hello, on_no_hello, timeout_handshake, handshakes, "
	        "timeout_first_byte, splice"},
	    {"backend x", "Retries = 1",
	        "unknown key 'Retries' in [backend x]; did you mean"},
	    {"defaults", "listen = :80",
	        "the key 'listen' does not belong in [defaults] but in "
	        "[frontend NAME]"},
	    {"backend x", "timeout_client = 1s",
	        "the key 'timeout_client' does not belong in [backend x] but "
	        "in [frontend NAME]"},
	    {"backend x", "timeout = 5s",
	        "the key 'timeout' does not belong in [backend x] but in "
	        "[resolver]; here there are timeout_queue, "},
	    {"global", "state = /x",
	        "unknown key 'state' in [global]; write state_file = /PATH"},
	    {"frontend web", "threads = 2",
	        "the key 'threads' does not belong in [frontend web] but in "
	        "[pool NAME]"},
	    {"defaults", "timeout\t client = 1s",
	        "unknown key 'timeout? client'; write timeout_client = 1s"},
	};

	(void)state;
	ASSERT_ROWS(rows);
}

/* What separates is '=', and a line without it gets the line that was meant. */
static void
lines_without_an_equals_sign(void **state)
{
	static const struct row rows[] = {
	    {"frontend x", "listen :9101",
	        "the '=' between key and value is missing; write listen = "
	        ":9101"},
	    {"frontend x", "listen: 9101",
	        "':' does not separate key and value; write listen = 9101"},
	    {"frontend x", "pool : main",
	        "':' does not separate key and value; write pool = main"},
	    {"backend x", "server a 10.0.0.1:80",
	        "the '=' between key and value is missing; write server = a "
	        "10.0.0.1:80"},
	    {"backend x", "server: a 10.0.0.1:80 weight=5",
	        "':' does not separate key and value; write server = a "
	        "10.0.0.1:80 weight=5"},
	    {"backend x", "server a 10.0.0.1:80;",
	        "the '=' between key and value is missing; write server = a "
	        "10.0.0.1:80"},
	    {"backend x", "balance leastconn",
	        "the '=' between key and value is missing; write balance = l"},
	    {"backend x", "balance least_conn",
	        "the '=' between key and value is missing; write balance = "
	        "least"
	        "conn"},
	    {"backend x", "maxconn 100",
	        "unknown key 'maxconn' in [backend x]; it is an option of "
	        "server: write server = t 10.0.0.2:80 maxconn=100, or"},
	    {"backend x", "timeout connect 5s",
	        "unknown key 'timeout connect'; write timeout_connect = 5s"},
	    {"frontend x", "timeout client-fin 5s",
	        "unknown key 'timeout client-fin'; write timeout_client_fin = "
	        "5s"},
	    {"backend x", "all_backups",
	        "the '=' between key and value is missing; write all_backups = "
	        "VALUE"},
	    {"backend x", "listen :80",
	        "the key 'listen' does not belong in [backend x] but in "
	        "[frontend NAME]"},
	};

	(void)state;
	ASSERT_ROWS(rows);
}

/* Options of a value on a line of their own. */
static void
options_that_are_no_keys(void **state)
{
	static const struct row rows[] = {
	    {"backend x", "weight = 3",
	        "unknown key 'weight' in [backend x]; it is an option of "
	        "server: write server = t 10.0.0.2:80 weight=3, or for all "
	        "servers server_defaults = weight=3"},
	    {"backend x", "weight 3",
	        "unknown key 'weight' in [backend x]; it is an option of "
	        "server: write server = t 10.0.0.2:80 weight=3, or"},
	    {"backend x", "backup",
	        "unknown key 'backup' in [backend x]; it is an option of "
	        "server: write server = t 10.0.0.2:80 backup, or"},
	    {"backend x", "backup = yes",
	        "unknown key 'backup' in [backend x]; it is an option of "
	        "server: write server = t 10.0.0.2:80 backup, or"},
	    {"backend x", "backup = off",
	        "unknown key 'backup' in [backend x]; it is an option of "
	        "server: write server = t 10.0.0.2:80 backup=off, or"},
	    {"backend x", "maxconn = 100",
	        "unknown key 'maxconn' in [backend x]; it is an option of "
	        "server: write server = t 10.0.0.2:80 maxconn=100, or for all "
	        "servers server_defaults = maxconn=100; the key belongs in "
	        "[global] or [frontend NAME]"},
	    {"backend x", "interval = 5s",
	        "unknown key 'interval' in [backend x]; it is an option of "
	        "check: write check = connect interval=5s"},
	    {"backend x", "rise = 5",
	        "unknown key 'rise' in [backend x]; it is an option of check: "
	        "write check = connect rise=5"},
	    {"backend x", "path = /healthz",
	        "unknown key 'path' in [backend x]; it is an option of check: "
	        "write check = http path=/healthz"},
	    {"backend x", "file = /x",
	        "unknown key 'file' in [backend x]; it is an option of "
	        "servers: write servers = PREFIX NUMBER SOURCE file=/x; the "
	        "key belongs in [list NAME]"},
	    {"backend x", "ca = /x.pem",
	        "the key 'ca' does not belong in [backend x] but in [tls "
	        "NAME]"},
	    {"backend x", "user = www",
	        "the key 'user' does not belong in [backend x] but in "
	        "[global]"},
	    {"defaults", "weight = 3",
	        "unknown key 'weight' in [defaults]; it is an option of "
	        "server_defaults: write server_defaults = weight=3"},
	    {"frontend x", "tls = public",
	        "unknown key 'tls' in [frontend x]; it is an option of "
	        "listen: write listen = :81 tls=public; the key belongs in "
	        "[backend NAME]"},
	    {"frontend x", "accept_proxy",
	        "unknown key 'accept_proxy' in [frontend x]; it is an option "
	        "of listen: write listen = :81 accept_proxy"},
	    {"frontend x", "weight = 5",
	        "unknown key 'weight' in [frontend x]; it is an option of "
	        "backend: write backend = b weight=5"},
	    {"frontend x", "burst = 5",
	        "unknown key 'burst' in [frontend x]; it is an option of "
	        "limit: write limit = burst=5"},
	    {"global", "format = json",
	        "unknown key 'format' in [global]; it is an option of log: "
	        "write log = stderr format=json"},
	    {"global", "facility = local1",
	        "unknown key 'facility' in [global]; it is an option of log: "
	        "write log = syslog facility=local1"},
	    /* Words of HAProxy and nginx for servers and addresses. */
	    {"backend x", "minconn = 5",
	        "unknown key 'minconn' in [backend x]; for server: maxconn "
	        "does not depend on the load: leave it out"},
	    {"backend x", "fastinter = 1s",
	        "unknown key 'fastinter' in [backend x]; for server: write "
	        "check_fast_interval=TIME"},
	    {"frontend x", "fastopen = 5",
	        "unknown key 'fastopen' in [frontend x]; for listen: write "
	        "tfo=NUMBER"},
	};

	(void)state;
	ASSERT_ROWS(rows);
	assert_errors(FRONTEND "[backend b]\nweight = 3\n"
	                       "server = a 10.0.0.1:80 weight=5\n",
	    "5: unknown key 'weight' in [backend b]; it is an option of "
	    "server: write server = NAME HOST:PORT weight=3, or");
}

/* A key or a section that was meant is not reported as missing, too. */
static void
one_error_for_a_slip(void **state)
{
	(void)state;
	assert_errors(
	    "[frontend f]\nlisten = :80 strict-sni\nbackend = b\n" BACKEND,
	    "2: listen: unknown option 'strict-sni'; write tls=NAME, and "
	    "strict_sni = on in [tls NAME]");
	assert_errors("[frontend f]\nlistn = :80\nbackend = b\n" BACKEND,
	    "2: unknown key 'listn' in [frontend f]; did you mean 'listen'?");
	assert_errors("[frontend f]\nlisten = :80\nbackand = b\n" BACKEND,
	    "3: unknown key 'backand' in [frontend f]; did you mean "
	    "'backend'?");
	assert_errors("[frontend f]\nbind :80\ndefault_backend b\n" BACKEND,
	    "2: unknown key 'bind' in [frontend f]; write listen = \n"
	    "3: unknown key 'default_backend' in [frontend f]; write back");
	assert_errors("[frontend f]\nbind = *:80\nproxy_pass = b\n" BACKEND,
	    "2: unknown key 'bind' in [frontend f]; write listen = \n"
	    "3: unknown key 'proxy_pass' in [frontend f]; write backend");
	assert_errors("[frontend f]\nlistn = nonsense\nbackend = b\n" BACKEND,
	    "2: unknown key 'listn' in [frontend f]; did you mean 'listen'?");
	assert_errors(FRONTEND "[bakend b]\nserver = a 10.0.0.1:80\n",
	    "4: unknown section [bakend b]; did you mean 'backend'?");
	assert_errors(FRONTEND "[upstream b]\nserver 10.0.0.1:80;\n",
	    "4: unknown section [upstream b]; write [backend NAME]");
	assert_errors(FRONTEND "[server b]\naddress = 10.0.0.1:80\n",
	    "4: unknown section [server b]; write [frontend NAME], or server");
	assert_errors(FRONTEND "pool = slow\n" BACKEND "[poool slow]\n",
	    "7: unknown section [poool slow]; did you mean 'pool'?");
	assert_errors(FRONTEND "[backend b]\ncheck = script\n"
	                       "check_comand = /x\nserver = a 10.0.0.1:80\n",
	    "6: unknown key 'check_comand' in [backend b]; did you mean "
	    "'check_command'?");
	assert_errors(FRONTEND "[backend b]\nbalence = hash\n"
	                       "hash_key = sni\nserver = a 10.0.0.1:80\n",
	    "5: unknown key 'balence' in [backend b]; did you mean "
	    "'balance'?");
	assert_errors(FRONTEND "[backend b]\nservr = a 10.0.0.1:80\n"
	                       "server = c 10.0.0.1:81 track=a\n",
	    "5: unknown key 'servr' in [backend b]; did you mean 'server'?");
	/* Another mistake has its own error. */
	assert_errors("[frontend f]\nxyzzy = 1\nbackend = b\n" BACKEND,
	    "1: [frontend f] has no listen; write listen\n"
	    "2: unknown key 'xyzzy' in [frontend f]; allowed are");
}

/* A limit whose option is missing. */
static void
values_without_their_option(void **state)
{
	static const struct row rows[] = {
	    {"frontend x", "limit = 10/s",
	        "limit: '10/s' is a rate without its option; write rate=10/s"},
	    {"frontend x", "limit = 600/m burst=5",
	        "limit: '600/m' is a rate without its option; write "
	        "rate=600/m"},
	    {"frontend x", "limit = sessions=5 10r/s",
	        "limit: '10r/s' is a rate without its option; write "
	        "rate=10/s"},
	    {"frontend x", "limit = 20",
	        "limit: '20' is a number without an option; write sessions=20 "
	        "or rate=20/s"},
	    {"frontend x", "limit = 10MiB/s",
	        "limit: '10MiB/s' has no option; write bytes=10MiB/s"},
	    {"frontend x", "limit = 20GiB",
	        "limit: '20GiB' has no option; write bytes=20GiB/s"},
	    {"frontend x", "bandwidth = 10MiB/s", "bandwidth: "},
	    {"backend x", "server = a 10.0.0.1:80 3",
	        "server: '3' is a value without an option; write OPTION=3; "
	        "options are weight, "},
	    {"backend x", "check = http 5s",
	        "check: '5s' is a value without an option; write OPTION=5s; "},
	};

	(void)state;
	ASSERT_ROWS(rows);
}

/* The words of HAProxy and nginx, and what does the same here. */
static void
words_of_others(void **state)
{
	static const struct row rows[] = {
	    {"frontend x", "bind :80",
	        "unknown key 'bind' in [frontend x]; write listen = ADDRESS"},
	    {"frontend x", "bind = :82",
	        "unknown key 'bind' in [frontend x]; write listen = ADDRESS"},
	    {"frontend x", "default_backend b",
	        "unknown key 'default_backend' in [frontend x]; write backend"},
	    {"frontend x", "use_backend b if { req.ssl_sni -i x }",
	        "unknown key 'use_backend' in [frontend x]; write sni = NAME"},
	    {"frontend x", "mode tcp",
	        "unknown key 'mode' in [frontend x]; everything is TCP here"},
	    {"frontend x", "log global",
	        "unknown key 'log' in [frontend x]; frontends log as [global]"},
	    {"frontend x", "option   tcplog",
	        "unknown key 'option' in [frontend x]; this is how sessions"},
	    {"backend x", "option tcp-check",
	        "unknown key 'option' in [backend x]; write check = send-exp"},
	    {"global", "stats socket /run/x mode 600",
	        "unknown key 'stats' in [global]; write admin = PATH"},
	    {"global", "nbthread 4",
	        "unknown key 'nbthread' in [global]; write threads = NUMBER in "
	        "[pool NAME]"},
	    {"frontend x", "proxy_pass app;",
	        "unknown key 'proxy_pass' in [frontend x]; write backend"},
	    {"backend x", "least_conn;",
	        "unknown key 'least_conn;' in [backend x]; write balance = "
	        "lea"},
	    {"backend x", "proxy_timeout = 5m",
	        "unknown key 'proxy_timeout' in [backend x]; write timeout_cl"},
	    {"backend x", "max_fails = 3",
	        "unknown key 'max_fails' in [backend x]; write eject_after"},
	    {"backend x", "server = a 10.0.0.1:80 inter=2s",
	        "server: unknown option 'inter'; write check_interval=TIME"},
	    {"backend x", "server = a 10.0.0.1:80 inter 2s",
	        "server: unknown option 'inter'; write check_interval=TIME"},
	    {"backend x", "server = a 10.0.0.1:80 weight 5",
	        "server: weight: the value is missing; write weight=5"},
	    {"backend x", "server = a 10.0.0.1:80 send-proxy backup",
	        "server: unknown option 'send-proxy'; write send_proxy=v1"},
	    {"backend x", "server = a 10.0.0.1:80 max_fails=3",
	        "server: unknown option 'max_fails'; write eject_after"},
	    {"backend x", "server = a 10.0.0.1:80 ssl",
	        "server: unknown option 'ssl'; write tls=NAME, and a [tls "
	        "NAME]"},
	    {"backend x", "server = a 10.0.0.1:80 down",
	        "server: unknown option 'down'; write disabled"},
	    {"frontend x", "listen = :81 accept-proxy",
	        "listen: unknown option 'accept-proxy'; write accept_proxy"},
	    {"backend x", "check = http uri=/x",
	        "check: unknown option 'uri'; write path=/PATH"},
	    {"backend x", "check = connect inter 5s",
	        "check: unknown option 'inter'; write interval=TIME"},
	    {"backend x", "check = pgsql",
	        "check: 'pgsql' is unknown; write postgresql"},
	    {"backend x", "check = tcp", "check: 'tcp' is unknown; write conn"},
	    {"backend x", "balance = least_conn",
	        "balance: 'least_conn' is unknown; write leastconn"},
	    {"backend x", "balance = static-rr",
	        "balance: 'static-rr' is unknown; write roundrobin"},
	};

	(void)state;
	ASSERT_ROWS(rows);
	assert_errors(FRONTEND BACKEND "[listen web]\n[upstream x]\n",
	    "6: unknown section [listen web]; write a [frontend NAME] and a [\n"
	    "7: unknown section [upstream x]; write [backend NAME]");
	/* Each word that is wrong has one error, and no value of it another. */
	assert_line_error("backend x",
	    "server = a 10.0.0.1:80 check inter 2s rise 2 weight 5",
	    "server: unknown option 'inter'; write check_interval=TIME\n"
	    "2: server: unknown option 'rise'; write check_rise=NUMBER\n"
	    "2: server: weight: the value is missing; write weight=5");
}

static void
quotes_are_named(void **state)
{
	static const struct row rows[] = {
	    {"frontend x", "listen = \":81\"",
	        "listen: the value takes no quotes; write it wi"},
	    {"global", "node = 'lb1'", "node: the value takes no quotes"},
	    {"global", "node = \xe2\x80\x9clb1\xe2\x80\x9d",
	        "node: the value takes no quotes"},
	    {"backend x", "check = http path=\"/x\"",
	        "check: path: the value takes no quotes"},
	};

	(void)state;
	ASSERT_ROWS(rows);
	spec_free(load(FRONTEND BACKEND "check = http\ncheck_body = \"ok\"\n"));
}

/* The last ones, too. */
static void
all_keys_are_named(void **state)
{
	char *errors;

	(void)state;
	assert_null(load_bytes("[backend b]\nxyzzy = 1\n", 22, &errors));
	assert_non_null(strstr(errors, "balance, hash_key"));
	assert_non_null(strstr(errors, "timeout_tunnel"));
	assert_null(strstr(errors, ", ..."));
	free(errors);
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
	    "7: [pool a b]: 'a b' is not a valid name; allowed are letters, "
	    "digits and "
	    "-_.:, at most 40 of them\n"
	    "8: [pool a/b]: 'a/b' is not a valid name\n"
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
	    "9: there is a second [global], first in line 1; merge\n"
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
	    "4: backend: 'b' is given twice in [frontend f], first in line 3; "
	    "keep one\n"
	    "8: retries is given twice in [backend b], first in line 7\n"
	    "8: retries: '11' is not a whole number from 0 to 10\n"
	    "9: retries is given twice in [backend b], first in line 7\n"
	    "12: check is given twice in [defaults], first in line 11");
}

static void
missing_keys_and_sections(void **state)
{
	(void)state;
	assert_errors("[frontend f]\n[frontend g]\nlisten = :80\n[backend b]\n",
	    "1: [frontend f] has no listen; write listen = ... (IP:PORT, \n"
	    "1: [frontend f] has no backend; write backend = NAME, there is b\n"
	    "2: [frontend g] has no backend; write backend = NAME, there is "
	    "b\n");
	assert_errors(
	    BACKEND, " no frontend is defined; write a [frontend NAME]");
	assert_errors(FRONTEND,
	    " no backend is defined; write a [backend NAME] with 'server'\n"
	    "3: backend: unknown backend 'b'; there are none");
	assert_errors("[global]\n",
	    " no frontend is defined; write\n no backend is defined; write");
}

static void
shares_of_backends(void **state)
{
	(void)state;
	assert_errors(FRONTEND
	    "backend = c weight=1000001\nbackend = c wait=1\n"
	    "backend = c weight\n" BACKEND
	    "[backend c]\nserver = s 10.0.0.1:80\n",
	    "4: backend: weight: '1000001' is not a whole number from 0 to "
	    "1000000\n"
	    "5: backend: unknown option 'wait'; allowed are weight, fallback\n"
	    "6: backend: weight: the value is missing; write weight=...");
	assert_errors("[frontend f]\nlisten = :80\nbackend = b weight=0\n"
	              "backend = c weight=0\n" BACKEND
	              "[backend c]\nserver = s 10.0.0.1:80\n",
	    "1: [frontend f]: no backend has a weight above 0, so no "
	    "session");
}

static void
limits_that_share_a_table(void **state)
{
	(void)state;
	assert_errors(FRONTEND
	    "limit = sessions=1 table=t\nlimit = rate=5 table=t\n"
	    "[frontend g]\nlisten = :81\nbackend = b\n"
	    "limit = sessions=1 table=t prefix4=24\n" BACKEND,
	    "5: limit: table: another limit of [frontend f], on line 4, "
	    "counts\n"
	    "9: limit: table: the limit on line 4 counts in 't' in another");
}

static void
rules_on_names(void **state)
{
	(void)state;
	/* FRONTEND is three lines. */
	assert_errors(FRONTEND
	    "sni = a.b\nsni = backend=b\nsni = a backend=x\n"
	    "sni = a*.b backend=b\nsni = b\xc3\xbc.de backend=b\n"
	    "sni = a..b backend=b\nsni = a weight=1\nsni = a backend\n"
	    "sni = *.*.a backend=b\nsni = * backend=b\n"
	    "sni = a backend=b backend=b\n"
	    "timeout_hello = 1ms\n" BACKEND,
	    "4: sni: 'a.b' has no backend; write NAME ... backend=BACKEND\n"
	    "5: sni: 'backend=b' has no name; write NAME ... backend=BACKEND\n"
	    "6: sni: backend: unknown backend 'x'; there is b\n"
	    "7: sni: 'a*.b' is not a valid name; a wildcard stands for all "
	    "labels at "
	    "the beginning, as in *.example.com, and nowhere else\n"
	    "8: sni: 'b\xc3\xbc.de' is not a name as clients send it; write it "
	    "as "
	    "in xn--bcher-kva.example\n"
	    "9: sni: 'a..b' is not a valid name; allowed are letters, digits, "
	    "- and _, "
	    "with single dots between, as in www.example.com or "
	    "*.example.com\n"
	    "10: sni: unknown option 'weight'; allowed is backend\n"
	    "11: sni: 'a backend' has no backend; write NAME\n"
	    "12: sni: '*.*.a' is not a valid name; a wildcard\n"
	    "13: sni: '*' is not a valid name; a wildcard\n"
	    "14: sni: backend: given twice; keep one\n"
	    "15: timeout_hello: '1ms' is out of range");
	assert_errors(FRONTEND
	    "sni = a b *.c backend=b\nsni = *.a backend=b\n"
	    "sni = B. d d backend=b\nsni = *.C backend=b\n" BACKEND,
	    "6: sni: 'b' is given twice in [frontend f], first in line 4; "
	    "keep\n"
	    "6: sni: 'd' is given twice in [frontend f], first in line 6; "
	    "keep\n"
	    "7: sni: '*.c' is given twice in [frontend f], first in line 4; k");
	assert_errors("[frontend f]\nlisten = :80\n" BACKEND,
	    "1: [frontend f] has no backend; write backend = NAME, there is b");
	assert_errors(FRONTEND BACKEND "hash_key = sni\n",
	    "4: [backend b]: hash_key needs balance = hash, or sticky = stay");
}

static void
dangling_references(void **state)
{
	(void)state;
	assert_errors("[frontend f]\nlisten = :80\nbackend = ap\npool = slow\n"
	              "[backend app]\nserver = s 10.0.0.1:80\n"
	              "[backend db]\nserver = s 10.0.0.1:80\n",
	    "3: backend: unknown backend 'ap'; did you mean 'app'? there "
	    "are app, db\n"
	    "4: pool: unknown pool 'slow'; there is main");
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
	    {"frontend x", "timeout_client = 0",
	        "timeout_client: '0' is out of range; allowed is 10ms to 30d"},
	    {"frontend x", "timeout_client = 5",
	        "timeout_client: '5' has no unit; write 5s (ms, s, m, h, d)"},
	    {"backend x", "server = s 10.0.0.1:80 user_timeout=0",
	        "server: user_timeout: '0' is out of range; allowed is 10ms to "
	        "24d, or leave user_timeout out (the kernel's, some 15 min"},
	    {"backend x", "server = s 10.0.0.1:80 keepalive=60:10:3",
	        "server: keepalive: '60' has no unit; write 60s"},
	    {"backend x", "server = s 10.0.0.1:80 keepalive=60500ms",
	        "server: keepalive: '60500ms' is not a whole number of "
	        "seconds; "
	        "write 60s or 61s"},
	    {"backend x", "timeout_connect = 5x",
	        "timeout_connect: '5x' has the unknown unit 'x'; allowed are"},
	    {"backend x", "timeout_server = forever",
	        "timeout_server: 'forever' is not a duration; write a whole"},
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
	        "retries: '11' is not a whole number from 0 to 10"},
	    {"defaults", "retries = -1",
	        "retries: '-1' is not a whole number from 0 to 10"},
	    {"pool x", "threads = 0",
	        "threads: '0' is not a number of threads; allowed are auto, 1 "
	        "to 1024, a range as in 2..8, or classes as in 4 nice=0, 2 "
	        "nice=5 (at most 4)"},
	    {"pool x", "threads = 1025", "threads: '1025' is not a number of"},
	    {"pool x", "promotion = adaptiv",
	        "promotion: 'adaptiv' is unknown; did you mean 'adaptive'? "
	        "allowed are adaptive, always, kernel"},
	    {"pool x", "order = random",
	        "order: 'random' is unknown; allowed are lifo, fifo, "
	        "priority"},
	    {"pool x", "shards = 0",
	        "shards: '0' is not a number of shards; allowed are auto, or 1 "
	        "to "
	        "the number of threads"},
	    {"pool x", "cpus = 1024",
	        "cpus: CPU 1024 does not exist or may not be used here; "
	        "allowed are "},
	    {"pool x", "cpus = one",
	        "cpus: 'one' is not a list of CPUs; write numbers and ranges, "
	        "as "
	        "in 0-3,5; allowed are "},
	    {"backend x", "balance = leastcon",
	        "balance: 'leastcon' is unknown; did you mean 'leastconn'? "
	        "allowed are roundrobin, leastconn, random, source, hash, "
	        "first, ewma"},
	    {"global", "log = stdou",
	        "log: 'stdou' is unknown; did you mean 'stdout'? allowed are "
	        "off, stdout, stderr, file, syslog"},
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
	    "8: threads: '0' is not a number of threads");
}

static void
logs(void **state)
{
	static const struct row rows[] = {
	    {"global", "log = file", "log: the file needs a path that starts"},
	    {"global", "log = file=x.log", "log: the file needs a path that"},
	    {"global", "log = stderr=x", "log: 'stderr' takes no '=x'"},
	    {"global", "log = off format=json", "log: 'off' takes no options"},
	    {"global", "log_messages = off",
	        "log_messages: messages cannot be switched off; name a target"},
	    {"global", "log_messages = stderr sample=1/2",
	        "log_messages: unknown option 'sample'; allowed is format"},
	    {"global", "log = syslog=tcp:unix:/run/log",
	        "log: a daemon by TCP has a host: write syslog=tcp:HOST:PORT"},
	    {"global", "log = stderr format=xml",
	        "log: format: 'xml' is unknown; allowed are tcplog, json, log"},
	    {"global", "log = stderr tag=x",
	        "log: the option 'tag' is for another target"},
	    {"global", "log = syslog mode=600",
	        "log: the option 'mode' is for another target"},
	    {"global",
	        "log = syslog=", "log: the address is missing; write sys"},
	    {"global", "log = syslog=unix:dev/log", "log: "},
	    {"global", "log = syslog=127.0.0.1:99999", "log: "},
	    {"global", "log = syslog facility=local8",
	        "log: facility: 'local8' is unknown; did you mean 'local"},
	    {"global", "log = syslog rfc=3195",
	        "log: rfc: '3195' is unknown; did you mean '3164'? allowed "
	        "are"},
	    {"global", "log = syslog tag=a[1]",
	        "log: tag: 'a[1]' is not a valid name"},
	    {"global", "log = stderr sample=1/0",
	        "log: sample: '1/0' is not a share; write 1/NUMBER"},
	    {"global", "log = stderr sample=0.5",
	        "log: sample: '0.5' is not a sh"},
	    {"frontend x", "log_every = 1ms", "log_every: "},
	    {"frontend x", "log_on_connect = ja",
	        "log_on_connect: 'ja' is unknown; allowed are on, off, yes, "
	        "no"},
	};

	(void)state;
	ASSERT_ROWS(rows);
}

static void
off_stands_alone(void **state)
{
	(void)state;
	assert_errors("[global]\nlog = off\nlog = stderr\n" FRONTEND
	              "log = stderr\nlog = off\n" BACKEND,
	    "3: log: 'off' is given beside another log, first in line 2; keep\n"
	    "8: log: 'off' is given beside another log, first in line 7; keep");
}

static void
global_names_and_paths(void **state)
{
	static const struct row rows[] = {
	    {"global", "user = no-such-user",
	        "user: this host has no user 'no-such-user'; create it"},
	    {"global", "group = no-such-group",
	        "group: this host has no group 'no-such-group'; create it"},
	    {"global", "node = a b",
	        "node: 'a b' is not a valid name; allowed are"},
	    {"global", "http = unix:/run/a",
	        "http: 'unix:/run/a' is a unix socket; this is TCP only"},
	    {"global", "http = 127.0.0.1", "http: '127.0.0.1' has no port"},
	    {"global", "http = 127.0.0.1:1 level=root",
	        "http: level: 'root' is unknown; allowed are user, "
	        "operator, admin"},
	    {"global", "http = 127.0.0.1:1 users=u",
	        "http: users: a path that starts with / is needed"},
	    {"global", "http = 127.0.0.1:1 tls=web",
	        "http: tls: unknown tls 'web'; write a section [tls web]"},
	    {"global", "http = 127.0.0.1:1 user_header=X-User",
	        "http: user_header and header_from need each other"},
	    {"global",
	        "http = 127.0.0.1:1 user_header=X-User header_from=10.0.0.1",
	        "http: user_header needs users = FILE"},
	    {"global", "http = 127.0.0.1:1 user_header=X:",
	        "http: user_header: 'X:' is not the name of a header"},
	    {"global", "http = 127.0.0.1:1 header_from=10.0.0.1/8",
	        "http: header_from: "},
	    {"global", "admin = /run/a mode=888",
	        "admin: mode: '888' is not a file mode; write it in octal"},
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
	    {"frontend x", "listen = :90-80",
	        "listen: '90-80' is not a range of ports; write LOW-HIGH, "
	        "from 1 to 65535, as in :8000-8099"},
	    {"frontend x", "listen = :0-80", "listen: '0-80' is not a range"},
	    {"frontend x", "listen = :80-", "listen: '80-' is not a range"},
	    {"frontend x", "listen = 10.0.0.256:80-90",
	        "listen: '10.0.0.256' is not an IPv4 address"},
	    {"frontend x", "listen = localhost:81",
	        "listen: 'localhost' is not an IP address"},
	    {"frontend x", "listen = :81 mode=0600",
	        "listen: the option 'mode' is for unix sockets only"},
	    {"frontend x", "listen = unix:/x mode=9",
	        "listen: mode: '9' is not a file mode"},
	    {"frontend x", "listen = unix:/x mode",
	        "listen: mode: the value is missing; write mode=..."},
	    {"frontend x", "listen = unix:/x mode=600 mode=600",
	        "listen: mode: given twice; keep one"},
	    {"frontend x", "listen = :81 xyzzy",
	        "listen: unknown option 'xyzzy'; allowed are backlog, "},
	    {"frontend x", "listen = :81 ssl=on",
	        "listen: unknown option 'ssl'; write tls=NAME, and a [tls "
	        "NAME]"},
	    {"frontend x", "listen = :81 # as HAProxy has it",
	        "listen: '#' begins a comment at the start of a line only; "
	        "write ';' behind a value"},
	    {"frontend x", "listen = :81 accept_proxy=maybe",
	        "listen: accept_proxy: 'maybe' is unknown; write the word "
	        "alone"},
	    {"frontend x", "allow = 10.1.2.3/8",
	        "allow: '10.1.2.3/8' has bits beyond the first 8; write "
	        "10.0.0.0/8"},
	    {"frontend x", "deny = all some",
	        "deny: 'some' is not a range of addresses"},
	    {"frontend x", "limit = size=5", "limit: nothing is limited"},
	    {"frontend x", "route = version=1.2,1.4 backend=b",
	        "route: version: '1.4' is unknown; allowed are 1.3"},
	    {"frontend x", "route = tls=no version=1.2 backend=b",
	        "route: 'tls=no version=1.2 backend=b' never matches"},
	    {"frontend x", "limit = sessions=1 count=all",
	        "limit: count=all goes with a rate"},
	    {"frontend x", "limit = sessions=1 table=a/2",
	        "limit: table: 'a/2'"},
	    {"frontend x", "limit = sessions=1 table=x",
	        "limit: table: 'x' is the name of a frontend"},
	    {"frontend x", "limit = burst=5 sessions=1",
	        "limit: burst goes with a rate"},
	    {"frontend x", "limit = rate=3/d", "limit: rate: '3/d' is not a"},
	    {"frontend x", "limit = rate=0", "limit: rate: '0' is not a rate"},
	    {"frontend x", "limit = sessions=0", "limit: sessions: '0'"},
	    {"frontend x", "limit = sessions=3 prefix4=33",
	        "limit: prefix4: '33'"},
	    {"frontend x", "limit = sessions=3 prefix6=129",
	        "limit: prefix6: '129'"},
	    {"frontend x", "limit = sessions=3 per=list",
	        "limit: per: 'list' is unknown"},
	    {"frontend x", "limit = sessions=3 per=list:nope",
	        "limit: per: the configuration has no list; add [list nope]"},
	    {"frontend x", "limit = sessions=3 only=nope",
	        "limit: only: 'nope' is not a list; write list:NAME"},
	    {"frontend x", "limit = sessions=3 except=list:nope",
	        "limit: except: the configuration has no list"},
	    {"frontend x", "limit = bytes=10MiB/d",
	        "limit: bytes: '10MiB/d' has an unknown time"},
	    {"frontend x", "limit = bytes=0/s", "limit: bytes: '0'"},
	    {"frontend x", "limit = bytes=1MiB/h per=frontend size=5",
	        "limit: prefix4, prefix6 and size go with per=client"},
	    {"frontend x", "bandwidth = in=1k per=client size=17m",
	        "bandwidth: size: '17m'"},
	    {"frontend x", "bandwidth = in=1k per=client prefix4=33",
	        "bandwidth: prefix4: '33'"},
	    {"frontend x", "bandwidth = in=1k per=session prefix4=24",
	        "bandwidth: prefix4 goes with per=client; leave it out"},
	    {"frontend x", "bandwidth = in=1k per=",
	        "bandwidth: per= is unknown; allowed are session, frontend, "
	        "client"},
	    {"backend x", "bandwidth = in=1k per=frontend",
	        "bandwidth: per=frontend is unknown; allowed are session, "
	        "backend, server, client"},
	    {"backend x", "bandwidth = in=1k per=client prefix6=129",
	        "bandwidth: prefix6: '129'"},
	    {"frontend x", "bandwidth = in=1k per=session only=nope",
	        "bandwidth: 'nope' is not a list; write list:NAME"},
	    {"backend x", "bandwidth = in=1k per=server except=list:nope",
	        "bandwidth: the configuration has no list; add [list nope]"},
	    {"frontend x", "limit = sessions=3 size=17m",
	        "limit: size: '17m' is out of range"},
	    {"frontend x", "limit = sessions=3 action=delay",
	        "limit: action=delay goes with rate or bytes"},
	    {"frontend x", "limit = sessions=3 action=tarpit",
	        "limit: action: tarpit has no time; write how long a client "
	        "is held, as in tarpit=10s"},
	    {"frontend x", "limit = rate=3 action=delay=1ms",
	        "limit: action: delay: '1ms'"},
	    {"frontend x", "limit = sessions=3 action=reset=1s",
	        "limit: action: 'reset=1s': only tarpit and delay have a time"},
	    {"frontend x", "limit = sessions=3 per=frontend size=5",
	        "limit: prefix4, prefix6 and size go with per=client"},
	    {"frontend x", "bandwidth = in=1m",
	        "bandwidth: per= is missing, which says what shares the limit; "
	        "write per= with one of session, frontend"},
	    {"frontend x", "bandwidth = per=session",
	        "bandwidth: the rate is missing; write in=RATE, out=RATE or "
	        "both"},
	    {"frontend x", "bandwidth = in=1m per=server",
	        "bandwidth: per=server is unknown; allowed are session, "
	        "frontend"},
	    {"frontend x", "bandwidth = in=1m in=2m per=session",
	        "bandwidth: in is given twice"},
	    {"frontend x", "bandwidth = in=1m per=session per=session",
	        "bandwidth: per is given twice"},
	    {"frontend x", "bandwidth = up=1m per=session",
	        "bandwidth: 'up=1m' is not expected; write in=RATE, out=RATE "
	        "and per=SCOPE"},
	    {"frontend x", "bandwidth = out=5 per=session",
	        "bandwidth: out: '5' is out of range; allowed is 1KiB/s to "
	        "100GiB/s"},
	    {"backend x", "bandwidth = out=fast per=backend",
	        "bandwidth: out: 'fast' is not a bandwidth; write a whole "
	        "number"},
	    {"backend x", "server = s 10.0.0.1:80 bandwidth_in=0",
	        "server: bandwidth_in: '0' is out of range; allowed is 1KiB/s "
	        "to 100GiB/s; off is allowed as well"},
	    {"frontend x", "on_deny = tarpit", "on_deny: tarpit has no time"},
	    {"frontend x", "on_deny = tarpit 1h", "on_deny: tarpit: '1h'"},
	    {"frontend x", "on_deny = delay", "on_deny: 'delay' is unknown"},
	    {"frontend x", "on_deny = reset 5s",
	        "on_deny: 'reset 5s': only tarpit has a time"},
	    {"frontend x", "proxy_from = 10.1.2.3/8",
	        "proxy_from: '10.1.2.3/8' has bits beyond the first 8"},
	    {"backend x", "send_proxy = v3",
	        "send_proxy: 'v3' is unknown; did you mean 'v1'?"},
	    {"frontend x", "listen = unix:/x mss=1000",
	        "listen: the option 'mss' is for TCP only"},
	    {"frontend x", "listen = 10.0.0.1:81 v6only=on",
	        "listen: v6only is for IPv6 addresses, and '10.0.0.1:81' is"},
	    {"frontend x", "listen = [2001:db8::1]:81 v6only=off",
	        "listen: v6only=off is for [::]:PORT; '[2001:db8::1]:81' "},
	};

	(void)state;
	ASSERT_ROWS(rows);
}

static void
options_of_sockets(void **state)
{
	static const struct row rows[] = {
	    {"frontend x", "listen = :81 backlog=0",
	        "listen: backlog: '0' is not a whole number from 1 to "
	        "2147483647"},
	    {"frontend x", "listen = :81 keepalive=maybe",
	        "listen: keepalive: 'maybe' is not a duration"},
	    {"frontend x", "listen = :81 keepalive=1500ms",
	        "listen: keepalive: '1500ms' is not a whole number of seconds"},
	    {"frontend x", "listen = :81 keepalive=1s:1s:128",
	        "listen: keepalive: the count '128' is not a whole number from "
	        "1"},
	    {"frontend x", "listen = :81 keepalive=::",
	        "listen: keepalive: '::' has no time; write on, or"},
	    {"frontend x", "listen = :81 keepalive=1s:2s:3:4",
	        "listen: keepalive: the count '3:4' is not a whole number"},
	    {"frontend x", "listen = :81 user_timeout=25d",
	        "listen: user_timeout: '25d' is out of range; allowed is"},
	    {"frontend x", "listen = :81 mss=87",
	        "listen: mss: '87' is not a whole number from 88 to 32767"},
	    {"frontend x", "listen = :81 sndbuf=1x",
	        "listen: sndbuf: '1x' is not a size; write a whole number of"},
	    {"frontend x", "listen = :81 rcvbuf=1g",
	        "listen: rcvbuf: '1g' is out of range; allowed is 4k to 512m"},
	    {"frontend x", "listen = :81 congestion=nonesuch",
	        "listen: congestion: the kernel has no congestion control "
	        "'nonesuch'; there "},
	    {"frontend x", "listen = :81 congestion=0123456789abcdef",
	        "listen: congestion: the kernel has no congestion control "},
	    {"frontend x", "listen = :81 interface=nonesuch0",
	        "listen: interface: this host has no interface 'nonesuch0'; "
	        "there "},
	    {"frontend x", "listen = :81 dscp=64",
	        "listen: dscp: '64' is not a DSCP; write 0 to 63, or a name"},
	    {"frontend x", "listen = :81 mark=0x100000000",
	        "listen: mark: '0x100000000' is not a mark; write 1 to"},
	    {"frontend x", "listen = :81 defer_accept=10m",
	        "listen: defer_accept: '10m' is out of range; allowed is 1s"},
	    {"frontend x", "listen = :81 reuseport=1",
	        "listen: reuseport: '1' is unknown; allowed are on, off, yes, "
	        "no"},
	    {"backend x", "server = a 10.0.0.1:80 tfo=3",
	        "server: tfo: '3' is unknown; allowed are on, off, yes, no"},
	};

	(void)state;
	ASSERT_ROWS(rows);
}

static void
proxies_whose_headers_are_taken(void **state)
{
	(void)state;
	assert_errors("[frontend f]\nlisten = :80 accept_proxy\nbackend = b\n"
	              "proxy_from = ::1 web.example 10.0.0.0/8 10.0.0.1/\n"
	              "proxy_from = 10.0.0.0/7\n" BACKEND,
	    "4: proxy_from: 'web.example' is not a range of addresses; write "
	    "ADDRESS, ADDRESS/BITS, or unix\n"
	    "4: proxy_from: '10.0.0.1/' has no number from 0 to 32 behind /\n");
	assert_errors("[frontend f]\nlisten = :80\nlisten = :81\n"
	              "backend = b\nproxy_from = ::1\n" BACKEND,
	    "1: [frontend f]: proxy_from says whose connections begin with a "
	    "PROXY header, and no listen takes one; write accept_proxy behind "
	    "its address\n");
}

static void
sources(void **state)
{
	static const struct row rows[] = {
	    {"backend x", "source = 10.0.0",
	        "source: '10.0.0' is not a source"},
	    {"backend x", "source = client:80",
	        "source: 'client:80' is not a source address; write client, an "
	        "IP"},
	    {"backend x", "source = unix:/x",
	        "source: 'unix:/x' is not a source"},
	    {"backend x", "source = *",
	        "source: '*' needs ports, as in *:10000-20000"},
	    {"backend x", "source = 10.0.0.1:0",
	        "source: '0' is not a port or a range of ports; write one from "
	        "1 to 65535 or a"},
	    {"backend x", "source = 10.0.0.1:9-8",
	        "source: '9-8' is not a port"},
	    {"backend x", "source = 10.0.0.1:9-70000",
	        "source: '9-70000' is not a port"},
	    {"backend x", "source = [::1]x",
	        "source: '[::1]x' is not a source"},
	    {"backend x", "server = a 10.0.0.1:80 source=::1",
	        "server: 'a' has an IPv4 address, but its source is IPv6; give "
	        "it a source of the same family"},
	};

	(void)state;
	ASSERT_ROWS(rows);
}

static void
servers(void **state)
{
	static const struct row rows[] = {
	    {"backend x", "server = a",
	        "server: 'a' has no name or no address; write NAME HOST:PORT"},
	    {"backend x", "server = 10.0.0.1:80 weight=1",
	        "server: '10.0.0.1:80 weight=1' has no name or no address"},
	    {"backend x", "server = a/b 10.0.0.1:80",
	        "server: 'a/b' is not a valid name; allowed are letters, "
	        "digits"},
	    {"backend x", "server = a 10.0.0.1:0",
	        "server: '10.0.0.1:0' has no port from 1 to 65535"},
	    {"backend x", "server = a 10.0.0.1:",
	        "server: '10.0.0.1:' has no port from 1 to 65535"},
	    {"backend x", "server = a 10.0.0.1",
	        "server: '10.0.0.1' has no port, so its check has no port "
	        "either; write check_port=PORT, check=off, or the server's own "
	        "port as 10.0.0.1:PORT"},
	    {"backend x", "server = a 10.0.0.1:+5 check_fall=1",
	        "server: '10.0.0.1:+5' has no port, so its check has no port"},
	    {"backend x", "server = a 10.0.0.1:+",
	        "server: '+' is not a difference of ports; write +N or -N"},
	    {"backend x", "server = a 10.0.0.1:-65536",
	        "server: '-65536' is not a difference of ports"},
	    {"backend x", "server = a 10.0.0.256",
	        "server: '10.0.0.256' is not an IPv4 address"},
	    {"backend x", "server = a backup",
	        "server: 'a backup' has no name or no address"},
	    {"backend x", "server = a http://10.0.0.1:80",
	        "server: 'http://10.0.0.1:80' is a URL; write HOST:PORT"},
	    {"backend x", "server = a :80", "server: ':80' names no host"},
	    {"backend x", "server = a 10.0.0.1:80 weight=257",
	        "server: weight: '257' is not a whole number from 0 to 256"},
	    {"backend x", "server = a 10.0.0.1:80 wieght=1",
	        "server: unknown option 'wieght'; did you mean 'weight'?"},
	    {"backend x", "server = a 10.0.0.1:80 5",
	        "server: '5' is a value without an option; write OPTION=5; "},
	    {"backend x", "server = a 10.0.0.1:80 backup=5",
	        "server: backup: '5' is unknown; write the word alone, or "
	        "leave it out"},
	    {"backend x", "server = a 10.0.0.1:80 backup=",
	        "server: backup: the value is missing"},
	    {"backend x", "server = a 10.0.0.1:80 backup backup",
	        "server: backup: given twice; keep one"},
	    {"backend x", "server = a 10.0.0.1:80 weight",
	        "server: weight: the value is missing; write weight=..."},
	    {"backend x", "server = a 10.0.0.1:80 slow_start=10",
	        "server: slow_start: '10' has no unit"},
	    {"backend x", "slow_start = 500ms", "slow_start: '500ms' is "},
	    {"backend x", "all_backups = maybe",
	        "all_backups: 'maybe' is unknown"},
	    {"backend x", "on_down = kill", "on_down: 'kill' is unknown"},
	    {"backend x", "on_up = close", "on_up: 'close' is unknown"},
	    {"backend x", "server = a 10.0.0.1:80 on_down=kill",
	        "server: on_down: 'kill' is unknown; allowed are keep, close"},
	    {"backend x", "server = a 10.0.0.1:80 on_up=close",
	        "server: on_up: 'close' is unknown; "},
	    {"backend x", "server = a 10.0.0.1:80 backup on_up=close_backup",
	        "server: on_up: 'a' is a backup; close_backup is for "},
	    {"backend x", "panic_percent = 101", "panic_percent: '101' is no"},
	    {"backend x", "server = a unix:/x source=10.0.0.2",
	        "server: the option 'source' is for TCP only"},
	};

	(void)state;
	ASSERT_ROWS(rows);
}

static void
all_errors_of_one_line(void **state)
{
	(void)state;
	assert_line_error("backend x", "server = a! 10.0.0.1:0 weight=x foo=1",
	    "server: 'a!' is not a valid name\n"
	    "2: server: '10.0.0.1:0' has no port from 1 to 65535\n"
	    "2: server: weight: 'x' is not a whole number\n"
	    "2: server: unknown option 'foo'");
}

static void
duplicate_server_names(void **state)
{
	(void)state;
	assert_errors(FRONTEND "[backend b]\nserver = a 10.0.0.1:80\n"
	                       "server = b 10.0.0.1:0\nserver = a 10.0.0.2:80\n"
	                       "server = b 10.0.0.3:80\n",
	    "6: server: '10.0.0.1:0' has no port from 1 to 65535\n"
	    "7: server: the name 'a' is already used by another server of "
	    "[backend b], first in line 5; names must differ\n"
	    "8: server: the name 'b' is already used by another server of "
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
	    {"backend x", "check = htttp",
	        "check: 'htttp' is unknown; did you mean 'http'? allowed are "
	        "off, connect, http, https, tls, script, send-expect, redis, "
	        "postgresql, mysql, smtp"},
	    {"backend x", "check = interval=5s",
	        "check: 'interval=5s' is unknown; allowed are"},
	    {"backend x", "check = off interval=5s",
	        "check: 'off' takes no options"},
	    {"backend x", "check = connect path=/x",
	        "check: the option 'path' is for http and https checks only, "
	        "as in"},
	    {"defaults", "check = connect host=x",
	        "check: the option 'host' is for http and https checks only"},
	    {"backend x", "check = connect method=GET",
	        "check: the option 'method' is for http and https checks only"},
	    {"backend x", "check = connect status=200",
	        "check: the option 'status' is for http and https checks only"},
	    {"backend x", "check = connect pth=/x",
	        "check: unknown option 'pth'; allowed are interval, "
	        "fast_interval, "
	        "down_interval, jitter, port, addr, init_state, timeout, fall, "
	        "rise, send_proxy, tls"},
	    {"backend x", "check = http intervall=5s",
	        "check: unknown option 'intervall'; did you mean 'interval'?"},
	    {"backend x", "check = http:/healthz",
	        "check: 'http:/healthz' is unknown; write http path=/healthz"},
	    {"backend x", "check = https: interval=5s",
	        "check: 'https:' is unknown; write https path=/PATH"},
	    {"backend x", "check = http path=healthz",
	        "check: path: 'healthz' is not a path; write one that starts"},
	    {"backend x", "check = http host=a/b",
	        "check: host: 'a/b' is not a host"},
	    {"backend x", "check = http method=POST",
	        "check: method: 'POST' is unknown; allowed are GET, HEAD, "
	        "OPTIONS"},
	    {"backend x", "check = http status=99",
	        "check: status: '99' is not an HTTP status; write one from 100 "
	        "to 599 "
	        "or a range, as in 200-399"},
	    {"backend x", "check = http status=300-200", "check: status: '300"},
	    {"backend x", "check = http status=200-600", "check: status: '200"},
	    {"backend x", "check = http status=200-", "check: status: '200-'"},
	    {"backend x", "check = http status=-200", "check: status: '-200'"},
	    {"backend x", "check = http status=2-3-4", "check: status: '2-3"},
	    {"backend x", "check = http status=0000000200",
	        "check: status: '0000000200' is not an HTTP status"},
	    {"backend x", "check = http status=200,2x",
	        "check: status: '2x' is not an HTTP status"},
	    {"backend x", "check = http status=200,",
	        "check: status: '' is no"},
	    {"backend x", "check = http verify=off",
	        "check: the option 'verify' is for checks over TLS only"},
	    {"backend x", "check = https sni=a:b", "check: sni: 'a:b' is no"},
	    {"backend x", "check = https verify=maybe",
	        "check: verify: 'maybe' is unknown; allowed are on, off, yes, "
	        "no"},
	    {"backend x", "check = https ca=/there/is/none",
	        "check: ca: '/there/is/none' cannot be read: No such file"},
	    {"backend x", "check = https ca=/dev/null",
	        "check: ca: '/dev/null' has no certificate in PEM form"},
	    {"backend x", "check = https verify=off ca=/dev/null",
	        "check: ca is without effect while verify=off; keep one"},
	    {"backend x", "check = redis ca=/dev/null",
	        "check: ca, sni and common_name need tls=on"},
	    {"backend x", "check = redis user=a",
	        "check: the option 'user' is for postgresql checks"},
	    {"backend x", "check = redis hello=a",
	        "check: the option 'hello' is for smtp checks"},
	    {"backend x", "check = redis helo",
	        "check: the option 'helo' is for smtp checks"},
	    {"backend x", "check = smtp hello=a\\r",
	        "check: hello: 'a\\r' is not a host name"},
	    {"backend x", "check = script tls=on",
	        "check: the option 'tls' is for checks that connect"},
	    {"backend x", "check = https tls=off",
	        "check: 'https' is over TLS; write http tls=off"},
	    {"backend x", "check_step = put x",
	        "check_step: 'put' is not a step; write send, expect or "
	        "refuse"},
	    {"backend x", "check_step = send",
	        "check_step: send: the pattern is empty"},
	    {"backend x", "check_step = send regex a",
	        "check_step: a regular expression cannot be sent"},
	    {"backend x", "check_step = expect regex (",
	        "check_step: expect: '(' is not a regular expression"},
	    {"backend x", "agent = 99", "agent: '99' is neither off nor on"},
	    {"backend x", "agent = on port=65536", "agent: port: '65536' is"},
	    {"backend x", "agent = off port=1", "agent: 'off' takes no"},
	    {"backend x", "agent = on port=1 send=\\q",
	        "agent: send: '\\q': unknown escape"},
	    {"backend x", "check_command = true",
	        "check_command: 'true' does not begin with /; write the"},
	    {"backend x", "check_command = /there/is/none x",
	        "check_command: '/there/is/none' cannot be run: No such"},
	    {"backend x", "check = connect jitter=51",
	        "check: jitter: '51' is not a percentage from 0% to 50%"},
	    {"backend x", "check = connect port=0",
	        "check: port: '0' is not a whole number from 1 to 65535"},
	    {"backend x", "check = connect init_state=maint",
	        "check: init_state: 'maint' is unknown; allowed are up, down"},
	    {"backend x", "server = a 127.0.0.1:1 check_port=70000",
	        "server: check_port: '70000' is no"},
	    {"backend x", "check = http version=3", "check: version: '3' is"},
	    {"backend x", "server = s localhost:1 resolvers dns",
	        "server: unknown option 'resolvers'; write resolve=ttl; "
	        "[resolver]"},
	    {"backend x", "check_header = X-Probe",
	        "check_header: 'X-Probe' is not a header; write NAME: VALUE"},
	    {"backend x", "check_header = a b: c", "check_header: 'a b: c' is"},
	    {"backend x", "check_header = host: c",
	        "check_header: the Host header has an option"},
	    {"backend x", "check_header = Content-Length: 5",
	        "check_header: 'Content-Length' is lfproxy's own to set"},
	    {"backend x", "check_body = \"ok",
	        "check_body: \"ok has no closing quote"},
	    {"backend x", "check_body = \"ok\" x",
	        "check_body: \"ok\" x has a quote that closes it before"},
	    {"backend x", "check_body = \"\\q\"",
	        "check_body: '\\q': unknown escape; there are"},
	    {"backend x", "check_body = \"\"",
	        "check_body: the pattern is empty"},
	    {"backend x", "check_body = hex 0", "check_body: '0' is not hexa"},
	    {"backend x", "check_body = regex \"a(\"",
	        "check_body: 'a(' is not a regular expression: missing "
	        "closing"},
	    {"backend x", "check = connect interval=2",
	        "check: interval: '2' has no unit; write 2s (ms, s, m, h, d)"},
	    {"backend x", "check = connect interval=25h",
	        "check: interval: '25h' is out of range; allowed is 10ms to "
	        "1d"},
	    {"backend x", "check = connect timeout=9ms",
	        "check: timeout: '9ms' is out of range; allowed is 10ms to 1d"},
	    {"backend x", "check = connect fall=0",
	        "check: fall: '0' is not a whole number from 1 to 1000"},
	    {"backend x", "check = connect rise=1001",
	        "check: rise: '1001' is not a whole number from 1 to 1000"},
	    {"backend x", "check = http path=/a path=/b",
	        "check: path: given twice; keep one"},
	    {"backend x", "check = http path=",
	        "check: path: the value is missing; write path=..."},
	};

	(void)state;
	ASSERT_ROWS(rows);
}

static void
options_of_other_checks_are_without_effect(void **state)
{
	(void)state;
	assert_errors(FRONTEND BACKEND "check_body = ok\ncheck_header = A: b\n",
	    "4: [backend b]: check_header needs check = http or https\n"
	    "4: [backend b]: check_body needs check = http or https\n");
	assert_errors(FRONTEND BACKEND "check_step = send x\n",
	    "4: [backend b]: check_step needs check = send-expect\n");
	assert_errors(FRONTEND BACKEND "check = script\n",
	    "4: [backend b]: check = script needs check_command = /PATH\n");
	assert_errors(FRONTEND BACKEND "check_command = /bin/true\n",
	    "4: [backend b]: check_command needs check = script\n");
	assert_errors(FRONTEND BACKEND "check = send-expect\n",
	    "4: [backend b]: check = send-expect needs a check_step\n");
	assert_errors(FRONTEND BACKEND
	    "check = send-expect\ncheck_step = refuse a\n",
	    "4: [backend b]: check = send-expect needs a check_step\n");
	assert_errors(FRONTEND BACKEND
	    "check = https method=HEAD\ncheck_body = ok\n",
	    "4: [backend b]: check_body needs another method than HEAD, whose "
	    "answers have no body\n");
}

static void
a_wrong_check_is_not_reported_as_missing(void **state)
{
	(void)state;
	assert_errors(FRONTEND BACKEND "check = script\ncheck_command = x\n",
	    "7: check_command: 'x' does not begin with /");
	assert_errors(FRONTEND BACKEND
	    "check = send-expect\ncheck_step = sned x\n",
	    "7: check_step: 'sned' is not a step");
	assert_errors(FRONTEND BACKEND "check = htp\ncheck_header = A: b\n",
	    "6: check: 'htp' is unknown");
}

static void
longest_value_is_4096_characters(void **state)
{
	static const char *const heads[] = {"defaults", "backend x"};
	static char text[2 * DRAFT_VALUE_MAX];

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		snprintf(text, sizeof(text),
		    "[%s]\ncheck = http path=/%04086d\n%s" FRONTEND BACKEND,
		    heads[i], 1, i == 1 ? "server = s 10.0.0.1:80\n" : "");
		assert_errors(text,
		    "2: the value of check has 4097 characters; at most 4096 "
		    "are allowed");
	}
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
	    "1: the key 'x' comes before\n"
	    "3: listen: '80' has no port\n"
	    "4: backend: unknown backend 'nowhere'; there is b\n"
	    "5: the line is neither\n"
	    "7: retries: 'many' is not a whole number\n"
	    "8: unknown section [what]\n"
	    "9: the section has no ']'\n"
	    "9: unknown section [unfinished]");
}

/* Each byte of a file replaced and left out in turn: whatever it becomes, it
 * either loads or has an error, and nothing leaks or goes out of bounds. */
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
	    cmocka_unit_test(lines_without_an_equals_sign),
	    cmocka_unit_test(options_that_are_no_keys),
	    cmocka_unit_test(one_error_for_a_slip),
	    cmocka_unit_test(values_without_their_option),
	    cmocka_unit_test(words_of_others),
	    cmocka_unit_test(quotes_are_named),
	    cmocka_unit_test(all_keys_are_named),
	    cmocka_unit_test(names_of_sections),
	    cmocka_unit_test(longest_name_is_taken),
	    cmocka_unit_test(duplicate_sections),
	    cmocka_unit_test(repeated_keys),
	    cmocka_unit_test(missing_keys_and_sections),
	    cmocka_unit_test(shares_of_backends),
	    cmocka_unit_test(limits_that_share_a_table),
	    cmocka_unit_test(rules_on_names),
	    cmocka_unit_test(dangling_references),
	    cmocka_unit_test(durations),
	    cmocka_unit_test(numbers_and_choices),
	    cmocka_unit_test(more_shards_than_threads),
	    cmocka_unit_test(logs),
	    cmocka_unit_test(off_stands_alone),
	    cmocka_unit_test(global_names_and_paths),
	    cmocka_unit_test(addresses_to_listen_on),
	    cmocka_unit_test(options_of_sockets),
	    cmocka_unit_test(proxies_whose_headers_are_taken),
	    cmocka_unit_test(sources),
	    cmocka_unit_test(servers),
	    cmocka_unit_test(all_errors_of_one_line),
	    cmocka_unit_test(duplicate_server_names),
	    cmocka_unit_test(duplicate_addresses),
	    cmocka_unit_test(checks),
	    cmocka_unit_test(options_of_other_checks_are_without_effect),
	    cmocka_unit_test(a_wrong_check_is_not_reported_as_missing),
	    cmocka_unit_test(longest_value_is_4096_characters),
	    cmocka_unit_test(error_in_defaults_is_told_once),
	    cmocka_unit_test(all_errors_come_at_once_in_the_order_of_lines),
	    cmocka_unit_test(mutilated_files_load_or_fail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
