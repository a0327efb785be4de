/* SPDX-License-Identifier: MIT
 * See running.h.
 */
#include "commands/running.h"

#include <string.h>

#include "acl/acl.h"
#include "config/edit.h"
#include "control/pools.h"
#include "model/model.h"
#include "proxy/proxy.h"

#define TEXT_SIZE (CONFIG_SERVER_TEXT_SIZE + 512)

struct walk {
	const struct command_env *env;
	running_fn *call;
	void *arg;
	/* The present change, and its texts. */
	struct running_change change;
	bool of_set; /* the server is a member of a set, which has no line */
	struct spec_place place;
	char section[CALL_NAME_SIZE], server[CALL_NAME_SIZE];
	char commands[TEXT_SIZE], subject[2 * CALL_NAME_SIZE + 32],
	    configured[512], value[512];
};

#define PUT(field, ...) snprintf(field, sizeof(field), __VA_ARGS__)

/* Passes the change on.  The caller has written its other texts into the walk;
 * key and text are those of struct running_change. */
static void
tell(struct walk *w, const char *key, const char *text)
{
	w->change = (struct running_change){.commands = w->commands,
	    .subject = w->subject,
	    .configured = w->configured,
	    .value = w->value,
	    .section = w->section,
	    .server = w->server[0] ? w->server : NULL,
	    .place = w->place,
	    .key = w->of_set ? NULL : key,
	    .text = text};
	w->call(w->arg, &w->change);
}

static void
tell_number(struct walk *w, const char *key, uint64_t configured, uint64_t now)
{
	if (configured == now)
		return;
	PUT(w->configured, "%llu", (unsigned long long)configured);
	PUT(w->value, "%llu", (unsigned long long)now);
	tell(w, key, w->value);
}

/* -- servers -- */

/* Splits an address into the host, as commands have it, and the port. */
static unsigned
split_addr(const struct addr *addr, char host[ADDR_TEXT_SIZE])
{
	struct addr copy = *addr;
	unsigned port = addr_port(addr);

	addr_set_port(&copy, 0);
	addr_text(&copy, host);
	*strrchr(host, ':') = '\0';
	return port;
}

static void
tell_addr(struct walk *w, const struct server *s, const char *name)
{
	char host[ADDR_TEXT_SIZE], text[ADDR_TEXT_SIZE];
	const struct addr *addr = server_addr(s);
	unsigned port;

	if (!s->state->overrides.addr_set || addr->sa.sa_family == AF_UNIX)
		return;
	port = split_addr(addr, host);
	PUT(w->subject, "server %s address", name);
	PUT(w->commands, "set server %s addr %s port %u\n", name, host, port);
	PUT(w->configured, "%s", s->spec->address);
	PUT(w->value, "%s", addr_text(addr, text));
	tell(w, "address", w->value);
}

static void
tell_admin(struct walk *w, const struct server *s, const char *name)
{
	enum server_admin now = server_ordered_admin(s),
	                  file = server_file_admin(s);

	if (now == file)
		return;
	PUT(w->subject, "server %s state", name);
	PUT(w->commands, "set server %s state %s\n", name,
	    server_admin_name(now));
	PUT(w->configured, "%s", server_admin_name(file));
	PUT(w->value, "%s", server_admin_name(now));
	/* The file has no option for a drain. */
	tell(w, now == SERVER_DRAIN ? NULL : "disabled",
	    now == SERVER_MAINT ? "on" : "off");
}

static void
tell_paused(struct walk *w, const char *name, const char *what)
{
	PUT(w->subject, "server %s %s", name, what);
	PUT(w->commands, "disable %s %s\n", what, name);
	PUT(w->configured, "enabled");
	PUT(w->value, "disabled");
	tell(w, NULL, NULL);
}

/* Tells where the check or the agent connects, if a command has set it.  what:
 * `check` or `agent`; addr AF_UNSPEC and port 0: not set. */
static void
tell_place(struct walk *w, const char *name, const char *what,
    const struct addr *addr, unsigned port)
{
	char key[32], host[ADDR_TEXT_SIZE];

	PUT(w->configured, "that of the file");
	if (addr->sa.sa_family != AF_UNSPEC) {
		PUT(key, "%s_addr", what);
		PUT(w->value, "%s", addr_host(addr, host));
		PUT(w->subject, "server %s %s-addr", name, what);
		PUT(w->commands, "set server %s %s-addr %s\n", name, what,
		    w->value);
		tell(w, key, w->value);
	}
	if (port > 0) {
		PUT(key, "%s_port", what);
		PUT(w->value, "%u", port);
		PUT(w->subject, "server %s %s-port", name, what);
		PUT(w->commands, "set server %s %s-port %u\n", name, what,
		    port);
		tell(w, key, w->value);
	}
}

