/* SPDX-License-Identifier: MIT
 * `servers =`: what a set is, its names, and the servers that its members
 * become.
 */
#include <stdlib.h>
#include <string.h>

#include "config/config.h"
#include "config/diff.h"
#include "config/edit.h"
#include "config/member.h"
#include "config/support.h"
#include "unit.h"

#define HEAD FRONTEND "[backend b]\n"

static void
a_set_has_a_source_and_options_of_its_servers(void **state)
{
	struct spec *spec =
	    load(HEAD "server_defaults = maxconn=9 weight=3\n"
	              "servers = app 20 weight=5 file=/etc/app confirm=off\n"
	              "servers = old 2 file=/etc/old backup\n");
	const struct set_spec *sets = spec->backends[0].sets;

	(void)state;
	assert_int_equal(spec->backends[0].sets_n, 2);
	assert_int_equal(spec->backends[0].servers_n, 0);
	assert_string_equal(sets[0].prefix, "app");
	assert_int_equal(sets[0].max, 20);
	assert_int_equal(sets[0].kind, DISCOVERY_FILE);
	assert_string_equal(sets[0].source, "/etc/app");
	assert_int_equal(sets[0].confirm, SET_CONFIRM_OFF);
	assert_int_equal(sets[0].member.weight, 5);
	assert_int_equal(sets[0].member.maxconn, 9);
	assert_int_equal(sets[1].confirm, SET_CONFIRM_HALF);
	assert_true(sets[1].member.backup);
	assert_int_equal(sets[1].member.weight, 3);
	spec_free(spec);
}

static void
a_set_is_printed_as_it_is_read(void **state)
{
	char *text = round_trip(
	    HEAD "server = x 10.0.0.9:80\n"
	         "servers = app 20 file=/etc/app weight=5 check_port=99\n"
	         "servers = b 3 confirm=always file=b.servers\n");

	(void)state;
	assert_non_null(strstr(text,
	    "\nservers = app 20 file=/etc/app confirm=half weight=5 maxconn=0 "
	    "check_port=99\n"
	    "servers = b 3 file=b.servers confirm=always weight=100 "
	    "maxconn=0\n"));
	free(text);
}

static void
wrong_sets_have_errors(void **state)
{
	(void)state;
	assert_errors(HEAD "servers = app file=/x\n"
	                   "servers = app 0 file=/x\n"
	                   "servers = app 3\n"
	                   "servers = app 3 file=/x file=/y\n"
	                   "servers = app 3 file=/x dns=a:80\n"
	                   "servers = a/b 3 file=/x\n"
	                   "servers = c 3 file=/x wieght=5\n"
	                   "servers = d 3 file=/x token=y\n"
	                   "servers = e 3 dns=10.0.0.1:80\n"
	                   "servers = f 3 dns=a\n"
	                   "servers = g 3 srv=http.a\n"
	                   "servers = h 3 srv=_http._tcp.a.\n"
	                   "servers = i 3 etcd=ftp://a/b\n"
	                   "servers = j 3 consul=http://a:1/b cert=/x\n",
	    "5: servers: 'app file=/x' has no prefix or no number; write \n"
	    "6: servers: the most servers of the set: \n"
	    "7: servers: 'app 3' has no source; write file=PATH\n"
	    "8: servers: file: given twice; keep one\n"
	    "9: servers: dns: the set has an origin already, file=/x; keep\n"
	    "10: servers: \n"
	    "11: servers: unknown option 'wieght'; did you mean 'weight'?\n"
	    "12: servers: token, ca, cert, key, common_name and timeout are "
	    "for etcd\n"
	    "13: servers: dns: '10.0.0.1:80' is not HOST:PORT with a host's\n"
	    "14: servers: dns: \n"
	    "15: servers: srv: 'http.a' is not the name of SRV records; \n"
	    "17: servers: etcd: 'ftp://a/b' is not a URL that begins with\n"
	    "18: servers: cert\n");
}

static void
names_of_members_are_the_set_s(void **state)
{
	(void)state;
	assert_errors(HEAD "server = app20 10.0.0.1:80\n"
	                   "server = app21 10.0.0.1:80\n"
	                   "server = app05 10.0.0.1:80\n"
	                   "servers = app 20 file=/x\n",
	    "5: server: the name 'app20' is a name of the set 'app' "
	    "of [backend b], app1 to app20; choose another\n");
	assert_errors(HEAD "servers = app 20 file=/x\n"
	                   "servers = app1 5 file=/x\n",
	    "6: servers: the names of the sets 'app' and 'app1' overlap, "
	    "first in line 5; give\n");
	assert_errors(HEAD "servers = app 20 file=/x\n"
	                   "servers = app 5 file=/y\n",
	    "6: servers: the names of the sets 'app' and 'app' overlap, \n");
	/* app21 is no server of the first one. */
	spec_free(load(HEAD "servers = app 20 file=/x\n"
	                    "servers = app2 5 confirm=off file=/x\n"
	                    "servers = apple 9 file=/x\n"));
}

static void
options_of_sets_follow_the_rules_for_servers(void **state)
{
	(void)state;
	assert_errors(HEAD "check = off\nservers = a 2 file=/x check=on\n",
	    "6: server: check: 'a' is to be checked, and [backend b] does\n");
	assert_errors(HEAD "servers = a 2 file=/x\n"
	                   "server = s 10.0.0.1:80 track=a1\n",
	    "6: server: track: b/a1 would be a member of the set 'a', which "
	    "comes and goes; name a server that stays\n");
}

/* -- members -- */

