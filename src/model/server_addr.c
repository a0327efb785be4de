/* SPDX-License-Identifier: MIT
 * How a server gets another address, from an operator or because its name is
 * resolved: see server.h, server_operator.h.
 */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/grace.h"
#include "base/log.h"
#include "model/ejection.h"
#include "model/loops.h"
#include "model/model.h"
#include "model/server_change.h"
#include "model/server_operator.h"
#include "tls/peer.h"

static void
free_addr(void *addr)
{
	free(addr);
}

const struct frontend_spec *
server_loop(const struct server *server)
{
	return loops_find(server->backend->model->loops, server->backend->spec,
	    server->spec, server_addr(server));
}

void
server_warn_of_loop(const struct server *server)
{
	const struct backend_spec *b = server->backend->spec;
	const struct frontend_spec *f =
	    server->loops ? server_loop(server) : NULL;

	if (f)
		log_warning(LOOPS_WARNING, b->name, server->spec->name, f->name,
		    LOOPS_SESSIONS_MAX);
}

void
server_find_loop(struct server *server)
{
	bool looped = server->loops;

	server->loops = server_loop(server);
	if (server->loops == looped)
		return;
	server_mark_changed(server);
	server_warn_of_loop(server);
}

/* Returns false when memory is short. */
static bool
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
	tls_resume_drop(server->state->resume);
	server->state->moved = true;
	server_set_rules(server);
	server_find_loop(server);
	return true;
}

/* Forgets the failures of sessions at the former address. */
static void
server_forget_failures(struct server *server)
{
	passive_note_answer(&server->state->passive);
	if (ejection_forget(server)) {
		server_ramp_anew(server, clock_now_ms());
		ejection_report_end(server, "it is at another address");
	} else if (server->state->moved) {
		/* Sessions that pause because they have tried the server may
		 * try it again. */
		server_mark_changed(server);
	}
}

static void
note_place(struct server *server, const struct addr *addr)
{
	struct server_overrides *o = &server->state->overrides;

	override_set(&o->addr, 0, server_spec_place(server->spec, NULL));
	memmove(o->places + 1, o->places,
	    sizeof(o->places[0]) * (SERVER_PLACES - 1));
	o->places[0] = server_spec_place(server->spec, addr);
}

bool
server_has_place(const struct server *server, const struct server_spec *spec)
{
	uint64_t place = server_spec_place(spec, NULL);

	for (size_t i = 0; i < SERVER_PLACES; i++)
		if (server->state->overrides.places[i] == place)
			return true;
	return false;
}

void
server_follow_place(struct server *server)
{
	struct server_overrides *o = &server->state->overrides;

	if (o->places[0] == 0 ||
	    o->addr.base == server_spec_place(server->spec, NULL) ||
	    (o->addr.is_set && !server_put_addr(server, &server->spec->addr)))
		return;
	o->addr = (struct override){.is_set = false};
	memset(o->places, 0, sizeof(o->places));
}

/* Returns the address without an operator's: AF_UNSPEC while the name is not
 * resolved. */
static const struct addr *
given_addr(const struct server *server)
{
	return server->spec->host ? &server->state->resolved
	                          : &server->spec->addr;
}

bool
operator_set_addr(struct server *server, const struct addr *addr)
{
	bool unresolved = server_is_unresolved(server);
	char text[ADDR_TEXT_SIZE];

	if (addr_equal(addr, server_addr(server)))
		return true;
	if (!server_put_addr(server, addr))
		return false;
	note_place(server, addr);
	server->state->overrides.addr.is_set =
	    !addr_equal(addr, given_addr(server));
	log_info("server %s/%s is at %s from now on: by operator",
	    server->backend->spec->name, server->spec->name,
	    server_address(server, text));
	if (unresolved)
		server_mark_changed(server);
	server_forget_failures(server);
	return true;
}

bool
operator_follow_name(struct server *server)
{
	struct server_overrides *o = &server->state->overrides;
	const struct addr *given = &server->state->resolved;
	bool moved = !addr_equal(given, server_addr(server));
	char text[ADDR_TEXT_SIZE];

	if (!o->addr.is_set)
		return true;
	if (moved && !server_put_addr(server, given))
		return false;
	o->addr = (struct override){.is_set = false};
	memset(o->places, 0, sizeof(o->places));
	log_info("server %s/%s follows its name again, %s %s: by operator",
	    server->backend->spec->name, server->spec->name,
	    server_is_unresolved(server) ? "which is not resolved,"
	                                 : "and is at",
	    server_address(server, text));
	if (server_is_unresolved(server)) {
		server_note_time(server, server_is_up(server));
		server_mark_changed(server);
	}
	if (moved)
		server_forget_failures(server);
	return true;
}

void
server_forget_overrides(struct server *server)
{
	struct server_state *s = server->state;

	if (s->overrides.addr.is_set &&
	    !server_put_addr(server, given_addr(server)))
		return;
	pattern_fini(&s->overrides.agent_send);
	s->overrides = (struct server_overrides){.check_paused = false};
	s->set = s->overrides.set;
	server_set_rules(server);
}

/* Returns true if the server's address has changed. */
static bool
resolve_to(struct server *server, const struct addr *addr)
{
	struct server_state *s = server->state;
	struct addr now = *addr;

	addr_set_port(&now, server->spec->port);
	s->lapsed = false;
	if (s->resolved.len > 0 && addr_equal(&now, &s->resolved))
		return false;
	if (!s->overrides.addr.is_set && !server_put_addr(server, &now))
		return false;
	s->resolved = now;
	return !s->overrides.addr.is_set;
}

bool
server_resolve(struct server *server, const struct addr *addr)
{
	bool unresolved = server_is_unresolved(server);
	bool moved = resolve_to(server, addr);

	if (moved)
		server_forget_failures(server);
	if (!unresolved || server_is_unresolved(server))
		return moved;
	server_note_time(server, server_is_up(server));
	return true;
}

bool
server_lapse(struct server *server)
{
	bool unresolved = server_is_unresolved(server);

	server->state->lapsed = true;
	if (unresolved || !server_is_unresolved(server))
		return false;
	server_note_time(server, server_is_up(server));
	return true;
}

bool
server_resolve_first(struct server *server, const struct addr *addr)
{
	if (!resolve_to(server, addr))
		return false;
	server->state->alive =
	    server_is_up(server) && server_admin_of(server) != SERVER_MAINT;
	return true;
}
