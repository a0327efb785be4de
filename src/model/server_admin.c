/* SPDX-License-Identifier: MIT
 * What operators and agents decide about a server, see server.h.
 */
#include <stdarg.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/events.h"
#include "base/log.h"
#include "base/text.h"
#include "model/backend.h"
#include "model/server.h"

const char *
server_admin_name(enum server_admin admin)
{
	static const char *const names[] = {
	    [SERVER_READY] = "ready",
	    [SERVER_DRAIN] = "drain",
	    [SERVER_MAINT] = "maint",
	};

	return names[admin];
}

/* What an agent said that is no longer asked does not hold; a reload makes the
 * lineup before it settles the servers. */
static bool
heeds(const struct server *server)
{
	return server->agent.on || !server->state->agent_heard;
}

bool
server_is_up(const struct server *server)
{
	const struct server_state *s = server->state;
	bool up;

	if (server->tracked)
		return server_is_up(server->tracked);
	up = server->check.on ? atomic_load_relaxed(&s->up) : !s->forced_down;
	return up && !(s->agent_down && heeds(server));
}

unsigned
server_weight(const struct server *server)
{
	const struct server_state *s = server->state;
	const struct operator_words *o = &s->operator;
	unsigned base = server->spec->weight;

	if (heeds(server))
		return s->weight_set && s->weight_base == base ? s->weight
		                                               : base;
	return o->weight_set && o->weight_base == base ? o->weight : base;
}

bool
server_is_wanted(const struct server *server)
{
	return server_weight(server) > 0 &&
	       server_admin_of(server) == SERVER_READY;
}

/* Until a check passes.  Where a reload has taken the checks away nothing is
 * waited for any more, also in the lineup that it makes before it settles the
 * servers. */
static bool
is_stopping(const struct server *server)
{
	const struct server_state *s = server->state;

	return s->stopping &&
	       (server->check.on || s->last.status == CHECK_STATUS_NONE);
}

bool
server_is_usable(const struct server *server)
{
	const struct server *ref = server->tracked ? server->tracked : server;

	return server_is_up(server) && !is_stopping(ref) &&
	       server_is_wanted(server) && !server_is_ejected(server);
}

unsigned
server_maxconn(const struct server *server)
{
	const struct server_state *s = server->state;
	const struct operator_words *o = &s->operator;
	unsigned base = server->spec->maxconn;

	if (heeds(server))
		return s->maxconn_set && s->maxconn_base == base ? s->maxconn
		                                                 : base;
	return o->maxconn_set && o->maxconn_base == base ? o->maxconn : base;
}

/* Admin, which was said when the file said base, unless the file has another
 * word now. */
static enum server_admin
or_of_file(const struct server *server, enum server_admin admin, bool base)
{
	bool disabled = server->spec->disabled;

	if (base == disabled)
		return admin;
	return disabled ? SERVER_MAINT : SERVER_READY;
}

enum server_admin
server_ordered_admin(const struct server *server)
{
	const struct operator_words *o = &server->state->operator;

	return or_of_file(server, o->admin, o->admin_base);
}

enum server_admin
server_own_admin(const struct server *server)
{
	const struct server_state *s = server->state;

	return heeds(server) ? or_of_file(server, s->admin, s->admin_base)
	                     : server_ordered_admin(server);
}

enum server_admin
server_admin_of(const struct server *server)
{
	enum server_admin own = server_own_admin(server);
	enum server_admin other =
	    server->tracked ? server_admin_of(server->tracked) : SERVER_READY;

	if (server_lacks_address(server))
		return SERVER_MAINT;
	return own > other ? own : other;
}

static void
rebuild(struct server *server)
{
	if (backend_rebuild_untold(server->backend) < 0)
		log_error("out of memory: backend %s keeps choosing from its "
		          "former servers",
		    server->backend->spec->name);
}

