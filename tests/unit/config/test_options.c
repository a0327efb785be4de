/* SPDX-License-Identifier: MIT
 * The command line, and the configuration that it makes without a file.
 *
 * The layer lfproxy has no archive, since it is a program; its options use
 * nothing above the layer config, so they are tested here, compiled in.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "config/cpus.h"
#include "config/pool_text.h"
#include "config/support.h"
#include "lfproxy/options.c"

/* Cuts the line at blanks, where '_' stands for one within a word. */
static bool
parse(const char *line, struct options *ret_options, struct err *err)
{
	static char copy[6000];
	char *argv[64] = {(char[]){"lfproxy"}};
	char *rest = copy, *word;
	int argc = 1;

	strcpy(copy, line);
	while ((word = strsep(&rest, " ")))
		if (*word)
			argv[argc++] = word;
	for (char *p = copy; p < copy + strlen(line); p++)
		if (*p == '_')
			*p = ' ';
	return options_parse(argc, argv, ret_options, err);
}

static struct options
parsed(const char *line)
{
	struct options o;
	struct err err;

	if (!parse(line, &o, &err))
		fail_msg("%s: %s", line, err.text);
	return o;
}

static void
assert_usage(const char *line, const char *expected)
{
	struct options o = {.files_n = 42};
	struct err err = {""};
	char whole[600];

	if (parse(line, &o, &err))
		fail_msg("'%s' was taken", line);
	assert_int_equal(o.files_n, 42);
	snprintf(whole, sizeof(whole), "%s; try lfproxy -h", expected);
	assert_string_equal(err.text, whole);
}

static void
file_is_run_tested_or_printed(void **state)
{
	static const struct {
		const char *line;
		enum options_action action;
	} rows[] = {{"-c f", OPTIONS_RUN}, {"-cf", OPTIONS_RUN},
	    {"--config f", OPTIONS_RUN}, {"--config=f", OPTIONS_RUN},
	    {"-t -c f", OPTIONS_TEST}, {"-tc f", OPTIONS_TEST},
	    {"-c f --test", OPTIONS_TEST}, {"-T -c f", OPTIONS_PRINT},
	    {"-c f --print", OPTIONS_PRINT}, {"-T -t -c f", OPTIONS_PRINT}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct options o = parsed(rows[i].line);

		assert_int_equal(o.action, rows[i].action);
		assert_int_equal(o.files_n, 1);
		assert_string_equal(o.files[0], "f");
		options_fini(&o);
	}
}

static void
questions_need_nothing_else(void **state)
{
	static const struct {
		const char *line;
		enum options_action action;
	} rows[] = {{"-h", OPTIONS_HELP}, {"--help", OPTIONS_HELP},
	    {"-V", OPTIONS_VERSION}, {"--version", OPTIONS_VERSION},
	    {"--list-keys", OPTIONS_LIST_KEYS},
	    {"--list-commands", OPTIONS_LIST_COMMANDS},
	    {"-c f -l :80 -h", OPTIONS_HELP}, {"-h -t", OPTIONS_HELP},
	    {"-V what", OPTIONS_VERSION}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct options o = parsed(rows[i].line);

		assert_int_equal(o.action, rows[i].action);
		options_fini(&o);
	}
}

static void
short_form_is_taken(void **state)
{
	static const char *const lines[] = {
	    "-l a -s b -l c -s d=e -b f -k g -n h -a i -t",
	    "--listen a --server b --listen c --server d=e --balance f "
	    "--check g --threads h --admin i --test"};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct options o = parsed(lines[i]);
		const struct config_options *s = &o.short_form;

		assert_int_equal(o.action, OPTIONS_TEST);
		assert_int_equal(o.files_n, 0);
		assert_int_equal(s->listens_n, 2);
		assert_string_equal(s->listens[0], "a");
		assert_string_equal(s->listens[1], "c");
		assert_int_equal(s->servers_n, 2);
		assert_string_equal(s->servers[0], "b");
		assert_string_equal(s->servers[1], "d=e");
		assert_string_equal(s->balance, "f");
		assert_string_equal(s->check, "g");
		assert_string_equal(s->threads, "h");
		assert_string_equal(s->admin, "i");
		options_fini(&o);
	}
}

