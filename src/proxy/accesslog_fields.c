/* SPDX-License-Identifier: MIT
 * The access log as fields with names: JSON, an object a line, and logfmt,
 * `name=value` with quotes where they are needed.  Both have the same fields,
 * listed once, in field_list.
 */
#include "proxy/accesslog_line.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/ensure.h"
#include "base/escape.h"
#include "base/time_text.h"

/* A field is a text, a number, or true or false. */
struct field {
	const char *name;
	const char *text; /* NULL: see the others */
	bool is_bool, none;
	int64_t number;
};

#define FIELDS_MAX 32

struct field_list {
	struct field fields[FIELDS_MAX];
	size_t n;
	char time[TIME_TEXT_SIZE], id[40], host[INET6_ADDRSTRLEN];
	char peer[INET6_ADDRSTRLEN + 8];
};

/* The fields that are not texts of the record take less than this. */
#define FIXED_MAX 1000
/* Names have no byte that is escaped; an address may have nothing else. */
#define ADDRESS_MAX 181
_Static_assert(
    FIXED_MAX + LINE_TEXTS_SIZE - ADDRESS_MAX + ADDRESS_MAX * ESCAPE_JSON_MAX <
        LOG_LINE_MAX,
    "every line fits whole");

static void
add_text(struct field_list *list, const char *name, const char *text)
{
	ENSURE(list->n < FIELDS_MAX);
	list->fields[list->n++] =
	    (struct field){.name = name, .text = text, .none = !*text};
}

static void
add_number(struct field_list *list, const char *name, int64_t number)
{
	ENSURE(list->n < FIELDS_MAX);
	list->fields[list->n++] =
	    (struct field){.name = name, .number = number};
}

/* `192.0.2.1:50000`, `unix:1`; nothing when there is none. */
static const char *
peer_text(const struct endpoint *peer, char *out, size_t size)
{
	char host[INET6_ADDRSTRLEN];

	if (peer->family == 0)
		return "";
	snprintf(out, size, peer->family == AF_INET6 ? "[%s]:%u" : "%s:%u",
	    endpoint_host(peer, host), peer->port);
	return out;
}

static void
list_fields(struct field_list *f, const struct line *l)
{
	static const char *const events[] = {"connect", "ongoing", "end"};
	bool end = l->event == LINE_END;

	f->n = 0;
	time_text(TIME_RFC3339, l->session.accepted_wall_us, 3, f->time);
	snprintf(f->id, sizeof(f->id), "%014" PRIx64 "-%06x",
	    l->session.accepted_wall_us, l->session.slot);
	add_text(f, "time", f->time);
	add_text(f, "id", f->id);
	add_text(f, "event", events[l->event]);
	add_text(f, "client", endpoint_host(&l->session.client, f->host));
	add_number(f, "client_port", l->session.client.port);
	add_text(f, "frontend", line_text(l, LINE_FRONTEND));
	add_text(f, "backend", line_text(l, LINE_BACKEND));
	add_text(f, "server", line_text(l, LINE_SERVER));
	add_text(f, "server_address", line_text(l, LINE_ADDRESS));
	add_number(f, "wait_ms", l->session.wait_ms);
	add_number(f, "connect_ms", l->session.connect_ms);
	add_number(f, "total_ms", l->session.total_ms);
	add_number(f, "bytes_in", (int64_t)l->session.bytes_in);
	add_number(f, "bytes_out", (int64_t)l->session.bytes_out);
	add_text(f, "code", end ? close_reason_code(l->session.reason) : "--");
	add_text(f, "reason", end ? close_reason_text(l->session.reason) : "");
	add_number(f, "sessions", l->active);
	add_number(f, "frontend_sessions", l->frontend_active);
	add_number(f, "backend_sessions", l->backend_active);
	add_number(f, "server_sessions", l->server_active);
	add_number(f, "queue_position", l->session.queue_position);
	add_number(f, "retries", l->session.retries);
	add_number(f, "redispatched", l->session.redispatched);
	f->fields[f->n - 1].is_bool = true;
	add_text(
	    f, "peer", peer_text(&l->session.peer, f->peer, sizeof(f->peer)));
	add_text(f, "sni", line_text(l, LINE_SNI));
}

/* The line written so far.  A line that is too long is cut; the assertions
 * above rule that out. */
struct text {
	char *at, *end;
};

static void
put(struct text *t, const char *s)
{
	size_t len = strlen(s), room = (size_t)(t->end - t->at);

	if (len > room)
		len = room;
	memcpy(t->at, s, len);
	t->at += len;
}

static void
put_escaped(struct text *t, const char *s)
{
	put(t, "\"");
	t->at += escape_json(s, t->at, (size_t)(t->end - t->at));
	put(t, "\"");
}

static void
put_number(struct text *t, int64_t number)
{
	char digits[24];

	snprintf(digits, sizeof(digits), "%" PRId64, number);
	put(t, digits);
}

size_t
line_render_json(const void *record, char *out, size_t size)
{
	struct text t = {.at = out, .end = out + size - 2};
	struct field_list list;

	list_fields(&list, record);
	for (size_t i = 0; i < list.n; i++) {
		const struct field *f = &list.fields[i];

		put(&t, i == 0 ? "{\"" : ",\"");
		put(&t, f->name);
		put(&t, "\":");
		if (f->none)
			put(&t, "null");
		else if (f->text)
			put_escaped(&t, f->text);
		else if (f->is_bool)
			put(&t, f->number ? "true" : "false");
		else
			put_number(&t, f->number);
	}
	t.end += 2;
	put(&t, "}\n");
	return (size_t)(t.at - out);
}

/* Whether it can stand without quotes. */
static bool
is_word(const char *s)
{
	for (; *s; s++)
		if (*s <= ' ' || *s >= 0x7f || *s == '"' || *s == '=' ||
		    *s == '\\')
			return false;
	return true;
}

size_t
line_render_logfmt(const void *record, char *out, size_t size)
{
	struct text t = {.at = out, .end = out + size - 1};
	struct field_list list;

	list_fields(&list, record);
	for (size_t i = 0; i < list.n; i++) {
		const struct field *f = &list.fields[i];

		put(&t, i == 0 ? "" : " ");
		put(&t, f->name);
		put(&t, "=");
		if (f->text && is_word(f->text))
			put(&t, f->text);
		else if (f->text)
			put_escaped(&t, f->text);
		else if (f->is_bool)
			put(&t, f->number ? "true" : "false");
		else
			put_number(&t, f->number);
	}
	t.end += 1;
	put(&t, "\n");
	return (size_t)(t.at - out);
}
