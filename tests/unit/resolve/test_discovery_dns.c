/* SPDX-License-Identifier: MIT
 * Members from DNS, on a loop with a name server of the test.
 */
#include "responder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/clock.h"
#include "resolve/discovery_dns.h"

#define PATIENCE_MS 10000
#define SILENCE_MS  50 /* of a name server that does not answer */
#define LIST_SIZE   4096

struct world {
	struct ev_loop *loop;
	struct dns *dns;
	struct names *names;
	ev_timer work;
	struct responder responder;
	struct discovery *source;
	unsigned lists, errors;
	char list[LIST_SIZE]; /* the last one */
	char why[512];
	/* The name server's state. */
	unsigned rcode, weight, priority;
	bool silent, extra, no_target, no_targets, v6_fails;
	unsigned n, from;
	uint32_t ttl_s;
};

static int
compare_lines(const void *a, const void *b)
{
	return strcmp(a, b);
}

static void
on_members(void *arg, const struct discovered *members, size_t n)
{
	char lines[64][160];
	struct world *w = arg;

	assert_true(n <= 64);
	for (size_t i = 0; i < n; i++)
		snprintf(lines[i], sizeof(lines[i]), "%s %s %s;",
		    members[i].key, members[i].address, members[i].options);
	qsort(lines, n, sizeof(lines[0]), compare_lines);
	w->list[0] = '\0';
	for (size_t i = 0; i < n; i++)
		strcat(w->list, lines[i]);
	w->lists++;
}

static void
on_error(void *arg, const char *why)
{
	struct world *w = arg;

	snprintf(w->why, sizeof(w->why), "%s", why);
	w->errors++;
}

static bool
answer_hosts(struct world *w, const char *name, int type, struct message *to)
{
	char ip[32];

	if (type == 28 && w->v6_fails)
		message_rcode(to, RCODE_SERVFAIL);
	for (unsigned i = 0; i < w->n; i++) {
		snprintf(ip, sizeof(ip), type == 28 ? "fd00::%u" : "10.0.0.%u",
		    w->from + i);
		if (type == 1 || !w->v6_fails)
			message_add_ip(to, IN_ANSWER, name, w->ttl_s, ip);
	}
	return true;
}

static bool
answer_srv(struct world *w, const char *name, struct message *to)
{
	message_add_srv(to, name, w->ttl_s, 10, w->weight, 8001, "one.test");
	message_add_srv(
	    to, name, w->ttl_s, w->priority, 65535, 8002, "TWO.test");
	message_add_srv(to, name, w->ttl_s, 10, 256, 8003, "one.test");
	if (w->extra) {
		message_add_ip(
		    to, IN_ADDITIONAL, "one.test", w->ttl_s, "10.1.0.1");
		message_add_ip(
		    to, IN_ADDITIONAL, "two.test", w->ttl_s, "10.1.0.2");
		message_add_ip(
		    to, IN_ADDITIONAL, "two.test", w->ttl_s, "10.1.0.3");
	}
	return true;
}

static bool
answer(void *arg, const char *name, int type, struct message *to)
{
	struct world *w = arg;

	if (w->silent)
		return false;
	if (w->rcode) {
		message_rcode(to, w->rcode);
		return true;
	}
	if (type == 33)
		return answer_srv(w, name, to);
	if (strcmp(name, "app.test") == 0)
		return answer_hosts(w, name, type, to);
	if (w->no_targets || (w->no_target && strcmp(name, "two.test") == 0))
		message_rcode(to, RCODE_NXDOMAIN);
	else if (type == 1)
		message_add_ip(to, IN_ANSWER, name, w->ttl_s,
		    strcmp(name, "one.test") == 0 ? "10.2.0.1" : "10.2.0.2");
	return true;
}

static void
work_in(struct world *w, uint64_t ms)
{
	ev_timer_stop(w->loop, &w->work);
	ev_now_update(w->loop);
	ev_timer_set(&w->work, (double)ms / 1e3, 0.);
	ev_timer_start(w->loop, &w->work);
}

static void
wake(void *arg)
{
	work_in(arg, 0);
}

static void
on_work(struct ev_loop *loop, ev_timer *timer, int events)
{
	struct world *w = timer->data;
	uint64_t now_ms = clock_now_ms();
	uint64_t next_ms = names_tick(w->names, now_ms);
	struct name *n;

	(void)loop;
	(void)events;
	while ((n = names_take_changed(w->names)))
		discovery_dns_report(n);
	if (next_ms != 0)
		work_in(w, next_ms > now_ms ? next_ms - now_ms : 0);
}

/* timeout_ms: how long an answer may take.  hold_ms: how long a member is kept
 * that is not confirmed, or RENEWAL_FOREVER. */