static void
wrong_use_is_told(void **state)
{
	(void)state;
	assert_usage("",
	    "no configuration; name a file with -c, or addresses with -l "
	    "and -s");
	assert_usage("-t",
	    "no configuration; name a file with -c, or addresses with -l "
	    "and -s");
	assert_usage("-l :80", "no server; give at least one with -s");
	assert_usage(
	    "-s h:1", "no address to listen on; give at least one with -l");
	assert_usage(
	    "-n 2", "no address to listen on; give at least one with -l");
	assert_usage("-c f -l :80",
	    "-c and -l exclude each other; use either a file or options");
	assert_usage("-s h:1 -c f",
	    "-c and -s exclude each other; use either a file or options");
	assert_usage("-c f -n 2",
	    "-c and -n exclude each other; use either a file or options");
	assert_usage("-c f g",
	    "unexpected argument 'g'; name a configuration with -c FILE, and "
	    "give commands to a running lfproxy with lfproxyctl");
	assert_usage("f",
	    "unexpected argument 'f'; name a configuration with -c FILE, and "
	    "give commands to a running lfproxy with lfproxyctl");
	assert_usage("-l a -s b -n 1 -n 2", "-n is given twice");
	assert_usage("-l a -s b -b x -b x", "-b is given twice");
	assert_usage("-l a -s b -k x -k x", "-k is given twice");
	assert_usage("-l a -s b -a x -a x", "-a is given twice");
}

static void
wrong_options_are_named(void **state)
{
	(void)state;
	assert_usage("-z", "-z is unknown");
	assert_usage("-tz -c f", "-z is unknown");
	assert_usage("--test -tz", "-z is unknown");
	assert_usage(
	    "--lisen :80", "--lisen is unknown; did you mean --listen?");
	assert_usage(
	    "--cofnig=f", "--cofnig=f is unknown; did you mean --config?");
	assert_usage("--l", "--l is unknown or ambiguous");
	assert_usage("--daemonize", "--daemonize is unknown or ambiguous");
	assert_usage("-c", "-c needs a value");
	assert_usage("-t -l", "-l needs a value");
	assert_usage("--server", "--server needs a value");
	assert_usage("--test=yes -c f", "--test=yes takes no value");
}

/* Options of haproxy and nginx. */
static void
foreign_options_are_told_what_to_use(void **state)
{
	(void)state;
	assert_usage("-v", "-v is unknown; the version is printed by -V");
	assert_usage("-vv", "-v is unknown; the version is printed by -V");
	assert_usage(
	    "-f x.cfg", "-f is unknown; name the configuration with -c FILE");
	assert_usage("-c f -D",
	    "-D is unknown; lfproxy stays in the foreground, where a service "
	    "manager keeps it: leave it out");
	assert_usage("-db -c f",
	    "-d is unknown; lfproxy stays in the foreground, and has no debug "
	    "mode: leave it out");
	assert_usage("-p /run/x",
	    "-p is unknown; lfproxy writes no pid file, as it stays in the "
	    "foreground: leave it out");
	assert_usage("-Ws -c f",
	    "-W is unknown; a reload needs no second process: leave it out");
	assert_usage("-g daemon_off;",
	    "-g is unknown; write the settings into a file, and name it with "
	    "-c FILE");
	assert_usage("-qt -c f",
	    "-q is unknown; -t prints nothing but errors, warnings and one "
	    "line: leave it out");
	assert_usage("-c f -sf 4711",
	    "-sf: the process that runs is not named by its id; upgrade it "
	    "with `lfproxyctl upgrade`, or take it over with -x SOCKET");
	assert_usage("-c -f x.cfg",
	    "-c names the configuration, and -t checks it: lfproxy -t -c FILE");
	assert_usage("-s reload",
	    "-s names a server, and 'reload' has no port; `lfproxyctl reload` "
	    "reloads, SIGTERM stops, and log files are reopened by SIGUSR1");
	assert_usage("-help", "-help has one dash only; write --help");
	assert_usage("-config f", "-config has one dash only; write --config");
	assert_usage("-version", "-version has one dash only; write --version");
}