/* After a change of the server that it tracks. */
static void
follow(struct server *server)
{
	const struct server *tracked = server->tracked;
	bool up = server_is_up(tracked);
	bool changed = server->state->up != up;

	if (changed)
		server_note_change(server, up);
	atomic_store_relaxed(&server->state->up, up);
	if (changed)
		server_rebuild_told(server,
		    up ? EVENT_SERVER_UP : EVENT_SERVER_DOWN,
		    up ? LOG_LEVEL_INFO : LOG_LEVEL_WARNING,
		    "is %s: it tracks %s/%s", up ? "up" : "down",
		    tracked->backend->spec->name, tracked->spec->name);
	else
		server_rebuild(server);
}

static void
finish_rebuild(struct server *server)
{
	backend_tell(server->backend);
	for (struct server *t = server->trackers; t; t = t->next_tracker)
		follow(t);
}

void
server_tell(const struct server *server, enum event_kind kind,
    enum log_level level, const char *what)
{
	const struct backend *b = server->backend;

	event_add(kind, level, b->spec->name, server->spec->name,
	    "server %s/%s %s; %u of %zu server%s usable", b->spec->name,
	    server->spec->name, what, b->state->usable, b->spec->servers_n,
	    text_s(b->spec->servers_n));
}

void
server_rebuild(struct server *server)
{
	rebuild(server);
	finish_rebuild(server);
}

void
server_rebuild_told(struct server *server, enum event_kind kind,
    enum log_level level, const char *fmt, ...)
{
	char what[EVENT_TEXT_SIZE];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	rebuild(server);
	server_tell(server, kind, level, what);
	finish_rebuild(server);
}

void
server_set_weight(struct server *server, unsigned weight, const char *by)
{
	struct server_state *s = server->state;
	unsigned before = server_weight(server);

	s->weight_set = true;
	s->weight = weight;
	s->weight_base = server->spec->weight;
	if (weight == before)
		return;
	server_rebuild_told(server, EVENT_SERVER_WEIGHT, LOG_LEVEL_INFO,
	    "has weight %u instead of %u: %s", weight, before, by);
}

void
server_set_maxconn(struct server *server, unsigned maxconn, const char *by)
{
	struct server_state *s = server->state;
	unsigned before = server_maxconn(server);

	s->maxconn_set = true;
	s->maxconn = maxconn;
	s->maxconn_base = server->spec->maxconn;
	if (maxconn == before)
		return;
	server_rebuild_told(server, EVENT_CHANGE, LOG_LEVEL_INFO,
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
	struct server_state *s = server->state;

	if (server_own_admin(server) == admin) {
		s->admin = admin;
		s->admin_base = server->spec->disabled;
		return;
	}
	server_note_time(server, server_is_up(server));
	s->admin = admin;
	s->admin_base = server->spec->disabled;
	server_rebuild_told(server, kinds[admin], LOG_LEVEL_INFO,
	    "is set to %s: %s", server_admin_name(admin), by);
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
	server_rebuild_told(server, up ? EVENT_SERVER_UP : EVENT_SERVER_DOWN,
	    up ? LOG_LEVEL_INFO : LOG_LEVEL_WARNING,
	    "is %s: its agent says so%s%s", up ? "up" : "down",
	    why[0] ? ", " : "", why);
}

void
server_forget_agent(struct server *server)
{
	struct server_state *s = server->state;

	s->agent_last = (struct check_result){.status = CHECK_STATUS_NONE};
	if (!s->agent_heard)
		return;
	s->agent_heard = false;
	s->weight_set = s->operator.weight_set;
	s->weight = s->operator.weight;
	s->weight_base = s->operator.weight_base;
	s->maxconn_set = s->operator.maxconn_set;
	s->maxconn = s->operator.maxconn;
	s->maxconn_base = s->operator.maxconn_base;
	s->admin = s->operator.admin;
	s->admin_base = s->operator.admin_base;
	if (s->agent_down && s->up)
		server_note_time(server, false);
	s->agent_down = false;
}
