/* SPDX-License-Identifier: MIT
 * Headers of the PROXY protocol: made, and read from any number of bytes.
 */
#include <arpa/inet.h>
#include <stdlib.h>

#include "net/proxy_protocol.h"
#include "unit.h"

#define SIGNATURE      "\r\n\r\n\0\r\nQUIT\n"
#define BYTES(literal) (const uint8_t *)(literal), sizeof(literal) - 1

static struct endpoint
endpoint(const char *ip, uint16_t port)
{
	struct addr addr;
	struct endpoint e;

	assert_true(addr_parse_ip(ip, &addr));
	addr_set_port(&addr, port);
	endpoint_set(&e, &addr.sa, addr.len);
	return e;
}

static struct proxy_header
header(enum proxy_version version, const char *from, const char *to)
{
	return (struct proxy_header){.version = version,
	    .source = endpoint(from, 50000),
	    .destination = endpoint(to, 443)};
}

static void
assert_made(const struct proxy_header *h, const uint8_t *bytes, size_t n)
{
	uint8_t out[PROXY_MADE_MAX];

	assert_int_equal(proxy_header_make(h, out), n);
	assert_memory_equal(out, bytes, n);
}

/* In memory of its own, so that a sanitizer sees who reads beyond it. */
static enum proxy_reading
read_copy(const uint8_t *bytes, size_t n, struct proxy_read *r)
{
	uint8_t *copy = malloc(n + 1);
	enum proxy_reading reading;

	assert_non_null(copy);
	memcpy(copy + 1, bytes, n);
	reading = proxy_header_read(copy + 1, n, r);
	free(copy);
	return reading;
}

static void
assert_wrong(const uint8_t *bytes, size_t n, const char *why)
{
	struct proxy_read r;

	assert_int_equal(read_copy(bytes, n, &r), PROXY_WRONG);
	assert_string_equal(r.why, why);
}

/* Each part of it is the beginning of a header, which says truly how much more
 * is needed at least; whatever follows is not looked at. */
static void
assert_read(const uint8_t *bytes, size_t n, const struct proxy_header *wanted)
{
	uint8_t *more = malloc(n + 5);
	struct proxy_read r;

	for (size_t i = 0; i < n; i++) {
		assert_int_equal(read_copy(bytes, i, &r), PROXY_INCOMPLETE);
		assert_true(r.needs > 0 && i + r.needs <= n);
	}
	memcpy(more, bytes, n);
	memcpy(more + n, "PROXY", 5);
	for (size_t extra = 0; extra <= 5; extra++) {
		const struct proxy_header *h = &r.header;

		assert_int_equal(
		    proxy_header_read(more, n + extra, &r), PROXY_COMPLETE);
		assert_int_equal(r.size, n);
		assert_int_equal(h->version, wanted->version);
		assert_int_equal(h->local, wanted->local);
		assert_memory_equal(
		    &h->source, &wanted->source, sizeof(h->source));
		assert_memory_equal(&h->destination, &wanted->destination,
		    sizeof(h->destination));
		assert_int_equal(h->authority_len, wanted->authority_len);
		assert_memory_equal(h->authority_len ? h->authority : "",
		    wanted->authority_len ? wanted->authority : "",
		    h->authority_len);
	}
	free(more);
}

static void
assert_both(const struct proxy_header *h, const uint8_t *bytes, size_t n)
{
	assert_made(h, bytes, n);
	assert_read(bytes, n, h);
}

static void
a_line_has_ipv4_addresses(void **state)
{
	struct proxy_header h = header(PROXY_V1, "192.0.2.7", "192.0.2.1");

	(void)state;
	assert_both(&h, BYTES("PROXY TCP4 192.0.2.7 192.0.2.1 50000 443\r\n"));
}

static void
a_line_has_ipv6_addresses(void **state)
{
	struct proxy_header h = header(PROXY_V1, "2001:db8::7", "::1");

	(void)state;
	assert_both(&h, BYTES("PROXY TCP6 2001:db8::7 ::1 50000 443\r\n"));
}

static void
the_longest_line_is_read(void **state)
{
	const char *a = "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff";
	struct proxy_header h = header(PROXY_V1, a, a);
	char line[200];

	(void)state;
	h.source.port = h.destination.port = 65535;
	snprintf(line, sizeof(line), "PROXY TCP6 %s %s 65535 65535\r\n", a, a);
	assert_both(&h, (const uint8_t *)line, strlen(line));
}

