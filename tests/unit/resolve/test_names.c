/* SPDX-License-Identifier: MIT
 * Names that are looked up by a script in the place of the resolver, in a time
 * that the test sets.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "resolve/names.h"
#include "unit.h"

#define ASKED_MAX 4096

struct script {
	struct names *names;
	struct name *asked[ASKED_MAX]; /* in the order of the questions */
	size_t n, cancelled, wakes;
	bool refuses; /* no look-up can begin */
};

/* In the place of the resolver, which is handed the script as its own. */
struct dns_lookup *
dns_look_up(
    struct dns *dns, const char *host, int family, dns_done *done, void *arg)
{
	struct script *s = (void *)dns;
	struct name *name = arg;

	assert_non_null(done);
	assert_string_equal(host, name->host);
	assert_int_equal(
	    family, name->mode == NAME_OF_SERVICE ? DNS_SERVICE : name->family);
	if (s->refuses)
		return NULL;
	assert_true(s->n < ASKED_MAX);
	s->asked[s->n++] = name;
	return (void *)s;
}

void
dns_cancel(struct dns_lookup *lookup)
{
	struct script *s = (void *)lookup;

	if (s)
		s->cancelled++;
}

static void
on_wake(void *arg)
{
	struct script *s = arg;

	s->wakes++;
}

static void
script_init(struct script *s)
{
	memset(s, 0, sizeof(*s));
	s->names = names_new((void *)s, on_wake, s);
	assert_non_null(s->names);
}

static struct addr
ip(const char *text)
{
	struct addr a;

	assert_true(addr_parse_ip(text, &a));
	return a;
}

/* Whether the name has changed, and is the only one. */
static bool
changed(struct script *s, struct name *name)
{
	struct name *n = names_take_changed(s->names);

	assert_true(!n || n == name);
	assert_null(names_take_changed(s->names));
	return n != NULL;
}

/* texts: addresses with blanks between. */
static bool
answer_ttl(struct script *s, struct name *name, const char *texts,
    uint32_t ttl_s, uint64_t now_ms)
{
	struct dns_answer a = {.ttl_s = ttl_s};
	char copy[256], *rest;

	(void)changed(s, name);
	snprintf(copy, sizeof(copy), "%s", texts);
	for (char *word = strtok_r(copy, " ", &rest); word;
	     word = strtok_r(NULL, " ", &rest)) {
		struct addr addr = ip(word);

		assert_true(dns_answer_add(&a, &addr));
	}
	names_answer(name, &a, now_ms);
	dns_answer_fini(&a);
	return changed(s, name);
}

static bool
answer(struct script *s, struct name *name, const char *text, uint64_t now_ms)
{
	return answer_ttl(s, name, text, 60, now_ms);
}

static bool
fail_name(
    struct script *s, struct name *name, enum dns_error error, uint64_t now_ms)
{
	struct dns_answer a = {.error = error};

	(void)changed(s, name);
	names_answer(name, &a, now_ms);
	return changed(s, name);
}

static bool
is_at(const struct name *name, const char *text)
{
	const struct addr none = {.len = 0};
	const struct addr *at = name_choose(name, AF_INET, &none);
	struct addr wanted = ip(text);

	return at && addr_equal(at, &wanted);
}

static void
a_name_is_looked_up_once_for_all_that_want_it(void **state)
{
	struct script s;
	struct name *n;

	(void)state;
	script_init(&s);
	n = names_want(s.names, "db", AF_UNSPEC, NAME_ON_RELOAD, true, 0);
	for (int i = 0; i < 100; i++)
		assert_ptr_equal(names_want(s.names, "db", AF_UNSPEC,
		                     NAME_ON_RELOAD, true, 0),
		    n);
	assert_int_equal(s.n, 1);
	assert_true(
	    names_want(s.names, "db", AF_INET6, NAME_ON_RELOAD, true, 0) != n);
	assert_int_equal(s.n, 2);
	assert_int_equal(names_count(s.names), 2);
	names_free(s.names);
}

