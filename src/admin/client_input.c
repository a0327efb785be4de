/* SPDX-License-Identifier: MIT
 * See client_input.h.
 */
#include "admin/client_input.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* RFC 9110 section 9, RFC 5789, and the connection inspection of RFC 9113.  No
 * command begins with one of these: commands are in lower case. */
static const char *const methods[] = {"GET", "HEAD", "POST", "PUT", "DELETE",
    "CONNECT", "OPTIONS", "TRACE", "PATCH", "PRI"};

static bool
begins_with_method(const char *line, size_t len)
{
	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
		size_t n = strlen(methods[i]);

		if (len > n && line[n] == ' ' &&
		    memcmp(line, methods[i], n) == 0)
			return true;
	}
	return false;
}

/* `HTTP/1.1` behind any method, also one that a page makes up. */
static bool
ends_with_version(const char *line, size_t len)
{
	static const char version[] = " HTTP/";
	size_t n = strlen(version) + strlen("1.1");
	const char *at = line + len - n;

	return len > n && memcmp(at, version, strlen(version)) == 0 &&
	       isdigit((unsigned char)at[n - 3]) && at[n - 2] == '.' &&
	       isdigit((unsigned char)at[n - 1]);
}

static bool
is_of_http(const char *line, size_t len)
{
	static const char host[] = "host:";

	return begins_with_method(line, len) || ends_with_version(line, len) ||
	       (len >= strlen(host) &&
	           strncasecmp(line, host, strlen(host)) == 0);
}

/* Cuts off ` <<`. */
static bool
begins_payload(char *line, size_t len)
{
	if (len < 3 || memcmp(line + len - 3, " <<", 3) != 0)
		return false;
	line[len - 3] = '\0';
	return true;
}

enum client_line
client_input_take(struct client_input *input)
{
	char *line = input->bytes + input->line;
	char *end = memchr(line, '\n', input->n - input->line);
	size_t size, len; /* with the end of the line, and without */

	if (!end)
		return input->n == CLIENT_LINE_MAX ? LINE_TOO_LONG
		                                   : LINE_PARTIAL;
	size = (size_t)(end - line) + 1;
	if (end > line && end[-1] == '\r')
		end--;
	*end = '\0';
	len = (size_t)(end - line);
	if (memchr(line, '\0', len))
		return LINE_NUL;
	if (!input->payload && is_of_http(line, len))
		return LINE_HTTP;
	if (!input->payload) {
		input->line = size;
		input->payload = begins_payload(line, len);
	} else {
		input->payload = len > 0;
		input->n -= size;
		memmove(line, line + size, input->n - input->line);
	}
	return input->payload ? LINE_PAYLOAD : LINE_WHOLE;
}

void
client_input_drop(struct client_input *input)
{
	input->n -= input->line;
	memmove(input->bytes, input->bytes + input->line, input->n);
	input->line = 0;
}