static void
binary_has_ipv4_addresses(void **state)
{
	struct proxy_header h = header(PROXY_V2, "192.0.2.7", "192.0.2.1");

	(void)state;
	assert_both(
	    &h, BYTES(SIGNATURE "\x21\x11\0\x0c\xc0\0\x02\x07\xc0\0\x02\x01"
	                        "\xc3\x50\x01\xbb"));
}

static void
binary_has_ipv6_addresses(void **state)
{
	struct proxy_header h = header(PROXY_V2, "2001:db8::7", "::1");

	(void)state;
	assert_both(
	    &h, BYTES(SIGNATURE "\x21\x21\0\x24"
	                        "\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\x07"
	                        "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01"
	                        "\xc3\x50\x01\xbb"));
}

/* As HAProxy does: what is read is the address that it was. */
static void
mixed_addresses_are_made_ipv6(void **state)
{
	struct proxy_header h = header(PROXY_V1, "192.0.2.7", "2001:db8::1");

	(void)state;
	assert_both(
	    &h, BYTES("PROXY TCP6 ::ffff:192.0.2.7 2001:db8::1 50000 443\r\n"));
	h = header(PROXY_V2, "2001:db8::1", "192.0.2.7");
	assert_both(
	    &h, BYTES(SIGNATURE "\x21\x21\0\x24"
	                        "\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\x01"
	                        "\0\0\0\0\0\0\0\0\0\0\xff\xff\xc0\0\x02\x07"
	                        "\xc3\x50\x01\xbb"));
}

static void
a_unix_client_has_no_address(void **state)
{
	struct proxy_header h = {.version = PROXY_V1,
	    .source.family = AF_UNIX,
	    .destination.family = AF_UNIX};
	struct proxy_header none = {.version = PROXY_V1};

	(void)state;
	assert_made(&h, BYTES("PROXY UNKNOWN\r\n"));
	assert_read(BYTES("PROXY UNKNOWN\r\n"), &none);
	h.version = none.version = PROXY_V2;
	assert_made(&h, BYTES(SIGNATURE "\x20\0\0\0"));
	assert_read(BYTES(SIGNATURE "\x21\0\0\0"), &none);
	h.destination = endpoint("192.0.2.1", 443);
	h.authority = "a";
	h.authority_len = 1;
	assert_made(&h, BYTES(SIGNATURE "\x20\0\0\0"));
}

static void
what_is_local_has_no_address(void **state)
{
	struct proxy_header h = header(PROXY_V2, "192.0.2.7", "192.0.2.1");
	struct proxy_header local = {.version = PROXY_V2, .local = true};

	(void)state;
	h.local = true;
	assert_made(&h, BYTES(SIGNATURE "\x20\0\0\0"));
	assert_read(BYTES(SIGNATURE "\x20\0\0\0"), &local);
	/* All of it is skipped, whatever it is. */
	assert_read(BYTES(SIGNATURE "\x20\x99\0\x03ggg"), &local);
}

