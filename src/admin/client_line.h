/* SPDX-License-Identifier: MIT
 * Lines of an admin client, as they come from its connection.
 */
#ifndef ADMIN_CLIENT_LINE_H
#define ADMIN_CLIENT_LINE_H

#include <stdbool.h>
#include <stddef.h>

/* A line, without its end. */
struct client_line {
	char *text;
	size_t len;  /* there may be a NUL before that */
	size_t size; /* with its end, LF or CRLF */
};

/* The line that the n bytes at text begin with, whose end becomes a NUL; false
 * when its end has not come yet. */
bool client_line_cut(char *text, size_t n, struct client_line *ret_line);

/* Whether lines follow, up to an empty one, that belong to the command: there
 * is a ` <<` at the end, which is cut off. */
bool client_line_begins_payload(struct client_line *line);

/* Whether the line has a NUL.  Texts of C end there, so what follows would be
 * dropped in silence, and a payload would seem to end. */
bool client_line_has_nul(const char *line, size_t len);

/* Whether the line is an HTTP request's first line or its Host header.  A web
 * page, or a service of this host that fetches URLs for others, can make a
 * browser or that service send an HTTP request to a TCP port, and the lines of
 * its body would be taken for commands.  Redis closes such connections, too
 * (its securityWarningCommand). */
bool client_line_is_http(const char *line, size_t len);

#endif
