/* SPDX-License-Identifier: MIT
 * See server_operator.h.
 */
#include "model/server_operator.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/grace.h"
#include "base/log.h"
#include "model/ejection.h"
#include "model/model.h"
#include "model/server_change.h"

#define BY "the operator says so"

void
operator_set_weight(struct server *server, unsigned weight)
{
	struct server_overrides *o = &server->state->overrides;

	o->weight_set = true;
	o->weight = weight;
	o->weight_base = server->spec->weight;
	server_set_weight(server, weight, BY);
}

/* The server is up, and a single failed check takes it down, as in HAProxy. */
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
	s->overrides.admin = admin;
	s->overrides.admin_base = server->spec->disabled;
	server_set_admin(server, admin, BY);
	if (pardoned)
		ejection_report_end(server, BY);
}

void
operator_set_health(struct server *server, enum operator_health health)
{
	static const struct {
		enum event_kind kind;
		const char *word;
	} said[] = {
	    [OPERATOR_UP] = {EVENT_SERVER_UP, "up"},
	    [OPERATOR_STOPPING] = {EVENT_SERVER_DRAIN, "stopping"},
	    [OPERATOR_DOWN] = {EVENT_SERVER_DOWN, "down"},
	};
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
		    "is %s: " BY, said[health].word);
	else
		server_mark_changed(server);
	if (pardoned)
		ejection_report_end(server, BY);
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
	struct server_overrides *o = &server->state->overrides;

	o->maxconn_set = true;
	o->maxconn = maxconn;
	o->maxconn_base = server->spec->maxconn;
	server_set_maxconn(server, maxconn, BY);
}

void
server_forget_failures(struct server *server)
{
	passive_note_answer(&server->state->passive);
	if (ejection_forget(server)) {
		server_ramp_anew(server, clock_now_ms());
		server_mark_changed(server);
		ejection_report_end(server, "it is at another address");
	} else if (server->state->moved) {
		/* Sessions that pause because they tried it may try again. */
		server_mark_changed(server);
	}
}

static void
free_addr(void *addr)
{
	free(addr);
}

bool
server_put_addr(struct server *server, const struct addr *addr)
{
	struct addr *next = NULL, *before;

	if (server->spec->host || !addr_equal(addr, &server->spec->addr)) {
		next = malloc(sizeof(*next));
		if (!next)
			return false;
		*next = *addr;
	}
	before = atomic_swap_acq_rel(&server->state->addr, next); /* [P22] */
	if (before)
		grace_retire(server->backend->model->grace, free_addr, before);
	server->state->moved = true;
	server_set_rules(server);
	return true;
}

bool
operator_set_addr(struct server *server, const struct addr *addr)
{
	const struct addr *given =
	    server->spec->host ? &server->state->resolved : &server->spec->addr;
	bool lacked = server_lacks_address(server);
	char text[ADDR_TEXT_SIZE];

	if (addr_equal(addr, server_addr(server)))
		return true;
	if (!server_put_addr(server, addr))
		return false;
	server->state->overrides.addr_set = !addr_equal(addr, given);
	log_info("server %s/%s is at %s from now on: " BY,
	    server->backend->spec->name, server->spec->name,
	    addr_text(addr, text));
	if (lacked)
		server_mark_changed(server);
	server_forget_failures(server);
	return true;
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

void
operator_set_check_at(struct server *server, const struct addr *addr, int port)
{
	struct server_overrides *o = &server->state->overrides;

	if (addr)
		o->check_addr = *addr;
	if (port >= 0)
		o->check_port = (unsigned)port;
	server_set_rules(server);
}

void
operator_set_agent_at(struct server *server, const struct addr *addr, int port)
{
	struct server_overrides *o = &server->state->overrides;

	if (addr)
		o->agent_addr = *addr;
	if (port >= 0)
		o->agent_port = (unsigned)port;
	server_set_rules(server);
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

bool
operator_set_agent_send(struct server *server, const char *text)
{
	struct server_overrides *o = &server->state->overrides;
	struct pattern send;

	if (!pattern_of_bytes(text, &send))
		return false;
	pattern_fini(&o->agent_send);
	o->agent_send = send;
	o->agent_send_set = true;
	server_set_rules(server);
	return true;
}
