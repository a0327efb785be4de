/* SPDX-License-Identifier: MIT
 * A running configuration that is edited, and HAProxy's words for servers.
 */
#include <stdlib.h>
#include <string.h>

#include "config/config.h"
#include "config/edit.h"
#include "config/server_words.h"
#include "config/support.h"
#include "unit.h"

#define SITE                                                                   \
	"[global]\nnode = n\n[pool main]\nthreads = 2\n"                       \
	"[frontend f]\nlisten = :80\nbackend = b\n"                            \
	"[backend b]\ncheck = connect\n"                                       \
	"server = s 10.0.0.1:80\nserver = t 10.0.0.2:80\n"                     \
	"server = u 10.0.0.3:80 track=t\n"                                     \
	"[backend off]\ncheck = off\non_error = mark_down\nerror_limit = 7\n"  \
	"server = s 10.0.0.1:80\n"

static void
assert_err(struct err_list *errors, const char *expected)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	err_list_print(errors, "", out);
	assert_int_equal(fclose(out), 0);
	assert_string_equal(text, expected);
	free(text);
	err_list_fini(errors);
}

/* Reads the server and puts it behind the others. */
static void
append(struct spec *spec, struct backend_spec *b, const char *value)
{
	struct err_list errors;

	err_list_init(&errors);
	b->servers =
	    reallocarray(b->servers, b->servers_n + 1, sizeof(*b->servers));
	assert_non_null(b->servers);
	b->servers[b->servers_n] = config_read_server(spec, b, value, &errors);
	assert_non_null(b->servers[b->servers_n]);
	b->singles_n = ++b->servers_n;
	INDEX_POINTERS(b, servers);
	err_list_fini(&errors);
}

static void
a_server_is_read_like_one_of_the_file_and_left_to_the_caller(void **state)
{
	struct spec *spec = load(SITE);
	struct backend_spec *b = &spec->backends[0];
	struct server_spec *s;
	struct err_list errors;

	(void)state;
	err_list_init(&errors);
	s = config_read_server(spec, b,
	    "v 10.0.0.4:80 weight=3 check=off agent=off track=t", &errors);
	assert_null(s);
	err_list_fini(&errors);
	err_list_init(&errors);
	s = config_read_server(spec, b, "v 10.0.0.4:80 weight=3", &errors);
	assert_non_null(s);
	assert_true(s->added);
	assert_int_equal(s->weight, 3);
	assert_int_equal(b->servers_n, 3);
	server_spec_free(s);
	s = config_read_server(spec, b, "v 10.0.0.4:80 track=t", &errors);
	assert_string_equal(server_spec_tracked(s), "t");
	assert_int_equal(s->track_backend, 0);
	server_spec_free(s);
	err_list_fini(&errors);
	spec_free(spec);
}

static void
deleted_servers_of_the_file_are_noted_once(void **state)
{
	struct spec *spec = load(SITE);
	struct backend_spec *b = &spec->backends[0];

	(void)state;
	append(spec, b, "v 10.0.0.4:80");
	for (int i = 0; i < 2; i++) {
		assert_true(config_note_deleted(b, b->servers[0]));
		assert_true(config_note_deleted(b, b->servers[3]));
		assert_int_equal(b->deleted_n, 1);
		assert_string_equal(b->deleted[0], "s");
	}
	spec_free(spec);
}

