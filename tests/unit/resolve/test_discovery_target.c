/* SPDX-License-Identifier: MIT
 * URLs of sources that are read by HTTP, and their settings.
 */
#include "resolve/discovery_target.h"

#include "resolve/consul_text.h"
#include "resolve/discovery_consul.h"
#include "resolve/discovery_etcd.h"
#include "unit.h"

static void
a_url_has_its_parts(void **state)
{
	struct discovery_target t;
	struct err err;

	assert_true(discovery_target_parse(
	    "https://10.0.0.5:2379,etcd.example:2380,[::1]:9/a%20b/"
	    "c?x=1&y&z=%2F",
	    &t, &err));
	assert_true(t.tls);
	assert_int_equal(t.endpoints_n, 3);
	assert_string_equal(t.endpoints[0].url, "https://10.0.0.5:2379");
	assert_string_equal(t.endpoints[0].host, "10.0.0.5");
	assert_true(t.endpoints[0].is_ip);
	assert_string_equal(t.endpoints[1].url, "https://etcd.example:2380");
	assert_string_equal(t.endpoints[1].host, "etcd.example");
	assert_false(t.endpoints[1].is_ip);
	assert_string_equal(t.endpoints[2].url, "https://[::1]:9");
	assert_string_equal(t.endpoints[2].host, "::1");
	assert_true(t.endpoints[2].is_ip);
	assert_string_equal(t.path, "/a b/c");
	assert_int_equal(t.parameters_n, 3);
	assert_string_equal(t.parameters[0].name, "x");
	assert_string_equal(t.parameters[0].value, "1");
	assert_string_equal(t.parameters[1].name, "y");
	assert_null(t.parameters[1].value);
	assert_string_equal(t.parameters[2].value, "/");
	discovery_target_fini(&t);
}

static void
dots_in_a_path_are_not_folders(void **state)
{
	struct discovery_target t;
	struct err err;

	assert_true(discovery_target_parse("http://h:1/a/../b/", &t, &err));
	assert_string_equal(t.path, "/a/../b/");
	discovery_target_fini(&t);
}

static void
check_bad_url(const char *url, const char *why)
{
	struct discovery_target t;
	struct err err;

	assert_false(discovery_target_parse(url, &t, &err));
	if (!strstr(err.text, why))
		fail_msg("%s: '%s' has no '%s'", url, err.text, why);
}

static void
a_url_that_is_wrong_is_refused_with_the_reason(void **state)
{
	check_bad_url("10.0.0.5:2379/x", "begins with http:// or https://");
	check_bad_url("ftp://h:1/x", "begins with http:// or https://");
	check_bad_url("http:///x", "no host");
	check_bad_url("http://h/x", "'http://h' has no port");
	check_bad_url("http://h:1,/x", "no host");
	check_bad_url("http://h:1,k/x", "'http://k' has no port");
	check_bad_url("http://h:99999/x", "'http://h:99999' is not");
	check_bad_url("http://h:x/x", "'http://h:x' is not");
	check_bad_url("http://u:p@h:1/x", "use token=");
	check_bad_url("http://h:1/x#y", "fragment");
	check_bad_url("http://h:1/x%00y", "");
	check_bad_url("http://h:1/x?y=%00", "NUL");
	check_bad_url("http://[::1:1/x", "is not");
	check_bad_url("http://a:1,a:1,a:1,a:1,a:1,a:1,a:1,a:1,a:1,a:1,a:1,a:1,"
	              "a:1,a:1,a:1,a:1,a:1/x",
	    "more than 16 hosts");
}

/* Returns what is wrong with the settings, or "". */
static const char *
wrong_with(bool (*check)(const struct discovery_settings *, struct err *),
    const struct discovery_settings *settings)
{
	static struct err err;
	bool right;

	err.text[0] = '\0';
	right = check(settings, &err);
	assert_int_equal(right, err.text[0] == '\0');
	return err.text;
}

#define WRONG(check, ...)                                                      \
	wrong_with((check), &(struct discovery_settings){__VA_ARGS__})
