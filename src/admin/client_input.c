/* SPDX-License-Identifier: MIT
 * See client_input.h.
 */
#include "admin/client_input.h"

#include <ctype.h>
#include <stdlib.h>
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

/* Returns whether the line ends with `HTTP/1.1` or another version.  A page can
 * make up a method. */
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

/* Returns whether the line ends with ` <<`, and cuts that off. */
static bool
begins_payload(char *line, size_t len)
{
	if (len < 3 || memcmp(line + len - 3, " <<", 3) != 0)
		return false;
	line[len - 3] = '\0';
	return true;
}

/* Makes room for n more bytes and a NUL.  Wipes the copy that it replaces. */
static bool
kept_reserve(struct client_input *input, size_t n)
{
	size_t room = input->kept_room ? input->kept_room : 4096;
	char *grown;

	while (room <= input->kept_n + n)
		room *= 2;
	if (room == input->kept_room)
		return true;
	grown = malloc(room);
	if (!grown)
		return false;
	if (input->kept) {
		memcpy(grown, input->kept, input->kept_n);
		explicit_bzero(input->kept, input->kept_n);
		free(input->kept);
	}
	input->kept = grown;
	input->kept_room = room;
	return true;
}

/* Adds a line to the payload that is kept.  The empty line, which ends the
 * payload, only terminates the string. */
static enum client_line
payload_keep(struct client_input *input, const char *line, size_t len)
{
	if (input->kept_n + len + 1 > CLIENT_PAYLOAD_MAX)
		return LINE_TOO_MUCH;
	if (!kept_reserve(input, len + 1))
		return LINE_NO_ROOM;
	memcpy(input->kept + input->kept_n, line, len);
	input->kept_n += len;
	if (len > 0)
		input->kept[input->kept_n++] = '\n';
	input->kept[input->kept_n] = '\0';
	return len > 0 ? LINE_PAYLOAD : LINE_WHOLE;
}

/* Takes a line of the payload out of the input.  size and len are its bytes
 * with and without its end. */
static enum client_line
payload_take(struct client_input *input, char *line, size_t size, size_t len)
{
	enum client_line found = len > 0 ? LINE_PAYLOAD : LINE_WHOLE;
	size_t n = input->n;

	if (input->keeps)
		found = payload_keep(input, line, len);
	input->payload = len > 0;
	input->n -= size;
	memmove(line, line + size, input->n - input->line);
	if (input->keeps)
		explicit_bzero(input->bytes + input->n, n - input->n);
	return found;
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
	if (input->payload)
		return payload_take(input, line, size, len);
	input->line = size;
	input->payload = begins_payload(line, len);
	return input->payload ? LINE_BEGUN : LINE_WHOLE;
}

void
client_input_drop(struct client_input *input)
{
	client_input_fini(input);
	input->n -= input->line;
	memmove(input->bytes, input->bytes + input->line, input->n);
	input->line = 0;
}

void
client_input_fini(struct client_input *input)
{
	if (input->kept)
		explicit_bzero(input->kept, input->kept_n);
	free(input->kept);
	input->kept = NULL;
	input->kept_n = input->kept_room = 0;
	input->keeps = false;
}
