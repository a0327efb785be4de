/* SPDX-License-Identifier: MIT
 * Hellos: real ones, cut at every byte and into records of every size, and
 * made ones with whatever may be wrong with them.
 */
#include <stdlib.h>
#include <string.h>

#include "net/hellos.h"
#include "net/tls_hello.h"
#include "unit.h"

/* What is read lies in a block of just that size, so that a sanitizer sees who
 * reads beyond it. */
static enum tls_verdict
read_exactly(const uint8_t *data, size_t size, struct tls_hello *hello)
{
	uint8_t *block = malloc(size + !size);
	enum tls_verdict verdict;

	assert_non_null(block);
	memcpy(block, data, size);
	memset(hello, 0xaa, sizeof(*hello));
	verdict = tls_hello_read(block, size, hello);
	if (verdict == TLS_MORE)
		assert_true(
		    hello->needs > size && hello->needs <= TLS_HELLO_MAX);
	free(block);
	return verdict;
}

static const struct {
	const char *what;
	const uint8_t *data;
	size_t size;
	const char *name;
	uint8_t version;
} real[] = {
    {"openssl", hello_openssl_tls13, sizeof(hello_openssl_tls13),
        "www.example.com", 4},
    {"openssl, TLS 1.2, no name", hello_openssl_tls12_noname,
        sizeof(hello_openssl_tls12_noname), "", 3},
    {"curl", hello_curl, sizeof(hello_curl), "api.example.org", 4},
    {"gnutls", hello_gnutls, sizeof(hello_gnutls), "git.example.net", 4},
    {"openssl, post-quantum hybrid", hello_openssl_hybrid,
        sizeof(hello_openssl_hybrid), "www.example.com", 4},
};

#define REALS (sizeof(real) / sizeof(real[0]))

static void
assert_reads(const uint8_t *data, size_t size, size_t which)
{
	struct tls_hello hello;

	assert_int_equal(read_exactly(data, size, &hello), TLS_HELLO);
	assert_string_equal(hello.name, real[which].name);
	assert_int_equal(hello.name_len, strlen(real[which].name));
	assert_int_equal(hello.version, real[which].version);
}

static void
real_hellos_are_read(void **state)
{
	(void)state;
	for (size_t i = 0; i < REALS; i++)
		assert_reads(real[i].data, real[i].size, i);
}

/* Whoever waits for what is said to be needed gets there in few steps. */
static void
a_hello_cut_anywhere_wants_more_and_says_how_much(void **state)
{
	struct tls_hello hello;

	(void)state;
	for (size_t i = 0; i < REALS; i++) {
		for (size_t n = 0; n < real[i].size; n++) {
			assert_int_equal(
			    read_exactly(real[i].data, n, &hello), TLS_MORE);
			assert_int_equal(hello.needs, n < 5 ? 5 : real[i].size);
		}
	}
}

/* The message of a real hello in records of so many bytes. */
static size_t
cut(const uint8_t *data, size_t size, size_t piece, uint8_t *out)
{
	size_t n = 0;

	for (size_t at = 5; at < size; at += piece) {
		size_t len = size - at < piece ? size - at : piece;
		const uint8_t head[] = {
		    22, 3, 1, (uint8_t)(len >> 8), (uint8_t)len};

		memcpy(out + n, head, sizeof(head));
		memcpy(out + n + sizeof(head), data + at, len);
		n += sizeof(head) + len;
	}
	return n;
}

static void
a_hello_in_records_of_any_size_is_read(void **state)
{
	static uint8_t out[TLS_HELLO_MAX];
	struct tls_hello hello;

	(void)state;
	for (size_t i = 0; i < REALS; i++)
		for (size_t piece = 1; piece < real[i].size; piece++) {
			size_t n = cut(real[i].data, real[i].size, piece, out);

			assert_reads(out, n, i);
			for (size_t k = 0; piece % 7 == 1 && k < n; k++)
				assert_int_equal(
				    read_exactly(out, k, &hello), TLS_MORE);
		}
}

/* -- hellos that are made here -- */

struct made {
	uint8_t bytes[TLS_HELLO_MAX + 1000];
	size_t n;
};

static void
put(struct made *m, const void *bytes, size_t n)
{
	assert_true(m->n + n <= sizeof(m->bytes));
	memcpy(m->bytes + m->n, bytes, n);
	m->n += n;
}