static void
help_names_every_option(void **state)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	(void)state;
	options_help(f);
	fclose(f);
	for (const struct option *o = long_options; o->name; o++) {
		char name[40];

		if (o->val < 256)
			snprintf(
			    name, sizeof(name), "-%c, --%s", o->val, o->name);
		else
			snprintf(name, sizeof(name), "--%s", o->name);
		if (strncmp(o->name, "list-", 5) != 0)
			assert_non_null(strstr(text, name));
		else /* for the build's own checks */
			assert_null(strstr(text, o->name));
	}
	free(text);
}

static struct spec *
load_line(const char *line)
{
	struct options o = parsed(line);
	struct err_list errors;
	struct spec *spec = NULL;

	err_list_init(&errors);
	if (!options_load(&o, &spec, &errors)) {
		err_list_print(&errors, "", stderr);
		fail_msg("'%s' does not load", line);
	}
	assert_int_equal(errors.n, 0);
	err_list_fini(&errors);
	options_fini(&o);
	return spec;
}

/* `expected` is what err_list_print writes. */
static void
assert_load_fails(const char *line, const char *expected)
{
	struct options o = parsed(line);
	struct err_list errors;
	struct spec *spec = NULL;
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	err_list_init(&errors);
	assert_false(options_load(&o, &spec, &errors));
	assert_null(spec);
	err_list_print(&errors, "", f);
	fclose(f);
	assert_string_equal(text, expected);
	free(text);
	err_list_fini(&errors);
	options_fini(&o);
}

static void
short_form_makes_one_of_each(void **state)
{
	struct spec *s = load_line("-l :80 -l unix:/run/x_mode=600 "
	                           "-s 10.0.0.1:80 -s [::1]:81");

	(void)state;
	assert_int_equal(s->files_n, 0);
	assert_int_equal(s->global.admin.n, 0);
	assert_int_equal(s->pools_n, 1);
	assert_string_equal(s->pools[0].name, "main");
	assert_int_equal(s->pools[0].classes[0].threads, cpus_usable(""));
	assert_int_equal(s->frontends_n, 1);
	assert_string_equal(s->frontends[0].name, "main");
	assert_null(s->frontends[0].place.file);
	assert_int_equal(s->frontends[0].listens_n, 2);
	assert_true(s->frontends[0].listens[0].both_families);
	assert_null(s->frontends[0].listens[0].place.file);
	assert_int_equal(s->frontends[0].listens[1].mode, 0600);
	assert_int_equal(s->frontends[0].timeout_client_ms, 300000);
	assert_int_equal(s->backends_n, 1);
	assert_string_equal(s->backends[0].name, "main");
	assert_int_equal(s->backends[0].check.kind, CHECK_CONNECT);
	assert_int_equal(s->backends[0].servers_n, 2);
	assert_string_equal(s->backends[0].servers[0]->name, "s1");
	assert_string_equal(s->backends[0].servers[1]->name, "s2");
	assert_string_equal(s->backends[0].servers[1]->address, "[::1]:81");
	assert_null(s->backends[0].servers[1]->place.file);
	spec_free(s);
}