#define ETCD(...)   WRONG(discovery_etcd_check, __VA_ARGS__)
#define CONSUL(...) WRONG(discovery_consul_check, __VA_ARGS__)

static void
a_url_of_etcd_names_a_prefix(void **state)
{
	assert_string_equal(ETCD(.url = "http://h:1/a/"), "");
	assert_string_equal(ETCD(.url = "http://h:1/?prefix=a"), "");
	assert_string_equal(ETCD(.url = "http://h:1?prefix=a"), "");
	assert_non_null(strstr(ETCD(.url = "http://h:1/"), "no prefix"));
	assert_non_null(strstr(ETCD(.url = "http://h:1"), "no prefix"));
	assert_non_null(
	    strstr(ETCD(.url = "http://h:1/?prefix="), "no prefix"));
	assert_non_null(
	    strstr(ETCD(.url = "http://h:1/a?prefix=b"), "two prefixes"));
	assert_non_null(strstr(
	    ETCD(.url = "http://h:1/?prefix=b&prefix=c"), "two prefixes"));
	assert_non_null(
	    strstr(ETCD(.url = "http://h:1/a?passing"), "parameter 'passing'"));
}

static void
a_url_of_consul_names_a_service(void **state)
{
	assert_string_equal(CONSUL(.url = "http://h:1/web"), "");
	assert_string_equal(CONSUL(.url = "http://h:1/web?passing&tag=a&tag=b&"
	                                  "dc=x&near=_agent&ns=n&filter=a%3Db"),
	    "");
	assert_non_null(strstr(CONSUL(.url = "http://h:1/"), "no service"));
	assert_non_null(strstr(CONSUL(.url = "http://h:1/a/b"), "no service"));
	assert_non_null(
	    strstr(CONSUL(.url = "http://h:1/a?index=5"), "parameter 'index'"));
	assert_non_null(
	    strstr(CONSUL(.url = "http://h:1/a?tag=x&pass"), "'pass'"));
}

static void
options_that_do_not_fit_are_refused(void **state)
{
	const char *url = "http://h:1/a", *tls = "https://h:1/a";

	assert_string_equal(CONSUL(.url = url, .token = "secret"), "");
	assert_non_null(strstr(CONSUL(.url = url, .token = ""), "empty"));
	assert_non_null(
	    strstr(CONSUL(.url = url, .token = "a\nb"), "control character"));
	assert_non_null(strstr(CONSUL(.url = url, .ca = "/x"), "ca is for"));
	assert_non_null(
	    strstr(CONSUL(.url = url, .cert = "/x"), "cert is for"));
	assert_non_null(
	    strstr(CONSUL(.url = tls, .key = "/x"), "key without cert"));
	assert_non_null(
	    strstr(CONSUL(.url = tls, .ca = "/nonexistent"), "/nonexistent"));
}

static void
a_query_for_consul_is_escaped(void **state)
{
	struct discovery_target t;
	struct err err;
	char *query;

	assert_true(discovery_target_parse(
	    "http://h:1/we%20b?passing&tag=a%26b&node-meta=x:y", &t, &err));
	query = consul_query(&t, &err);
	assert_string_equal(query, "/v1/health/service/we%20b?passing&"
	                           "tag=a%26b&node-meta=x%3Ay");
	assert_true(consul_wants_passing(&t));
	free(query);
	discovery_target_fini(&t);
	assert_true(
	    discovery_target_parse("http://h:1/web?passing=false", &t, &err));
	assert_false(consul_wants_passing(&t));
	discovery_target_fini(&t);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_url_has_its_parts),
	    cmocka_unit_test(dots_in_a_path_are_not_folders),
	    cmocka_unit_test(a_url_that_is_wrong_is_refused_with_the_reason),
	    cmocka_unit_test(a_url_of_etcd_names_a_prefix),
	    cmocka_unit_test(a_url_of_consul_names_a_service),
	    cmocka_unit_test(options_that_do_not_fit_are_refused),
	    cmocka_unit_test(a_query_for_consul_is_escaped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
