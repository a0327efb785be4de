/* SPDX-License-Identifier: MIT
 * Look-ups: hosts file, search domains, name servers one after another.
 */
#include "responder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/clock.h"
#include "resolve/dns.h"

#define PATIENCE_MS 10000
#define SILENCE_MS  50 /* of a name server that does not answer */

struct world {
	struct ev_loop *loop;
	struct dns *dns;
	struct responder one, two;
	struct dns_settings settings;
	struct addr servers[2];
	char hosts[64], resolv_conf[64];
	char asked[1024]; /* `NAME TYPE;` of each question to one */
	bool one_silent;
	unsigned one_rcode;
	/* The last answer. */
	unsigned answers;
	enum dns_error error;
	int failed_family;
	char addrs[1024];
};

static bool
answer_one(void *arg, const char *name, int type, struct message *to)
{
	struct world *w = arg;
	size_t len = strlen(w->asked);

	snprintf(w->asked + len, sizeof(w->asked) - len, "%s %d;", name, type);
	if (w->one_silent)
		return false;
	if (w->one_rcode)
		message_rcode(to, w->one_rcode);
	else if (strcmp(name, "db.here.test") == 0 ||
	         strcmp(name, "db.example.test") == 0) {
		message_add_alias(to, name, 7, "real.test");
		if (type == 1)
			message_add_ip(
			    to, IN_ANSWER, "real.test", 60, "10.0.0.1");
	} else if (strcmp(name, "far.there.test") == 0)
		message_rcode(to, RCODE_SERVFAIL);
	else if (strcmp(name, "far.here.test") == 0)
		message_add_ip(to, IN_ANSWER, name, 60, "10.0.0.4");
	else if (strcmp(name, "broken.test") == 0 && type == 28)
		message_rcode(to, RCODE_SERVFAIL);
	else if (strcmp(name, "broken.test") == 0)
		message_add_ip(to, IN_ANSWER, name, 60, "10.0.0.3");
	else
		message_rcode(to, RCODE_NXDOMAIN);
	return true;
}

static bool
answer_two(void *arg, const char *name, int type, struct message *to)
{
	(void)arg;
	if (type == 1)
		message_add_ip(to, IN_ANSWER, name, 60, "10.0.0.2");
	return true;
}