static void
configure(struct world *w, uint64_t timeout_ms, uint64_t hold_ms)
{
	struct dns_settings settings = {.servers = &w->responder.addr,
	    .servers_n = 1,
	    .timeout_ms = timeout_ms,
	    .retries = optional_of(0),
	    .resolv_conf = "/dev/null",
	    .hosts_file = "/dev/null"};

	const struct renewal_settings renewal = {50, 1000, hold_ms};

	names_set(w->names, &renewal);
	assert_true(dns_configure(w->dns, &settings));
	work_in(w, 0);
}

static void
world_init(struct world *w)
{
	memset(w, 0, sizeof(*w));
	w->n = 2;
	w->from = 1;
	w->priority = 20;
	w->loop = ev_loop_new(0);
	w->dns = dns_new(w->loop);
	assert_non_null(w->dns);
	w->names = names_new(w->dns, wake, w);
	assert_non_null(w->names);
	ev_init(&w->work, on_work);
	w->work.data = w;
	responder_start(&w->responder, w->loop, answer, w);
	configure(w, PATIENCE_MS, RENEWAL_FOREVER);
}

static void
world_fini(struct world *w)
{
	discovery_free(w->source);
	names_free(w->names);
	ev_timer_stop(w->loop, &w->work);
	dns_free(w->dns);
	responder_stop(&w->responder);
	ev_loop_destroy(w->loop);
}

static struct discovery_owner
owner(struct world *w)
{
	return (struct discovery_owner){on_members, on_error, w};
}

/* Runs the loop until *count has gone up by n. */
static void
run_for(struct world *w, const unsigned *count, unsigned n)
{
	uint64_t until_ms = clock_now_ms() + PATIENCE_MS;
	unsigned wanted = *count + n;

	while (*count < wanted && clock_now_ms() < until_ms)
		ev_run(w->loop, EVRUN_ONCE);
	assert_true(*count >= wanted);
}

static void
addresses_of_a_name_are_members(void **state)
{
	struct world w;

	world_init(&w);
	w.source =
	    discovery_dns_new(w.names, "app.test", 80, AF_UNSPEC, owner(&w));
	assert_int_equal(w.lists, 0);
	run_for(&w, &w.lists, 1);
	assert_string_equal(w.list,
	    "10.0.0.1 10.0.0.1:80 ;10.0.0.2 10.0.0.2:80 ;"
	    "fd00::1 [fd00::1]:80 ;fd00::2 [fd00::2]:80 ;");
	/* And again after the TTL. */
	w.from = 2;
	run_for(&w, &w.lists, 2);
	assert_non_null(strstr(w.list, "10.0.0.3"));
	assert_null(strstr(w.list, "10.0.0.1 "));
	world_fini(&w);
}

static void
a_family_that_fails_keeps_its_members(void **state)
{
	struct world w;

	world_init(&w);
	w.source =
	    discovery_dns_new(w.names, "app.test", 80, AF_UNSPEC, owner(&w));
	run_for(&w, &w.lists, 1);
	w.v6_fails = true;
	w.from = 5;
	run_for(&w, &w.lists, 2);
	assert_string_equal(w.list,
	    "10.0.0.5 10.0.0.5:80 ;10.0.0.6 10.0.0.6:80 ;"
	    "fd00::1 [fd00::1]:80 ;fd00::2 [fd00::2]:80 ;");
	assert_non_null(strstr(w.why, "SERVFAIL"));
	world_fini(&w);
}

static void
members_are_kept_through_failures_until_hold_is_over(void **state)
{
	struct world w;

	world_init(&w);
	w.source =
	    discovery_dns_new(w.names, "app.test", 80, AF_INET, owner(&w));
	run_for(&w, &w.lists, 1);
	w.rcode = RCODE_NXDOMAIN;
	run_for(&w, &w.errors, 1);
	assert_string_equal(w.why,
	    "'app.test' is not resolved: there is no such name (NXDOMAIN)");
	w.rcode = 0;
	w.silent = true;
	configure(&w, SILENCE_MS, RENEWAL_FOREVER);
	discovery_refresh(w.source);
	run_for(&w, &w.errors, 1);
	assert_non_null(strstr(w.why, "do not answer"));
	assert_non_null(strstr(w.list, "10.0.0.2:80"));
	configure(&w, SILENCE_MS, 1);
	run_for(&w, &w.lists, 1);
	assert_string_equal(w.list, "");
	w.silent = false;
	configure(&w, PATIENCE_MS, RENEWAL_FOREVER);
	discovery_refresh(w.source);
	run_for(&w, &w.lists, 1);
	assert_non_null(strstr(w.list, "10.0.0.2:80"));
	world_fini(&w);
}

static void
services_have_ports_weights_and_backups(void **state)
{
	struct world w;

	world_init(&w);
	w.extra = true;
	w.source = discovery_srv_new(w.names, "_http._tcp.app.test", owner(&w));
	run_for(&w, &w.lists, 1);
	assert_string_equal(w.list,
	    "one.test:8001 10.1.0.1:8001 weight=1;"
	    "one.test:8003 10.1.0.1:8003 weight=2;"
	    "two.test:8002 10.1.0.2:8002 weight=256 backup;");
	assert_int_equal(w.responder.questions, 1);
	w.priority = 10;
	run_for(&w, &w.lists, 2);
	assert_null(strstr(w.list, "backup"));
	world_fini(&w);
}