static void
a_known_name_is_asked_for_again_only_afresh(void **state)
{
	struct script s;
	struct name *n;

	(void)state;
	script_init(&s);
	n = names_want(s.names, "db", AF_UNSPEC, NAME_ON_RELOAD, true, 0);
	assert_true(answer(&s, n, "10.0.0.1", 5));
	assert_int_equal(names_tick(s.names, 1000000), 0);
	(void)names_want(s.names, "db", AF_UNSPEC, NAME_ON_RELOAD, false, 6);
	assert_int_equal(s.n, 1);
	(void)names_want(s.names, "db", AF_UNSPEC, NAME_ON_RELOAD, true, 7);
	assert_int_equal(s.n, 2);
	/* The same answer is no news, another one is. */
	assert_false(answer(&s, n, "10.0.0.1", 8));
	(void)names_want(s.names, "db", AF_UNSPEC, NAME_ON_RELOAD, true, 9);
	assert_true(answer(&s, n, "10.0.0.2", 10));
	names_free(s.names);
}

static void
a_known_name_keeps_its_address_when_a_look_up_fails(void **state)
{
	struct script s;
	struct name *n;

	(void)state;
	script_init(&s);
	n = names_want(s.names, "db", AF_UNSPEC, NAME_ON_RELOAD, true, 0);
	(void)answer(&s, n, "10.0.0.1", 0);
	(void)names_want(s.names, "db", AF_UNSPEC, NAME_ON_RELOAD, true, 1);
	assert_true(fail_name(&s, n, DNS_TIMEOUT, 2));
	assert_true(n->renewal.known);
	assert_true(is_at(n, "10.0.0.1"));
	assert_int_equal(n->renewal.error, DNS_TIMEOUT);
	/* And it is asked for again. */
	assert_true(names_tick(s.names, 2) > 2);
	names_free(s.names);
}

/* A fifth, up or down. */
static void
assert_about(uint64_t pause_ms, uint64_t expected_ms)
{
	assert_in_range(pause_ms, expected_ms * 8 / 10, expected_ms * 12 / 10);
}

static void
pauses_double_up_to_their_limit_and_begin_again(void **state)
{
	static const uint64_t pauses_ms[] = {
	    1000, 2000, 4000, 8000, 16000, 30000, 30000, 30000};
	struct script s;
	struct name *n;
	uint64_t now_ms = 77, next_ms;

	(void)state;
	script_init(&s);
	n = names_want(s.names, "db", AF_UNSPEC, NAME_ON_RELOAD, true, now_ms);
	for (size_t i = 0; i < sizeof(pauses_ms) / sizeof(pauses_ms[0]); i++) {
		/* The same error again is no news. */
		assert_int_equal(
		    fail_name(&s, n, DNS_NXDOMAIN, now_ms), i == 0);
		next_ms = names_tick(s.names, now_ms);
		assert_about(next_ms - now_ms, pauses_ms[i]);
		assert_int_equal(names_tick(s.names, next_ms - 1), next_ms);
		assert_int_equal(s.n, i + 1);
		now_ms = next_ms;
		assert_int_equal(names_tick(s.names, now_ms), 0);
		assert_int_equal(s.n, i + 2);
	}
	/* A reload does not wait for the pause, and begins with a short one. */
	(void)fail_name(&s, n, DNS_NXDOMAIN, now_ms);
	(void)names_want(
	    s.names, "db", AF_UNSPEC, NAME_ON_RELOAD, true, now_ms);
	(void)fail_name(&s, n, DNS_NXDOMAIN, now_ms);
	assert_about(
	    names_tick(s.names, now_ms) - now_ms, RENEWAL_PAUSE_MIN_MS);
	names_free(s.names);
}

