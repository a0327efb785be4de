/* SPDX-License-Identifier: MIT
 * See build.h.
 */
#include "config/build.h"

#include <stdlib.h>
#include <string.h>

#include "check/preset.h"
#include "config/hint.h"
#include "model/balance_ops.h"
#include "model/check_rules.h"

/* Adds an error at the place of the object if the condition holds. */
#define REFUSE_IF(condition, object, errors, ...)                              \
	do {                                                                   \
		if (condition)                                                 \
			ERROR_AT(object, errors, __VA_ARGS__);                 \
	} while (0)

static void
check_frontend(const struct frontend_spec *f, struct err_list *errors)
{
	unsigned weights = 0;
	bool accepts_proxy = false;

	for (size_t i = 0; i < f->listens_n; i++)
		accepts_proxy |= f->listens[i].accept_proxy;
	for (size_t i = 0; i < f->routes_n; i++)
		weights += f->routes[i].weight;
	REFUSE_IF(f->routes_n > 0 && weights == 0, f, errors,
	    "[frontend %s]: no backend has a weight above 0, so no session "
	    "would get a backend; give at least one a weight",
	    f->name);
	REFUSE_IF(f->proxy_from_n > 0 && !accepts_proxy, f, errors,
	    "[frontend %s]: proxy_from says whose connections begin with a "
	    "PROXY header, and no listen takes one; write accept_proxy behind "
	    "its address",
	    f->name);
}

static void
check_hash(const struct backend_spec *b, struct err_list *errors)
{
	unsigned factor = b->hash_balance_factor;
	enum balance_key key;

	if (!b->balance) /* its value was refused */
		return;
	key = b->balance->key;
	REFUSE_IF(b->hash_key != HASH_KEY_SOURCE &&
	              key != BALANCE_KEY_CONFIGURED &&
	              (b->sticky == STICKY_OFF || key == BALANCE_KEY_CLIENT),
	    b, errors, "[backend %s]: hash_key needs balance = hash%s", b->name,
	    key == BALANCE_KEY_CLIENT ? "" : ", or sticky = stay");
	REFUSE_IF(b->sticky == STICKY_OFF &&
	              (b->sticky_expire_ms > 0 ||
	                  b->sticky_size != STICKY_SIZE_DEFAULT),
	    b, errors, "[backend %s]: %s needs sticky = stay", b->name,
	    b->sticky_expire_ms > 0 ? "sticky_expire" : "sticky_size");
	REFUSE_IF(factor > 0 && key == BALANCE_KEY_NONE, b, errors,
	    "[backend %s]: hash_balance_factor needs balance = hash or source",
	    b->name);
	REFUSE_IF(factor > 0 && factor <= 100, b, errors,
	    "[backend %s]: hash_balance_factor: %u%% leaves no room; allowed "
	    "are 101%% to 65535%%, and 0 for no bound",
	    b->name, factor);
}

/* Reports what the kind of check needs and was not given, by -k or in a
 * file. */
static void
check_needs(const struct backend_spec *b, struct err_list *errors)
{
	const struct check_steps *steps = &b->check_steps;
	bool from_file = b->place.file != NULL;
	bool expects = b->check.kind == CHECK_SEND_EXPECT;
	bool script = b->check.kind == CHECK_SCRIPT;

	REFUSE_IF(expects && !from_file, b, errors,
	    "-k send-expect needs steps, which only a file can have "
	    "(check_step); write one and name it with -c");
	REFUSE_IF(expects && from_file &&
	              (steps->n == 0 ||
	                  steps->steps[steps->n - 1].kind == STEP_REFUSE),
	    b, errors,
	    "[backend %s]: check = send-expect needs a check_step that is send "
	    "or expect at the end, as in check_step = expect \"+PONG\"",
	    b->name);
	REFUSE_IF(script && !b->check_command && !from_file, b, errors,
	    "-k script needs a program; write -k script:/PATH");
	REFUSE_IF(script && !b->check_command && from_file, b, errors,
	    "[backend %s]: check = script needs check_command = /PATH",
	    b->name);
}

