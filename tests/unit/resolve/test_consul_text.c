/* SPDX-License-Identifier: MIT
 * Texts of Consul: instances of a service as members.
 */
#include "resolve/consul_text.h"

#include "unit.h"

static struct member_set *members;

static int
set_up_members(void **state)
{
	members = member_set_new();
	return members ? 0 : -1;
}

static int
tear_down_members(void **state)
{
	member_set_free(members);
	return 0;
}

/* Reads an instance with these parts of Service and these statuses of checks,
 * separated by blanks. */
static bool
read_instance(
    const char *service, const char *statuses, bool passing, struct err *err)
{
	size_t size = 0;
	char *text = NULL;
	FILE *out = open_memstream(&text, &size);
	const char *comma = "";
	bool ok;

	fprintf(out,
	    "{\"Node\":{\"Node\":\"n1\",\"Address\":\"10.0.0.9\"},"
	    "\"Service\":{%s},\"Checks\":[",
	    service);
	while (*statuses) {
		size_t len = strcspn(statuses, " ");

		fprintf(
		    out, "%s{\"Status\":\"%.*s\"}", comma, (int)len, statuses);
		statuses += len + (statuses[len] == ' ');
		comma = ",";
	}
	fputs("]}", out);
	fclose(out);
	ok = consul_instance_read(text, strlen(text), passing, members, err);
	free(text);
	return ok;
}

static void
put_instance(const char *service, const char *statuses, bool passing)
{
	struct err err;

	if (!read_instance(service, statuses, passing, &err))
		fail_msg("%s", err.text);
}

static const struct discovered *
member(const char *key)
{
	const struct discovered *m = member_set_find(members, key);

	assert_non_null(m);
	return m;
}

static void
an_instance_becomes_a_member(void **state)
{
	put_instance("\"ID\":\"web1\",\"Address\":\"10.0.0.1\",\"Port\":80,"
	             "\"Weights\":{\"Passing\":7,\"Warning\":2},"
	             "\"Tags\":[\"a\",\"b\"],\"Meta\":{\"v\":\"1\"}",
	    "passing", false);
	assert_string_equal(member("n1/web1")->address, "10.0.0.1:80");
	assert_string_equal(member("n1/web1")->options, "weight=7");
	assert_string_equal(member("n1/web1")->note, "a b v=1");
}

static void
the_address_of_the_node_stands_in(void **state)
{
	put_instance("\"ID\":\"w\",\"Address\":\"\",\"Port\":81", "", false);
	assert_string_equal(member("n1/w")->address, "10.0.0.9:81");
	assert_string_equal(member("n1/w")->options, "weight=1");
	assert_string_equal(member("n1/w")->note, "");
	put_instance(
	    "\"ID\":\"6\",\"Address\":\"fd00::1\",\"Port\":81", "", false);
	assert_string_equal(member("n1/6")->address, "[fd00::1]:81");
}

static void
checks_decide_who_is_a_member_and_its_weight(void **state)
{
	const char *weights = "\"Weights\":{\"Passing\":7,\"Warning\":2}";
	char service[128];

	snprintf(service, sizeof(service), "\"ID\":\"warns\",%s", weights);
	put_instance(service, "passing warning passing", false);
	assert_string_equal(member("n1/warns")->options, "weight=2");
	put_instance("\"ID\":\"critical\"", "warning critical", false);
	put_instance("\"ID\":\"maintenance\"", "maintenance", false);
	put_instance("\"ID\":\"warns2\"", "warning", true);
	put_instance("\"ID\":\"fine\"", "passing", true);
	assert_int_equal(member_set_count(members), 2);
	assert_non_null(member("n1/fine"));
}

static void
weights_beyond_256_keep_their_ratio(void **state)
{
	put_instance("\"ID\":\"a\",\"Weights\":{\"Passing\":1000}", "", false);
	put_instance("\"ID\":\"b\",\"Weights\":{\"Passing\":500}", "", false);
	put_instance("\"ID\":\"c\",\"Weights\":{\"Passing\":1}", "", false);
	put_instance("\"ID\":\"d\",\"Weights\":{\"Passing\":0}", "", false);
	put_instance("\"ID\":\"e\",\"Weights\":{\"Passing\":-5}", "", false);
	assert_true(consul_weights_scale(members));
	assert_string_equal(member("n1/a")->options, "weight=256");
	assert_string_equal(member("n1/b")->options, "weight=128");
	assert_string_equal(member("n1/c")->options, "weight=1");
	assert_string_equal(member("n1/d")->options, "weight=0");
	assert_string_equal(member("n1/e")->options, "weight=0");
}

