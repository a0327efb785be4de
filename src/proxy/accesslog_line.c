/* SPDX-License-Identifier: MIT
 * See accesslog_line.h.
 */
#include "proxy/accesslog_line.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/escape.h"
#include "base/time_text.h"

void
line_add_text(struct line *line, const char *text)
{
	/* Leave room for the NULs of this text and of those that may follow. */
	size_t used = line->texts_len + LINE_SANS + 1u;
	size_t room = used < LINE_TEXTS_SIZE ? LINE_TEXTS_SIZE - used : 0;
	size_t len = strnlen(text, room);

	memcpy(line->texts + line->texts_len, text, len);
	line->texts[line->texts_len + len] = '\0';
	line->texts_len = (uint16_t)(line->texts_len + len + 1);
}

const char *
line_text(const struct line *line, enum line_text which)
{
	const char *text = line->texts;

	while (which-- > 0)
		text += strlen(text) + 1;
	return text;
}

/* Returns HAProxy's text for a handshake that did not succeed; NULL: it did, or
 * there was none. */
static const char *
haproxys_handshake_error(const struct line *l)
{
	const struct session_tls *tls = &l->session.tls;

	if (l->event != LINE_END || tls->listen == 0 || tls->version)
		return NULL;
	switch (l->session.reason) {
	case CLOSE_HANDSHAKE_FAILED:
		return "SSL handshake failure";
	case CLOSE_HANDSHAKE_TIMEOUT:
		return "Timeout during SSL handshake";
	case CLOSE_CLIENT_GONE_HELLO:
		return "Connection closed during SSL handshake";
	default:
		return NULL;
	}
}

/* Renders a failed handshake as HAProxy does, with the number of the listen as
 * its name:
 *
 *   client_ip:client_port [date] frontend/listen: error (reason) */
static size_t
render_handshake_error(const struct line *l, const char *date,
    const char *error, char *out, size_t size)
{
	const struct session_record *s = &l->session;
	const char *why = s->tls.failure;
	char host[INET6_ADDRSTRLEN];
	int n = snprintf(out, size, "%s:%u [%s] %s/%u: %s%s%s%s\n",
	    endpoint_host(&s->client, host), s->client.port, date,
	    line_text(l, LINE_FRONTEND), s->tls.listen, error, why ? " (" : "",
	    why ? why : "", why ? ")" : "");

	return n < (int)size ? (size_t)n : size;
}

/* Renders HAProxy's format (its configuration manual, "TCP log format"), with
 * `option logasap` for sessions that go on:
 *
 *   client_ip:client_port [date] frontend backend/server Tw/Tc/[+]Tt [+]bytes
 *   termination actconn/feconn/beconn/srv_conn/[+]retries
 *   srv_queue/backend_queue */
size_t
line_render_tcplog(const void *record, char *out, size_t size)
{
	const struct line *l = record;
	const struct session_record *s = &l->session;
	const char *frontend = line_text(l, LINE_FRONTEND);
	const char *backend = line_text(l, LINE_BACKEND);
	const char *server = line_text(l, LINE_SERVER);
	const char *error = haproxys_handshake_error(l);
	const char *plus = l->event == LINE_END ? "" : "+";
	char date[TIME_TEXT_SIZE], host[INET6_ADDRSTRLEN];
	int n;

	time_text(TIME_HAPROXY, s->accepted_wall_us, 3, date);
	if (error)
		return render_handshake_error(l, date, error, out, size);
	/* srv_queue is 0: only backends have queues.  A session without a
	 * backend has the frontend's name there, as in HAProxy. */
	n = snprintf(out, size,
	    "%s:%u [%s] %s %s/%s %" PRId64 "/%" PRId64 "/%s%" PRId64
	    " %s%" PRIu64 " %s %u/%u/%u/%u/%s%u 0/%u\n",
	    endpoint_host(&s->client, host), s->client.port, date, frontend,
	    *backend ? backend : frontend, *server ? server : "<NOSRV>",
	    s->wait_ms, s->connect_ms, plus, s->total_ms, plus, s->bytes_out,
	    close_reason_code(s->reason), l->active, l->frontend_active,
	    l->backend_active, l->server_active, s->redispatched ? "+" : "",
	    s->retries, s->queue_position);
	return n < (int)size ? (size_t)n : size;
}

/* -- JSON, an object a line, and logfmt, `name=value`: the same fields -- */

/* The fields that are not texts of the record take less than this. */
#define FIXED_MAX 1390
/* Names have no byte that is escaped; an address may consist of such bytes. */
#define ADDRESS_MAX 181
/* Texts of certificates are printable: escaping adds at most one byte to a
 * byte. */
_Static_assert(FIXED_MAX + 2 * (LINE_TEXTS_SIZE - ADDRESS_MAX) +
                       ADDRESS_MAX * ESCAPE_JSON_MAX <
                   LOG_LINE_MAX,
    "every line fits whole");

/* The line as written so far.  A line that is too long would be cut; the
 * assertion above rules that out. */
struct fields {
	char *at, *end;
	bool json;
	const char *separator; /* before the next field */
};

static void
field_put(struct fields *f, const char *s)
{
	size_t len = strlen(s), room = (size_t)(f->end - f->at);

	if (len > room)
		len = room;
	memcpy(f->at, s, len);
	f->at += len;
}

static void
field_put_name(struct fields *f, const char *name)
{
	field_put(f, f->separator);
	field_put(f, f->json ? "\"" : "");
	field_put(f, name);
	field_put(f, f->json ? "\":" : "=");
	f->separator = f->json ? "," : " ";
}

