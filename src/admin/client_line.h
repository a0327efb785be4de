/* SPDX-License-Identifier: MIT
 * Lines of an admin client, as they come from its connection.
 */
#ifndef ADMIN_CLIENT_LINE_H
#define ADMIN_CLIENT_LINE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/* A line, without its end. */
struct client_line {
	char *text;
	size_t len;  /* of text, which may contain a NUL */
	size_t size; /* with its end, LF or CRLF */
};

/* Cuts off the line at the start of the n bytes of text, replacing its end by a
 * NUL.  Returns false if the end of the line is not there yet. */
bool client_line_cut(
    char *text, size_t n, struct client_line *ret_line) MUST_CHECK;

/* Returns whether the line ends with ` <<`, which is cut off: the lines up to
 * the next empty one are the payload of the command. */
bool client_line_begins_payload(struct client_line *line);

/* Returns whether the line contains a NUL, at which C strings end: the rest
 * would be dropped silently, and a payload would seem to end. */
bool client_line_has_nul(const char *line, size_t len);

/* Returns whether the line is an HTTP request's first line or its Host header.
 * A web page, or a service of this host that fetches URLs for others, can make
 * a browser or that service send an HTTP request to a TCP port, and the lines
 * of its body would be taken for commands.  Redis closes such connections, too
 * (its securityWarningCommand). */
bool client_line_is_http(const char *line, size_t len);

#endif
