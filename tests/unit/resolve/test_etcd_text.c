/* SPDX-License-Identifier: MIT
 * Texts of etcd: requests, pages, news, and the values that describe members.
 */
#include "base/base64.h"
#include "resolve/etcd_keys.h"
#include "resolve/etcd_text.h"
#include "resolve/member_text.h"

#include "unit.h"

/* -- Members -- */

static void
check_member(const char *value, const char *address, const char *options,
    const char *note)
{
	struct member_text m;

	member_text_read(value, strlen(value), &m);
	assert_string_equal(m.member.address, address);
	assert_string_equal(m.member.options, options);
	assert_string_equal(m.member.note, note);
}

static void
a_value_is_what_stands_behind_server(void **state)
{
	check_member("10.0.0.1:80", "10.0.0.1:80", "", "");
	check_member(" 10.0.0.1:80\tweight=5  backup\n", "10.0.0.1:80",
	    "weight=5  backup", "");
	check_member("", "", "", "");
	check_member(" \n", "", "", "");
}

static void
a_value_is_a_json_object(void **state)
{
	check_member("{\"address\":\"10.0.0.1\",\"port\":80,\"weight\":5,"
	             "\"backup\":true,\"check\":false,\"maxconn\":\"10\","
	             "\"track\":null,\"note\":\"rack 7\"}",
	    "10.0.0.1:80", "weight=5 backup=on check=off maxconn=10", "rack 7");
	check_member(
	    "{\"address\":\"::1\",\"port\":\"80\"}", "[::1]:80", "", "");
	check_member("{\"address\":\"[::1]\",\"port\":80}", "[::1]:80", "", "");
	check_member("{\"address\":\"unix:/run/x\"}", "unix:/run/x", "", "");
	/* As etcd's own library for Go registers endpoints. */
	check_member("{\"Op\":0,\"Addr\":\"db:5432\",\"Metadata\":\"x\"}",
	    "db:5432", "", "x");
}

static void
a_value_that_is_neither_is_shown_as_address(void **state)
{
	const char *const wrong[] = {"{", "{}", "{\"port\":80}",
	    "{\"address\":5}", "{\"address\":\"a b\"}",
	    "{\"address\":\"a\",\"port\":{}}",
	    "{\"address\":\"a\",\"weight\":\"5 backup\"}",
	    "{\"address\":\"a\",\"we ight\":5}", "{\"address\":\"a\",\"x\":[]}",
	    "{\"address\":\"a\",\"=\":1}", "{\"address\":\"a\"} trailing"};

	for (size_t i = 0; i < UNIT_N(wrong); i++)
		check_member(wrong[i], wrong[i], "", "");
	check_member("a\x01\xff:80 w\x1b=5", "a??:80", "w?=5", "");
}

static void
a_value_of_any_length_is_cut(void **state)
{
	static struct member_text m;
	static char value[5000];

	memset(value, 'a', sizeof(value));
	member_text_read(value, sizeof(value), &m);
	assert_int_equal(strlen(m.address), MEMBER_TEXT_MAX);
	value[0] = '{';
	member_text_read(value, sizeof(value), &m);
	assert_int_equal(strlen(m.address), MEMBER_TEXT_MAX);
}

/* -- Requests -- */

static void
requests_have_the_range_of_the_prefix(void **state)
{
	char *body;

	body = etcd_range_body("/a/", (struct etcd_bytes){"/a/b", 5}, 7, 256);
	assert_string_equal(body, "{\"key\":\"L2EvYgA=\",\"range_end\":"
	                          "\"L2Ew\",\"revision\":\"7\","
	                          "\"limit\":\"256\"}");
	free(body);
	body = etcd_range_body("/a/", (struct etcd_bytes){"/a/", 3}, 0, 0);
	assert_string_equal(body, "{\"key\":\"L2Ev\",\"range_end\":\"L2Ew\","
	                          "\"count_only\":true}");
	free(body);
	body = etcd_watch_body("a\xff", 8);
	assert_string_equal(body,
	    "{\"create_request\":{\"key\":\"Yf8=\",\"range_end\":\"Yg==\","
	    "\"start_revision\":\"8\",\"progress_notify\":true}}");
	free(body);
	body = etcd_login_body("root:p\"w:x");
	assert_string_equal(
	    body, "{\"name\":\"root\",\"password\":\"p\\\"w:x\"}");
	free(body);
}

/* -- Answers -- */

static struct etcd_keys keys;

static int
keys_set_up(void **state)
{
	return etcd_keys_init(&keys, "/a/") ? 0 : -1;
}

static int
keys_tear_down(void **state)
{
	etcd_keys_fini(&keys);
	return 0;
}