static void
short_form_takes_its_options(void **state)
{
	struct spec *s = load_line("-l :80 -s 10.0.0.1:80 -b roundrobin "
	                           "-k http:/healthz -n 7 -a /run/a");

	(void)state;
	assert_int_equal(s->pools[0].classes[0].threads, 7);
	assert_string_equal(s->global.admin.all[0].text, "/run/a");
	assert_int_equal(s->global.admin.all[0].mode, 0660);
	assert_int_equal(s->backends[0].check.kind, CHECK_HTTP);
	assert_string_equal(s->backends[0].check.path, "/healthz");
	spec_free(s);
	s = load_line("-l :80 -s 10.0.0.1:80 -k off -n auto");
	assert_int_equal(s->backends[0].check.kind, CHECK_OFF);
	assert_true(s->pools[0].threads_auto);
	spec_free(s);
	s = load_line("-l :80 -s 10.0.0.1:80 -k https:/healthz");
	assert_int_equal(s->backends[0].check.kind, CHECK_HTTPS);
	assert_string_equal(s->backends[0].check.path, "/healthz");
	spec_free(s);
	s = load_line("-l :80 -s 10.0.0.1:80 -k script:/bin/true_-x");
	assert_int_equal(s->backends[0].check.kind, CHECK_SCRIPT);
	assert_string_equal(s->backends[0].check_command, "/bin/true -x");
	spec_free(s);
	s = load_line("-l :80 -s 10.0.0.1:80 -k connect_interval=5s");
	assert_int_equal(s->backends[0].check.interval_ms, 5000);
	spec_free(s);
}

/* Whatever check = takes, but for what needs a file. */
static void
every_kind_of_check_goes_without_a_file(void **state)
{
	static const char *const kinds[] = {"off", "connect", "http", "https",
	    "tls", "redis", "postgresql", "mysql", "smtp",
	    "https_path=/a_verify=off"};
	char line[100];

	(void)state;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		snprintf(line, sizeof(line), "-l :80 -s 10.0.0.1:80 -k %s",
		    kinds[i]);
		spec_free(load_line(line));
	}
	assert_load_fails("-l :80 -s 10.0.0.1:80 -k send-expect",
	    "-k send-expect needs steps, which only a file can have "
	    "(check_step); write one and name it with -c\n");
	assert_load_fails("-l :80 -s 10.0.0.1:80 -k script",
	    "-k script needs a program; write -k script:/PATH\n");
}

static void
servers_may_have_names(void **state)
{
	struct spec *s = load_line("-l :80 -s s1=10.0.0.1:80 -s 10.0.0.2:80 "
	                           "-s db=unix:/a=b -s unix:/c=d "
	                           "-s 10.0.0.3:80_weight=5");
	struct server_spec *const *v = s->backends[0].servers;
	static const char *const names[] = {"s1", "s2", "db", "s3", "s4"};

	(void)state;
	for (size_t i = 0; i < 5; i++)
		assert_string_equal(v[i]->name, names[i]);
	assert_string_equal(v[2]->address, "unix:/a=b");
	assert_string_equal(v[3]->address, "unix:/c=d");
	assert_int_equal(v[4]->weight, 5);
	spec_free(s);
}

/* HAProxy's servers take the client's port as well. */
static void
servers_without_a_port_have_that_of_the_client(void **state)
{
	static const struct {
		const char *line;
		unsigned port;
	} rows[] = {{"-l :8080 -s 10.0.0.11", 8080},
	    {"-l 10.0.0.1:8080 -l [::1]:8080 -s a=app.internal", 8080},
	    {"-l :8080 -s 10.0.0.11:+1", 8081}, {"-l :8080 -s [::1]", 8080},
	    {"-l :8080 -s 10.0.0.11:81", 0}, {"-l :8080 -s unix:/x", 0},
	    {"-l :80 -l :81 -s 10.0.0.11 -k off", 0}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct spec *s = load_line(rows[i].line);

		assert_int_equal(
		    s->backends[0].servers[0]->check.port, rows[i].port);
		spec_free(s);
	}
	assert_load_fails("-l :80 -l :81 -s 10.0.0.11",
	    "server: '10.0.0.11' has no port, so its check has no port either; "
	    "write check_port=PORT, check=off, or the server's own port as "
	    "10.0.0.11:PORT\n");
	assert_load_fails("-l :8000-8099 -s 10.0.0.11",
	    "server: '10.0.0.11' has no port, so its check has no port either; "
	    "write check_port=PORT, check=off, or the server's own port as "
	    "10.0.0.11:PORT\n");
}