static void
tell_places(struct walk *w, const struct server *s, const char *name)
{
	const struct server_overrides *o = &s->state->overrides;

	if (s->check.on)
		tell_place(w, name, "check", &o->check_addr, o->check_port);
	if (s->agent.on)
		tell_place(w, name, "agent", &o->agent_addr, o->agent_port);
}

static void
tell_server_changes(struct walk *w, const struct server *s, const char *name)
{
	const struct server_overrides *o = &s->state->overrides;

	tell_addr(w, s, name);
	tell_admin(w, s, name);
	PUT(w->subject, "server %s weight", name);
	PUT(w->commands, "set weight %s %u\n", name, o->set.weight.value);
	if (o->set.weight.is_set)
		tell_number(w, "weight", s->spec->weight, o->set.weight.value);
	PUT(w->subject, "server %s maxconn", name);
	PUT(w->commands, "set maxconn server %s %u\n", name,
	    o->set.maxconn.value);
	if (o->set.maxconn.is_set)
		tell_number(
		    w, "maxconn", s->spec->maxconn, o->set.maxconn.value);
	if (o->check_paused && s->check.on)
		tell_paused(w, name, "health");
	if (o->agent_paused && s->agent.on)
		tell_paused(w, name, "agent");
}

static void
tell_added(struct walk *w, const struct server *s, const char *name)
{
	const struct spec *spec = s->backend->model->spec;
	const struct server_overrides *o = &s->state->overrides;
	char text[CONFIG_SERVER_TEXT_SIZE];
	size_t len;

	config_server_text(spec, s->backend->spec, s->spec, text);
	PUT(w->subject, "server %s", name);
	PUT(w->commands, "add server %s%s\nset server %s state %s\n", name,
	    text + strlen(s->spec->name), name,
	    server_admin_name(server_ordered_admin(s)));
	len = strlen(w->commands);
	if (!o->check_paused && s->check.on)
		snprintf(w->commands + len, sizeof(w->commands) - len,
		    "enable health %s\n", name);
	len = strlen(w->commands);
	if (!o->agent_paused && s->agent.on)
		snprintf(w->commands + len, sizeof(w->commands) - len,
		    "enable agent %s\n", name);
	PUT(w->configured, "none");
	PUT(w->value, "%s", text + strlen(s->spec->name) + 1);
	tell(w, "server", text);
}

static void
tell_deleted(struct walk *w, const struct backend_spec *b, const char *server)
{
	PUT(w->section, "backend %s", b->name);
	PUT(w->server, "%s", server);
	w->place = b->place;
	PUT(w->subject, "server %s/%s", b->name, server);
	PUT(w->commands, "set server %s/%s state maint\ndel server %s/%s\n",
	    b->name, server, b->name, server);
	PUT(w->configured, "in the file");
	PUT(w->value, "deleted");
	tell(w, "server", NULL);
}

/* Tells the changes of a server.  added: only if a command has added the
 * server; otherwise only if none has. */
static void
walk_server(struct walk *w, const struct server *s, bool added)
{
	char name[2 * CALL_NAME_SIZE];

	if (s->spec->added != added)
		return;
	PUT(name, "%s/%s", s->backend->spec->name, s->spec->name);
	PUT(w->section, "backend %s", s->backend->spec->name);
	PUT(w->server, "%s", s->spec->name);
	w->of_set = s->spec->set.is_set;
	w->place = s->spec->place;
	if (s->spec->added) {
		w->place = s->backend->spec->place;
		tell_added(w, s, name);
	}
	if (!s->spec->added || s->state->overrides.set.weight.is_set ||
	    s->state->overrides.set.maxconn.is_set)
		tell_server_changes(w, s, name);
	tell_places(w, s, name);
	w->server[0] = '\0';
	w->of_set = false;
}

/* -- frontends, the process, lists -- */

