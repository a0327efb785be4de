/* SPDX-License-Identifier: MIT
 * Checks and agents of single servers, and servers that track others.
 */
#include "config/support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/check_rules.h"

static void
assert_at(const struct addr *addr, const char *expected)
{
	char text[ADDR_TEXT_SIZE];

	assert_string_equal(addr_text(addr, text), expected);
}

/* The rules of the first server. */
static enum proxy_version
checked_with(const char *backend)
{
	char text[1000];
	struct spec *spec;
	enum proxy_version version;

	snprintf(text, sizeof(text), "%s[backend b]\n%s\n", FRONTEND, backend);
	spec = load(text);
	version =
	    check_rules_of(&spec->backends[0], spec->backends[0].servers[0])
	        .proxy;
	spec_free(spec);
	return version;
}

static void
a_check_begins_as_sessions_do_where_these_go(void **state)
{
#define SERVER "server = s 10.0.0.1:80 "
	static const struct {
		const char *backend;
		enum proxy_version version;
	} cases[] = {
	    {SERVER, PROXY_OFF},
	    {SERVER "send_proxy=v1", PROXY_V1},
	    {SERVER "\nsend_proxy = v2", PROXY_V2},
	    {SERVER "send_proxy=v1\nsend_proxy = v2", PROXY_V1},
	    {SERVER "send_proxy=off\nsend_proxy = v2", PROXY_OFF},
	    {SERVER "send_proxy=v1 check_port=81", PROXY_OFF},
	    {SERVER "send_proxy=v1 check_addr=10.0.0.2", PROXY_OFF},
	    {SERVER "send_proxy=v1\ncheck = http port=81", PROXY_OFF},
	    {SERVER "send_proxy=v1\ncheck = tls verify=off addr=10.0.0.2",
	        PROXY_OFF},
	    {SERVER "send_proxy=v1 check_port=81 check_send_proxy=v2",
	        PROXY_V2},
	    {SERVER "send_proxy=v1\ncheck = connect port=81 send_proxy=v2",
	        PROXY_V2},
	    {SERVER "send_proxy=v1 check_send_proxy=off", PROXY_OFF},
	    {SERVER "send_proxy=v1\ncheck = connect send_proxy=off", PROXY_OFF},
	};
#undef SERVER

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (checked_with(cases[i].backend) != cases[i].version)
			fail_msg("%s", cases[i].backend);
}

static enum check_tls
checked_over_tls(const char *backend)
{
	char text[1000];
	struct spec *spec;
	enum check_tls tls;

	snprintf(text, sizeof(text),
	    "%s[tls t]\nverify = none\n[backend b]\n%s\n", FRONTEND, backend);
	spec = load(text);
	tls = check_rules_of(&spec->backends[0], spec->backends[0].servers[0])
	          .tls;
	spec_free(spec);
	return tls;
}

static void
a_check_speaks_tls_as_sessions_do_where_these_go(void **state)
{
#define SERVER "server = s 10.0.0.1:80 "
#define OWN    " verify=off"
	static const struct {
		const char *backend;
		enum check_tls tls;
	} cases[] = {
	    {SERVER, CHECK_TLS_NONE},
	    {SERVER "tls=t", CHECK_TLS_AS_SESSIONS},
	    {SERVER "\ntls = t", CHECK_TLS_AS_SESSIONS},
	    {SERVER "tls=off\ntls = t", CHECK_TLS_NONE},
	    {SERVER "tls=t\ncheck = http", CHECK_TLS_AS_SESSIONS},
	    {SERVER "tls=t\ncheck = redis", CHECK_TLS_AS_SESSIONS},
	    {SERVER "tls=t check_tls=off", CHECK_TLS_NONE},
	    {SERVER "tls=t\ncheck = http tls=off", CHECK_TLS_NONE},
	    {SERVER "tls=t check_tls=on\ncheck = http tls=off",
	        CHECK_TLS_AS_SESSIONS},
	    {SERVER "tls=t check_port=81", CHECK_TLS_NONE},
	    {SERVER "tls=t\ncheck = http addr=10.0.0.2", CHECK_TLS_NONE},
	    {SERVER "tls=t check_port=81 check_tls=on", CHECK_TLS_AS_SESSIONS},
	    {SERVER "tls=t\ncheck = http port=81 tls=on",
	        CHECK_TLS_AS_SESSIONS},
	    {SERVER "tls=t check_port=81\ncheck = https",
	        CHECK_TLS_AS_SESSIONS},
	    {SERVER "tls=t\ncheck = https" OWN, CHECK_TLS_OWN},
	    {SERVER "tls=t\ncheck = tls" OWN, CHECK_TLS_OWN},
	    {SERVER "tls=t\ncheck = redis tls=on" OWN, CHECK_TLS_OWN},
	    {SERVER "tls=t check_tls=off\ncheck = https" OWN, CHECK_TLS_NONE},
	    {SERVER "\ncheck = https" OWN, CHECK_TLS_OWN},
	    {SERVER "\ncheck = redis tls=on" OWN, CHECK_TLS_OWN},
	    {SERVER "\ncheck = redis", CHECK_TLS_NONE},
	};
#undef SERVER
#undef OWN

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (checked_over_tls(cases[i].backend) != cases[i].tls)
			fail_msg("%s", cases[i].backend);
}