static void
an_error_names_the_server_and_the_option(void **state)
{
	static const struct {
		const char *value, *error;
	} cases[] = {
	    {"x 10.0.0.4:80 weight=x",
	        "b/x: weight: 'x' is not a whole number from 0 to 256\n"},
	    {"x 10.0.0.4:80 track=nope",
	        "server: track: [backend b] has no server 'nope'; there are s, "
	        "t, u\n"},
	    {"x 10.0.0.4:80 track=u",
	        "server: track: b/u tracks t itself; name a server that is "
	        "checked\n"},
	    {"s 10.0.0.4:80", "b/s: the name 's' is already used by another "
	                      "server of [backend b]"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct spec *spec = load(SITE);
		struct err_list errors;

		err_list_init(&errors);
		assert_null(config_read_server(
		    spec, &spec->backends[0], cases[i].value, &errors));
		assert_true(errors.n == 1);
		if (strchr(cases[i].error, '\n'))
			assert_err(&errors, cases[i].error);
		err_list_fini(&errors);
		spec_free(spec);
	}
}

static void
a_reload_names_whom_it_drops_keeps_and_brings_back(void **state)
{
	struct spec *running = load(SITE), *file = load(SITE);
	struct backend_spec *b = &running->backends[0];
	struct changes changes;

	(void)state;
	changes_init(&changes);
	config_tell_edits(running, file, &changes);
	assert_int_equal(changes.n, 0);
	append(running, b, "x 10.0.0.4:80");
	append(running, b, "y 10.0.0.5:80");
	append(running, b, "z 10.0.0.6:80");
	assert_true(config_note_deleted(b, b->servers[0]));
	server_spec_free(b->servers[0]);
	b->servers[0] = b->servers[--b->servers_n];
	INDEX_POINTERS(b, servers);
	append(file, &file->backends[0], "y 10.0.0.5:80");
	/* Of another address: another server. */
	append(file, &file->backends[0], "z 10.0.0.7:80");
	config_tell_edits(running, file, &changes);
	assert_int_equal(changes.n, 1);
	assert_string_equal(changes.all[0].text,
	    "the reload discards servers added or deleted at run time: not in "
	    "it, and removed: b/z, b/x; in it, and kept as they are: b/y; in "
	    "it, and back again: b/s");
	changes_fini(&changes);
	spec_free(running);
	spec_free(file);
}

static void
haproxys_words_become_those_of_the_file(void **state)
{
	static const struct {
		const char *words, *value; /* value NULL: refused */
	} cases[] = {
	    {"10.0.0.4:80", "10.0.0.4:80 check=off agent=off"},
	    {"10.0.0.4:80 check", "10.0.0.4:80 check=on agent=off"},
	    {"10.0.0.4:80 check inter 2000 fastinter 1s downinter 1500us",
	        "10.0.0.4:80 check=on check_interval=2000ms "
	        "check_fast_interval=1s check_down_interval=2ms agent=off"},
	    {"10.0.0.4:80 agent-check agent-port 9 agent-inter 1m",
	        "10.0.0.4:80 agent=on agent_port=9 agent_interval=1m "
	        "check=off"},
	    {"10.0.0.4:80 weight 3 maxconn 4 backup slowstart 5s",
	        "10.0.0.4:80 weight=3 maxconn=4 backup slow_start=5s check=off "
	        "agent=off"},
	    {"10.0.0.4:80 weight=3 check=off", "10.0.0.4:80 weight=3 check=off "
	                                       "agent=off"},
	    {"10.0.0.4:80 track b/s", "10.0.0.4:80 track=b/s"},
	    {"10.0.0.4:80 send-proxy",
	        "10.0.0.4:80 send_proxy=v1 check=off agent=off"},
	    {"10.0.0.4:80 send-proxy-v2 check",
	        "10.0.0.4:80 send_proxy=v2 check=on agent=off"},
	    {"10.0.0.4:80 no-send-proxy",
	        "10.0.0.4:80 send_proxy=off check=off agent=off"},
	    {"10.0.0.4:80 send-proxy-v2-ssl",
	        "10.0.0.4:80 send_proxy=v2-tls check=off agent=off"},
	    {"10.0.0.4:80 send-proxy-v2-ssl-cn check-send-proxy",
	        "10.0.0.4:80 send_proxy=v2-tls check_send_proxy=v2 check=off "
	        "agent=off"},
	    {"10.0.0.4:80 check check-send-proxy port 8 send-proxy-v2",
	        "10.0.0.4:80 check=on check_port=8 send_proxy=v2 "
	        "check_send_proxy=v2 agent=off"},
	    {"10.0.0.4:80 port 8 addr 10.0.0.5 rise 1 fall 2 check-send-proxy",
	        "10.0.0.4:80 check_port=8 check_addr=10.0.0.5 check_rise=1 "
	        "check_fall=2 check_send_proxy=v1 check=off agent=off"},
	    {"10.0.0.4:80 source 10.0.0.9:1000-2000 interface lo",
	        "10.0.0.4:80 source=10.0.0.9:1000-2000 interface=lo check=off "
	        "agent=off"},
	    {"10.0.0.4:80 source 0.0.0.0 usesrc clientip",
	        "10.0.0.4:80 source=client check=off agent=off"},
	    {"10.0.0.4:80 source 10.0.0.9 usesrc clientip", NULL},
	    {"10.0.0.4:80 source 0.0.0.0 usesrc client", NULL},
	    {"unix@/run/x", "unix:/run/x check=off agent=off"},
	    {"/run/x", "unix:/run/x check=off agent=off"},
	    {"ipv6@[::1]:80", "[::1]:80 check=off agent=off"},
	    {"name:80", "name:80 check=off agent=off"},
	    /* What is wrong with these is for the parser to say. */
	    {"10.0.0.4", "10.0.0.4 check=off agent=off"},
	    {"10.0.0.4:80 weight", "10.0.0.4:80 weight= check=off agent=off"},
	    {"10.0.0.4:80 bogus", "10.0.0.4:80 bogus check=off agent=off"},
	    /* What the backend has may be said again. */
	    {"10.0.0.4:80 on-error mark-down error-limit 7",
	        "10.0.0.4:80 check=off agent=off"},
	    {"10.0.0.4:80 on-error fastinter", NULL},
	    {"10.0.0.4:80 error-limit 8", NULL},
	    {"10.0.0.4:80 on-marked-down shutdown-sessions on-marked-up "
	     "shutdown-backup-sessions",
	        "10.0.0.4:80 on_down=close on_up=close_backup check=off "
	        "agent=off"},
	    {"10.0.0.4:80 on-marked-down shutdown-backup-sessions", NULL},
	    {"10.0.0.4:80 on-marked-up", NULL},
	    {"10.0.0.4:80 observe layer4", NULL},
	    {"10.0.0.4:80 ssl", NULL},
	    {"10.0.0.4:80 cookie x", NULL},
	    {"10.0.0.4:80 init-state down",
	        "10.0.0.4:80 check_init_state=down check=off agent=off"},
	    /* Ignored with a warning; a missing value is an error. */
	    {"10.0.0.4:80 maxqueue 30 weight 3 ws h1 no-sslv3 guid g",
	        "10.0.0.4:80 weight=3 check=off agent=off"},
	    {"10.0.0.4:80 maxqueue", NULL},
	    {"10.0.0.4:80 minconn 3", NULL},
	    {"10.0.0.4:80 force-tlsv12", NULL},
	    {"10.0.0.4:80 hash-key addr", NULL},
	    {"10.0.0.4:80 agent-send \001", NULL},
	};
	struct spec *spec = load(SITE);

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *copy = strdup(cases[i].words), *rest = copy;
		char *words[32] = {NULL}, expected[256];
		struct server_words got;
		struct err err = {""};
		bool ok;

		assert_non_null(copy);
		for (size_t n = 0; rest; n++)
			words[n] = strsep(&rest, " ");
		ok = server_words_read(
		    &spec->backends[1], "x", words, &got, &err);
		if (ok != (cases[i].value != NULL))
			fail_msg("%s: %s", cases[i].words,
			    ok ? got.value : err.text);
		if (ok) {
			snprintf(
			    expected, sizeof(expected), "x %s", cases[i].value);
			assert_string_equal(got.value, expected);
		} else {
			assert_true(err.text[0]);
		}
		free(copy);
	}
	spec_free(spec);
}