/* Returns JSON with each 'text' in base64, valid until the next call. */
static const char *
in_base64(const char *text)
{
	static char out[1024];
	char *at = out;

	while (*text) {
		if (*text != '\'') {
			*at++ = *text++;
			continue;
		}
		*at++ = '"';
		at += base64_encode(text + 1, strcspn(text + 1, "'"), at);
		*at++ = '"';
		text += strcspn(text + 1, "'") + 2;
	}
	*at = '\0';
	return out;
}

static bool
read_page(const char *text, struct etcd_page *page, struct err *err)
{
	const struct etcd_sink sink = etcd_keys_sink(&keys);

	text = in_base64(text);
	return etcd_page_read(text, strlen(text), &sink, page, err);
}

static bool
read_news(const char *text, struct etcd_news *news, struct err *err)
{
	const struct etcd_sink sink = etcd_keys_sink(&keys);

	text = in_base64(text);
	return etcd_news_read(text, strlen(text), &sink, news, err);
}

static const char *
address_of(const char *key)
{
	const struct discovered *m = member_set_find(keys.members, key);

	return m ? m->address : "none";
}

static void
pages_are_collected_before_they_count(void **state)
{
	struct etcd_page page;
	struct err err;

	assert_true(etcd_keys_begin(&keys));
	assert_int_equal(keys.from.n, 3);
	assert_true(read_page("{\"header\":{\"revision\":\"9\"},\"kvs\":["
	                      "{\"key\":'/a/','value':'dir'},"
	                      "{\"key\":'/a/x',\"value\":'x:1'},"
	                      "{\"key\":'/a/y%'}],"
	                      "\"more\":true,\"count\":\"4\"}",
	    &page, &err));
	assert_int_equal(page.revision, 9);
	assert_true(page.more);
	assert_int_equal(page.n, 3);
	assert_int_equal(keys.from.n, 6);
	assert_memory_equal(keys.from.data, "/a/y%", 6);
	assert_string_equal(address_of("x"), "none");
	etcd_keys_take(&keys);
	assert_string_equal(address_of("x"), "x:1");
	assert_string_equal(address_of("y%25"), "");
	assert_int_equal(member_set_count(keys.members), 2);
	assert_false(etcd_keys_changed(&keys));
}

static void
news_change_the_members(void **state)
{
	struct etcd_news news;
	struct err err;

	assert_true(read_news("{\"result\":{\"created\":true}}", &news, &err));
	assert_true(news.created);
	assert_true(read_news("{\"result\":{\"events\":["
	                      "{\"kv\":{\"key\":'/a/x',\"value\":'x:1'}},"
	                      "{\"kv\":{\"key\":'/a/y',\"value\":'y:1'}},"
	                      "{\"type\":\"DELETE\",\"kv\":{\"key\":'/a/x'}}"
	                      "]}}",
	    &news, &err));
	assert_false(news.created);
	assert_int_equal(news.changes, 3);
	assert_true(etcd_keys_changed(&keys));
	assert_string_equal(address_of("x"), "none");
	assert_string_equal(address_of("y"), "y:1");
	/* Registered again, and a key that is not there. */
	assert_true(read_news("{\"result\":{\"events\":["
	                      "{\"kv\":{\"key\":'/a/y',\"value\":'y:1'}},"
	                      "{\"type\":\"DELETE\",\"kv\":{\"key\":'/a/z'}}"
	                      "]}}",
	    &news, &err));
	assert_false(etcd_keys_changed(&keys));
}

static void
the_end_of_a_watch_says_why(void **state)
{
	struct etcd_news news;
	struct err err;

	assert_true(read_news("{\"result\":{\"canceled\":true,"
	                      "\"compact_revision\":\"12\"}}",
	    &news, &err));
	assert_true(news.ended);
	assert_int_equal(news.compact_revision, 12);
	assert_false(read_news("{\"result\":{\"created\":true,"
	                       "\"canceled\":true,"
	                       "\"cancel_reason\":\"permission denied\"}}",
	    &news, &err));
	assert_string_equal(
	    err.text, "etcd ended the watch: permission denied");
	assert_false(
	    read_news("{\"error\":{\"message\":\"no leader\"}}", &news, &err));
	assert_string_equal(err.text, "etcd reports: no leader");
}