static bool
member(struct spec *spec, const char *address, const char *options,
    struct server_spec **ret, struct err_list *errors)
{
	const struct config_member m = {.name = "app1",
	    .key = "k",
	    .address = address,
	    .options = options,
	    .note = "",
	    .since_ms = 5,
	    .joined = true};

	return config_member_read(spec, &spec->backends[0], 0, &m, ret, errors);
}

static void
a_member_has_its_options_over_those_of_the_set(void **state)
{
	struct spec *spec =
	    load(HEAD "servers = app 20 file=/x weight=5 maxconn=7 backup\n");
	struct server_spec *s;
	struct err_list errors;

	(void)state;
	err_list_init(&errors);
	assert_true(
	    member(spec, "10.0.0.1:80", "weight=9 backup=off", &s, &errors));
	assert_string_equal(s->name, "app1");
	assert_string_equal(s->address, "10.0.0.1:80");
	assert_string_equal(s->hash_name, "10.0.0.1:80");
	assert_int_equal(s->weight, 9);
	assert_int_equal(s->maxconn, 7);
	assert_false(s->backup);
	assert_null(s->host);
	assert_int_equal(s->check.init.value, CHECK_INIT_DOWN);
	server_spec_free(s);
	assert_true(member(spec, "[0:0::1]:80", "", &s, &errors));
	assert_string_equal(s->hash_name, "[::1]:80");
	server_spec_free(s);
	assert_true(member(spec, "web.internal:80", "", &s, &errors));
	assert_string_equal(s->host, "web.internal");
	server_spec_free(s);
	err_list_fini(&errors);
	spec_free(spec);
}

static void
assert_refused(struct spec *spec, const char *address, const char *options,
    const char *place, const char *text)
{
	struct server_spec *s;
	struct err_list errors;

	err_list_init(&errors);
	assert_false(member(spec, address, options, &s, &errors));
	assert_int_equal(errors.n, 1);
	assert_string_equal(errors.entries[0].file, place);
	assert_non_null(strstr(errors.entries[0].text, text));
	err_list_fini(&errors);
}

static void
wrong_members_are_refused(void **state)
{
	struct spec *spec = load(HEAD "servers = app 20 file=/x\n");

	(void)state;
	assert_refused(spec, "10.0.0.256:80", "", "b/app1", "10.0.0.256");
	assert_refused(spec, "10.0.0.1:80", "weight=900", "b/app1",
	    "weight: '900' is not");
	assert_refused(
	    spec, "10.0.0.1:80", "file=/y", "b/app1", "unknown option 'file'");
	assert_refused(spec, "unix:/run/x", "mss=1000", "b/app1", "TCP only");
	assert_refused(
	    spec, "10.0.0.1", "", "b/app1", "has no port, so its check has");
	spec_free(spec);
}

static void
members_stand_behind_single_servers(void **state)
{
	struct spec *spec = load(HEAD "servers = app 20 file=/x\n"
	                              "server = s 10.0.0.9:80\n");
	struct backend_spec *b = &spec->backends[0];
	struct server_spec **list = calloc(2, sizeof(*list));
	struct err_list errors;
	size_t at;

	(void)state;
	assert_non_null(list);
	err_list_init(&errors);
	list[0] = b->servers[0];
	assert_true(member(spec, "10.0.0.1:80", "", &list[1], &errors));
	config_set_members(b, list, 2);
	assert_int_equal(b->servers_n, 2);
	assert_int_equal(b->singles_n, 1);
	assert_true(name_table_find(SERVER_TABLE(b), "app1", &at));
	assert_int_equal(at, 1);
	err_list_fini(&errors);
	spec_free(spec);
}

static void
an_added_server_may_not_have_a_member_s_name(void **state)
{
	struct spec *spec = load(HEAD "servers = app 20 file=/x\n");
	struct err_list errors;

	(void)state;
	err_list_init(&errors);
	assert_null(config_read_server(
	    spec, &spec->backends[0], "app7 10.0.0.3:80", &errors));
	assert_non_null(strstr(errors.entries[0].text, "the set 'app'"));
	err_list_fini(&errors);
	spec_free(spec);
}

static void
differences_are_those_of_the_set(void **state)
{
	struct spec *old = load(HEAD "servers = app 20 file=/x weight=1\n"
	                             "servers = gone 2 file=/z\n");
	struct spec *new = load(HEAD "servers = app 30 file=/x weight=2\n"
	                             "servers = more 2 file=/z\n");
	struct changes changes;

	(void)state;
	changes_init(&changes);
	assert_true(config_diff(old, new, &changes));
	assert_int_equal(changes.n, 4);
	assert_string_equal(changes.all[0].text,
	    "backend b: servers app: at most 20 -> 30 servers");
	assert_string_equal(
	    changes.all[1].text, "backend b: servers app: weight: 1 -> 2");
	assert_string_equal(
	    changes.all[2].text, "backend b: servers gone is removed");
	assert_string_equal(
	    changes.all[3].text, "backend b: servers more is new");
	changes_fini(&changes);
	spec_free(old);
	spec_free(new);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_set_has_a_source_and_options_of_its_servers),
	    cmocka_unit_test(a_set_is_printed_as_it_is_read),
	    cmocka_unit_test(wrong_sets_have_errors),
	    cmocka_unit_test(names_of_members_are_the_set_s),
	    cmocka_unit_test(options_of_sets_follow_the_rules_for_servers),
	    cmocka_unit_test(a_member_has_its_options_over_those_of_the_set),
	    cmocka_unit_test(wrong_members_are_refused),
	    cmocka_unit_test(members_stand_behind_single_servers),
	    cmocka_unit_test(an_added_server_may_not_have_a_member_s_name),
	    cmocka_unit_test(differences_are_those_of_the_set),
	};

	unit_watchdog();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
