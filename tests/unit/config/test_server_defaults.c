/* SPDX-License-Identifier: MIT
 * server_defaults: which options a server has, and how they are printed.
 */
#include <stdlib.h>
#include <string.h>

#include "config/config.h"
#include "config/diff.h"
#include "config/edit.h"
#include "config/support.h"
#include "unit.h"

#define HEAD FRONTEND "[backend b]\n"

static void
each_server_has_them_wherever_the_line_stands(void **state)
{
	struct spec *spec = load(HEAD "server = s 10.0.0.1:80\n"
	                              "server_defaults = weight=7 maxconn=9\n"
	                              "server = t 10.0.0.2:80 maxconn=0\n");
	struct server_spec *const *s = spec->backends[0].servers;

	(void)state;
	assert_int_equal(s[0]->weight, 7);
	assert_int_equal(s[0]->maxconn, 9);
	assert_int_equal(s[1]->weight, 7);
	assert_int_equal(s[1]->maxconn, 0);
	spec_free(spec);
}

static void
a_server_takes_a_flag_back(void **state)
{
	struct spec *spec = load(
	    HEAD "server_defaults = backup disabled check=off agent_send=x\n"
	         "check = connect\nserver = s 10.0.0.1:80 backup=off check=on\n"
	         "server = t 10.0.0.2:80 disabled=off agent_send=yz\n");
	struct server_spec *const *s = spec->backends[0].servers;

	(void)state;
	assert_false(s[0]->backup);
	assert_true(s[0]->disabled);
	assert_int_equal(s[0]->check.on, SWITCH_ON);
	assert_int_equal(s[0]->agent.send.n, 1);
	assert_true(s[1]->backup);
	assert_false(s[1]->disabled);
	assert_int_equal(s[1]->check.on, SWITCH_OFF);
	assert_int_equal(s[1]->agent.send.n, 2);
	spec_free(spec);
}

/* As every key: what the section has takes the place of what [defaults] has. */
static void
those_of_defaults_are_for_backends_without_their_own(void **state)
{
	struct spec *spec =
	    load("[backend b]\nserver = s 10.0.0.1:80\n"
	         "[backend c]\nserver_defaults = maxconn=3\n"
	         "server = s 10.0.0.1:80\n"
	         "[defaults]\nserver_defaults = weight=5 maxconn=2\n" FRONTEND);

	(void)state;
	assert_int_equal(spec->backends[0].servers[0]->weight, 5);
	assert_int_equal(spec->backends[0].servers[0]->maxconn, 2);
	assert_int_equal(spec->backends[1].servers[0]->weight, WEIGHT_DEFAULT);
	assert_int_equal(spec->backends[1].servers[0]->maxconn, 3);
	spec_free(spec);
}

static void
a_unix_socket_leaves_out_what_is_for_tcp(void **state)
{
	struct spec *spec =
	    load(HEAD "server_defaults = weight=5 mss=1000\n"
	              "server = s unix:/run/s\nserver = t 10.0.0.1:80\n");
	struct server_spec *const *s = spec->backends[0].servers;

	(void)state;
	assert_int_equal(s[0]->weight, 5);
	assert_int_equal(s[0]->sock.mss, 0);
	assert_int_equal(s[1]->sock.mss, 1000);
	spec_free(spec);
}

static void
errors_are_told_once_and_at_their_line(void **state)
{
	(void)state;
	assert_errors(HEAD "server = s 10.0.0.1:80\n"
	                   "server_defaults = weight=x wieght=3\n"
	                   "server = t 10.0.0.2:80\n",
	    "6: server_defaults: weight: 'x' is \n"
	    "6: server_defaults: unknown option 'wieght'; did you mean "
	    "'weight'?\n");
	assert_errors(HEAD "server_defaults = weight=1 weight=2\n"
	                   "server = t 10.0.0.2:80\n",
	    "5: server_defaults: weight: given twice; keep one\n");
	assert_errors(HEAD "server_defaults = weight=1\n"
	                   "server_defaults = weight=2\n"
	                   "server = t 10.0.0.2:80\n",
	    "6: server_defaults is given twice in [backend b], first in line "
	    "5\n");
	assert_errors(HEAD "server_defaults = s 10.0.0.1:80\n"
	                   "server = t 10.0.0.2:80\n",
	    "5: server_defaults: \n5: server_defaults: \n");
	/* That of a server is its own. */
	assert_errors(HEAD "server_defaults = check_port=9\n"
	                   "server = t unix:/run/t\n",
	    "6: server: check_port: 't' is a unix socket\n");
}