static void
a_server_s_own_settings_come_before_those_of_the_check(void **state)
{
	struct spec *spec = load(FRONTEND
	    "[backend b]\n"
	    "check = http interval=3s fast_interval=4s down_interval=5s "
	    "timeout=6s jitter=7 fall=8 rise=9 port=10 addr=192.0.2.11 "
	    "init_state=down send_proxy=v2\n"
	    "server = s 10.0.0.1:80\n"
	    "server = t 10.0.0.2:80 check_interval=13s check_jitter=0 "
	    "check_fall=18 check_addr=2001:db8::1 check_init_state=up\n"
	    "server = u 10.0.0.2:80 check_fast_interval=14s "
	    "check_down_interval=15s check_timeout=16s check_rise=19 "
	    "check_port=20 check_send_proxy=off\n"
	    "server = v 10.0.0.3:80 check=off\n");
	const struct backend_spec *b = &spec->backends[0];
	struct check_rules s = check_rules_of(b, b->servers[0]);
	struct check_rules t = check_rules_of(b, b->servers[1]);
	struct check_rules u = check_rules_of(b, b->servers[2]);

	(void)state;
	assert_true(s.on && t.on && u.on);
	assert_int_equal(s.interval_ms, 3000);
	assert_int_equal(s.fast_interval_ms, 4000);
	assert_int_equal(s.down_interval_ms, 5000);
	assert_int_equal(s.timeout_ms, 6000);
	assert_int_equal(s.jitter, 7);
	assert_int_equal(s.fall, 8);
	assert_int_equal(s.rise, 9);
	assert_int_equal(s.init, CHECK_INIT_DOWN);
	assert_int_equal(s.proxy, PROXY_V2);
	assert_at(&s.addr, "192.0.2.11:10");

	assert_int_equal(t.interval_ms, 13000);
	assert_int_equal(t.fast_interval_ms, 4000);
	assert_int_equal(t.jitter, 0);
	assert_int_equal(t.fall, 18);
	assert_int_equal(t.rise, 9);
	assert_int_equal(t.init, CHECK_INIT_UP);
	assert_int_equal(t.proxy, PROXY_V2);
	assert_at(&t.addr, "[2001:db8::1]:10");

	assert_int_equal(u.interval_ms, 3000);
	assert_int_equal(u.fast_interval_ms, 14000);
	assert_int_equal(u.down_interval_ms, 15000);
	assert_int_equal(u.timeout_ms, 16000);
	assert_int_equal(u.rise, 19);
	assert_int_equal(u.proxy, PROXY_OFF);
	assert_at(&u.addr, "192.0.2.11:20");
	assert_false(check_rules_of(b, b->servers[3]).on);
	spec_free(spec);
}

static void
without_another_address_the_server_s_own_is_checked(void **state)
{
	struct spec *spec = load(
	    FRONTEND "[backend b]\nserver = s 10.0.0.1:80\n"
	             "server = t 10.0.0.2:81 check_addr=10.0.0.9\n"
	             "server = u 10.0.0.3:82 check_port=9\n"
	             "server = v unix:/run/v\n"
	             "server = w unix:/run/w check_addr=::1 check_port=7\n");
	const struct backend_spec *b = &spec->backends[0];
	static const char *const expected[] = {"10.0.0.1:80", "10.0.0.9:81",
	    "10.0.0.3:9", "unix:/run/v", "[::1]:7"};

	(void)state;
	for (size_t i = 0; i < b->servers_n; i++) {
		struct check_rules r = check_rules_of(b, b->servers[i]);

		assert_at(&r.addr, expected[i]);
	}
	spec_free(spec);
}