static void
write_file(char path[64], const char *text)
{
	int fd;

	strcpy(path, "/tmp/lfproxy-dns-XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_true(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
}

static void
world_init(struct world *w, size_t servers_n)
{
	memset(w, 0, sizeof(*w));
	w->loop = ev_loop_new(0);
	w->dns = dns_new(w->loop);
	assert_non_null(w->dns);
	responder_start(&w->one, w->loop, answer_one, w);
	responder_start(&w->two, w->loop, answer_two, w);
	write_file(w->hosts, "# a comment\n10.1.0.1 known.test Alias\n"
	                     "fd00::1 known.test\n10.1.0.2\tknown.test\n");
	write_file(
	    w->resolv_conf, "search there.test here.test\noptions ndots:2\n");
	w->servers[0] = w->one.addr;
	w->servers[1] = w->two.addr;
	w->settings = (struct dns_settings){.servers = w->servers,
	    .servers_n = servers_n,
	    .timeout_ms = PATIENCE_MS,
	    .retries = optional_of(1),
	    .resolv_conf = w->resolv_conf,
	    .hosts_file = w->hosts};
	assert_true(dns_configure(w->dns, &w->settings));
}

static void
world_fini(struct world *w)
{
	dns_free(w->dns);
	responder_stop(&w->one);
	responder_stop(&w->two);
	ev_loop_destroy(w->loop);
	unlink(w->hosts);
	unlink(w->resolv_conf);
}

/* From now on one keeps silent. */
static void
silence_one(struct world *w)
{
	w->one_silent = true;
	w->settings.timeout_ms = SILENCE_MS;
	assert_true(dns_configure(w->dns, &w->settings));
}

static void
on_answer(void *arg, struct dns_answer *answer)
{
	char text[ADDR_TEXT_SIZE];
	struct world *w = arg;

	w->answers++;
	w->error = answer->error;
	w->failed_family = answer->failed_family;
	w->addrs[0] = '\0';
	for (size_t i = 0; i < answer->addrs_n; i++) {
		strcat(w->addrs, addr_host(&answer->addrs[i], text));
		strcat(w->addrs, ";");
	}
}

static void
finish_lookups(struct world *w)
{
	uint64_t until_ms = clock_now_ms() + PATIENCE_MS;

	while (dns_pending(w->dns) > 0 && clock_now_ms() < until_ms)
		ev_run(w->loop, EVRUN_ONCE);
	assert_int_equal(dns_pending(w->dns), 0);
}

static enum dns_error
look_up(struct world *w, const char *host, int family)
{
	w->asked[0] = '\0';
	assert_non_null(dns_look_up(w->dns, host, family, on_answer, w));
	finish_lookups(w);
	return w->error;
}

static void
the_hosts_file_comes_first_and_is_read_again(void **state)
{
	struct world w;
	FILE *f;

	(void)state;
	world_init(&w, 1);
	assert_int_equal(look_up(&w, "KNOWN.test.", AF_UNSPEC), DNS_OK);
	assert_string_equal(w.addrs, "10.1.0.1;fd00::1;10.1.0.2;");
	assert_int_equal(look_up(&w, "known.test", AF_INET6), DNS_OK);
	assert_string_equal(w.addrs, "fd00::1;");
	assert_int_equal(look_up(&w, "alias", AF_INET), DNS_OK);
	assert_int_equal(look_up(&w, "x.localhost", AF_INET), DNS_OK);
	assert_string_equal(w.addrs, "127.0.0.1;");
	assert_int_equal(w.one.questions, 0);
	f = fopen(w.hosts, "w");
	fputs("10.9.9.9 other known.test\n", f);
	fclose(f);
	assert_int_equal(look_up(&w, "known.test", AF_UNSPEC), DNS_OK);
	assert_string_equal(w.addrs, "10.9.9.9;");
	world_fini(&w);
}

static void
the_hosts_file_needs_no_resolv_conf(void **state)
{
	struct world w;

	(void)state;
	world_init(&w, 1);
	dns_free(w.dns);
	w.dns = dns_new(w.loop);
	/* A folder cannot be read. */
	w.settings.resolv_conf = "/";
	assert_false(dns_configure(w.dns, &w.settings));
	assert_int_equal(look_up(&w, "known.test", AF_INET6), DNS_OK);
	assert_int_equal(look_up(&w, "db.test", AF_INET), DNS_UNREACHABLE);
	w.settings.resolv_conf = w.resolv_conf;
	assert_true(dns_configure(w.dns, &w.settings));
	w.settings.resolv_conf = "/";
	w.settings.servers_n = 2;
	assert_false(dns_configure(w.dns, &w.settings));
	/* The former settings stay in force. */
	assert_int_equal(look_up(&w, "db.example.test", AF_INET), DNS_OK);
	assert_null(dns_server_at(w.dns, 1));
	world_fini(&w);
}

static void
names_are_looked_up_within_the_search_domains(void **state)
{
	struct world w;

	(void)state;
	world_init(&w, 1);
	assert_int_equal(look_up(&w, "db", AF_INET), DNS_OK);
	assert_string_equal(w.asked, "db.there.test 1;db.here.test 1;");
	assert_string_equal(w.addrs, "10.0.0.1;");
	/* A domain whose name servers fail does not end the search. */
	assert_int_equal(look_up(&w, "far", AF_INET), DNS_OK);
	assert_string_equal(w.addrs, "10.0.0.4;");
	/* With as many dots as ndots it is tried as it is first. */
	assert_int_equal(look_up(&w, "db.example.test", AF_INET), DNS_OK);
	assert_string_equal(w.asked, "db.example.test 1;");
	assert_int_equal(look_up(&w, "no.such.name", AF_INET), DNS_NXDOMAIN);
	assert_string_equal(w.asked, "no.such.name 1;no.such.name.there.test 1;"
	                             "no.such.name.here.test 1;");
	assert_int_equal(look_up(&w, "db.", AF_INET), DNS_NXDOMAIN);
	assert_string_equal(w.asked, "db 1;");
	world_fini(&w);
}

static void
a_silent_name_server_is_followed_by_the_next(void **state)
{
	struct world w;

	(void)state;
	world_init(&w, 2);
	silence_one(&w);
	assert_int_equal(look_up(&w, "a.b.test", AF_INET), DNS_OK);
	assert_string_equal(w.addrs, "10.0.0.2;");
	assert_string_equal(w.asked, "a.b.test 1;");
	/* Which is asked first from then on. */
	assert_int_equal(look_up(&w, "c.d.test", AF_INET), DNS_OK);
	assert_string_equal(w.asked, "");
	assert_int_equal(dns_server_at(w.dns, 0)->counts.timeout, 1);
	assert_int_equal(dns_server_at(w.dns, 1)->counts.valid, 2);
	world_fini(&w);
}

/* c-ares 1.34 by itself waits for 250 ms only after quick answers. */
static void
a_name_server_has_the_whole_timeout(void **state)
{
	uint64_t from_ms;
	struct world w;

	(void)state;
	world_init(&w, 1);
	w.settings.retries = optional_of(0);
	w.settings.timeout_ms = 600;
	assert_true(dns_configure(w.dns, &w.settings));
	for (int i = 0; i < 10; i++)
		assert_int_equal(
		    look_up(&w, "db.example.test", AF_INET), DNS_OK);
	w.one_silent = true;
	from_ms = clock_now_ms();
	assert_int_equal(look_up(&w, "a.b.test", AF_INET), DNS_TIMEOUT);
	assert_true(clock_now_ms() - from_ms >= 600);
	assert_string_equal(w.asked, "a.b.test 1;");
	world_fini(&w);
}

/* Writes resolv.conf with both name servers and the options, and takes it. */
static void
use_system(struct world *w, const char *options)
{
	char text[ADDR_TEXT_SIZE];
	FILE *f = fopen(w->resolv_conf, "w");

	for (size_t i = 0; i < 2; i++)
		fprintf(f, "nameserver %s\n", addr_text(&w->servers[i], text));
	fprintf(f, "options ndots:1 %s\n", options);
	fclose(f);
	assert_true(dns_configure(w->dns, &w->settings));
}

static void
rotate_begins_with_the_next_name_server(void **state)
{
	struct world w;

	(void)state;
	world_init(&w, 2);
	w.settings.servers_n = 0;
	use_system(&w, "rotate");
	for (unsigned i = 1; i <= 6; i++) {
		assert_int_equal(
		    look_up(&w, "db.example.test", AF_INET), DNS_OK);
		assert_int_equal(w.one.questions, (i + 1) / 2);
		assert_int_equal(w.two.questions, i / 2);
	}
	/* Name servers of the settings keep their order. */
	w.settings.servers_n = 2;
	use_system(&w, "rotate");
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(
		    look_up(&w, "db.example.test", AF_INET), DNS_OK);
	assert_int_equal(w.one.questions, 7);
	world_fini(&w);
}

static void
settings_that_are_unset_are_those_of_the_system(void **state)
{
	uint64_t from_ms;
	struct world w;

	(void)state;
	world_init(&w, 1);
	silence_one(&w);
	w.settings.retries.is_set = false;
	use_system(&w, "attempts:3");
	assert_int_equal(look_up(&w, "a.b.test", AF_INET), DNS_TIMEOUT);
	assert_int_equal(w.one.questions, 3);
	use_system(&w, "");
	assert_int_equal(look_up(&w, "a.b.test", AF_INET), DNS_TIMEOUT);
	assert_int_equal(w.one.questions, 3 + 1 + DNS_RETRIES);
	w.settings.retries = optional_of(0);
	use_system(&w, "attempts:3 timeout:9");
	assert_int_equal(look_up(&w, "a.b.test", AF_INET), DNS_TIMEOUT);
	assert_int_equal(w.one.questions, 3 + 1 + DNS_RETRIES + 1);
	w.settings.timeout_ms = 0;
	use_system(&w, "timeout:1");
	from_ms = clock_now_ms();
	assert_int_equal(look_up(&w, "a.b.test", AF_INET), DNS_TIMEOUT);
	assert_true(clock_now_ms() - from_ms >= 1000);
	world_fini(&w);
}

static void
each_look_up_asks_again(void **state)
{
	struct world w;

	(void)state;
	world_init(&w, 1);
	for (unsigned i = 1; i <= 8; i++) {
		assert_int_equal(
		    look_up(&w, "db.example.test", AF_INET), DNS_OK);
		assert_int_equal(w.one.questions, i);
	}
	world_fini(&w);
}

static void
an_error_of_a_name_server_is_followed_by_the_next(void **state)
{
	static const unsigned rcodes[] = {RCODE_SERVFAIL, RCODE_REFUSED};
	struct world w;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		world_init(&w, 2);
		w.one_rcode = rcodes[i];
		assert_int_equal(look_up(&w, "a.b.test", AF_INET), DNS_OK);
		assert_string_equal(w.addrs, "10.0.0.2;");
		world_fini(&w);
	}
}