static void
put16(struct made *m, size_t number)
{
	const uint8_t two[] = {(uint8_t)(number >> 8), (uint8_t)number};

	put(m, two, 2);
}

/* One name with its extension. */
static void
put_name(struct made *m, const char *name, size_t len)
{
	put16(m, 0);
	put16(m, len + 5);
	put16(m, len + 3);
	put(m, "", 1);
	put16(m, len);
	put(m, name, len);
}

/* A message with these extensions, NULL: none at all, in one record. */
static void
finish(struct made *m, const struct made *extensions)
{
	static const uint8_t body[] = {3, 3, [34] = 0, 0, 2, 0x13, 1, 1, 0};
	size_t len = sizeof(body) + (extensions ? 2 + extensions->n : 0);
	const uint8_t head[] = {22, 3, 1, (uint8_t)((len + 4) >> 8),
	    (uint8_t)(len + 4), 1, 0, (uint8_t)(len >> 8), (uint8_t)len};

	m->n = 0;
	put(m, head, sizeof(head));
	put(m, body, sizeof(body));
	if (!extensions)
		return;
	put16(m, extensions->n);
	put(m, extensions->bytes, extensions->n);
}

static enum tls_verdict
read_name(const char *name, size_t len, struct tls_hello *hello)
{
	static struct made extensions, m;

	extensions.n = 0;
	put_name(&extensions, name, len);
	finish(&m, &extensions);
	return read_exactly(m.bytes, m.n, hello);
}

static void
names_are_what_hosts_can_have(void **state)
{
	static const char *const good[][2] = {
	    {"a", "a"},
	    {"WWW.Example.COM", "www.example.com"},
	    {"a.b.", "a.b"},
	    {"_x-y.z0", "_x-y.z0"},
	    {"xn--bcher-kva.example", "xn--bcher-kva.example"},
	    {"10.0.0.1", "10.0.0.1"},
	};
	static const char *const bad[] = {"", ".", ".a", "a..b", "a..", "a b",
	    "a\n", "*.a", "a:1", "a/b", "[::1]", "b\xc3\xbc", "a\x7f"};
	char text[300], out[TLS_NAME_MAX + 1];
	struct tls_hello hello;
	uint8_t len;

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_int_equal(
		    read_name(good[i][0], strlen(good[i][0]), &hello),
		    TLS_HELLO);
		assert_string_equal(hello.name, good[i][1]);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(
		    read_name(bad[i], strlen(bad[i]), &hello), TLS_HELLO);
		assert_string_equal(hello.name, "");
		assert_int_equal(hello.name_len, 0);
	}
	assert_int_equal(read_name("a\0b", 3, &hello), TLS_HELLO);
	assert_string_equal(hello.name, "");
	memset(text, 'x', sizeof(text));
	for (size_t n = 250; n < sizeof(text); n++) {
		assert_int_equal(read_name(text, n, &hello), TLS_HELLO);
		assert_int_equal(hello.name_len, n <= TLS_NAME_MAX ? n : 0);
	}
	text[TLS_NAME_MAX] = '.';
	assert_true(tls_name_normalize(text, TLS_NAME_MAX + 1, out, &len));
	assert_int_equal(len, TLS_NAME_MAX);
	assert_false(tls_name_normalize(text, TLS_NAME_MAX + 2, out, &len));
}

/* An ALPN extension with these bytes, the length of the list included. */
static enum tls_verdict
read_alpn(
    const void *bytes, size_t len, unsigned times, struct tls_hello *hello)
{
	static struct made extensions, m;

	extensions.n = 0;
	while (times-- > 0) {
		put16(&extensions, 16);
		put16(&extensions, len);
		put(&extensions, bytes, len);
	}
	finish(&m, &extensions);
	return read_exactly(m.bytes, m.n, hello);
}