static void
agents_are_on_or_off_by_server(void **state)
{
	struct spec *spec =
	    load(FRONTEND "[backend b]\n"
	                  "agent = on port=9 addr=10.0.0.8 send=hello\n"
	                  "server = s 10.0.0.1:80\n"
	                  "server = t 10.0.0.2:80 agent=off\n"
	                  "server = u 10.0.0.3:80 agent_addr=10.0.0.7 "
	                  "agent_port=8 agent_send=x\\n agent_interval=5s "
	                  "agent_timeout=6s\n"
	                  "[backend c]\n"
	                  "server = s 10.0.0.1:80\n"
	                  "server = t 10.0.0.2:80 agent=on agent_port=7\n");
	const struct backend_spec *b = &spec->backends[0];
	const struct backend_spec *c = &spec->backends[1];
	struct agent_rules s = agent_rules_of(b, b->servers[0]);
	struct agent_rules u = agent_rules_of(b, b->servers[2]);
	struct agent_rules t = agent_rules_of(c, c->servers[1]);

	(void)state;
	assert_true(s.on);
	assert_at(&s.addr, "10.0.0.8:9");
	assert_int_equal(s.interval_ms, 2000);
	assert_memory_equal(s.send->bytes, "hello", 5);
	assert_false(agent_rules_of(b, b->servers[1]).on);
	assert_true(u.on);
	assert_at(&u.addr, "10.0.0.7:8");
	assert_int_equal(u.send->n, 2);
	assert_int_equal(u.interval_ms, 5000);
	assert_int_equal(u.timeout_ms, 6000);
	assert_false(agent_rules_of(c, c->servers[0]).on);
	assert_true(t.on);
	assert_at(&t.addr, "10.0.0.2:7");
	assert_int_equal(t.send->n, 0);
	spec_free(spec);
}

static void
an_agent_follows_the_tls_of_its_server_unless_told_otherwise(void **state)
{
	struct spec *spec =
	    load(FRONTEND "[tls t]\nverify = none\n"
	                  "[backend b]\ntls = t\nagent = on port=9\n"
	                  "server = s 10.0.0.1:80\n"
	                  "server = t 10.0.0.1:80 agent_tls=off\n"
	                  "server = u 10.0.0.1:80 tls=off\n"
	                  "[backend c]\ntls = t\nagent = on port=9 tls=off\n"
	                  "server = s 10.0.0.1:80 agent_tls=on\n"
	                  "server = t 10.0.0.1:80\n"
	                  "server = u 10.0.0.1:80 tls=off\n");

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		const struct backend_spec *b = &spec->backends[i];

		assert_true(agent_rules_of(b, b->servers[0]).tls);
		assert_false(agent_rules_of(b, b->servers[1]).tls);
		assert_false(agent_rules_of(b, b->servers[2]).tls);
	}
	spec_free(spec);
	assert_errors("[frontend f]\nlisten = :80\nbackend = b\n[backend b]\n"
	              "agent = on port=9 tls=on\nserver = s 10.0.0.1:80\n",
	    "6: server: the agent of 's' is asked over TLS, but the server has "
	    "no TLS; write tls=NAME, or agent_tls=off");
}

static void
rules_tell_whether_they_ask_the_same(void **state)
{
	struct spec *spec = load(
	    FRONTEND "[tls t]\nverify = none\n[backend b]\n"
	             "agent = on port=9 send=a\n"
	             "server = s 10.0.0.1:80\n"
	             "server = t 10.0.0.1:80 check_fall=1 agent_interval=1s\n"
	             "server = u 10.0.0.1:80 check_port=81 agent_send=b\n"
	             "server = v 10.0.0.1:80 check_send_proxy=v1 "
	             "agent_port=8\n"
	             "server = w 10.0.0.1:80 tls=t agent_tls=on\n");
	const struct backend_spec *b = &spec->backends[0];
	struct check_rules c[5];
	struct agent_rules a[5];

	(void)state;
	for (size_t i = 0; i < 5; i++) {
		c[i] = check_rules_of(b, b->servers[i]);
		a[i] = agent_rules_of(b, b->servers[i]);
		assert_int_equal(check_rules_ask_same(&c[0], &c[i]), i < 2);
		assert_int_equal(agent_rules_ask_same(&a[0], &a[i]), i < 2);
	}
	spec_free(spec);
	/* Nor where nothing is sent; under a sanitizer, without NULL compared.
	 */
	spec = load(FRONTEND "[backend b]\nagent = on port=9\n"
	                     "server = s 10.0.0.1:80\n");
	a[0] = agent_rules_of(&spec->backends[0], spec->backends[0].servers[0]);
	assert_true(agent_rules_ask_same(&a[0], &a[0]));
	spec_free(spec);
}

