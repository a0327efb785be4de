/* SPDX-License-Identifier: MIT
 * What a report of a source changes in a set: members in use and a report, and
 * who comes, goes, moves and keeps a number.
 */
#include "sets/set_members.h"
#include "unit.h"

#define MAX 6

/* `key@address options`, separated by commas, as members of a report. */
struct script {
	char text[512];
	struct discovered all[32];
	size_t n;
};

static void
script_read(struct script *s, const char *text)
{
	char *rest = s->text, *word;

	s->n = 0;
	snprintf(s->text, sizeof(s->text), "%s", text);
	while ((word = strsep(&rest, ","))) {
		char *address = strchr(word, '@');
		char *options;

		if (!*word)
			continue;
		if (address)
			*address++ = '\0';
		else
			address = word;
		options = strchr(address, ' ');
		if (options)
			*options++ = '\0';
		if (address == word && options)
			options[-1] = '\0';
		s->all[s->n++] = (struct discovered){.key = word,
		    .address = address,
		    .options = options ? options : "",
		    .note = ""};
	}
}

/* `1=a 2=b`: the numbers and addresses of the members that are live. */
static const char *
live_text(const struct set_members *m, char out[512])
{
	size_t len = 0;

	out[0] = '\0';
	for (size_t i = 0; i < m->n; i++)
		if (!m->all[i].gone)
			len += (size_t)snprintf(out + len, 512 - len,
			    "%s%u=%s%s%s", len ? "," : "", m->all[i].number,
			    m->all[i].address, *m->all[i].options ? " " : "",
			    m->all[i].options);
	return out;
}

/* Compares with the script's report: at the time 1000, while sessions run. */
static bool
reconcile(const struct set_members *members, const struct script *s,
    unsigned max, struct set_members *next, struct set_change *change)
{
	const struct set_report report = {.all = s->all,
	    .n = s->n,
	    .max = max,
	    .now_ms = 1000,
	    .joined = true};

	return set_reconcile(members, &report, next, change);
}

/* The next members take the place of the present ones. */
static struct set_change
step(struct set_members *members, const char *report, const char *expected)
{
	struct set_members next;
	struct set_change change;
	struct script s;
	char text[512];

	script_read(&s, report);
	assert_true(reconcile(members, &s, MAX, &next, &change));
	assert_string_equal(live_text(&next, text), expected);
	set_members_fini(members);
	*members = next;
	return change;
}

#define assert_change(c, add, del, move, opt)                                  \
	do {                                                                   \
		struct set_change c_ = (c);                                    \
		assert_int_equal(c_.added, add);                               \
		assert_int_equal(c_.removed, del);                             \
		assert_int_equal(c_.moved, move);                              \
		assert_int_equal(c_.changed, opt);                             \
	} while (0)

static void
members_keep_their_numbers_whatever_the_order(void **state)
{
	struct set_members m = {.n = 0};

	(void)state;
	assert_change(step(&m, "c,a,b", "1=a,2=b,3=c"), 3, 0, 0, 0);
	assert_change(step(&m, "b,c,a", "1=a,2=b,3=c"), 0, 0, 0, 0);
	assert_change(step(&m, "c,b,a,d", "1=a,2=b,3=c,4=d"), 1, 0, 0, 0);
	set_members_fini(&m);
}

static void
numbers_in_keys_count_as_numbers(void **state)
{
	struct set_members m = {.n = 0};

	(void)state;
	step(&m, "10.0.0.10:80,10.0.0.9:80", "1=10.0.0.9:80,2=10.0.0.10:80");
	set_members_fini(&m);
}

static void
a_new_member_gets_the_lowest_free_number(void **state)
{
	struct set_members m = {.n = 0};

	(void)state;
	step(&m, "a,b,c,d", "1=a,2=b,3=c,4=d");
	assert_change(step(&m, "a,d", "1=a,4=d"), 0, 2, 0, 0);
	assert_change(step(&m, "a,d,x", "1=a,2=x,4=d"), 1, 0, 0, 0);
	set_members_fini(&m);
}

static void
a_member_that_returns_gets_its_number_back(void **state)
{
	struct set_members m = {.n = 0};

	(void)state;
	step(&m, "a,b,c", "1=a,2=b,3=c");
	step(&m, "a", "1=a");
	assert_change(step(&m, "a,c", "1=a,3=c"), 1, 0, 0, 0);
	/* Unless another one has it by then. */
	step(&m, "a,c,x", "1=a,2=x,3=c");
	step(&m, "a,c,x,b", "1=a,2=x,3=c,4=b");
	set_members_fini(&m);
}

static void
an_address_is_found_again_under_another_key(void **state)
{
	struct set_members m = {.n = 0};

	(void)state;
	step(&m, "id1@a,id2@b", "1=a,2=b");
	assert_change(step(&m, "id1@b,id9@a", "1=a,2=b"), 0, 0, 0, 0);
	assert_string_equal(m.all[0].key, "id9");
	set_members_fini(&m);
}

