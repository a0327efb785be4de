/* SPDX-License-Identifier: MIT
 * What is not accepted as a line of an admin client, whatever its commands.
 */
#ifndef ADMIN_CLIENT_LINE_H
#define ADMIN_CLIENT_LINE_H

#include <stdbool.h>
#include <stddef.h>

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
