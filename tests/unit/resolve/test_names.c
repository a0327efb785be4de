/* SPDX-License-Identifier: MIT
 * Names that are looked up by a script instead of a resolver, in a time that
 * the test sets.
 */
#include <netdb.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "resolve/names.h"

#define ASKED_MAX 4096

struct script {
	struct names *names;
	struct name *asked[ASKED_MAX]; /* in the order of the questions */
	size_t n;
	bool refuses; /* no look-up can begin */
};

static bool
start(void *arg, const char *host, int family, struct name *name)
{
	struct script *s = arg;

	assert_string_equal(host, name->host);
	assert_int_equal(family, name->family);
	if (s->refuses)
		return false;
	assert_true(s->n < ASKED_MAX);
	s->asked[s->n++] = name;
	return true;
}

static void
script_init(struct script *s)
{
	memset(s, 0, sizeof(*s));
	s->names = names_new(start, s);
	assert_non_null(s->names);
}

static struct addr
ip(const char *text)
{
	struct addr a;

	assert_true(addr_parse_ip(text, &a));
	return a;
}

static bool
answer(struct script *s, struct name *name, const char *text, uint64_t now_ms)
{
	struct addr a = ip(text);

	return names_answer(s->names, name, 0, &a, now_ms);
}

static bool
fail_name(struct script *s, struct name *name, int error, uint64_t now_ms)
{
	return names_answer(s->names, name, error, NULL, now_ms);
}

static void
a_name_is_looked_up_once_for_all_that_want_it(void **state)
{
	struct script s;
	struct name *n;

	(void)state;
	script_init(&s);
	n = names_want(s.names, "db", AF_UNSPEC, true, 0);
	for (int i = 0; i < 100; i++)
		assert_ptr_equal(
		    names_want(s.names, "db", AF_UNSPEC, true, 0), n);
	assert_int_equal(s.n, 1);
	assert_true(names_want(s.names, "db", AF_INET6, true, 0) != n);
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
	n = names_want(s.names, "db", AF_UNSPEC, true, 0);
	assert_true(answer(&s, n, "10.0.0.1", 5));
	assert_int_equal(names_tick(s.names, 1000000), 0);
	(void)names_want(s.names, "db", AF_UNSPEC, false, 6);
	assert_int_equal(s.n, 1);
	(void)names_want(s.names, "db", AF_UNSPEC, true, 7);
	assert_int_equal(s.n, 2);
	/* The same answer is no news, another one is. */
	assert_false(answer(&s, n, "10.0.0.1", 8));
	(void)names_want(s.names, "db", AF_UNSPEC, true, 9);
	assert_true(answer(&s, n, "10.0.0.2", 10));
	names_free(s.names);
}