static void
answers_that_are_wrong_are_refused(void **state)
{
	const char *const wrong[] = {"[]", "{\"header\":{}}",
	    "{\"header\":{\"revision\":\"9\"},\"kvs\":5}",
	    "{\"header\":{\"revision\":\"9\"},\"kvs\":[5]}",
	    "{\"header\":{\"revision\":\"9\"},\"kvs\":[{\"key\":5}]}",
	    "{\"header\":{\"revision\":\"9\"},\"kvs\":[{\"key\":\"L2\"}]}",
	    "{\"header\":{\"revision\":\"9\"},\"kvs\":[{\"key\":'/b/x'}]}",
	    "{\"header\":{\"revision\":\"9\"}", "{\"error\":\"x\",\"code\":3}"};
	struct etcd_page page;
	struct etcd_news news;
	struct err err;

	assert_true(etcd_keys_begin(&keys));
	for (size_t i = 0; i < UNIT_N(wrong); i++) {
		err.text[0] = '\0';
		assert_false(read_page(wrong[i], &page, &err));
		assert_true(err.text[0] != '\0');
	}
	assert_false(read_news("{}", &news, &err));
	assert_false(read_news("{\"result\":{\"events\":5}}", &news, &err));
	assert_false(read_news("{\"result\":{\"events\":[5]}}", &news, &err));
}

static void
a_login_gives_a_token(void **state)
{
	const char text[] = "{\"header\":{},\"token\":\"abc.1\"}";
	struct err err;
	char *token = etcd_login_read(text, strlen(text), &err);

	assert_string_equal(token, "abc.1");
	free(token);
	assert_null(etcd_login_read("{}", 2, &err));
	assert_null(etcd_login_read("{\"token\":\"a\\r\\nb\"}", 18, &err));
}

/* A page as etcd writes it, of keys like app-0001. */
static char *
make_page(unsigned n)
{
	size_t size = 0;
	char *text = NULL;
	FILE *out = open_memstream(&text, &size);

	fputs("{\"header\":{\"cluster_id\":\"14841639068965178418\","
	      "\"member_id\":\"10276657743932975437\",\"revision\":\"1001\","
	      "\"raft_term\":\"2\"},\"kvs\":[",
	    out);
	for (unsigned i = 0; i < n; i++) {
		char key[32], value[64], key64[64], value64[128];

		snprintf(key, sizeof(key), "/a/app-%04u", i);
		snprintf(value, sizeof(value),
		    "{\"address\":\"10.0.0.1\",\"port\":%u,\"weight\":5}", i);
		base64_encode(key, strlen(key), key64);
		base64_encode(value, strlen(value), value64);
		fprintf(out,
		    "%s{\"key\":\"%s\",\"create_revision\":\"%u\","
		    "\"mod_revision\":\"%u\",\"version\":\"1\","
		    "\"value\":\"%s\",\"lease\":\"7587869134131300355\"}",
		    i > 0 ? "," : "", key64, i + 2, i + 2, value64);
	}
	fprintf(out, "],\"count\":\"%u\"}", n);
	fclose(out);
	return text;
}

static void
a_thousand_keys_are_read_in_5_ms(void **state)
{
	const struct etcd_sink sink = etcd_keys_sink(&keys);
	char *text = make_page(1000);
	uint64_t best_us = UINT64_MAX;
	struct etcd_page page;
	struct err err;

	for (int i = 0; i < 20; i++) {
		struct timespec begin, end;
		uint64_t us;

		assert_true(etcd_keys_begin(&keys));
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
		assert_true(
		    etcd_page_read(text, strlen(text), &sink, &page, &err));
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
		assert_int_equal(member_set_count(keys.reading), 1000);
		us = (uint64_t)(end.tv_sec - begin.tv_sec) * 1000000u +
		     (uint64_t)(end.tv_nsec / 1000) -
		     (uint64_t)(begin.tv_nsec / 1000);
		if (us < best_us)
			best_us = us;
	}
	free(text);
	print_message("1000 keys: %lu us\n", (unsigned long)best_us);
	if (unit_judges_time())
		assert_true(best_us < 5000);
}

#define WITH_KEYS(test)                                                        \
	cmocka_unit_test_setup_teardown((test), keys_set_up, keys_tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_value_is_what_stands_behind_server),
	    cmocka_unit_test(a_value_is_a_json_object),
	    cmocka_unit_test(a_value_that_is_neither_is_shown_as_address),
	    cmocka_unit_test(a_value_of_any_length_is_cut),
	    cmocka_unit_test(requests_have_the_range_of_the_prefix),
	    WITH_KEYS(pages_are_collected_before_they_count),
	    WITH_KEYS(news_change_the_members),
	    WITH_KEYS(the_end_of_a_watch_says_why),
	    WITH_KEYS(answers_that_are_wrong_are_refused),
	    cmocka_unit_test(a_login_gives_a_token),
	    WITH_KEYS(a_thousand_keys_are_read_in_5_ms),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
