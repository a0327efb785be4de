/* SPDX-License-Identifier: MIT
 * Ranges of addresses: from text and back, and who is in one.
 */
#include "net/cidr.h"
#include "unit.h"

static struct cidr
parsed(const char *text)
{
	struct cidr c;
	struct err err;

	memset(&c, 0xaa, sizeof(c));
	if (!cidr_parse(text, &c, &err))
		fail_msg("%s: %s", text, err.text);
	return c;
}

static struct endpoint
endpoint(const char *ip)
{
	struct addr addr;
	struct endpoint e;

	assert_true(addr_parse_ip(ip, &addr));
	endpoint_set(&e, &addr.sa, addr.len);
	return e;
}

static void
what_is_written_is_what_was_read(void **state)
{
	static const struct {
		const char *in, *out;
	} cases[] = {
	    {"10.0.0.0/8", "10.0.0.0/8"},
	    {"192.0.2.7", "192.0.2.7"},
	    {"192.0.2.7/32", "192.0.2.7"},
	    {"0.0.0.0/0", "0.0.0.0/0"},
	    {"10.128.0.0/9", "10.128.0.0/9"},
	    {"2001:DB8::/32", "2001:db8::/32"},
	    {"::1", "::1"},
	    {"::1/128", "::1"},
	    {"::/0", "::/0"},
	    {"unix", "unix"},
	};
	char text[CIDR_TEXT_SIZE];

	(void)state;
	for (size_t i = 0; i < UNIT_N(cases); i++) {
		struct cidr c = parsed(cases[i].in);

		assert_string_equal(cidr_text(&c, text), cases[i].out);
	}
}

static void
what_is_no_range_is_refused(void **state)
{
	static const struct {
		const char *in, *why;
	} cases[] = {
	    {"", "is not a range of addresses"},
	    {"/8", "is not a range of addresses"},
	    {"10.0.0/8", "is not a range of addresses"},
	    {"example.com", "is not a range of addresses"},
	    {"[::1]", "is not a range of addresses"},
	    {"unix:/x", "is not a range of addresses"},
	    {"2001:db8:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000/1",
	        "is not a range of addresses"},
	    {"10.0.0.0/", "no number from 0 to 32"},
	    {"10.0.0.0/33", "no number from 0 to 32"},
	    {"10.0.0.0/-1", "no number from 0 to 32"},
	    {"::/129", "no number from 0 to 128"},
	    {"10.1.2.3/8", "beyond the first 8; write 10.0.0.0/8"},
	    {"10.129.0.0/9", "beyond the first 9; write 10.128.0.0/9"},
	    {"::1/127", "beyond the first 127; write ::/127"},
	    {"::ffff:10.0.0.0/104", "write it as IPv4"},
	};

	(void)state;
	for (size_t i = 0; i < UNIT_N(cases); i++) {
		struct cidr c = {.bits = 77};
		struct err err = {""};

		if (cidr_parse(cases[i].in, &c, &err))
			fail_msg("'%s' was taken", cases[i].in);
		assert_int_equal(c.bits, 77);
		if (!strstr(err.text, cases[i].why))
			fail_msg("%s: %s", cases[i].in, err.text);
	}
}

static void
it_has_who_begins_as_it_does(void **state)
{
	static const struct {
		const char *cidr, *ip;
		bool in;
	} cases[] = {
	    {"10.0.0.0/8", "10.255.0.1", true},
	    {"10.0.0.0/8", "11.0.0.1", false},
	    {"10.128.0.0/9", "10.128.0.0", true},
	    {"10.128.0.0/9", "10.127.255.255", false},
	    {"192.0.2.7", "192.0.2.7", true},
	    {"192.0.2.7", "192.0.2.6", false},
	    {"0.0.0.0/0", "255.255.255.255", true},
	    {"0.0.0.0/0", "::1", false},
	    {"::/0", "10.0.0.1", false},
	    {"10.0.0.0/8", "::ffff:10.0.0.1", true},
	    {"2001:db8::/33", "2001:db8:7fff::1", true},
	    {"2001:db8::/33", "2001:db8:8000::1", false},
	    {"::1", "::1", true},
	    {"unix", "::1", false},
	};
	struct endpoint peer = {.family = AF_UNIX, .port = 3};
	struct cidr c;

	(void)state;
	for (size_t i = 0; i < UNIT_N(cases); i++) {
		struct endpoint e = endpoint(cases[i].ip);

		c = parsed(cases[i].cidr);
		if (cidr_has(&c, &e) != cases[i].in)
			fail_msg("%s in %s", cases[i].ip, cases[i].cidr);
	}
	c = parsed("unix");
	assert_true(cidr_has(&c, &peer));
	c = parsed("0.0.0.0/0");
	assert_false(cidr_has(&c, &peer));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_is_written_is_what_was_read),
	    cmocka_unit_test(what_is_no_range_is_refused),
	    cmocka_unit_test(it_has_who_begins_as_it_does),
	};

	unit_watchdog();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