/* Checks the backend's checks.  Options without effect are errors. */
static void
check_checks(const struct backend_spec *b, struct err_list *errors)
{
	bool http = check_kind_is_http(b->check.kind);

	check_needs(b, errors);
	REFUSE_IF(!http && b->check_headers_n > 0, b, errors,
	    "[backend %s]: check_header needs check = http or https", b->name);
	REFUSE_IF(!http && b->check_bodies_n > 0, b, errors,
	    "[backend %s]: check_body needs check = http or https", b->name);
	REFUSE_IF(b->check.kind != CHECK_SCRIPT && b->check_command, b, errors,
	    "[backend %s]: check_command needs check = script", b->name);
	REFUSE_IF(b->check.kind != CHECK_SEND_EXPECT && b->check_steps.n > 0, b,
	    errors, "[backend %s]: check_step needs check = send-expect",
	    b->name);
	REFUSE_IF(http && b->check_bodies_n > 0 &&
	              strcmp(b->check.method, "HEAD") == 0,
	    b, errors,
	    "[backend %s]: check_body needs another method than HEAD, whose "
	    "answers have no body",
	    b->name);
	REFUSE_IF(b->observe != OBSERVE_OFF && b->check.kind == CHECK_OFF, b,
	    errors,
	    "[backend %s]: observe has nothing to count for with "
	    "check = off; use eject_after, which needs no checks",
	    b->name);
}

static void
check_ejection(const struct backend_spec *b, struct err_list *errors)
{
	REFUSE_IF(b->eject_time_max_ms < b->eject_time_ms, b, errors,
	    "[backend %s]: eject_time_max is shorter than eject_time; make it "
	    "as long or longer",
	    b->name);
}

static void
check_agent(const struct backend_spec *b, const struct server_spec *s,
    struct err_list *errors)
{
	struct agent_rules agent = agent_rules_of(b, s);
	bool asks_unix = agent.on && agent.addr.sa.sa_family == AF_UNIX;

	REFUSE_IF(asks_unix, s, errors,
	    "server: '%s' is a unix socket, which has no port for its agent; "
	    "write agent_addr=IP, or agent=off",
	    s->name);
	REFUSE_IF(
	    agent.on && !asks_unix && s->agent.port == 0 && b->agent.port == 0,
	    s, errors,
	    "server: the port is missing at which '%s' has its agent; write "
	    "agent_port=NUMBER, or agent = on port=NUMBER for all of [backend "
	    "%s]",
	    s->name, b->name);
	REFUSE_IF(agent.on && agent.tls && !server_spec_has_tls(b, s), s,
	    errors,
	    "server: the agent of '%s' is asked over TLS, but the server has "
	    "no TLS; write tls=NAME, or agent_tls=off",
	    s->name);
}

/* Checks the options of the server's check and of its agent, and on_up. */
static void
check_server(const struct backend_spec *b, const struct server_spec *s,
    struct err_list *errors)
{
	struct check_rules check = check_rules_of(b, s);
	bool checks_unix = check.addr.sa.sa_family == AF_UNIX;

	REFUSE_IF(s->check.on == SWITCH_ON && b->check.kind == CHECK_OFF, s,
	    errors,
	    "server: check: '%s' is to be checked, and [backend %s] does not "
	    "say how; write check = KIND there",
	    s->name, b->name);
	REFUSE_IF(s->check.proxy.is_set && b->check.kind == CHECK_SCRIPT, s,
	    errors,
	    "server: check_send_proxy: '%s' is checked by a script, which "
	    "connects itself",
	    s->name);
	REFUSE_IF(s->check.tls && b->check.kind == CHECK_SCRIPT, s, errors,
	    "server: check_tls: '%s' is checked by a script, which connects "
	    "itself",
	    s->name);
	REFUSE_IF(
	    check.on && check.tls == CHECK_TLS_OWN &&
	        !(check_is_tls(&b->check) &&
	            check_presets[b->check.kind].traits & CHECK_TAKES_TLS),
	    s, errors,
	    "server: '%s' is to be checked over TLS, but has no TLS itself; "
	    "write tls=NAME, or check = https or tls in [backend %s]",
	    s->name, b->name);
	REFUSE_IF(s->check.port && checks_unix, s, errors,
	    "server: check_port: '%s' is a unix socket, which has no port",
	    s->name);
	REFUSE_IF(check.on && s->addr.sa.sa_family == AF_UNIX && !checks_unix &&
	              addr_port(&check.addr) == 0,
	    s, errors,
	    "server: '%s' is a unix socket and is checked at another address, "
	    "so that needs a port; write check_port=NUMBER",
	    s->name);
	check_agent(b, s, errors);
	/* A backup that comes up does not close sessions of backups. */
	REFUSE_IF(s->backup &&
	              optional_or(s->on_up, ON_UP_KEEP) == ON_UP_CLOSE_BACKUP,
	    s, errors,
	    "server: on_up: '%s' is a backup; close_backup is for the servers "
	    "whose coming up ends the backups' sessions",
	    s->name);
}