static void
names_that_failed_together_are_not_asked_for_together(void **state)
{
	uint64_t at_ms[100], spread_ms, first_ms = UINT64_MAX, last_ms = 0;
	struct script s;

	(void)state;
	script_init(&s);
	for (int i = 0; i < 100; i++) {
		char host[16];

		snprintf(host, sizeof(host), "h%d", i);
		(void)names_want(
		    s.names, host, AF_UNSPEC, NAME_ON_RELOAD, true, 0);
	}
	for (int i = 0; i < 100; i++) {
		(void)fail_name(&s, s.asked[i], DNS_TIMEOUT, 0);
		at_ms[i] = s.asked[i]->renewal.ask_at_ms;
		first_ms = at_ms[i] < first_ms ? at_ms[i] : first_ms;
		last_ms = at_ms[i] > last_ms ? at_ms[i] : last_ms;
	}
	spread_ms = last_ms - first_ms;
	assert_in_range(
	    spread_ms, RENEWAL_PAUSE_MIN_MS / 4, RENEWAL_PAUSE_MIN_MS * 4 / 10);
	names_free(s.names);
}

static void
what_cannot_begin_is_tried_again(void **state)
{
	struct script s;
	struct name *n;
	uint64_t next_ms;

	(void)state;
	script_init(&s);
	s.refuses = true;
	n = names_want(s.names, "db", AF_UNSPEC, NAME_ON_RELOAD, true, 0);
	assert_false(n->renewal.asked);
	assert_int_not_equal(n->renewal.error, 0);
	next_ms = names_tick(s.names, 0);
	assert_true(next_ms > 0);
	s.refuses = false;
	(void)names_tick(s.names, next_ms);
	assert_true(n->renewal.asked);
	assert_true(answer(&s, n, "10.0.0.1", next_ms));
	assert_int_equal(n->renewal.error, 0);
	names_free(s.names);
}

static void
names_without_users_are_forgotten(void **state)
{
	struct script s;
	struct name *kept;
	int user, other;

	(void)state;
	script_init(&s);
	kept = names_want(s.names, "kept", AF_UNSPEC, NAME_ON_RELOAD, true, 0);
	assert_true(name_add_user(kept, &user));
	assert_true(name_add_user(kept, &other));
	(void)answer(&s, kept, "10.0.0.1", 0);
	(void)answer(&s,
	    names_want(s.names, "gone", AF_UNSPEC, NAME_ON_RELOAD, true, 0),
	    "10.0.0.2", 0);
	(void)names_want(s.names, "asked", AF_UNSPEC, NAME_ON_RELOAD, true, 0);
	names_sweep(s.names);
	assert_ptr_equal(
	    names_find(s.names, "kept", AF_UNSPEC, NAME_ON_RELOAD), kept);
	assert_int_equal(names_count(s.names), 1);
	assert_int_equal(s.cancelled, 1);
	name_drop_user(kept, &user);
	assert_int_equal(names_count(s.names), 1);
	name_drop_user(kept, &other);
	assert_int_equal(names_count(s.names), 0);
	assert_null(names_take_changed(s.names));
	names_free(s.names);
}

static void
servers_are_cleared_and_sets_stay(void **state)
{
	struct script s;
	struct name *set;
	int user;

	(void)state;
	script_init(&s);
	set = names_want(s.names, "db", AF_UNSPEC, NAME_OF_MEMBERS, true, 0);
	assert_true(name_add_user(set, &user));
	assert_true(name_add_user(
	    names_want(s.names, "db", AF_UNSPEC, NAME_FOLLOWED, true, 0),
	    &user));
	names_clear_servers(s.names);
	names_sweep(s.names);
	assert_ptr_equal(names_next(s.names, NULL), set);
	assert_null(names_next(s.names, set));
	names_free(s.names);
}