static void
the_last_of_enabled_and_disabled_holds(void **state)
{
	char *on[] = {"10.0.0.4:80", "disabled", "enabled", NULL};
	char *off[] = {"10.0.0.4:80", "enabled", "disabled", NULL};
	struct spec *spec = load(SITE);
	struct server_words got;
	struct err err;

	(void)state;
	assert_true(server_words_read(&spec->backends[0], "x", on, &got, &err));
	assert_true(got.enabled);
	assert_true(
	    server_words_read(&spec->backends[0], "x", off, &got, &err));
	assert_false(got.enabled);
	spec_free(spec);
}

static void
an_ignored_word_is_told_once(void **state)
{
	char *argv[] = {"10.0.0.4:80", "ws", "auto", "maxqueue", "3",
	    "maxqueue", "4", NULL};
	struct spec *spec = load(SITE);
	struct server_words got;
	struct err err;

	(void)state;
	assert_true(
	    server_words_read(&spec->backends[0], "x", argv, &got, &err));
	assert_int_equal(got.ignored_n, 2);
	assert_string_equal(got.ignored[0].word, "ws");
	assert_string_equal(
	    got.ignored[0].reason, "it is for HTTP, and this is TCP");
	assert_string_equal(got.ignored[1].word, "maxqueue");
	assert_string_equal(got.ignored[1].reason,
	    "sessions queue for the backend, whose key maxqueue limits them");
	spec_free(spec);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(
	        a_server_is_read_like_one_of_the_file_and_left_to_the_caller),
	    cmocka_unit_test(deleted_servers_of_the_file_are_noted_once),
	    cmocka_unit_test(an_error_names_the_server_and_the_option),
	    cmocka_unit_test(
	        a_reload_names_whom_it_drops_keeps_and_brings_back),
	    cmocka_unit_test(haproxys_words_become_those_of_the_file),
	    cmocka_unit_test(the_last_of_enabled_and_disabled_holds),
	    cmocka_unit_test(an_ignored_word_is_told_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