/* ALPN, the authority, and SSL with its parts, in the order of their types. */
static void
tls_with_the_client_is_a_value_with_parts(void **state)
{
	static const uint8_t wanted[] = "\1\0\2h2"
	                                "\2\0\1a"
	                                "\x20\0\x31"
	                                "\7\0\0\0\0"
	                                "\x21\0\7TLSv1.3"
	                                "\x22\0\1c"
	                                "\x23\0\6CIPHER"
	                                "\x24\0\12RSA-SHA256"
	                                "\x25\0\5EC256";
	struct proxy_tls tls = {.client = PROXY_TLS_USED | PROXY_TLS_CERT_CONN |
	                                  PROXY_TLS_CERT_SESS,
	    .verified = true,
	    .version = "TLSv1.3",
	    .cn = "c",
	    .cipher = "CIPHER",
	    .sig_alg = "RSA-SHA256",
	    .key_alg = "EC256"};
	struct proxy_header h = {.version = PROXY_V2_TLS,
	    .authority = "a",
	    .authority_len = 1,
	    .alpn = "h2",
	    .tls = &tls};
	uint8_t out[PROXY_MADE_MAX];
	char longest[300];
	struct proxy_read r;
	size_t size;

	(void)state;
	endpoint_set_ip(&h.source, AF_INET, (const uint8_t *)"\1\2\3\4", 5);
	endpoint_set_ip(
	    &h.destination, AF_INET, (const uint8_t *)"\4\3\2\1", 6);
	size = proxy_header_make(&h, out);
	assert_int_equal(size, 16 + 12 + sizeof(wanted) - 1);
	assert_memory_equal(out + 28, wanted, sizeof(wanted) - 1);
	assert_int_equal(proxy_header_read(out, size, &r), PROXY_COMPLETE);
	assert_int_equal(r.size, size);
	assert_int_equal(r.header.authority_len, 1);
	/* A client without a certificate; what is unknown is left out. */
	tls = (struct proxy_tls){.client = PROXY_TLS_USED, .cn = ""};
	h.alpn = "";
	size = proxy_header_make(&h, out);
	assert_int_equal(size, 28 + 4 + 8);
	assert_memory_equal(out + 32, "\x20\0\5\1\0\0\0\1", 8);
	/* Version 2 without TLS, and nothing of the proxy's own connections. */
	h.version = PROXY_V2;
	assert_int_equal(proxy_header_make(&h, out), 28 + 4);
	h.local = true;
	h.version = PROXY_V2_TLS;
	assert_int_equal(proxy_header_make(&h, out), 16);
	h.local = false;
	/* Everything as long as it can be. */
	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	tls = (struct proxy_tls){.version = longest,
	    .cn = longest,
	    .cipher = longest,
	    .sig_alg = longest,
	    .key_alg = longest};
	h.alpn = h.authority = longest;
	h.authority_len = UINT8_MAX;
	endpoint_set_ip(&h.source, AF_INET6, (const uint8_t *)longest, 5);
	assert_int_equal(proxy_header_make(&h, out), PROXY_MADE_MAX);
	assert_int_equal(
	    proxy_header_read(out, PROXY_MADE_MAX, &r), PROXY_COMPLETE);
}

static void
the_authority_is_a_value(void **state)
{
	struct proxy_header h = header(PROXY_V2, "192.0.2.7", "192.0.2.1");

	(void)state;
	h.authority = "example.com";
	h.authority_len = 11;
	assert_both(
	    &h, BYTES(SIGNATURE "\x21\x11\0\x1a\xc0\0\x02\x07\xc0\0\x02\x01"
	                        "\xc3\x50\x01\xbb\x02\0\x0b"
	                        "example.com"));
	h.version = PROXY_V1;
	assert_made(&h, BYTES("PROXY TCP4 192.0.2.7 192.0.2.1 50000 443\r\n"));
}

static void
the_longest_that_is_made_fits(void **state)
{
	struct proxy_header h = header(PROXY_V2, "2001:db8::7", "::1");
	static char name[UINT8_MAX];
	uint8_t out[PROXY_MADE_MAX];
	size_t size;

	(void)state;
	memset(name, 'n', sizeof(name));
	h.authority = name;
	h.authority_len = sizeof(name);
	size = proxy_header_make(&h, out);
	assert_int_equal(size, 16 + 36 + 3 + 255);
	assert_read(out, size, &h);
}

static void
other_families_are_as_good_as_none(void **state)
{
	struct proxy_header none = {.version = PROXY_V2};
	uint8_t bytes[16 + 216] = SIGNATURE;

	(void)state;
	/* A unix stream, with and without a value behind. */
	bytes[12] = 0x21;
	bytes[13] = 0x31;
	bytes[15] = 216;
	assert_read(bytes, sizeof(bytes), &none);
	bytes[13] = 0x12;
	bytes[15] = 12 + 3;
	bytes[28] = 0x04;
	assert_read(bytes, 31, &none);
	none.authority = "a";
	none.authority_len = 1;
	assert_read(BYTES(SIGNATURE "\x21\0\0\x04\x02\0\x01"
	                            "a"),
	    &none);
}

/* Made by another implementation: RFC 3720's polynomial, bit by bit. */
static uint32_t
slow_crc32c(const uint8_t *data, size_t n)
{
	uint32_t crc = UINT32_MAX;

	for (size_t i = 0; i < n; i++) {
		crc ^= data[i];
		for (int bit = 0; bit < 8; bit++)
			crc = crc & 1 ? crc >> 1 ^ 0x82f63b78u : crc >> 1;
	}
	return ~crc;
}