static void
thousands_of_names_are_found(void **state)
{
	struct script s;
	char host[16];

	(void)state;
	script_init(&s);
	for (int i = 0; i < ASKED_MAX; i++) {
		snprintf(host, sizeof(host), "h%d", i);
		(void)names_want(
		    s.names, host, AF_UNSPEC, NAME_ON_RELOAD, true, 0);
	}
	assert_int_equal(names_count(s.names), ASKED_MAX);
	for (int i = 0; i < ASKED_MAX; i++) {
		snprintf(host, sizeof(host), "h%d", i);
		assert_ptr_equal(
		    names_find(s.names, host, AF_UNSPEC, NAME_ON_RELOAD),
		    s.asked[i]);
	}
	names_free(s.names);
}

/* -- TTLs -- */

static const struct renewal_settings limits = {
    .ttl_min_ms = 2000, .ttl_max_ms = 60000, .hold_ms = 100000};

static struct name *
follow_name(struct script *s)
{
	script_init(s);
	names_set(s->names, &limits);
	return names_want(s->names, "db", AF_UNSPEC, NAME_FOLLOWED, true, 1000);
}

static void
a_followed_name_is_asked_for_again_after_its_ttl(void **state)
{
	static const struct {
		uint32_t ttl_s;
		uint64_t after_ms;
	} cases[] = {{0, 2000}, {1, 2000}, {30, 30000}, {86400, 60000}};
	struct script s;
	struct name *n = follow_name(&s);
	uint64_t now_ms = 1000;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t next_ms;

		(void)answer_ttl(&s, n, "10.0.0.1", cases[i].ttl_s, now_ms);
		next_ms = names_tick(s.names, now_ms);
		assert_in_range(next_ms - now_ms, cases[i].after_ms * 9 / 10,
		    cases[i].after_ms);
		assert_int_equal(s.n, i + 1);
		now_ms = next_ms;
		assert_int_equal(names_tick(s.names, now_ms), 0);
		assert_int_equal(s.n, i + 2);
	}
	names_free(s.names);
}

static void
a_good_answer_lapses_when_failures_go_on_for_hold(void **state)
{
	static const enum dns_error errors[] = {
	    DNS_TIMEOUT, DNS_SERVFAIL, DNS_NXDOMAIN, DNS_EMPTY};
	struct script s;
	struct name *n = follow_name(&s);
	uint64_t now_ms = 1000, failing_ms = 0;

	(void)state;
	(void)answer_ttl(&s, n, "10.0.0.1", 5, now_ms);
	for (size_t i = 0; n->renewal.known; i++) {
		uint64_t next_ms = names_tick(s.names, now_ms);

		if (!n->renewal.known)
			break;
		if (n->renewal.asked) {
			if (failing_ms == 0)
				failing_ms = now_ms;
			(void)fail_name(&s, n, errors[i % 4], now_ms);
			next_ms = names_tick(s.names, now_ms);
		}
		assert_true(is_at(n, "10.0.0.1"));
		assert_true(next_ms > now_ms);
		now_ms = next_ms;
	}
	assert_int_equal(now_ms, failing_ms + limits.hold_ms);
	assert_true(changed(&s, n));
	assert_null(name_choose(n, AF_INET, &(struct addr){.len = 0}));
	/* And is looked up again until it is known. */
	while (!n->renewal.asked)
		now_ms = names_tick(s.names, now_ms);
	assert_true(answer(&s, n, "10.0.0.1", now_ms));
	assert_true(is_at(n, "10.0.0.1"));
	names_free(s.names);
}

static void
an_answer_between_failures_begins_hold_again(void **state)
{
	struct script s;
	struct name *n = follow_name(&s);

	(void)state;
	(void)answer(&s, n, "10.0.0.1", 1000);
	n->renewal.asked = true;
	(void)fail_name(&s, n, DNS_TIMEOUT, 2000);
	(void)answer(&s, n, "10.0.0.1", 90000);
	(void)fail_name(&s, n, DNS_TIMEOUT, 95000);
	(void)names_tick(s.names, 110000);
	assert_true(n->renewal.known);
	(void)names_tick(s.names, 95000 + limits.hold_ms);
	assert_false(n->renewal.known);
	names_free(s.names);
}