static void
short_form_errors_name_the_option(void **state)
{
	(void)state;
	assert_load_fails("-l :80 -s 10.0.0.1:0",
	    "-s 10.0.0.1:0: '10.0.0.1:0' has no port from 1 to 65535\n");
	assert_load_fails(
	    "-l 80 -s a=10.0.0.1:80 -s a=10.0.0.2:80 -b rr -k htttp -n 0",
	    "-n 0: '0' is not a number of threads; allowed are " THREADS_ALLOWED
	    "\n"
	    "-l 80: '80' has no port; write :PORT, HOST:PORT, [V6]:PORT or "
	    "unix:/path\n"
	    "-b rr: 'rr' is unknown; write roundrobin\n"
	    "-k htttp: 'htttp' is unknown; did you mean 'http'? allowed are "
	    "off, connect, http, https, tls, script, send-expect, redis, "
	    "postgresql, mysql, smtp\n"
	    "-s a=10.0.0.2:80: the name 'a' is already used by another server "
	    "of "
	    "[backend main]; names must differ\n");
	assert_load_fails("-l :80 -l *:80 -s 10.0.0.1:80",
	    "-l *:80: '*:80' is listened on already; each address can be used "
	    "once\n");
	assert_load_fails("-l :80 -s a= -s a!=10.0.0.1:80 -k http:",
	    "-k http:: path: the value is missing; write path=...\n"
	    "-s a=: 'a ' has no name or no address; write NAME HOST:PORT\n"
	    "-s a!=10.0.0.1:80: 'a!' is not a valid name; allowed are letters, "
	    "digits "
	    "and -_.:, at most 40 of them\n");
}

/* What no line of a file can be. */
static void
odd_values_on_the_command_line_are_refused(void **state)
{
	static char line[5000], expected[5000];

	(void)state;
	assert_load_fails(
	    "-l :80 -s 10.0.0.1:80 -b _", "-b  : balance has no value\n");
	assert_load_fails("-l :80 -s 10.0.0.1:80 -k http:/a\nb",
	    "-k http:/a\nb: the value of check has the control character "
	    "0x0a\n");
	snprintf(
	    line, sizeof(line), "-l :80 -s 10.0.0.1:80 -k http:/%04086d", 1);
	snprintf(expected, sizeof(expected),
	    "-k http:/%04086d: the value of check has 4097 characters; at most "
	    "4096 are allowed\n",
	    1);
	assert_load_fails(line, expected);
}

static void
short_form_prints_as_a_file(void **state)
{
	struct spec *s = load_line("-l :80 -s 10.0.0.1:80 -n 2 -k http:/h");
	struct spec *again;
	char *printed = print(s), *printed_again;

	(void)state;
	again = load(printed);
	printed_again = print(again);
	assert_string_equal(printed, printed_again);
	free(printed);
	free(printed_again);
	spec_free(s);
	spec_free(again);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(file_is_run_tested_or_printed),
	    cmocka_unit_test(questions_need_nothing_else),
	    cmocka_unit_test(short_form_is_taken),
	    cmocka_unit_test(wrong_use_is_told),
	    cmocka_unit_test(wrong_options_are_named),
	    cmocka_unit_test(foreign_options_are_told_what_to_use),
	    cmocka_unit_test(help_names_every_option),
	    cmocka_unit_test(short_form_makes_one_of_each),
	    cmocka_unit_test(short_form_takes_its_options),
	    cmocka_unit_test(every_kind_of_check_goes_without_a_file),
	    cmocka_unit_test(servers_may_have_names),
	    cmocka_unit_test(servers_without_a_port_have_that_of_the_client),
	    cmocka_unit_test(short_form_errors_name_the_option),
	    cmocka_unit_test(odd_values_on_the_command_line_are_refused),
	    cmocka_unit_test(short_form_prints_as_a_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