static void
errors_are_kept_apart(void **state)
{
	struct world w;

	(void)state;
	world_init(&w, 1);
	silence_one(&w);
	assert_int_equal(look_up(&w, "a.b.test", AF_INET), DNS_TIMEOUT);
	/* Asked again once, and not within the search domains. */
	assert_string_equal(w.asked, "a.b.test 1;a.b.test 1;");
	w.one_silent = false;
	w.settings.timeout_ms = PATIENCE_MS;
	assert_true(dns_configure(w.dns, &w.settings));
	w.one_rcode = RCODE_SERVFAIL;
	assert_int_equal(look_up(&w, "a.b.test.", AF_INET), DNS_SERVFAIL);
	w.one_rcode = RCODE_REFUSED;
	assert_int_equal(look_up(&w, "a.b.test.", AF_INET), DNS_REFUSED);
	w.one_rcode = 0;
	assert_int_equal(look_up(&w, "a.b.test.", AF_INET), DNS_NXDOMAIN);
	assert_int_equal(look_up(&w, "db.example.test.", AF_INET6), DNS_EMPTY);
	w.servers[0] = w.two.addr;
	addr_set_port(&w.servers[0], 1);
	assert_true(dns_configure(w.dns, &w.settings));
	assert_int_equal(look_up(&w, "a.b.test.", AF_INET), DNS_UNREACHABLE);
	assert_int_equal(look_up(&w, "a..b.", AF_INET), DNS_BAD_NAME);
	world_fini(&w);
}

