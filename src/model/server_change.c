/* SPDX-License-Identifier: MIT
 * Changes of a server, and the settings that operators and agents change: see
 * server_change.h, server.h.
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

void
server_report_change(struct server *server, enum event_kind kind,
    enum log_level level, const char *fmt, ...)
{
	const struct backend *b = server->backend;
	char what[EVENT_TEXT_SIZE];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	event_add(kind, level, b->spec->name, server->spec->name,
	    "server %s/%s %s; %u of %zu server%s usable", b->spec->name,
	    server->spec->name, what, backend_usable_n(b), b->spec->servers_n,
	    text_s(b->spec->servers_n));
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

void
server_set_weight(struct server *server, unsigned weight, const char *by)
{
	unsigned before = server_weight(server);

	override_set(&server->state->set.weight, weight, server->spec->weight);
	if (weight != before)
		server_report_change(server, EVENT_SERVER_WEIGHT,
		    LOG_LEVEL_INFO, "has weight %u instead of %u: %s", weight,
		    before, by);
}

void
server_set_maxconn(struct server *server, unsigned maxconn, const char *by)
{
	unsigned before = server_maxconn(server);

	override_set(
	    &server->state->set.maxconn, maxconn, server->spec->maxconn);
	if (maxconn != before)
		server_report_change(server, EVENT_CHANGE, LOG_LEVEL_INFO,
		    "has maxconn %u instead of %u: %s", maxconn, before, by);
}

void
server_set_admin(struct server *server, enum server_admin admin, const char *by)
{
	static const enum event_kind kinds[] = {
	    [SERVER_READY] = EVENT_SERVER_READY,
	    [SERVER_DRAIN] = EVENT_SERVER_DRAIN,
	    [SERVER_MAINT] = EVENT_SERVER_MAINT,
	};
	_Static_assert(SERVER_MAINT + 1 == sizeof(kinds) / sizeof(kinds[0]),
	    "an event each");
	bool changes = server_own_admin(server) != admin;

	if (changes)
		server_note_time(server, server_is_up(server));
	override_set(
	    &server->state->set.admin, admin, server_file_admin(server));
	if (changes)
		server_report_change(server, kinds[admin], LOG_LEVEL_INFO,
		    "is set to %s: %s", server_admin_name(admin), by);
}

static void
follow_file(struct server_settings *set, const struct server *server)
{
	override_follow(&set->weight, server->spec->weight);
	override_follow(&set->maxconn, server->spec->maxconn);
	override_follow(&set->admin, server_file_admin(server));
}

static void
follow_place(struct place_override *o, struct check_place file)
{
	override_follow(
	    &o->has_addr, override_digest(&file.addr->sa, file.addr->len));
	override_follow(&o->port, file.port);
}

void
server_follow_file(struct server *server)
{
	struct server_overrides *o = &server->state->overrides;
	const struct pattern *send;

	server_follow_place(server);
	follow_file(&server->state->set, server);
	follow_file(&o->set, server);
	follow_place(
	    &o->check, check_place_of(server->backend->spec, server->spec));
	follow_place(
	    &o->agent, agent_place_of(server->backend->spec, server->spec));
	send = agent_rules_of(server->backend->spec, server->spec).send;
	override_follow(
	    &o->has_agent_send, override_digest(send->bytes, send->n));
	server_set_rules(server);
}

void
server_set_agent(struct server *server, bool up, const char *why)
{
	struct server_state *s = server->state;
	bool was_up = server_is_up(server);

	if (s->agent_down == !up)
		return;
	s->agent_down = !up;
	if (was_up == server_is_up(server))
		return;
	server_note_change(server, up);
	server_report_change(server, up ? EVENT_SERVER_UP : EVENT_SERVER_DOWN,
	    up ? LOG_LEVEL_INFO : LOG_LEVEL_WARNING, "is %s: by its agent%s%s",
	    up ? "up" : "down", why[0] ? ", " : "", why);
}

void
server_forget_agent(struct server *server)
{
	struct server_state *s = server->state;

	s->agent_last = (struct check_result){.status = CHECK_STATUS_NONE};
	if (!s->agent_heard)
		return;
	s->agent_heard = false;
	s->set = s->overrides.set;
	if (s->agent_down && s->up)
		server_note_time(server, false);
	s->agent_down = false;
}