static void
walk_frontend(struct walk *w, const struct frontend *f)
{
	struct control *control = w->env->control;
	size_t most = control_budget(control)->sessions;
	size_t file = f->spec->maxconn > 0 && f->spec->maxconn < most
	                  ? f->spec->maxconn
	                  : most;
	uint32_t now = atomic_load_relaxed(&f->state->maxconn);
	enum frontend_admin admin = f->state->admin;
	const char *name = f->spec->name;

	w->place = f->spec->place;
	PUT(w->section, "frontend %s", name);
	PUT(w->subject, "frontend %s", name);
	PUT(w->commands, "%s frontend %s\n",
	    admin == FRONTEND_SHUT     ? "shutdown"
	    : admin == FRONTEND_PAUSED ? "disable"
	                               : "enable",
	    name);
	PUT(w->configured, "%s", f->spec->disabled ? "disabled" : "enabled");
	PUT(w->value, "%s",
	    admin == FRONTEND_SHUT     ? "shut down"
	    : admin == FRONTEND_PAUSED ? "disabled"
	                               : "enabled");
	if ((admin == FRONTEND_OPEN) == f->spec->disabled)
		tell(w, "disabled", admin == FRONTEND_OPEN ? "off" : "on");
	PUT(w->subject, "frontend %s maxconn", name);
	PUT(w->commands, "set maxconn frontend %s %zu\n", name,
	    now < most ? now : most);
	tell_number(w, "maxconn", file, now < most ? now : most);
}

static void
walk_process(struct walk *w)
{
	struct control *control = w->env->control;
	const struct global_spec *g = &control_model(control)->spec->global;
	const struct proxy_limits *now = &control_proxy(control)->limits;
	size_t most = control_budget(control)->sessions;
	uint32_t connections = atomic_load_relaxed(&now->connect_rate),
	         sessions = atomic_load_relaxed(&now->session_rate);
	size_t maxconn = control_maxconn(control);

	w->place = (struct spec_place){.file = NULL};
	PUT(w->section, "global");
	PUT(w->subject, "global maxconn");
	PUT(w->commands, "set maxconn global %zu\n", maxconn);
	tell_number(w, "maxconn",
	    g->maxconn > 0 && g->maxconn < most ? g->maxconn : most, maxconn);
	PUT(w->subject, "connections per second");
	PUT(w->commands, "set rate-limit connections global %u\n", connections);
	tell_number(w, "rate_connections", g->rate_connections, connections);
	PUT(w->subject, "sessions per second");
	PUT(w->commands, "set rate-limit sessions global %u\n", sessions);
	tell_number(w, "rate_sessions", g->rate_sessions, sessions);
}

/* Tells the entries that commands have added, and not those that they have
 * deleted: a reload reads these from the files again. */
static void
walk_list(
    struct walk *w, const struct list_spec *spec, const struct acl_list *list)
{
	struct acl_listed entry;
	char text[CIDR_TEXT_SIZE];

	if (acl_list_changes(list).added == 0)
		return;
	w->place = spec->place;
	PUT(w->section, "list %s", acl_list_name(list));
	PUT(w->subject, "list %s", acl_list_name(list));
	PUT(w->configured, "none");
	for (size_t i = 0; acl_list_at(list, i, &entry); i++) {
		if (entry.source)
			continue;
		PUT(w->commands, "add acl %s %s\n", acl_list_name(list),
		    cidr_text(&entry.range, text));
		PUT(w->value, "%s", text);
		tell(w, "entry", w->value);
	}
}

static void
on_pool_setting(void *arg, const char *key, const char *file, const char *now)
{
	struct walk *w = arg;
	const char *pool = w->section + sizeof("pool ") - 1;

	PUT(w->subject, "pool %s %s", pool, key);
	PUT(w->commands, "set pool %s %s %s\n", pool, key, now);
	PUT(w->configured, "%s", file);
	PUT(w->value, "%s", now);
	tell(w, key, w->value);
}

void
running_changes(const struct command_env *env, running_fn *call, void *arg)
{
	struct walk w = {.env = env, .call = call, .arg = arg};
	struct model *model = control_model(env->control);
	const struct spec *spec = model->spec;

	model_for_each_server (s, model)
		walk_server(&w, s, false);
	model_for_each_frontend (f, model)
		walk_frontend(&w, f);
	walk_process(&w);
	for (size_t i = 0; i < spec->lists_n; i++)
		walk_list(&w, &spec->lists[i],
		    model_find_list(model, spec->lists[i].name));
	model_for_each_server (s, model)
		walk_server(&w, s, true);
	for (size_t i = 0; i < spec->backends_n; i++)
		for (size_t j = 0; j < spec->backends[i].deleted_n; j++)
			tell_deleted(&w, &spec->backends[i],
			    spec->backends[i].deleted[j]);
	w.server[0] = '\0';
	for (size_t i = 0; i < spec->pools_n; i++) {
		w.place = spec->pools[i].place;
		PUT(w.section, "pool %s", spec->pools[i].name);
		pools_differences(control_pools(env->control), &spec->pools[i],
		    on_pool_setting, &w);
	}
}
