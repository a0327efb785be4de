/* SPDX-License-Identifier: MIT
 * See server_operator.h.
 */
#include "model/server_operator.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "model/ejection.h"
#include "model/model.h"
#include "model/server_change.h"

#define BY "by operator"

void
operator_set_weight(struct server *server, unsigned weight)
{
	server_set_weight(server, weight, BY);
	server->state->overrides.set.weight = server->state->set.weight;
}

/* Makes the server up, so that a single failed check takes it down, as in
 * HAProxy. */
static void
leave_maintenance(struct server *server)
{
	struct server_state *s = server->state;
	bool was_up = server_is_up(server);

	s->stopping = false;
	s->forced_down = false;
	if (server->check.on) {
		atomic_store_relaxed(&s->up, true);
		s->streak =
		    s->overrides.check_paused ? 0 : server->check.fall - 1;
	}
	if (server_is_up(server) != was_up)
		server_note_time(server, was_up);
}

void
operator_set_admin(struct server *server, enum server_admin admin)
{
	struct server_state *s = server->state;
	bool pardoned = false;

	if (server_admin_of(server) == SERVER_MAINT && admin != SERVER_MAINT) {
		leave_maintenance(server);
		pardoned = ejection_forget(server);
	}
	server_set_admin(server, admin, BY);
	s->overrides.set.admin = s->set.admin;
	if (pardoned)
		ejection_report_end(server, BY);
}

void
operator_set_health(struct server *server, enum operator_health health)
{
	server_set_health(server, health, BY);
}

void
server_set_health(
    struct server *server, enum operator_health health, const char *by)
{
	static const struct {
		enum event_kind kind;
		const char *word;
	} said[] = {
	    [OPERATOR_UP] = {EVENT_SERVER_UP, "up"},
	    [OPERATOR_STOPPING] = {EVENT_SERVER_DRAIN, "stopping"},
	    [OPERATOR_DOWN] = {EVENT_SERVER_DOWN, "down"},
	};
	_Static_assert(OPERATOR_DOWN + 1 == sizeof(said) / sizeof(said[0]),
	    "an event each");
	struct server_state *s = server->state;
	bool checked = server->check.on;
	bool was_up = server_is_up(server), was_stopping = s->stopping;
	bool pardoned, changed;

	if (server_admin_of(server) == SERVER_MAINT)
		return;
	pardoned = health == OPERATOR_UP && ejection_forget(server);
	s->streak = 0;
	s->stopping = health == OPERATOR_STOPPING;
	s->forced_down = health == OPERATOR_DOWN && !checked;
	if (checked)
		atomic_store_relaxed(&s->up, health != OPERATOR_DOWN);
	changed = was_up != server_is_up(server) || was_stopping != s->stopping;
	if (!changed && !pardoned)
		return;
	if (was_up != server_is_up(server))
		server_note_change(server, !was_up);
	if (pardoned)
		server_ramp_anew(server, clock_now_ms());
	if (changed)
		server_report_change(server, said[health].kind, LOG_LEVEL_INFO,
		    "is %s: %s", said[health].word, by);
	if (pardoned)
		ejection_report_end(server, by);
}

void
operator_set_agent(struct server *server, bool up)
{
	server_set_agent(server, up, "the operator has said so for it");
	/* A reload without an agent forgets this. */
	server->state->agent_heard = true;
}

void
operator_set_maxconn(struct server *server, unsigned maxconn)
{
	server_set_maxconn(server, maxconn, BY);
	server->state->overrides.set.maxconn = server->state->set.maxconn;
}

void
operator_pause_check(struct server *server, bool paused)
{
	server->state->overrides.check_paused = paused;
	server->state->streak = 0;
}

void
operator_pause_agent(struct server *server, bool paused)
{
	server->state->overrides.agent_paused = paused;
}

static void
override_place(struct server *server, struct place_override *ret_place,
    struct check_place file, const struct addr *addr, int port)
{
	if (addr) {
		ret_place->addr = *addr;
		override_set(&ret_place->has_addr, 0,
		    override_digest(&file.addr->sa, file.addr->len));
		ret_place->has_addr.is_set = addr->sa.sa_family != AF_UNSPEC &&
		                             !addr_equal(addr, file.addr);
	}
	if (port >= 0) {
		override_set(&ret_place->port, (unsigned)port, file.port);
		ret_place->port.is_set =
		    port > 0 && (unsigned)port != file.port;
	}
	server_set_rules(server);
}

void
operator_set_check_at(struct server *server, const struct addr *addr, int port)
{
	override_place(server, &server->state->overrides.check,
	    check_place_of(server->backend->spec, server->spec), addr, port);
}

void
operator_set_agent_at(struct server *server, const struct addr *addr, int port)
{
	override_place(server, &server->state->overrides.agent,
	    agent_place_of(server->backend->spec, server->spec), addr, port);
}

/* Makes a pattern of the text's bytes; the text has no syntax. */
static bool
pattern_of_bytes(const char *text, struct pattern *ret_pattern)
{
	size_t n = strlen(text);
	char *hex = malloc(sizeof("hex") + 3 * n);
	bool ok;

	*ret_pattern = (struct pattern){.n = 0};
	if (!hex)
		return false;
	strcpy(hex, "hex");
	for (size_t i = 0; i < n; i++)
		sprintf(hex + 3 + 3 * i, " %02x", (unsigned char)text[i]);
	ok = n == 0 || pattern_parse(hex, ret_pattern, NULL);
	free(hex);
	return ok;
}

static bool
set_agent_send(struct server *server, struct pattern send)
{
	struct server_overrides *o = &server->state->overrides;
	const struct pattern *file =
	    agent_rules_of(server->backend->spec, server->spec).send;

	pattern_fini(&o->agent_send);
	o->agent_send = send;
	override_set(
	    &o->has_agent_send, 0, override_digest(file->bytes, file->n));
	o->has_agent_send.is_set =
	    send.n != file->n ||
	    (send.n > 0 && memcmp(send.bytes, file->bytes, send.n) != 0);
	server_set_rules(server);
	return true;
}

bool
operator_set_agent_send(struct server *server, const char *text)
{
	struct pattern send;

	return pattern_of_bytes(text, &send) && set_agent_send(server, send);
}

bool
operator_set_agent_send_hex(
    struct server *server, const char *digits, struct err *err)
{
	char *text;
	struct pattern send;
	bool ok;

	if (asprintf(&text, "hex %s", digits) < 0)
		return err_oom(err);
	ok = pattern_parse(text, &send, err) && set_agent_send(server, send);
	free(text);
	return ok;
}
