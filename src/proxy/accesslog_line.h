/* SPDX-License-Identifier: MIT
 * The record of a line of the access log, which a data thread fills, and the
 * functions of the log's writer that render it, one for each format.
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

/* Longer texts are cut: names have up to 40 letters, an address is as long as
 * a line of the configuration lets it be, and a TLS server name has up to 253.
 * The texts of a client's certificate get what those before them leave.
 */
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

/* Appends a text.  Called in the order of enum line_text for each, up to the
 * SNI in a line without TLS. */
void line_add_text(struct line *line, const char *text);

/* Returns a text of the record. */
const char *line_text(const struct line *line, enum line_text which);

/* Writes the line in the format tcplog, as a log_render: record is a struct
 * line.  Returns the length of the line, with its newline. */
size_t line_render_tcplog(const void *record, char *out, size_t size);
/* The same in the format json. */
size_t line_render_json(const void *record, char *out, size_t size);
/* The same in the format logfmt. */
size_t line_render_logfmt(const void *record, char *out, size_t size);

#endif
