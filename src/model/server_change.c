/* SPDX-License-Identifier: MIT
 * See server_change.h.
 */
#include "model/server_change.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/text.h"
#include "model/model.h"

void
backend_mark_changed(struct backend *backend)
{
	if (list_empty(&backend->changed))
		list_append(&backend->model->changed, &backend->changed);
}

void
server_mark_changed(struct server *server)
{
	server->changed = true;
	backend_mark_changed(server->backend);
}

static void
add_event(const struct server *server, enum event_kind kind,
    enum log_level level, const char *fmt, va_list ap)
{
	const struct backend *b = server->backend;
	char what[EVENT_TEXT_SIZE];

	vsnprintf(what, sizeof(what), fmt, ap);
	event_add(kind, level, b->spec->name, server->spec->name,
	    "server %s/%s %s; %u of %zu server%s usable", b->spec->name,
	    server->spec->name, what, backend_usable_n(b), b->spec->servers_n,
	    text_s(b->spec->servers_n));
}

void
server_report(const struct server *server, enum event_kind kind,
    enum log_level level, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add_event(server, kind, level, fmt, ap);
	va_end(ap);
}

void
server_report_change(struct server *server, enum event_kind kind,
    enum log_level level, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add_event(server, kind, level, fmt, ap);
	va_end(ap);
	server_mark_changed(server);
}

void
server_note_change(struct server *server, bool up)
{
	if (!up)
		server->state->times_down++;
	server_note_time(server, !up);
}

void
server_note_time(struct server *server, bool was_up)
{
	struct server_state *s = server->state;
	uint64_t now = clock_now_ms();

	if (!was_up)
		s->down_ms += now - s->changed_ms;
	s->changed_ms = now;
}