static void
half_an_answer_says_which_half_failed(void **state)
{
	struct world w;

	(void)state;
	world_init(&w, 1);
	assert_int_equal(look_up(&w, "broken.test.", AF_UNSPEC), DNS_OK);
	assert_string_equal(w.addrs, "10.0.0.3;");
	assert_int_equal(w.failed_family, AF_INET6);
	assert_int_equal(look_up(&w, "db.example.test.", AF_UNSPEC), DNS_OK);
	assert_int_equal(w.failed_family, 0);
	world_fini(&w);
}

static void
an_answer_is_whole_or_cannot_be_read(void **state)
{
	static struct message m;
	struct dns_answer answer = {.ttl_s = UINT32_MAX};
	size_t whole;

	(void)state;
	message_begin(&m, 1, "db.test", 1);
	message_add_ip(&m, IN_ANSWER, "db.test", 7, "10.0.0.1");
	message_add_ip(&m, IN_ADDITIONAL, "other.test", 5, "10.0.0.2");
	for (whole = m.len; m.len > 0; m.len--)
		assert_int_equal(
		    dns_read_addrs(&answer, m.bytes, m.len - 1, AF_INET),
		    DNS_MALFORMED);
	/* Bytes behind the last record make no difference. */
	assert_int_equal(
	    dns_read_addrs(&answer, m.bytes, whole + 3, AF_INET), DNS_OK);
	assert_int_equal(answer.addrs_n, 1);
	assert_int_equal(answer.ttl_s, 7);
	dns_answer_fini(&answer);
}