static void
a_name_of_a_reload_never_lapses(void **state)
{
	struct script s;
	struct name *n;

	(void)state;
	script_init(&s);
	names_set(s.names, &limits);
	n = names_want(s.names, "db", AF_UNSPEC, NAME_ON_RELOAD, true, 1);
	(void)answer(&s, n, "10.0.0.1", 1);
	(void)fail_name(&s, n, DNS_NXDOMAIN, 2);
	(void)names_tick(s.names, 1000 * limits.hold_ms);
	assert_true(is_at(n, "10.0.0.1"));
	names_free(s.names);
}

static void
the_present_address_is_kept_while_it_is_in_the_answer(void **state)
{
	struct addr present = ip("10.0.0.3");
	struct script s;
	struct name *n = follow_name(&s);
	const struct addr *at;

	(void)state;
	addr_set_port(&present, 8080);
	(void)answer(&s, n, "fd00::1 10.0.0.1 10.0.0.2 10.0.0.3", 1000);
	at = name_choose(n, AF_INET, &present);
	assert_int_equal(at->in.sin_addr.s_addr, present.in.sin_addr.s_addr);
	/* Another order is no change. */
	assert_false(answer(&s, n, "10.0.0.3 10.0.0.2 fd00::1 10.0.0.1", 2000));
	assert_true(answer(&s, n, "fd00::1 10.0.0.1 10.0.0.2", 3000));
	assert_true(is_at(n, "10.0.0.1"));
	at = name_choose(n, AF_INET6, &present);
	assert_int_equal(at->sa.sa_family, AF_INET6);
	/* A family that was preferred in vain. */
	(void)answer(&s, n, "10.0.0.9", 4000);
	at = name_choose(n, AF_INET6, &present);
	assert_int_equal(at->sa.sa_family, AF_INET);
	names_free(s.names);
}

static void
a_family_that_fails_keeps_its_addresses(void **state)
{
	struct dns_answer a = {
	    .ttl_s = 5, .failed_family = AF_INET6, .failed_error = DNS_TIMEOUT};
	struct addr v4 = ip("10.0.0.2"), v6 = ip("fd00::1");
	struct script s;
	struct name *n = follow_name(&s);

	(void)state;
	(void)answer(&s, n, "10.0.0.1 fd00::1", 1000);
	assert_true(dns_answer_add(&a, &v4));
	names_answer(n, &a, 2000);
	dns_answer_fini(&a);
	assert_true(changed(&s, n));
	assert_int_equal(n->answer.addrs_n, 2);
	assert_true(dns_addrs_have(n->answer.addrs, 2, &v4));
	assert_true(dns_addrs_have(n->answer.addrs, 2, &v6));
	names_free(s.names);
}

/* Gives the answer of the family, and that the question for the other one has
 * failed. */
static bool
answer_half(
    struct script *s, struct name *name, const char *text, uint64_t now_ms)
{
	struct addr addr = ip(text);
	struct dns_answer a = {.ttl_s = 60,
	    .failed_family = addr.sa.sa_family == AF_INET ? AF_INET6 : AF_INET,
	    .failed_error = DNS_TIMEOUT};

	(void)changed(s, name);
	assert_true(dns_answer_add(&a, &addr));
	names_answer(name, &a, now_ms);
	return changed(s, name);
}

static void
a_family_that_fails_lapses_after_hold(void **state)
{
	struct addr v6 = ip("fd00::1");
	struct script s;
	struct name *n = follow_name(&s);
	uint64_t lapse_ms = 30000 + limits.hold_ms, now_ms;

	(void)state;
	(void)answer(&s, n, "10.0.0.1 fd00::1", 1000);
	for (now_ms = 30000; now_ms < lapse_ms; now_ms += 30000) {
		assert_false(answer_half(&s, n, "10.0.0.1", now_ms));
		(void)names_tick(s.names, now_ms);
	}
	n->renewal.ask_at_ms = 0;
	assert_int_equal(names_tick(s.names, lapse_ms - 1), lapse_ms);
	assert_true(dns_addrs_have(n->answer.addrs, n->answer.addrs_n, &v6));
	assert_int_equal(names_tick(s.names, lapse_ms), 0);
	assert_true(changed(&s, n));
	assert_int_equal(n->answer.addrs_n, 1);
	assert_true(is_at(n, "10.0.0.1"));
	names_free(s.names);
}