static void
protocols_are_read_in_the_order_of_the_client(void **state)
{
	static const char two[] = "\0\x0c\x02h2\x08http/1.1";
	uint8_t many[2 + 2 * 256] = {2, 0};
	struct tls_hello hello;

	(void)state;
	assert_int_equal(read_alpn(two, sizeof(two) - 1, 1, &hello), TLS_HELLO);
	assert_int_equal(hello.alpn_len, sizeof(two) - 3);
	assert_memory_equal(hello.alpn, two + 2, sizeof(two) - 3);
	assert_int_equal(read_alpn("\0\0", 2, 1, &hello), TLS_HELLO);
	assert_int_equal(hello.alpn_len, 0);
	/* 256 names of one byte, and room for 127. */
	for (size_t i = 0; i < 256; i++)
		memcpy(many + 2 + 2 * i, "\1x", 2);
	assert_int_equal(read_alpn(many, sizeof(many), 1, &hello), TLS_HELLO);
	assert_int_equal(hello.alpn_len, 254);
}

static void
broken_lists_of_protocols_are_no_hello(void **state)
{
	static const char two[] = "\0\x0c\x02h2\x08http/1.1";
	struct tls_hello hello;

	(void)state;
	for (size_t n = 0; n < sizeof(two) - 1; n++)
		assert_int_equal(read_alpn(two, n, 1, &hello), TLS_OTHER);
	assert_int_equal(read_alpn(two, sizeof(two), 1, &hello), TLS_OTHER);
	assert_int_equal(read_alpn(two, sizeof(two) - 1, 2, &hello), TLS_OTHER);
	assert_int_equal(read_alpn("\0\1\0", 3, 1, &hello), TLS_OTHER);
	assert_int_equal(read_alpn("\0\2\2h", 4, 1, &hello), TLS_OTHER);
}

static void
a_hello_without_extensions_has_no_name(void **state)
{
	static struct made m;
	struct tls_hello hello;

	(void)state;
	finish(&m, NULL);
	assert_int_equal(read_exactly(m.bytes, m.n, &hello), TLS_HELLO);
	assert_string_equal(hello.name, "");
	m.bytes[2] = 0; /* SSL 3.0 */
	m.bytes[10] = 0;
	assert_int_equal(read_exactly(m.bytes, m.n, &hello), TLS_HELLO);
}

static void
what_is_no_tls_is_known_by_its_first_bytes(void **state)
{
	static const struct {
		const char *bytes;
		size_t n, since;
	} all[] = {
	    {"GET / HTTP/1.1\r\n", 16, 1},
	    {"SSH-2.0-x", 9, 1},
	    {"\x80\x2e\x01\x03\x01", 5, 1},
	    {"\x16\x02\x00", 3, 2},
	    {"\x16\x03\x01\x41\x00", 5, 4},
	    {"\x16\x03\x01\x40\x01", 5, 5},
	    {"\x16\x03\x01\x00\x00", 5, 5},
	    {"\x17\x03\x03\x00\x20", 5, 1},
	    {"\x15\x03\x01\x00\x02", 5, 1},
	    {"\x16\x03\x01\x00\x20\x02", 6, 6},
	    {"\x16\x03\x01\x00\x20\x01\x00\x40\x01", 9, 9},
	    {"\x16\x03\x01\x00\x20\x01\x01\x00\x00", 9, 9},
	    {"\x16\x03\x01\x00\x01\x01\x17", 7, 7},
	};
	struct tls_hello hello;

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		for (size_t n = 0; n <= all[i].n; n++)
			if ((read_exactly((const uint8_t *)all[i].bytes, n,
			         &hello) == TLS_OTHER) != (n >= all[i].since))
				fail_msg("%zu bytes of number %zu", n, i);
}

/* RFC 5246 E.1 and RFC 8446 5.1: a server ignores the version of the record,
 * and negotiates down from a client_version that it does not know.  HAProxy
 * reads the name of all of these, nginx of those whose record is 3.x. */
static void
names_are_read_from_hellos_with_unusual_versions(void **state)
{
	static const uint8_t versions[][4] = {
	    {3, 0, 3, 3},
	    {3, 5, 3, 3},
	    {3, 255, 3, 3},
	    {4, 0, 3, 3},
	    {255, 255, 3, 3},
	    {3, 1, 3, 4},
	    {3, 1, 3, 255},
	    {3, 1, 4, 1},
	    {3, 1, 127, 28},
	    {3, 1, 255, 255},
	};
	static struct made extensions, m;
	struct tls_hello hello;

	(void)state;
	extensions.n = 0;
	put_name(&extensions, "a.example", 9);
	finish(&m, &extensions);
	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
		memcpy(m.bytes + 1, versions[i], 2);
		memcpy(m.bytes + 9, versions[i] + 2, 2);
		if (read_exactly(m.bytes, m.n, &hello) != TLS_HELLO ||
		    strcmp(hello.name, "a.example") != 0)
			fail_msg("versions of number %zu", i);
	}
	m.bytes[1] = 2;
	assert_int_equal(read_exactly(m.bytes, m.n, &hello), TLS_OTHER);
	m.bytes[1] = 3;
	m.bytes[9] = 2;
	assert_int_equal(read_exactly(m.bytes, m.n, &hello), TLS_OTHER);
}

