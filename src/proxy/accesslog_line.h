/* SPDX-License-Identifier: MIT
 * A record of the access log, which a data thread fills, and the functions that
 * render it as a line, one for each format, on the log's writer thread.
 *
 * The record holds everything that the line needs, names included, because it
 * may outlive the session, its servers and the configuration.
 */
#ifndef PROXY_ACCESSLOG_LINE_H
#define PROXY_ACCESSLOG_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/log.h"
#include "proxy/close_reasons.h"
#include "proxy/session_record.h"

enum line_event {
	LINE_CONNECT, /* a server is connected (log_on_connect) */
	LINE_ONGOING, /* the session goes on (log_every) */
	LINE_END,     /* the session has ended */
};

/* The room for the texts of a record; what does not fit is cut.  Names have up
 * to 40 letters, an address is as long as a line of the configuration allows,
 * and a TLS server name has up to 253.  The texts of a client's certificate
 * share the room that the texts before them leave. */
#define LINE_TEXTS_SIZE 722

struct line {
	struct session_record session; /* reason: CLOSE_DONE unless LINE_END */
	uint32_t active, frontend_active, backend_active, server_active;
	uint16_t texts_len;
	uint8_t event; /* enum line_event */
	/* The texts of enum line_text, each with its NUL.  Unknown texts are
	 * empty. */
	char texts[LINE_TEXTS_SIZE];
};

_Static_assert(sizeof(struct line) <= LOG_RECORD_SIZE, "fits a record");

enum line_text {
	LINE_FRONTEND,
	LINE_BACKEND,
	LINE_SERVER,
	LINE_ADDRESS,
	LINE_SNI,
	/* Facts of TLS with the client. */
	LINE_ALPN,
	LINE_SERIAL,
	LINE_SUBJECT,
	LINE_ISSUER,
	LINE_SANS,
};

/* Appends a text.  To be called for each text, in the order of enum line_text;
 * in a line without TLS for those up to the SNI. */
void line_add_text(struct line *line, const char *text);

/* Returns a text of the record. */
const char *line_text(const struct line *line, enum line_text which);

/* Renders a record (struct line) in the format tcplog, as a log_render.
 * Returns the length of the line, with its newline. */
size_t line_render_tcplog(const void *record, char *out, size_t size);
/* Renders a record in the format json, as line_render_tcplog. */
size_t line_render_json(const void *record, char *out, size_t size);
/* Renders a record in the format logfmt, as line_render_tcplog. */
size_t line_render_logfmt(const void *record, char *out, size_t size);

#endif