static void
the_checksum_is_checked(void **state)
{
	struct proxy_header h = header(PROXY_V2, "192.0.2.7", "192.0.2.1");
	uint8_t b[] = SIGNATURE "\x21\x11\0\x17\xc0\0\x02\x07\xc0\0\x02\x01"
	                        "\xc3\x50\x01\xbb\x03\0\x04\0\0\0\0\x02\0\x01"
	                        "a";
	size_t n = sizeof(b) - 1;
	uint32_t crc;

	(void)state;
	assert_int_equal(
	    slow_crc32c((const uint8_t *)"123456789", 9), 0xe3069283u);
	crc = htonl(slow_crc32c(b, n));
	memcpy(b + 31, &crc, 4);
	h.authority = "a";
	h.authority_len = 1;
	assert_read(b, n, &h);
	for (size_t i = 16; i < n; i++) {
		struct proxy_read r;

		b[i] ^= 0x10;
		assert_true(
		    proxy_header_read(b, n, &r) != PROXY_COMPLETE || i == 28);
		b[i] ^= 0x10;
	}
	b[20] ^= 1;
	assert_wrong(b, n, "its CRC32c is wrong");
}

static void
what_is_no_header_is_seen_at_once(void **state)
{
	const char *garbage[] = {"G", "PROXX", "proxy TCP4", "\r\n\r\r", "P\n",
	    "\r\n\r\n\0\r\nQUIX"};

	(void)state;
	for (size_t i = 0; i < UNIT_N(garbage); i++) {
		size_t n = i == 5 ? 11 : strlen(garbage[i]);

		assert_wrong((const uint8_t *)garbage[i], n,
		    "the first bytes are not those of a header");
	}
}

static void
wrong_lines_are_refused(void **state)
{
	static const struct {
		const char *line, *why;
	} cases[] = {
	    {"PROXY TCP4 192.0.2.7 192.0.2.1 50000 443\n ",
	        "the line does not end in CR LF"},
	    {"PROXY TCP4 192.0.2.7 192.0.2.1 50000 443\r ",
	        "the line does not end in CR LF"},
	    {"PROXY  TCP4 1.2.3.4 1.2.3.4 1 2\r\n",
	        "the line names no protocol"},
	    {"PROXY \r\n        ", "the line names no protocol"},
	    {"PROXY UDP4 1.2.3.4 1.2.3.4 1 2\r\n",
	        "its protocol is not TCP4, TCP6 or UNKNOWN"},
	    {"PROXY tcp4 1.2.3.4 1.2.3.4 1 2\r\n",
	        "its protocol is not TCP4, TCP6 or UNKNOWN"},
	    {"PROXY UNKNOWNX 1.2.3.4\r\n",
	        "its protocol is not TCP4, TCP6 or UNKNOWN"},
	    {"PROXY TCP4 ::1 ::1 1 2\r\n",
	        "an address does not belong to the header's protocol"},
	    {"PROXY TCP6 1.2.3.4 ::1 1 2\r\n",
	        "an address does not belong to the header's protocol"},
	    {"PROXY TCP4 1.2.3.4  1.2.3.4 1 2\r\n",
	        "an address does not belong to the header's protocol"},
	    {"PROXY TCP4 1.2.3.4\r\n",
	        "an address does not belong to the header's protocol"},
	    {"PROXY TCP4 01.2.3.4 1.2.3.4 1 2\r\n",
	        "an address does not belong to the header's protocol"},
	    {"PROXY TCP4 1.2.3.4 1.2.3.4 1 65536\r\n",
	        "a port is not a number from 0 to 65535"},
	    {"PROXY TCP4 1.2.3.4 1.2.3.4 01 2\r\n",
	        "a port is not a number from 0 to 65535"},
	    {"PROXY TCP4 1.2.3.4 1.2.3.4 -1 2\r\n",
	        "a port is not a number from 0 to 65535"},
	    {"PROXY TCP4 1.2.3.4 1.2.3.4 1\r\n",
	        "a port is not a number from 0 to 65535"},
	    {"PROXY TCP4 1.2.3.4 1.2.3.4 1 2 3\r\n",
	        "there is more than two addresses and ports"},
	    {"PROXY TCP4 1.2.3.4 1.2.3.4 1 2 \r\n",
	        "there is more than two addresses and ports"},
	};

	(void)state;
	for (size_t i = 0; i < UNIT_N(cases); i++)
		assert_wrong((const uint8_t *)cases[i].line,
		    strlen(cases[i].line), cases[i].why);
	assert_wrong(
	    BYTES("PROXY UNKNOWN \0\r\n"), "the line does not end in CR LF");
}