/* -- names of sets -- */

static void
a_set_learns_of_each_answer(void **state)
{
	struct script s;
	struct name *n;

	(void)state;
	script_init(&s);
	n = names_want(s.names, "db", AF_UNSPEC, NAME_OF_MEMBERS, true, 1);
	assert_true(answer(&s, n, "10.0.0.1", 1));
	assert_true(answer(&s, n, "10.0.0.1", 2));
	assert_true(fail_name(&s, n, DNS_TIMEOUT, 3));
	assert_true(fail_name(&s, n, DNS_TIMEOUT, 4));
	assert_int_equal(n->renewal.failures, 2);
	/* Half an answer is an answer, and an error. */
	assert_true(answer_half(&s, n, "10.0.0.1", 5));
	assert_int_equal(n->renewal.answers, 3);
	assert_int_equal(n->renewal.failures, 3);
	assert_int_equal(n->renewal.error, DNS_TIMEOUT);
	assert_int_equal(names_failures(s.names), 2);
	names_free(s.names);
}

static void
a_target_has_the_addresses_that_came_along(void **state)
{
	struct dns_answer a = {.ttl_s = 60};
	struct addr addr = ip("10.0.0.1");
	struct script s;
	struct name *n;

	(void)state;
	script_init(&s);
	n = names_want(s.names, "db", AF_UNSPEC, NAME_OF_TARGET, true, 1);
	assert_true(dns_answer_add(&a, &addr));
	assert_ptr_equal(names_give(s.names, "db", &a, 2), n);
	assert_int_equal(s.cancelled, 1);
	assert_true(is_at(n, "10.0.0.1"));
	assert_int_equal(names_tick(s.names, 1000000), 0);
	assert_int_equal(s.n, 1);
	/* Half an answer is no error: a target needs one address. */
	assert_false(answer_half(&s, n, "10.0.0.1", 3));
	assert_int_equal(n->renewal.error, DNS_OK);
	assert_int_equal(n->renewal.failures, 0);
	names_free(s.names);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_name_is_looked_up_once_for_all_that_want_it),
	    cmocka_unit_test(a_known_name_is_asked_for_again_only_afresh),
	    cmocka_unit_test(
	        a_known_name_keeps_its_address_when_a_look_up_fails),
	    cmocka_unit_test(pauses_double_up_to_their_limit_and_begin_again),
	    cmocka_unit_test(
	        names_that_failed_together_are_not_asked_for_together),
	    cmocka_unit_test(what_cannot_begin_is_tried_again),
	    cmocka_unit_test(names_without_users_are_forgotten),
	    cmocka_unit_test(servers_are_cleared_and_sets_stay),
	    cmocka_unit_test(thousands_of_names_are_found),
	    cmocka_unit_test(a_followed_name_is_asked_for_again_after_its_ttl),
	    cmocka_unit_test(a_good_answer_lapses_when_failures_go_on_for_hold),
	    cmocka_unit_test(an_answer_between_failures_begins_hold_again),
	    cmocka_unit_test(a_name_of_a_reload_never_lapses),
	    cmocka_unit_test(
	        the_present_address_is_kept_while_it_is_in_the_answer),
	    cmocka_unit_test(a_family_that_fails_keeps_its_addresses),
	    cmocka_unit_test(a_family_that_fails_lapses_after_hold),
	    cmocka_unit_test(a_set_learns_of_each_answer),
	    cmocka_unit_test(a_target_has_the_addresses_that_came_along),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
