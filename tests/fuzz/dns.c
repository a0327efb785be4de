/* SPDX-License-Identifier: MIT
 * Answers of name servers: a letter for what was asked (4, 6 or s), and the
 * message in hexadecimal digits; other characters are passed over.  What is
 * read is within its bounds, fits what was asked, and is the same when it is
 * read again.
 */
#include <ctype.h>

#include "fuzz/fuzz.h"
#include "resolve/dns_answer.h"

static unsigned
digit_value(uint8_t c)
{
	return (unsigned)(c <= '9' ? c - '0' : tolower(c) - 'a' + 10);
}

/* Returns the number of bytes. */
static size_t
read_digits(const uint8_t *data, size_t size, uint8_t *out)
{
	size_t digits = 0;

	for (size_t i = 0; i < size; i++) {
		if (!isxdigit(data[i]))
			continue;
		if (digits % 2 == 0)
			out[digits / 2] = (uint8_t)(digit_value(data[i]) << 4);
		else
			out[digits / 2] =
			    (uint8_t)(out[digits / 2] | digit_value(data[i]));
		digits++;
	}
	return (digits + 1) / 2;
}

static enum dns_error
read_answer(struct dns_answer *a, uint8_t asked, const uint8_t *m, size_t len)
{
	*a = (struct dns_answer){.ttl_s = UINT32_MAX};
	return asked == 's' ? dns_read_srvs(a, m, len)
	                    : dns_read_addrs(
	                          a, m, len, asked == '6' ? AF_INET6 : AF_INET);
}

static void
check_answer(const struct dns_answer *a, uint8_t asked)
{
	ENSURE(a->ttl_s <= INT32_MAX);
	ENSURE(a->addrs_n <= DNS_ADDRS_MAX && a->srvs_n <= DNS_SRVS_MAX);
	ENSURE(a->addrs_n > 0 || a->srvs_n > 0);
	for (size_t i = 0; i < a->addrs_n; i++) {
		ENSURE(a->addrs[i].sa.sa_family ==
		       (asked == '6' ? AF_INET6 : AF_INET));
		ENSURE(!dns_addrs_have(a->addrs, i, &a->addrs[i]));
	}
	for (size_t i = 0; i < a->srvs_n; i++) {
		const char *t = a->srvs[i].target;

		ENSURE(*t && strlen(t) < ADDR_HOST_SIZE);
		ENSURE(!strpbrk(t, " ;=\"'\\\n\t/"));
		ENSURE(a->srvs[i].port > 0);
	}
	for (size_t i = 0; i < a->extras_n; i++)
		ENSURE(a->extras[i].srv < a->srvs_n);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dns_answer one, two;
	enum dns_error error;
	uint8_t *digits, *message;
	size_t len;

	if (size < 1)
		return 0;
	digits = malloc(size);
	ENSURE(digits);
	len = read_digits(data + 1, size - 1, digits);
	/* Of its very size, for a sanitizer to see who reads beyond it. */
	message = malloc(len);
	ENSURE(message || len == 0);
	if (len > 0)
		memcpy(message, digits, len);
	free(digits);
	error = read_answer(&one, data[0], message, len);
	if (error == DNS_OK)
		check_answer(&one, data[0]);
	ENSURE(read_answer(&two, data[0], message, len) == error);
	ENSURE(one.addrs_n == two.addrs_n && one.srvs_n == two.srvs_n &&
	       one.ttl_s == two.ttl_s);
	dns_answer_fini(&one);
	dns_answer_fini(&two);
	free(message);
	return 0;
}