static void
what_a_server_has_of_its_own_comes_back(void **state)
{
	static const char *const same[] = {"check=off", "check=on",
	    "check_addr=10.0.0.9", "check_addr=2001:db8::1", "check_port=9",
	    "check_interval=1s", "check_fast_interval=100ms",
	    "check_down_interval=1m", "check_jitter=0%", "check_jitter=50%",
	    "check_timeout=3s", "check_fall=1", "check_rise=1000",
	    "check_init_state=up", "check_init_state=down",
	    "check_send_proxy=off", "check_send_proxy=v1", "check_tls=off",
	    "agent=off", "agent_addr=10.0.0.9", "agent_port=1",
	    "agent_send=a\\nb", "agent_interval=1d", "agent_timeout=10ms",
	    "agent_tls=off"};

	(void)state;
	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
		char text[300], line[200];

		snprintf(text, sizeof(text),
		    FRONTEND "[backend b]\nagent = on port=9\nserver = s "
		             "10.0.0.1:80 %s\n",
		    same[i]);
		snprintf(line, sizeof(line),
		    "\nserver = s 10.0.0.1:80 weight=100 maxconn=0 %s\n",
		    same[i]);
		assert_prints(text, line);
	}
	assert_prints(FRONTEND BACKEND "server = t 10.0.0.2:80 track=b/s\n",
	    "\nserver = t 10.0.0.2:80 weight=100 maxconn=0 track=b/s\n");
	assert_prints(FRONTEND BACKEND "server = t [::1]:80 "
	                               "check_addr=::ffff:10.0.0.1\n",
	    " check_addr=10.0.0.1\n");
}

static void
a_tracker_knows_whom_it_tracks(void **state)
{
	struct spec *spec =
	    load(FRONTEND BACKEND "server = t 10.0.0.2:80 track=c/y\n"
	                          "server = u 10.0.0.3:80 track=s\n"
	                          "[backend c]\nserver = x 10.0.0.1:80\n"
	                          "server = y 10.0.0.1:80\nagent=on port=9\n");
	const struct backend_spec *b = &spec->backends[0];

	(void)state;
	assert_int_equal(b->servers[1]->track_backend, 1);
	assert_string_equal(server_spec_tracked(b->servers[1]), "y");
	assert_int_equal(b->servers[2]->track_backend, 0);
	assert_string_equal(server_spec_tracked(b->servers[2]), "s");
	assert_false(check_rules_of(b, b->servers[1]).on);
	spec_free(spec);
}

/* The server line is the fifth. */
#define S FRONTEND "[backend b]\nserver = "