static void
a_line_ends_within_107_bytes(void **state)
{
	struct proxy_header unknown = {.version = PROXY_V1};
	uint8_t line[120] = "PROXY UNKNOWN ";
	struct proxy_read r;

	(void)state;
	memset(line + 14, 'x', sizeof(line) - 14);
	memcpy(line + 105, "\r\n", 2);
	assert_read(line, 107, &unknown);
	memcpy(line + 105, "x\r\n", 3);
	assert_int_equal(proxy_header_read(line, 105, &r), PROXY_INCOMPLETE);
	for (size_t n = 106; n < sizeof(line); n++)
		assert_wrong(line, n, "the line is longer than 107 bytes");
}

static void
wrong_binary_headers_are_refused(void **state)
{
	(void)state;
	assert_wrong(BYTES(SIGNATURE "\x11"), "its version is not 2");
	assert_wrong(
	    BYTES(SIGNATURE "\x22"), "its command is not LOCAL or PROXY");
	assert_wrong(BYTES(SIGNATURE "\x21\x41"), "its family is unknown");
	assert_wrong(BYTES(SIGNATURE "\x21\x13"), "its family is unknown");
	assert_wrong(BYTES(SIGNATURE "\x21\x01"), "its family is unknown");
	assert_wrong(BYTES(SIGNATURE "\x21\x10"), "its family is unknown");
	assert_wrong(BYTES(SIGNATURE "\x21\x11\0\x0b"
	                             "01234567890"),
	    "it is too short for its addresses");
	assert_wrong(
	    BYTES(SIGNATURE "\x21\x11\x3f\xf1"), "it is longer than 16 KiB");
	assert_wrong(BYTES(SIGNATURE "\x21\0\0\x02\x04\0"),
	    "a value does not fit into it");
	assert_wrong(BYTES(SIGNATURE "\x21\0\0\x04\x04\0\x02x"),
	    "a value does not fit into it");
	assert_wrong(BYTES(SIGNATURE "\x21\0\0\x04\x03\0\x01x"),
	    "its CRC32c has not four bytes");
}

static void
values_have_their_limits(void **state)
{
	struct proxy_header none = {.version = PROXY_V2};
	static uint8_t b[PROXY_READ_MAX] = SIGNATURE "\x21\0\x01\x03\x02\x01";

	(void)state;
	assert_wrong(b, 16 + 259, "its authority has more than 255 bytes");
	memcpy(b + 14, "\0\x84\x05\0\x81", 5);
	assert_wrong(b, 16 + 132, "its unique ID has more than 128 bytes");
	/* The longest header that is read, with one value of no meaning. */
	memcpy(b + 14, "\x3f\xf0\xee\x3f\xed", 5);
	assert_read(b, sizeof(b), &none);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_line_has_ipv4_addresses),
	    cmocka_unit_test(a_line_has_ipv6_addresses),
	    cmocka_unit_test(the_longest_line_is_read),
	    cmocka_unit_test(binary_has_ipv4_addresses),
	    cmocka_unit_test(binary_has_ipv6_addresses),
	    cmocka_unit_test(mixed_addresses_are_made_ipv6),
	    cmocka_unit_test(a_unix_client_has_no_address),
	    cmocka_unit_test(what_is_local_has_no_address),
	    cmocka_unit_test(the_authority_is_a_value),
	    cmocka_unit_test(tls_with_the_client_is_a_value_with_parts),
	    cmocka_unit_test(the_longest_that_is_made_fits),
	    cmocka_unit_test(other_families_are_as_good_as_none),
	    cmocka_unit_test(the_checksum_is_checked),
	    cmocka_unit_test(what_is_no_header_is_seen_at_once),
	    cmocka_unit_test(wrong_lines_are_refused),
	    cmocka_unit_test(a_line_ends_within_107_bytes),
	    cmocka_unit_test(wrong_binary_headers_are_refused),
	    cmocka_unit_test(values_have_their_limits),
	};

	unit_watchdog();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
