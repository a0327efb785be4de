/* SPDX-License-Identifier: MIT
 * What a client says first, TLS or PostgreSQL's request for it, in hexadecimal
 * digits, so that the stored inputs are text; other characters are passed over.
 *
 * More bytes must not change what was made of the first of them, and a reader
 * that waits for as many as are said to be needed gets to an end.
 */
#include "fuzz/fuzz.h"
#include "net/starttls.h"
#include "net/tls_hello.h"

static int
digit_of(uint8_t c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
}

/* In place; the number of bytes. */
static size_t
decode(uint8_t *data, size_t size)
{
	size_t digits = 0;

	for (size_t i = 0; i < size; i++) {
		int digit = digit_of(data[i]);

		if (digit < 0)
			continue;
		if (digits % 2 == 0)
			data[digits / 2] = 0;
		data[digits / 2] = (uint8_t)(data[digits / 2] << 4 | digit);
		digits++;
	}
	return digits / 2;
}

/* Of the first n bytes, in a block of just that size. */
static enum tls_verdict
read_first(const uint8_t *data, size_t n, struct tls_hello *hello)
{
	uint8_t *block = malloc(n + !n);
	enum tls_verdict verdict;

	ENSURE(block);
	memcpy(block, data, n);
	memset(hello, 0, sizeof(*hello));
	verdict = tls_hello_read(block, n, hello);
	free(block);
	return verdict;
}

static void
check_name(const struct tls_hello *hello)
{
	char again[TLS_NAME_MAX + 1];
	uint8_t len;

	ENSURE(strlen(hello->name) == hello->name_len);
	if (hello->name_len == 0)
		return;
	ENSURE(tls_name_normalize(hello->name, hello->name_len, again, &len));
	ENSURE(len == hello->name_len && strcmp(again, hello->name) == 0);
}

/* Reads the first n bytes as PostgreSQL's request, in a block of just that
 * size.
 */
static enum pgsql_request
read_request(const uint8_t *data, size_t n)
{
	uint8_t *block = malloc(n + !n);
	enum pgsql_request request;

	ENSURE(block);
	memcpy(block, data, n);
	request = pgsql_request_read(block, n);
	free(block);
	return request;
}

static void
check_request(const uint8_t *data, size_t size)
{
	enum pgsql_request last = read_request(data, size), part;

	for (size_t n = 0; n < size && n <= PGSQL_REQUEST_SIZE; n++) {
		part = read_request(data, n);
		ENSURE(part == last || part == PGSQL_MORE);
		ENSURE(part != PGSQL_MORE || n < PGSQL_REQUEST_SIZE);
		/* An answer needs all bytes of a request. */
		ENSURE((part != PGSQL_TLS && part != PGSQL_GSS) ||
		       n == PGSQL_REQUEST_SIZE);
	}
	ENSURE(last != PGSQL_MORE || size < PGSQL_REQUEST_SIZE);
	ENSURE((last == PGSQL_TLS) ==
	       (size >= PGSQL_REQUEST_SIZE &&
	           memcmp(data, pgsql_tls_request, PGSQL_REQUEST_SIZE) == 0));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *bytes = (uint8_t *)fuzz_string(data, size);
	size_t all = decode(bytes, size), n = 0;
	struct tls_hello whole, part;
	enum tls_verdict last = read_first(bytes, all, &whole), verdict;

	check_request(bytes, all);
	while ((verdict = read_first(bytes, n, &part)) == TLS_MORE) {
		ENSURE(part.needs > n && part.needs <= TLS_HELLO_MAX);
		if (n == all)
			break;
		/* Fewer than are needed may show that it is none. */
		n = part.needs < all ? part.needs : all;
	}
	ENSURE(verdict == last);
	if (last == TLS_HELLO) {
		ENSURE(memcmp(&part, &whole, sizeof(part)) == 0);
		check_name(&whole);
	}
	free(bytes);
	return 0;
}