static void
weights_up_to_256_stay(void **state)
{
	put_instance("\"ID\":\"a\",\"Weights\":{\"Passing\":256}", "", false);
	put_instance("\"ID\":\"b\",\"Weights\":{\"Passing\":3}", "", false);
	assert_true(consul_weights_scale(members));
	assert_string_equal(member("n1/a")->options, "weight=256");
	assert_string_equal(member("n1/b")->options, "weight=3");
}

static void
a_key_counts_once(void **state)
{
	put_instance("\"ID\":\"a\",\"Port\":1", "", false);
	put_instance("\"ID\":\"a\",\"Port\":2", "", false);
	assert_int_equal(member_set_count(members), 1);
	assert_string_equal(member("n1/a")->address, "10.0.0.9:1");
}

static void
what_is_no_instance_is_refused(void **state)
{
	const char *const wrong[] = {"{}", "{\"Service\":5}",
	    "{\"Service\":{\"ID\":5}}", "{\"Service\":{\"ID\":\"\"}}", "{]",
	    "{\"Service\":{\"ID\":\"a\\u0000b\"}}"};
	struct err err;

	for (size_t i = 0; i < UNIT_N(wrong); i++) {
		err.text[0] = '\0';
		assert_false(consul_instance_read(
		    wrong[i], strlen(wrong[i]), false, members, &err));
		assert_true(err.text[0] != '\0');
	}
	assert_int_equal(member_set_count(members), 0);
}

static void
texts_have_no_control_characters(void **state)
{
	put_instance("\"ID\":\"a\\n\",\"Address\":\"x\\u001b\",\"Port\":1,"
	             "\"Tags\":[\"\\r\",5]",
	    "", false);
	assert_string_equal(member("n1/a?")->address, "x?:1");
	assert_string_equal(member("n1/a?")->note, "?");
}

static void
the_fingerprint_has_no_order_and_sees_each_change(void **state)
{
	uint64_t before;

	put_instance("\"ID\":\"a\",\"Port\":1", "", false);
	put_instance("\"ID\":\"b\",\"Port\":2", "", false);
	before = consul_fingerprint(members);
	member_set_remove(members, "n1/a");
	assert_true(before != consul_fingerprint(members));
	put_instance("\"ID\":\"a\",\"Port\":1", "", false);
	assert_true(before == consul_fingerprint(members));
	member_set_remove(members, "n1/a");
	put_instance("\"ID\":\"a\",\"Port\":3", "", false);
	assert_true(before != consul_fingerprint(members));
}

static void
a_thousand_instances_are_read_in_turns_below_5_ms(void **state)
{
	struct timespec begin, end;
	char service[200];
	uint64_t us;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
	for (unsigned i = 0; i < 1000; i++) {
		snprintf(service, sizeof(service),
		    "\"ID\":\"web-%u\",\"Address\":\"10.0.0.1\",\"Port\":%u,"
		    "\"Weights\":{\"Passing\":700,\"Warning\":1},"
		    "\"Tags\":[\"a\",\"b\"],\"Meta\":{\"v\":\"1\"}",
		    i, i);
		put_instance(service, "passing passing", false);
	}
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
	us = (uint64_t)(end.tv_sec - begin.tv_sec) * 1000000u +
	     (uint64_t)(end.tv_nsec / 1000) - (uint64_t)(begin.tv_nsec / 1000);
	print_message(
	    "1000 instances, read in many turns: %lu us\n", (unsigned long)us);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
	assert_true(consul_weights_scale(members));
	(void)consul_fingerprint(members);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
	us = (uint64_t)(end.tv_sec - begin.tv_sec) * 1000000u +
	     (uint64_t)(end.tv_nsec / 1000) - (uint64_t)(begin.tv_nsec / 1000);
	print_message("the last turn: %lu us\n", (unsigned long)us);
	if (unit_judges_time())
		assert_true(us < 5000);
}

#define WITH_MEMBERS(test)                                                     \
	cmocka_unit_test_setup_teardown(                                       \
	    (test), set_up_members, tear_down_members)

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    WITH_MEMBERS(an_instance_becomes_a_member),
	    WITH_MEMBERS(the_address_of_the_node_stands_in),
	    WITH_MEMBERS(checks_decide_who_is_a_member_and_its_weight),
	    WITH_MEMBERS(weights_beyond_256_keep_their_ratio),
	    WITH_MEMBERS(weights_up_to_256_stay),
	    WITH_MEMBERS(a_key_counts_once),
	    WITH_MEMBERS(what_is_no_instance_is_refused),
	    WITH_MEMBERS(texts_have_no_control_characters),
	    WITH_MEMBERS(the_fingerprint_has_no_order_and_sees_each_change),
	    WITH_MEMBERS(a_thousand_instances_are_read_in_turns_below_5_ms),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