/* Checks that a server and the source of its connections are of one family. */
static void
check_source(const struct backend_spec *b, const struct server_spec *s,
    struct err_list *errors)
{
	const struct source_spec *own = &s->source;
	const struct source_spec *source =
	    own->kind != SOURCE_NONE ? own : &b->source;
	int family = s->addr.sa.sa_family;

	/* A name is looked up for an address of that family. */
	if (source->kind != SOURCE_ADDRESS || s->host || family == AF_UNIX ||
	    source->addr.sa.sa_family == AF_UNSPEC ||
	    source->addr.sa.sa_family == family)
		return;
	ERROR_AT(s, errors,
	    "server: '%s' has an %s address, but its source%s is %s; give it a "
	    "source of the same family",
	    s->name, family == AF_INET6 ? "IPv6" : "IPv4",
	    own->kind != SOURCE_NONE ? "" : ", that of the backend,",
	    family == AF_INET6 ? "IPv4" : "IPv6");
}

/* Checks that the check has a port: it has no client whose port it could
 * take. */
static void
check_port(const struct backend_spec *b, const struct server_spec *s,
    struct err_list *errors)
{
	if (!server_spec_maps_port(s) || !check_rules_of(b, s).on ||
	    s->check.port || b->check.port)
		return;
	ERROR_AT(s, errors,
	    "server: '%s' has no port, so its check has no port either; write "
	    "check_port=PORT, check=off, or the server's own port as %s:PORT",
	    s->address, s->address);
}

void
build_check_server(const struct backend_spec *backend,
    const struct server_spec *server, struct err_list *errors)
{
	check_server(backend, server, errors);
	check_port(backend, server, errors);
	check_source(backend, server, errors);
}

/* Checks that the names of the servers differ.  The command line has checked
 * its own. */
static void
check_names(const struct backend_spec *b, struct err_list *errors)
{
	char where[DRAFT_FIRST_SIZE];
	size_t first;

	for (size_t i = 0; i < b->servers_n; i++) {
		const struct server_spec *s = b->servers[i];

		if (s->place.file &&
		    name_table_find(SERVER_TABLE(b), s->name, &first) &&
		    first < i)
			ERROR_AT(s, errors,
			    "server: the name '%s' is already used by another "
			    "server of [backend %s]%s; names must differ",
			    s->name, b->name,
			    draft_first(
			        b->servers[first]->place, s->place, where));
	}
}

static void
check_all_checks(
    const struct spec *spec, const struct draft *draft, struct err_list *errors)
{
	for (size_t i = 0; i < draft->sections_n; i++) {
		const struct draft_section *d = &draft->sections[i];

		if (d->kind == SECTION_BACKEND && !d->corrected &&
		    !d->check_wrong)
			check_checks(&spec->backends[d->index], errors);
	}
}

void
build_check(
    const struct spec *spec, const struct draft *draft, struct err_list *errors)
{
	const char *file = draft->files_n > 0 ? draft->files[0] : NULL;
	bool empty = draft->sections_n == 0;

	if (empty)
		err_list_add(errors, file, 0,
		    "the file is empty or has comments only; it needs at least "
		    "a [frontend NAME] with 'listen' and 'backend', and a "
		    "[backend NAME] with 'server'");
	if (!empty && spec->frontends_n == 0)
		err_list_add(errors, file, 0,
		    "no frontend is defined; write a [frontend NAME] with "
		    "'listen' and 'backend'");
	if (!empty && spec->backends_n == 0)
		err_list_add(errors, file, 0,
		    "no backend is defined; write a [backend NAME] with "
		    "'server'");
	for (size_t i = 0; i < spec->frontends_n; i++) {
		const struct frontend_spec *f = &spec->frontends[i];

		check_frontend(f, errors);
		build_check_sni(spec, f, errors);
		build_check_fallbacks(spec, f, errors);
		build_check_tables(spec, f, errors);
	}
	build_check_listens(spec, errors);
	for (size_t i = 0; i < spec->backends_n; i++) {
		const struct backend_spec *b = &spec->backends[i];

		check_names(b, errors);
		check_hash(b, errors);
		check_ejection(b, errors);
		for (size_t j = 0; j < b->servers_n; j++)
			build_check_server(b, b->servers[j], errors);
		build_check_sets(b, errors);
	}
	check_all_checks(spec, draft, errors);
}

