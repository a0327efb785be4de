/* SPDX-License-Identifier: MIT
 * See build_track.h.
 */
#include "config/build_track.h"

#include <string.h>

#include "config/hint.h"
#include "model/check_rules.h"

struct tracker {
	struct spec *spec;
	size_t home; /* its backend */
	struct server_spec *server;
	struct err_list *errors;
};

#define FAIL(t, ...)                                                           \
	err_list_add((t)->errors, (t)->server->place.file,                     \
	    (t)->server->place.line, "server: track: " __VA_ARGS__)

static bool
find_backend(const struct tracker *t, size_t *ret_backend)
{
	const char *text = t->server->track, *slash = strchr(text, '/');
	size_t len = slash ? (size_t)(slash - text) : 0;
	char name[256];
	struct hint hint;

	if (!slash) {
		*ret_backend = t->home;
		return true;
	}
	if (len >= sizeof(name))
		len = sizeof(name) - 1;
	memcpy(name, text, len);
	name[len] = '\0';
	for (size_t i = 0; i < t->spec->backends_n; i++)
		if (strcmp(t->spec->backends[i].name, name) == 0) {
			*ret_backend = i;
			return true;
		}
	hint_init(&hint, name);
	for (size_t i = 0; i < t->spec->backends_n; i++)
		hint_offer(&hint, t->spec->backends[i].name);
	FAIL(
	    t, "there is no backend '%s'; %s", name, hint_text(&hint, "there"));
	return false;
}

static bool
find_server(
    const struct tracker *t, const struct backend_spec *b, size_t *ret_server)
{
	const char *text = t->server->track, *slash = strchr(text, '/');
	const char *name = slash ? slash + 1 : text;
	struct hint hint;

	for (size_t i = 0; i < b->servers_n; i++)
		if (strcmp(b->servers[i].name, name) == 0) {
			*ret_server = i;
			return true;
		}
	hint_init(&hint, name);
	for (size_t i = 0; i < b->servers_n; i++)
		hint_offer(&hint, b->servers[i].name);
	FAIL(t, "[backend %s] has no server '%s'; %s", b->name, name,
	    hint_text(&hint, "there"));
	return false;
}

/* Settings of checks that it would not have. */
static bool
has_checks(const struct server_spec *s)
{
	const struct check_own *c = &s->check;
	const struct agent_own *a = &s->agent;

	return c->on || c->interval_ms || c->fast_interval_ms ||
	       c->down_interval_ms || c->timeout_ms || c->jitter.is_set ||
	       c->fall || c->rise || c->port ||
	       c->addr.sa.sa_family != AF_UNSPEC || c->init.is_set ||
	       c->proxy.is_set || a->on || a->interval_ms || a->timeout_ms ||
	       a->port || a->send.n > 0 || a->addr.sa.sa_family != AF_UNSPEC;
}

static void
resolve(const struct tracker *t)
{
	struct server_spec *s = t->server;
	const struct backend_spec *b;
	const struct server_spec *other;
	size_t backend, server;

	if (has_checks(s))
		FAIL(t,
		    "'%s' tracks %s and is not checked itself; leave out "
		    "track, or check and agent with all they have",
		    s->name, s->track);
	if (!find_backend(t, &backend) ||
	    !find_server(t, &t->spec->backends[backend], &server))
		return;
	s->track_backend = backend;
	s->track_server = server;
	b = &t->spec->backends[backend];
	other = &b->servers[server];
	if (other == s)
		FAIL(t, "'%s' would track itself", s->name);
	else if (other->track)
		FAIL(t, "%s/%s tracks %s itself; name a server that is checked",
		    b->name, other->name, other->track);
	else if (!check_rules_of(b, other).on && !agent_rules_of(b, other).on)
		FAIL(t,
		    "%s/%s has neither a check nor an agent; give it one, "
		    "or name another",
		    b->name, other->name);
}

void
build_track(struct spec *spec, struct err_list *errors)
{
	for (size_t i = 0; i < spec->backends_n; i++)
		for (size_t j = 0; j < spec->backends[i].servers_n; j++) {
			struct tracker t = {.spec = spec,
			    .home = i,
			    .server = &spec->backends[i].servers[j],
			    .errors = errors};

			if (t.server->track)
				resolve(&t);
		}
}