static void
targets_without_an_address_beside_them_are_looked_up(void **state)
{
	struct world w;

	world_init(&w);
	configure(&w, PATIENCE_MS, 300);
	w.source = discovery_srv_new(w.names, "_http._tcp.app.test", owner(&w));
	run_for(&w, &w.lists, 1);
	assert_string_equal(w.list,
	    "one.test:8001 10.2.0.1:8001 weight=1;"
	    "one.test:8003 10.2.0.1:8003 weight=2;"
	    "two.test:8002 10.2.0.2:8002 weight=256 backup;");
	/* A target that is gone is kept for a while. */
	w.no_target = true;
	run_for(&w, &w.errors, 1);
	assert_non_null(strstr(w.why, "'two.test'"));
	assert_non_null(strstr(w.list, "two.test"));
	while (strstr(w.list, "two.test"))
		run_for(&w, &w.lists, 1);
	assert_non_null(strstr(w.list, "one.test"));
	world_fini(&w);
}

static void
a_service_without_any_address_has_no_list(void **state)
{
	struct world w;

	world_init(&w);
	w.no_targets = true;
	w.source = discovery_srv_new(w.names, "_http._tcp.app.test", owner(&w));
	/* Both targets, again and again. */
	run_for(&w, &w.errors, 4);
	assert_int_equal(w.lists, 0);
	w.no_targets = false;
	discovery_refresh(w.source);
	while (!strstr(w.list, "one.test") || !strstr(w.list, "two.test"))
		run_for(&w, &w.lists, 1);
	world_fini(&w);
}

static void
addresses_that_no_longer_come_along_are_kept(void **state)
{
	struct world w;

	world_init(&w);
	configure(&w, PATIENCE_MS, 300);
	w.extra = true;
	w.source = discovery_srv_new(w.names, "_http._tcp.app.test", owner(&w));
	run_for(&w, &w.lists, 1);
	w.extra = false;
	w.no_target = true;
	run_for(&w, &w.errors, 1);
	assert_non_null(strstr(w.list, "two.test:8002 10.1.0.2:8002"));
	while (strstr(w.list, "two.test"))
		run_for(&w, &w.lists, 1);
	assert_non_null(strstr(w.list, "one.test:8001 10.2.0.1:8001"));
	world_fini(&w);
}

static void
two_sources_may_have_one_name(void **state)
{
	struct discovery *other;
	struct world w;

	world_init(&w);
	w.source =
	    discovery_dns_new(w.names, "app.test", 80, AF_INET, owner(&w));
	run_for(&w, &w.lists, 1);
	w.ttl_s = 3600;
	discovery_refresh(w.source);
	run_for(&w, &w.lists, 1);
	/* The second one has the answer that is there. */
	w.silent = true;
	other = discovery_dns_new(w.names, "app.test", 81, AF_INET, owner(&w));
	run_for(&w, &w.lists, 2);
	assert_string_equal(
	    w.list, "10.0.0.1 10.0.0.1:81 ;10.0.0.2 10.0.0.2:81 ;");
	discovery_free(other);
	w.silent = false;
	discovery_refresh(w.source);
	run_for(&w, &w.lists, 1);
	assert_non_null(strstr(w.list, "10.0.0.2:80"));
	world_fini(&w);
}

static void
a_source_may_go_while_it_is_asked(void **state)
{
	struct world w;

	world_init(&w);
	w.source = discovery_srv_new(w.names, "_http._tcp.app.test", owner(&w));
	discovery_free(w.source);
	w.source = discovery_srv_new(w.names, "_http._tcp.app.test", owner(&w));
	while (w.responder.questions < 2)
		ev_run(w.loop, EVRUN_ONCE);
	discovery_free(w.source);
	w.source =
	    discovery_dns_new(w.names, "app.test", 80, AF_UNSPEC, owner(&w));
	run_for(&w, &w.lists, 1);
	world_fini(&w);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(addresses_of_a_name_are_members),
	    cmocka_unit_test(a_family_that_fails_keeps_its_members),
	    cmocka_unit_test(
	        members_are_kept_through_failures_until_hold_is_over),
	    cmocka_unit_test(services_have_ports_weights_and_backups),
	    cmocka_unit_test(
	        targets_without_an_address_beside_them_are_looked_up),
	    cmocka_unit_test(a_service_without_any_address_has_no_list),
	    cmocka_unit_test(addresses_that_no_longer_come_along_are_kept),
	    cmocka_unit_test(two_sources_may_have_one_name),
	    cmocka_unit_test(a_source_may_go_while_it_is_asked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