static void
a_known_name_keeps_its_address_when_a_look_up_fails(void **state)
{
	struct addr was = ip("10.0.0.1");
	struct script s;
	struct name *n;

	(void)state;
	script_init(&s);
	n = names_want(s.names, "db", AF_UNSPEC, true, 0);
	(void)answer(&s, n, "10.0.0.1", 0);
	(void)names_want(s.names, "db", AF_UNSPEC, true, 1);
	assert_true(fail_name(&s, n, EAI_AGAIN, 2));
	assert_true(n->known);
	assert_true(addr_equal(&n->addr, &was));
	assert_int_equal(n->error, EAI_AGAIN);
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
	n = names_want(s.names, "db", AF_UNSPEC, true, now_ms);
	for (size_t i = 0; i < sizeof(pauses_ms) / sizeof(pauses_ms[0]); i++) {
		/* The same error again is no news. */
		assert_int_equal(fail_name(&s, n, EAI_NONAME, now_ms), i == 0);
		next_ms = names_tick(s.names, now_ms);
		assert_about(next_ms - now_ms, pauses_ms[i]);
		assert_int_equal(names_tick(s.names, next_ms - 1), next_ms);
		assert_int_equal(s.n, i + 1);
		now_ms = next_ms;
		assert_int_equal(names_tick(s.names, now_ms), 0);
		assert_int_equal(s.n, i + 2);
	}
	/* A reload does not wait for the pause, and begins with a short one. */
	(void)fail_name(&s, n, EAI_NONAME, now_ms);
	(void)names_want(s.names, "db", AF_UNSPEC, true, now_ms);
	(void)fail_name(&s, n, EAI_NONAME, now_ms);
	assert_about(names_tick(s.names, now_ms) - now_ms, NAMES_PAUSE_MIN_MS);
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
		(void)names_want(s.names, host, AF_UNSPEC, true, 0);
	}
	for (int i = 0; i < 100; i++) {
		(void)fail_name(&s, s.asked[i], EAI_AGAIN, 0);
		at_ms[i] = s.asked[i]->ask_at_ms;
		first_ms = at_ms[i] < first_ms ? at_ms[i] : first_ms;
		last_ms = at_ms[i] > last_ms ? at_ms[i] : last_ms;
	}
	spread_ms = last_ms - first_ms;
	assert_in_range(
	    spread_ms, NAMES_PAUSE_MIN_MS / 4, NAMES_PAUSE_MIN_MS * 4 / 10);
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
	n = names_want(s.names, "db", AF_UNSPEC, true, 0);
	assert_false(n->asked);
	assert_int_not_equal(n->error, 0);
	next_ms = names_tick(s.names, 0);
	assert_true(next_ms > 0);
	s.refuses = false;
	(void)names_tick(s.names, next_ms);
	assert_true(n->asked);
	assert_true(answer(&s, n, "10.0.0.1", next_ms));
	assert_int_equal(n->error, 0);
	names_free(s.names);
}

static void
names_that_nothing_wants_are_forgotten(void **state)
{
	struct script s;
	struct name *kept, *asked;

	(void)state;
	script_init(&s);
	kept = names_want(s.names, "kept", AF_UNSPEC, true, 0);
	(void)answer(&s, kept, "10.0.0.1", 0);
	(void)answer(
	    &s, names_want(s.names, "gone", AF_UNSPEC, true, 0), "10.0.0.2", 0);
	asked = names_want(s.names, "asked", AF_UNSPEC, true, 0);
	names_keep(kept);
	names_sweep(s.names);
	assert_ptr_equal(names_find(s.names, "kept", AF_UNSPEC), kept);
	assert_null(names_find(s.names, "gone", AF_UNSPEC));
	/* Its answer is still to come; it is not asked for again then. */
	assert_ptr_equal(names_find(s.names, "asked", AF_UNSPEC), asked);
	(void)fail_name(&s, asked, EAI_AGAIN, 1);
	assert_int_equal(names_tick(s.names, 1000000), 0);
	names_keep(kept);
	names_sweep(s.names);
	assert_int_equal(names_count(s.names), 1);
	names_free(s.names);
}

static void
a_name_that_is_wanted_again_before_its_answer_goes_on(void **state)
{
	struct script s;
	struct name *n;

	(void)state;
	script_init(&s);
	n = names_want(s.names, "db", AF_UNSPEC, true, 0);
	names_sweep(s.names);
	assert_ptr_equal(names_want(s.names, "db", AF_UNSPEC, true, 0), n);
	assert_int_equal(s.n, 1);
	(void)fail_name(&s, n, EAI_AGAIN, 0);
	assert_true(names_tick(s.names, 0) > 0);
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
		(void)names_want(s.names, host, AF_UNSPEC, true, 0);
	}
	assert_int_equal(names_count(s.names), ASKED_MAX);
	for (int i = 0; i < ASKED_MAX; i++) {
		snprintf(host, sizeof(host), "h%d", i);
		assert_ptr_equal(
		    names_find(s.names, host, AF_UNSPEC), s.asked[i]);
	}
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
	    cmocka_unit_test(names_that_nothing_wants_are_forgotten),
	    cmocka_unit_test(
	        a_name_that_is_wanted_again_before_its_answer_goes_on),
	    cmocka_unit_test(thousands_of_names_are_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