static void
what_is_printed_reads_back_the_same(void **state)
{
	char *text =
	    round_trip(HEAD "server_defaults = backup weight=7 check_port=99\n"
	                    "server = s 10.0.0.1:80 weight=100\n"
	                    "server = t 10.0.0.2:80 backup=off\n");

	(void)state;
	assert_non_null(
	    strstr(text, "\nserver_defaults = backup weight=7 check_port=99\n"
	                 "server = s 10.0.0.1:80 weight=100 maxconn=0 backup "
	                 "check_port=99\n"
	                 "server = t 10.0.0.2:80 weight=7 maxconn=0 backup=off "
	                 "check_port=99\n"));
	free(text);
}

/* Where not all options fit into a line it has those that differ, also from
 * server_defaults to the table's default. */
static void
a_line_that_would_be_too_long_has_what_differs(void **state)
{
	static const char config[] = HEAD
	    "server_defaults = weight=7 check_interval=11s check_timeout=12s "
	    "check_fall=13 check_rise=14 check_port=15 check_jitter=16 "
	    "keepalive=60s:10s:3\n"
	    "server = s 10.0.0.1:80 weight=100 user_timeout=30s mss=1000 "
	    "sndbuf=64k rcvbuf=64k tfo=on\n";
	char *text = round_trip(config);
	struct spec *spec = load(text);

	(void)state;
	assert_int_equal(spec->backends[0].servers[0]->weight, 100);
	assert_int_equal(spec->backends[0].servers[0]->check.fall, 13);
	assert_int_equal(spec->backends[0].servers[0]->sock.mss, 1000);
	spec_free(spec);
	free(text);
}

/* As with HAProxy's default-server. */
static void
add_server_takes_none_of_them(void **state)
{
	struct spec *spec = load(HEAD "server_defaults = weight=7 backup\n"
	                              "server = s 10.0.0.1:80\n");
	struct server_spec *s;
	struct err_list errors;

	(void)state;
	err_list_init(&errors);
	s = config_read_server(
	    spec, &spec->backends[0], "t 10.0.0.2:80", &errors);
	assert_non_null(s);
	assert_int_equal(s->weight, WEIGHT_DEFAULT);
	assert_false(s->backup);
	server_spec_free(s);
	err_list_fini(&errors);
	spec_free(spec);
}

static void
a_reload_tells_what_changes_for_each_server(void **state)
{
	struct spec *old = load(HEAD "server_defaults = weight=7\n"
	                             "server = s 10.0.0.1:80\n"
	                             "server = t 10.0.0.2:80 weight=9\n");
	struct spec *new = load(HEAD "server_defaults = weight=8\n"
	                             "server = s 10.0.0.1:80\n"
	                             "server = t 10.0.0.2:80 weight=9\n");
	struct changes changes;

	(void)state;
	changes_init(&changes);
	assert_true(config_diff(old, new, &changes));
	assert_int_equal(changes.n, 2);
	assert_string_equal(changes.all[0].text,
	    "backend b: server_defaults: weight=7 -> weight=8");
	assert_string_equal(
	    changes.all[1].text, "backend b: server s: weight: 7 -> 8");
	changes_fini(&changes);
	spec_free(old);
	spec_free(new);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(each_server_has_them_wherever_the_line_stands),
	    cmocka_unit_test(a_server_takes_a_flag_back),
	    cmocka_unit_test(
	        those_of_defaults_are_for_backends_without_their_own),
	    cmocka_unit_test(a_unix_socket_leaves_out_what_is_for_tcp),
	    cmocka_unit_test(errors_are_told_once_and_at_their_line),
	    cmocka_unit_test(what_is_printed_reads_back_the_same),
	    cmocka_unit_test(a_line_that_would_be_too_long_has_what_differs),
	    cmocka_unit_test(add_server_takes_none_of_them),
	    cmocka_unit_test(a_reload_tells_what_changes_for_each_server),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