static void
a_key_at_another_address_moves_its_server(void **state)
{
	struct set_members m = {.n = 0};

	(void)state;
	step(&m, "id1@a,id2@b", "1=a,2=b");
	assert_change(step(&m, "id1@c,id2@b", "1=c,2=b"), 0, 0, 1, 0);
	set_members_fini(&m);
}

static void
changed_options_are_a_change_in_place(void **state)
{
	struct set_members m = {.n = 0};

	(void)state;
	step(&m, "a weight=1,b", "1=a weight=1,2=b");
	m.all[0].since_ms = 7;
	assert_change(step(&m, "a weight=2,b", "1=a weight=2,2=b"), 0, 0, 0, 1);
	assert_string_equal(m.all[0].former_options, "weight=1");
	assert_int_equal(m.all[0].since_ms, 7);
	assert_int_equal(m.all[1].since_ms, 1000);
	set_members_fini(&m);
}

static void
former_options_are_those_that_were_good(void **state)
{
	struct set_members m = {.n = 0};

	(void)state;
	step(&m, "a weight=1", "1=a weight=1");
	step(&m, "a weight=x", "1=a weight=x");
	m.all[0].why = strdup("wrong");
	assert_non_null(m.all[0].why);
	step(&m, "a weight=y", "1=a weight=y");
	assert_string_equal(m.all[0].former_options, "weight=1");
	assert_null(m.all[0].why);
	set_members_fini(&m);
}

static void
beyond_the_maximum_the_first_keys_are_taken(void **state)
{
	struct set_members m = {.n = 0};
	struct set_change change;

	(void)state;
	change = step(&m, "h,g,f,e,d,c,b,a", "1=a,2=b,3=c,4=d,5=e,6=f");
	assert_int_equal(change.excess, 2);
	set_members_fini(&m);
}

static void
an_address_that_is_there_twice_counts_once(void **state)
{
	struct set_members m = {.n = 0};
	struct set_change change;

	(void)state;
	change = step(&m, "id2@a,id1@a,id3@b", "1=a,2=b");
	assert_int_equal(change.twice, 1);
	set_members_fini(&m);
}

static void
a_smaller_maximum_drops_the_highest_keys(void **state)
{
	struct set_members m = {.n = 0}, next;
	struct set_change change;
	struct script s;
	char text[512];

	(void)state;
	step(&m, "a,b,c,d", "1=a,2=b,3=c,4=d");
	script_read(&s, "a,b,c,d");
	assert_true(reconcile(&m, &s, 2, &next, &change));
	assert_string_equal(live_text(&next, text), "1=a,2=b");
	assert_int_equal(change.removed, 2);
	assert_int_equal(next.n, 2);
	set_members_fini(&next);
	set_members_fini(&m);
}

static void
an_empty_report_removes_all(void **state)
{
	struct set_members m = {.n = 0};

	(void)state;
	step(&m, "a,b", "1=a,2=b");
	assert_change(step(&m, "", ""), 0, 2, 0, 0);
	assert_int_equal(m.live, 0);
	assert_change(step(&m, "b", "2=b"), 1, 0, 0, 0);
	set_members_fini(&m);
}

static void
more_than_half_has_to_be_confirmed(void **state)
{
	const struct set_change two = {.removed = 2};
	const struct set_change three = {.removed = 2, .moved = 1};
	const struct set_change added = {.added = 9};

	(void)state;
	assert_false(set_needs_confirmation(SET_CONFIRM_HALF, &two, 4));
	assert_true(set_needs_confirmation(SET_CONFIRM_HALF, &three, 4));
	assert_true(set_needs_confirmation(SET_CONFIRM_HALF, &two, 2));
	assert_false(set_needs_confirmation(SET_CONFIRM_HALF, &added, 0));
	assert_false(set_needs_confirmation(SET_CONFIRM_OFF, &three, 3));
	assert_true(set_needs_confirmation(SET_CONFIRM_ALWAYS, &two, 900));
	assert_false(set_needs_confirmation(SET_CONFIRM_ALWAYS, &added, 9));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(members_keep_their_numbers_whatever_the_order),
	    cmocka_unit_test(numbers_in_keys_count_as_numbers),
	    cmocka_unit_test(a_new_member_gets_the_lowest_free_number),
	    cmocka_unit_test(a_member_that_returns_gets_its_number_back),
	    cmocka_unit_test(an_address_is_found_again_under_another_key),
	    cmocka_unit_test(a_key_at_another_address_moves_its_server),
	    cmocka_unit_test(changed_options_are_a_change_in_place),
	    cmocka_unit_test(former_options_are_those_that_were_good),
	    cmocka_unit_test(beyond_the_maximum_the_first_keys_are_taken),
	    cmocka_unit_test(an_address_that_is_there_twice_counts_once),
	    cmocka_unit_test(a_smaller_maximum_drops_the_highest_keys),
	    cmocka_unit_test(an_empty_report_removes_all),
	    cmocka_unit_test(more_than_half_has_to_be_confirmed),
	};

	unit_watchdog();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
