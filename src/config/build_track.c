/* SPDX-License-Identifier: MIT
 * See build.h.
 */
#include "config/build.h"

#include <string.h>

#include "config/hint.h"
#include "model/check_rules.h"

#define TRACK_ERROR(s, errors, ...)                                            \
	ERROR_AT(s, errors, "server: track: " __VA_ARGS__)

/* *backend is that of s, and gets that of the server that s tracks. */
static bool
find_tracked(const struct spec *spec, const struct server_spec *s,
    size_t *backend, size_t *ret_server, struct err_list *errors)
{
	const char *slash = strchr(s->track, '/');
	const char *name = slash ? slash + 1 : s->track;
	const struct backend_spec *b;
	char home[DRAFT_VALUE_MAX + 1] = "";
	struct name_table all = {
	    spec->backends, spec->backends_n, sizeof(*spec->backends)};
	struct hint hint;

	if (slash)
		memcpy(home, s->track, (size_t)(slash - s->track));
	if (slash && !name_table_find(&all, home, backend)) {
		TRACK_ERROR(s, errors, "unknown backend '%s'; %s", home,
		    hint_table(&hint, home, &all, "there"));
		return false;
	}
	b = &spec->backends[*backend];
	all = (struct name_table){b->servers, b->servers_n, sizeof(*s)};
	if (name_table_find(&all, name, ret_server))
		return true;
	TRACK_ERROR(s, errors, "[backend %s] has no server '%s'; %s", b->name,
	    name, hint_table(&hint, name, &all, "there"));
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
resolve_track(struct spec *spec, size_t home, struct server_spec *s,
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
	s->track_server = server;
	b = &spec->backends[home];
	other = &b->servers[server];
	if (other == s)
		TRACK_ERROR(s, errors, "'%s' would track itself", s->name);
	else if (other->track)
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
			if (spec->backends[i].servers[j].track)
				resolve_track(spec, i,
				    &spec->backends[i].servers[j], errors);
}