static void
look_ups_go_on_with_other_name_servers(void **state)
{
	struct world w;

	(void)state;
	world_init(&w, 1);
	w.one_silent = true;
	assert_non_null(dns_look_up(w.dns, "a.b.test", AF_INET, on_answer, &w));
	while (w.one.questions == 0)
		ev_run(w.loop, EVRUN_ONCE);
	w.servers[0] = w.two.addr;
	assert_true(dns_configure(w.dns, &w.settings));
	finish_lookups(&w);
	assert_string_equal(w.addrs, "10.0.0.2;");
	assert_int_equal(w.one.questions, 1);
	world_fini(&w);
}

static void
cancelled_look_ups_have_no_answer(void **state)
{
	struct dns_lookup *begun, *asked;
	struct world w;

	(void)state;
	world_init(&w, 1);
	asked = dns_look_up(w.dns, "a.b.test", AF_UNSPEC, on_answer, &w);
	while (w.one.questions < 2)
		ev_run(w.loop, EVRUN_ONCE);
	begun = dns_look_up(w.dns, "known.test", AF_UNSPEC, on_answer, &w);
	dns_cancel(begun);
	dns_cancel(asked);
	assert_int_equal(dns_pending(w.dns), 0);
	assert_int_equal(look_up(&w, "known.test", AF_UNSPEC), DNS_OK);
	assert_int_equal(w.answers, 1);
	world_fini(&w);
}

static void
waiting_needs_no_loop(void **state)
{
	struct world w;
	struct dns *dns = dns_new(NULL);
	uint64_t from_ms = clock_now_ms();

	(void)state;
	world_init(&w, 1);
	silence_one(&w);
	assert_true(dns_configure(dns, &w.settings));
	/* The test's name server does not run meanwhile. */
	assert_non_null(dns_look_up(dns, "a.b.test.", AF_INET, on_answer, &w));
	dns_wait(dns, clock_now_ms() + PATIENCE_MS);
	assert_int_equal(w.answers, 1);
	assert_int_equal(w.error, DNS_TIMEOUT);
	assert_true(clock_now_ms() - from_ms >= 100);
	assert_non_null(dns_look_up(dns, "a.b.test.", AF_INET, on_answer, &w));
	dns_wait(dns, clock_now_ms() + 1);
	assert_int_equal(dns_pending(dns), 1);
	dns_free(dns);
	assert_int_equal(w.answers, 1);
	world_fini(&w);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_hosts_file_comes_first_and_is_read_again),
	    cmocka_unit_test(the_hosts_file_needs_no_resolv_conf),
	    cmocka_unit_test(names_are_looked_up_within_the_search_domains),
	    cmocka_unit_test(a_silent_name_server_is_followed_by_the_next),
	    cmocka_unit_test(a_name_server_has_the_whole_timeout),
	    cmocka_unit_test(rotate_begins_with_the_next_name_server),
	    cmocka_unit_test(settings_that_are_unset_are_those_of_the_system),
	    cmocka_unit_test(each_look_up_asks_again),
	    cmocka_unit_test(an_error_of_a_name_server_is_followed_by_the_next),
	    cmocka_unit_test(errors_are_kept_apart),
	    cmocka_unit_test(half_an_answer_says_which_half_failed),
	    cmocka_unit_test(an_answer_is_whole_or_cannot_be_read),
	    cmocka_unit_test(look_ups_go_on_with_other_name_servers),
	    cmocka_unit_test(cancelled_look_ups_have_no_answer),
	    cmocka_unit_test(waiting_needs_no_loop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