static void
what_cannot_be_is_told(void **state)
{
	(void)state;
	assert_errors(S "s 10.0.0.1:80 check_addr=host\n",
	    "5: server: check_addr: 'host' is not an IP address; write one");
	assert_errors(S "s 10.0.0.1:80 agent_addr=10.0.0.1:80\n",
	    "5: server: agent_addr: '10.0.0.1:80' is not an IP address");
	assert_errors(S "s 10.0.0.1:80 check_jitter=51\n",
	    "5: server: check_jitter: '51' is not a percentage from 0% to 50%");
	assert_errors(S "s 10.0.0.1:80 check_init_state=drain\n",
	    "5: server: check_init_state: 'drain' is unknown; allowed are up");
	assert_errors(S "s 10.0.0.1:80 check_send_proxy=v3\n",
	    "5: server: check_send_proxy: 'v3' is unknown; did you mean 'v1'?");
	assert_errors(S "s 10.0.0.1:80 check=on\ncheck = off\n",
	    "5: server: check: 's' is to be checked, and [backend b] does not "
	    "say how; write check = KIND there");
	assert_errors(S "s 10.0.0.1:80 check_send_proxy=v1\ncheck = script\n"
	                "check_command = /bin/true\n",
	    "5: server: check_send_proxy: 's' is checked by a script");
	assert_errors(S "s 10.0.0.1:80 check_tls=on\n",
	    "5: server: 's' is to be checked over TLS, but has no TLS itself; "
	    "write tls=NAME, or check = https or tls in [backend b]");
	assert_errors(S "s 10.0.0.1:80 check_tls=on\ncheck = redis\n",
	    "5: server: 's' is to be checked over TLS, but has no TLS itself");
	assert_errors(S "s unix:/run/s check_port=80\n",
	    "5: server: check_port: 's' is a unix socket, which has no port");
	assert_errors(S "s unix:/run/s check_addr=10.0.0.1\n",
	    "5: server: 's' is a unix socket and is checked at another "
	    "address, so that needs a port");
	assert_errors(S "s unix:/run/s\nagent = on port=9\n",
	    "5: server: 's' is a unix socket, which has no port for its agent; "
	    "write agent_addr=IP, or agent=off");
	assert_errors(S "s 10.0.0.1:80\nagent = on\n",
	    "5: server: the port is missing at which 's' has its agent; write "
	    "agent_port=NUMBER, or agent = on port=NUMBER for all of");
	assert_errors(FRONTEND BACKEND "check = script send_proxy=v1\n"
	                               "check_command = /bin/true\n",
	    "6: check: the option 'send_proxy' is for checks that connect");
}

static void
what_cannot_be_tracked_is_told(void **state)
{
	(void)state;
	assert_errors(S "s 10.0.0.1:80 track=a/b/c\n",
	    "5: server: track: 'a/b/c' is not a server; write BACKEND/SERVER");
	assert_errors(S "s 10.0.0.1:80 track=/b\n",
	    "5: server: track: '/b' is not a server; write BACKEND/SERVER");
	assert_errors(S "s 10.0.0.1:80 track=c/b\n",
	    "5: server: track: unknown backend 'c'; there is b");
	assert_errors(S "s 10.0.0.1:80 track=b/t\n",
	    "5: server: track: [backend b] has no server 't'; there is s");
	assert_errors(S "s 10.0.0.1:80 track=b/s\n",
	    "5: server: track: 's' would track itself");
	assert_errors(S
	    "s 10.0.0.1:80 track=t\nserver = t 10.0.0.1:80 track=s\n",
	    "5: server: track: b/t tracks s itself; name a server that is "
	    "checked\n6: server: track: b/s tracks t itself; name a server");
	assert_errors(S "s 10.0.0.1:80\nserver = t 10.0.0.1:80 track=s\n"
	                "server = u 10.0.0.1:80 track=t\n",
	    "7: server: track: b/t tracks s itself; name a server that is");
	assert_errors(S "s 10.0.0.1:80 check=off\nserver = t 10.0.0.1:80 "
	                "track=s\n",
	    "6: server: track: b/s has neither a check nor an agent; give it "
	    "one, or name another");
	assert_errors(S "s 10.0.0.1:80\nserver = t 10.0.0.1:80 track=s "
	                "check_fall=1\n",
	    "6: server: track: 't' tracks s and is not checked itself; leave "
	    "out track, or check and agent with all they have");
	assert_errors(S "s 10.0.0.1:80\nserver = t 10.0.0.1:80 track=s "
	                "agent=on agent_port=1\n",
	    "6: server: track: 't' tracks s and is not checked itself; leave");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_check_begins_as_sessions_do_where_these_go),
	    cmocka_unit_test(a_check_speaks_tls_as_sessions_do_where_these_go),
	    cmocka_unit_test(
	        a_server_s_own_settings_come_before_those_of_the_check),
	    cmocka_unit_test(
	        without_another_address_the_server_s_own_is_checked),
	    cmocka_unit_test(agents_are_on_or_off_by_server),
	    cmocka_unit_test(
	        an_agent_follows_the_tls_of_its_server_unless_told_otherwise),
	    cmocka_unit_test(rules_tell_whether_they_ask_the_same),
	    cmocka_unit_test(what_a_server_has_of_its_own_comes_back),
	    cmocka_unit_test(a_tracker_knows_whom_it_tracks),
	    cmocka_unit_test(what_cannot_be_is_told),
	    cmocka_unit_test(what_cannot_be_tracked_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