/* Each byte of a message in turn becomes every other: whatever is made of it,
 * nothing is read that is not there; and what has wrong lengths is refused. */
static void
broken_lengths_are_no_hello(void **state)
{
	static struct made extensions, m, again;
	struct tls_hello hello;
	unsigned refused = 0;

	(void)state;
	extensions.n = 0;
	put_name(&extensions, "a.example", 9);
	finish(&m, &extensions);
	assert_int_equal(read_exactly(m.bytes, m.n, &hello), TLS_HELLO);
	assert_string_equal(hello.name, "a.example");
	for (size_t at = 0; at < m.n; at++)
		for (unsigned value = 0; value < 256; value++) {
			again = m;
			again.bytes[at] = (uint8_t)value;
			refused += read_exactly(again.bytes, again.n, &hello) ==
			           TLS_OTHER;
		}
	assert_true(refused > 1000);
	/* The name's length says one more than there is. */
	again = m;
	again.bytes[again.n - sizeof("a.example")]++;
	assert_int_equal(read_exactly(again.bytes, m.n, &hello), TLS_OTHER);
	/* Two of a kind. */
	put_name(&extensions, "b.example", 9);
	finish(&m, &extensions);
	assert_int_equal(read_exactly(m.bytes, m.n, &hello), TLS_OTHER);
	/* A byte behind the extensions. */
	extensions.n = 0;
	finish(&m, &extensions);
	put(&m, "", 1);
	m.bytes[4]++;
	m.bytes[8]++;
	assert_int_equal(read_exactly(m.bytes, m.n, &hello), TLS_OTHER);
}

static void
the_longest_hello_is_read_and_no_longer_one(void **state)
{
	static struct made extensions, m, cut_up;
	size_t body = TLS_HELLO_MESSAGE_MAX - 41 - 2 - 4, n;
	struct tls_hello hello;
	static const uint8_t zeros[TLS_HELLO_MAX];

	(void)state;
	extensions.n = 0;
	put_name(&extensions, "long.example", 12);
	put16(&extensions, 21); /* padding */
	put16(&extensions, body - extensions.n - 2);
	put(&extensions, zeros, body - extensions.n);
	finish(&m, &extensions);
	assert_int_equal(m.n, 5 + TLS_HELLO_MESSAGE_MAX);
	assert_int_equal(read_exactly(m.bytes, m.n, &hello), TLS_HELLO);
	assert_string_equal(hello.name, "long.example");
	n = cut(m.bytes, m.n, 48, cut_up.bytes);
	assert_int_equal(read_exactly(cut_up.bytes, n, &hello), TLS_HELLO);
	assert_string_equal(hello.name, "long.example");
	/* So many records that their heads are too much. */
	n = cut(m.bytes, m.n, 40, cut_up.bytes);
	assert_int_equal(
	    read_exactly(cut_up.bytes, TLS_HELLO_MAX, &hello), TLS_OTHER);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(real_hellos_are_read),
	    cmocka_unit_test(a_hello_cut_anywhere_wants_more_and_says_how_much),
	    cmocka_unit_test(a_hello_in_records_of_any_size_is_read),
	    cmocka_unit_test(names_are_what_hosts_can_have),
	    cmocka_unit_test(protocols_are_read_in_the_order_of_the_client),
	    cmocka_unit_test(broken_lists_of_protocols_are_no_hello),
	    cmocka_unit_test(a_hello_without_extensions_has_no_name),
	    cmocka_unit_test(what_is_no_tls_is_known_by_its_first_bytes),
	    cmocka_unit_test(names_are_read_from_hellos_with_unusual_versions),
	    cmocka_unit_test(broken_lengths_are_no_hello),
	    cmocka_unit_test(the_longest_hello_is_read_and_no_longer_one),
	};

	unit_watchdog();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
