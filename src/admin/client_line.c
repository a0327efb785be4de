/* SPDX-License-Identifier: MIT
 * See client_line.h.
 */
#include "admin/client_line.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* RFC 9110 section 9, RFC 5789, and the connection inspection of RFC 9113.  No
 * command begins with one of these: commands are in lower case. */
static const char *const methods[] = {"GET", "HEAD", "POST", "PUT", "DELETE",
    "CONNECT", "OPTIONS", "TRACE", "PATCH", "PRI"};

bool
client_line_cut(char *text, size_t n, struct client_line *ret_line)
{
	char *end = memchr(text, '\n', n);

	if (!end)
		return false;
	ret_line->text = text;
	ret_line->size = (size_t)(end - text) + 1;
	if (end > text && end[-1] == '\r')
		end--;
	*end = '\0';
	ret_line->len = (size_t)(end - text);
	return true;
}

bool
client_line_begins_payload(struct client_line *line)
{
	if (line->len < 3 || memcmp(line->text + line->len - 3, " <<", 3) != 0)
		return false;
	line->len -= 3;
	line->text[line->len] = '\0';
	return true;
}

bool
client_line_has_nul(const char *line, size_t len)
{
	return memchr(line, '\0', len) != NULL;
}

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

bool
client_line_is_http(const char *line, size_t len)
{
	static const char host[] = "host:";

	return begins_with_method(line, len) || ends_with_version(line, len) ||
	       (len >= strlen(host) &&
	           strncasecmp(line, host, strlen(host)) == 0);
}