/* -- track -- */

#define TRACK_ERROR(s, errors, ...)                                            \
	ERROR_AT(s, errors, "server: track: " __VA_ARGS__)

/* Finds the server that s tracks.  *backend is that of s, and is set to that of
 * the tracked server. */
static bool
find_tracked(const struct spec *spec, const struct server_spec *s,
    size_t *backend, size_t *ret_server, struct err_list *errors)
{
	const char *slash = strchr(s->track, '/');
	const char *name = server_spec_tracked(s);
	const struct backend_spec *b;
	size_t own = *backend;
	char home[DRAFT_VALUE_MAX + 1] = "";
	const struct name_table *all = INDEXED_TABLE(spec, backends);
	struct name_table singles;
	struct hint hint;

	if (slash)
		memcpy(home, s->track, (size_t)(slash - s->track));
	if (slash && !name_table_find(all, home, backend)) {
		TRACK_ERROR(s, errors, "unknown backend '%s'; %s", home,
		    hint_table(&hint, home, all, "there"));
		return false;
	}
	b = &spec->backends[*backend];
	if (*backend == own && strcmp(name, s->name) == 0) {
		TRACK_ERROR(s, errors, "'%s' would track itself", name);
		return false;
	}
	if (name_table_find(SERVER_TABLE(b), name, ret_server) &&
	    *ret_server < b->singles_n)
		return true;
	if (build_set_named(b, name)) {
		TRACK_ERROR(s, errors,
		    "%s/%s would be a member of the set '%s', which comes and "
		    "goes; name a server that stays",
		    b->name, name, build_set_named(b, name)->prefix);
		return false;
	}
	singles = *SERVER_TABLE(b);
	singles.n = b->singles_n;
	TRACK_ERROR(s, errors, "[backend %s] has no server '%s'; %s", b->name,
	    name, hint_table(&hint, name, &singles, "there"));
	return false;
}

/* Returns whether the server has settings of checks, which tracking would leave
 * without effect. */
static bool
has_checks(const struct server_spec *s)
{
	const struct check_own *c = &s->check;
	const struct agent_own *a = &s->agent;

	return c->on || c->interval_ms || c->fast_interval_ms ||
	       c->down_interval_ms || c->timeout_ms || c->jitter.is_set ||
	       c->fall || c->rise || c->port ||
	       c->addr.sa.sa_family != AF_UNSPEC || c->init.is_set ||
	       c->proxy.is_set || c->tls || a->on || a->interval_ms ||
	       a->timeout_ms || a->port || a->send.n > 0 || a->tls ||
	       a->addr.sa.sa_family != AF_UNSPEC;
}

void
build_track_server(const struct spec *spec, size_t home, struct server_spec *s,
    struct err_list *errors)
{
	const struct backend_spec *b;
	const struct server_spec *other;
	size_t server;

	if (has_checks(s))
		TRACK_ERROR(s, errors,
		    "'%s' tracks %s and is not checked itself; leave out "
		    "track, or check and agent with all they have",
		    s->name, s->track);
	if (!find_tracked(spec, s, &home, &server, errors))
		return;
	s->track_backend = home;
	b = &spec->backends[home];
	other = b->servers[server];
	if (other->track)
		TRACK_ERROR(s, errors,
		    "%s/%s tracks %s itself; name a server that is checked",
		    b->name, other->name, other->track);
	else if (!check_rules_of(b, other).on && !agent_rules_of(b, other).on)
		TRACK_ERROR(s, errors,
		    "%s/%s has neither a check nor an agent; give it one, or "
		    "name another",
		    b->name, other->name);
}

void
build_track(struct spec *spec, struct err_list *errors)
{
	for (size_t i = 0; i < spec->backends_n; i++)
		for (size_t j = 0; j < spec->backends[i].servers_n; j++)
			if (spec->backends[i].servers[j]->track)
				build_track_server(spec, i,
				    spec->backends[i].servers[j], errors);
	for (size_t i = 0; i < spec->backends_n; i++)
		for (size_t j = 0; j < spec->backends[i].sets_n; j++)
			if (spec->backends[i].sets[j].member.track)
				build_track_server(spec, i,
				    &spec->backends[i].sets[j].member, errors);
}