/* Returns whether the text needs no quotes in logfmt. */
static bool
is_plain_logfmt(const char *s)
{
	for (; *s; s++)
		if (*s <= ' ' || *s >= 0x7f || *s == '"' || *s == '=' ||
		    *s == '\\')
			return false;
	return true;
}

static void
field_text(struct fields *f, const char *name, const char *text)
{
	field_put_name(f, name);
	if (f->json && !*text) {
		field_put(f, "null");
	} else if (!f->json && is_plain_logfmt(text)) {
		field_put(f, text);
	} else {
		field_put(f, "\"");
		f->at += escape_json(text, f->at, (size_t)(f->end - f->at));
		field_put(f, "\"");
	}
}

static void
field_number(struct fields *f, const char *name, int64_t number)
{
	char digits[24];

	snprintf(digits, sizeof(digits), "%" PRId64, number);
	field_put_name(f, name);
	field_put(f, digits);
}

static void
field_bool(struct fields *f, const char *name, bool value)
{
	field_put_name(f, name);
	field_put(f, value ? "true" : "false");
}

/* Writes the peer: `192.0.2.1:50000`, `unix:1`, or empty when there is none. */
static void
field_peer(struct fields *f, const struct endpoint *peer)
{
	char host[INET6_ADDRSTRLEN], text[INET6_ADDRSTRLEN + 8] = "";

	if (peer->family != 0)
		snprintf(text, sizeof(text),
		    peer->family == AF_INET6 ? "[%s]:%u" : "%s:%u",
		    endpoint_host(peer, host), peer->port);
	field_text(f, "peer", text);
}

static void
fields_of_tls(struct fields *f, const struct line *l)
{
	const struct session_tls *tls = &l->session.tls;

	field_text(f, "tls_version", tls->version ? tls->version : "");
	field_text(f, "tls_cipher", tls->cipher ? tls->cipher : "");
	field_text(f, "tls_group", tls->group ? tls->group : "");
	field_bool(f, "tls_resumed", tls->resumed);
	field_text(f, "tls_alpn", line_text(l, LINE_ALPN));
	field_text(f, "tls_failure", tls->failure ? tls->failure : "");
	field_text(f, "client_verify", tls->verify ? tls->verify : "");
	field_text(f, "client_serial", line_text(l, LINE_SERIAL));
	field_text(f, "client_subject", line_text(l, LINE_SUBJECT));
	field_text(f, "client_issuer", line_text(l, LINE_ISSUER));
	field_text(f, "client_sans", line_text(l, LINE_SANS));
}

static void
fields_of_server_tls(struct fields *f, const struct server_tls *tls)
{
	field_text(f, "server_tls_version", tls->version);
	field_text(f, "server_tls_cipher", tls->cipher);
	field_text(f, "server_tls_group", tls->group ? tls->group : "");
	field_bool(f, "server_tls_resumed", tls->resumed);
	field_text(f, "server_tls_alpn", tls->alpn);
	field_text(f, "server_verify", tls->verify ? tls->verify : "");
}

static size_t
render_fields(struct fields *f, const struct line *l, const char *end)
{
	static const char *const events[] = {[LINE_CONNECT] = "connect",
	    [LINE_ONGOING] = "ongoing",
	    [LINE_END] = "end"};
	const struct session_record *s = &l->session;
	const char *out = f->at;
	char text[TIME_TEXT_SIZE + INET6_ADDRSTRLEN];

	_Static_assert(LINE_END + 1 == sizeof(events) / sizeof(events[0]),
	    "each event has a name");
	time_text(TIME_RFC3339, s->accepted_wall_us, 3, text);
	field_text(f, "time", text);
	snprintf(text, sizeof(text), "%014" PRIx64 "-%06x", s->accepted_wall_us,
	    s->slot);
	field_text(f, "id", text);
	field_text(f, "event", events[l->event]);
	field_text(f, "client", endpoint_host(&s->client, text));
	field_number(f, "client_port", s->client.port);
	field_text(f, "frontend", line_text(l, LINE_FRONTEND));
	field_text(f, "backend", line_text(l, LINE_BACKEND));
	field_text(f, "server", line_text(l, LINE_SERVER));
	field_text(f, "server_address", line_text(l, LINE_ADDRESS));
	field_number(f, "wait_ms", s->wait_ms);
	field_number(f, "connect_ms", s->connect_ms);
	field_number(f, "total_ms", s->total_ms);
	field_number(f, "bytes_in", (int64_t)s->bytes_in);
	field_number(f, "bytes_out", (int64_t)s->bytes_out);
	field_text(f, "code", close_reason_code(s->reason));
	field_text(f, "reason",
	    l->event == LINE_END ? close_reason_text(s->reason) : "");
	field_number(f, "sessions", l->active);
	field_number(f, "frontend_sessions", l->frontend_active);
	field_number(f, "backend_sessions", l->backend_active);
	field_number(f, "server_sessions", l->server_active);
	field_number(f, "queue_position", s->queue_position);
	field_number(f, "retries", s->retries);
	field_bool(f, "redispatched", s->redispatched);
	field_peer(f, &s->peer);
	field_text(f, "sni", line_text(l, LINE_SNI));
	if (s->tls.listen > 0)
		fields_of_tls(f, l);
	if (s->server_tls.version)
		fields_of_server_tls(f, &s->server_tls);
	f->end += strlen(end);
	field_put(f, end);
	return (size_t)(f->at - out);
}

size_t
line_render_json(const void *record, char *out, size_t size)
{
	struct fields f = {out, out + size - 2, true, "{"};

	return render_fields(&f, record, "}\n");
}

size_t
line_render_logfmt(const void *record, char *out, size_t size)
{
	struct fields f = {out, out + size - 1, false, ""};

	return render_fields(&f, record, "\n");
}
