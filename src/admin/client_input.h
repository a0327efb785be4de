/* SPDX-License-Identifier: MIT
 * The input of an admin client, cut into lines.
 */
#ifndef ADMIN_CLIENT_INPUT_H
#define ADMIN_CLIENT_INPUT_H

#include <stdbool.h>
#include <stddef.h>

#define CLIENT_LINE_MAX    (16 * 1024)
#define CLIENT_PAYLOAD_MAX (256 * 1024)

struct client_input {
	size_t line;  /* bytes that the present line takes up, from the start */
	bool payload; /* the next line belongs to the payload of that line */
	bool keeps;   /* and is kept */
	char *kept;   /* the payload so far, as a string; NULL: none */
	size_t kept_n, kept_room;
	size_t n; /* bytes received */
	char bytes[CLIENT_LINE_MAX];
};

/* The result of a look at the input.
 *
 * PARTIAL  the end of a line is not there yet
 * WHOLE    the present line is there, as a string at the start of bytes
 * BEGUN    as WHOLE, but its payload follows; another line has to be taken
 * PAYLOAD  a line of the payload; another one has to be taken
 *
 * The following input is refused:
 *
 * TOO_LONG  a line that does not fit into bytes
 * TOO_MUCH  a payload that is to be kept, of more than CLIENT_PAYLOAD_MAX bytes
 * NO_ROOM   a payload that is to be kept, for which memory is short
 * NUL       a line with a NUL, at which C strings end: the rest would be
 *           dropped silently, and a payload would seem to end
 * HTTP      an HTTP request's first line or its Host header.  A web page, or a
 *           service of this host that fetches URLs for others, can make a
 *           browser or that service send an HTTP request to a TCP port, and the
 *           lines of its body would be taken for commands.  Redis closes such
 *           connections, too (its securityWarningCommand). */
enum client_line {
	LINE_PARTIAL,
	LINE_WHOLE,
	LINE_BEGUN,
	LINE_PAYLOAD,
	LINE_TOO_LONG,
	LINE_TOO_MUCH,
	LINE_NO_ROOM,
	LINE_NUL,
	LINE_HTTP,
};

/* Takes the next line.  ` <<` at its end is cut off: the lines up to the next
 * empty one are its payload (HAProxy's management guide, 9.3).  They are
 * dropped unless the caller sets keeps when the payload has begun, and never
 * run as commands. */
enum client_line client_input_take(struct client_input *input);

/* Drops the present line with its payload, once it has been answered.  Wipes a
 * payload that was kept, which may have a private key. */
void client_input_drop(struct client_input *input);

/* Wipes and frees what was kept. */
void client_input_fini(struct client_input *input);

#endif
