/* SPDX-License-Identifier: MIT
 * The parts of a transition to other servers of some backends: see
 * transition.h.
 */
#include "config/edit.h"
#include "live/control.h"
#include "live/transition.h"

#define for_each_change(c, t)                                                  \
	for (struct backend_change *c = (t)->servers;                          \
	     c < (t)->servers + (t)->servers_n; c++)

/* Calls the function, with `of` first, for each server that has come, or gone.
 */
#define FOR_EACH_CAME(call, of, t)                                             \
	for_each_change(c_, t) for (size_t i_ = 0; i_ < c_->came_n; i_++)      \
	    call(of, c_->came[i_])
#define FOR_EACH_GONE(call, of, t)                                             \
	for_each_change(c_, t) for (size_t i_ = 0; i_ < c_->gone_n; i_++)      \
	    call(of, c_->gone[i_])

/* -- the lists of the backends -- */

static bool
prepare_servers(struct transition *t)
{
	return t->make_changes(t);
}

static void
commit_servers(struct transition *t)
{
	for_each_change(c, t) backend_change_commit(c);
}

void
transition_cancel_servers(struct transition *t)
{
	while (t->servers_n > 0)
		backend_change_cancel(&t->servers[--t->servers_n]);
}

/* -- addresses of names, checks -- */

static bool
prepare_addresses(struct transition *t)
{
	FOR_EACH_CAME(
	    server_names_prepare_server, &t->control->server_names, t);
	return true;
}

static bool
prepare_checks(struct transition *t)
{
	for_each_change(c, t)
	{
		if (!checker_prepare_servers(
		        t->control->checker, c->came, c->came_n))
			return control_refuse(t->errors, "out of memory");
	}
	return true;
}

static void
commit_checks(struct transition *t)
{
	checker_commit_servers(t->control->checker);
	FOR_EACH_GONE(checker_drop_server, t->control->checker, t);
}

static void
cancel_checks(struct transition *t)
{
	checker_cancel(t->control->checker);
}

/* -- parts that only commit -- */

static void
add_name(struct server_names *names, struct server *server)
{
	server_names_add(names, server);
	/* A server with a name was reported when it got its address. */
	if (server->state->refs == 1 && !server->spec->host)
		server_warn_of_loop(server);
}

static void
follow_names(struct transition *t)
{
	struct server_names *names = &t->control->server_names;

	FOR_EACH_GONE(server_names_drop, names, t);
	FOR_EACH_CAME(add_name, names, t);
}

/* Returns whether a server that has come or gone is such a one. */
static bool
has_server(const struct transition *t, bool (*is)(const struct server *server))
{
	for_each_change(c, t)
	{
		for (size_t i = 0; i < c->gone_n; i++)
			if (is(c->gone[i]))
				return true;
		for (size_t i = 0; i < c->came_n; i++)
			if (is(c->came[i]))
				return true;
	}
	return false;
}

static void
follow_bandwidth(struct transition *t)
{
	if (has_server(t, bandwidth_limits_server))
		session_limits_follow_bandwidth(&t->control->orders.limits);
}

static bool
has_tls(const struct server *server)
{
	return server->tls;
}

static void
follow_pools(struct transition *t)
{
	struct control *c = t->control;

	if (!has_server(t, has_tls))
		return;
	config_follow_servers(c->instance.model->spec);
	pools_follow(c->pools, c->instance.model->spec);
}

static void
update_lineups(struct transition *t)
{
	for_each_change(c, t) backend_change_fini(c);
	model_update(t->control->instance.model);
}

static void
follow_files(struct transition *t)
{
	/* A server may be the first that needs a context of its section. */
	tls_watch_follow(
	    &t->control->tls_watch, t->control->instance.model->spec);
}

/* -- all parts -- */

static const struct participant participants[] = {
    {"servers", prepare_servers, commit_servers, transition_cancel_servers},
    {"addresses of names", prepare_addresses, NULL, NULL},
    {"checks", prepare_checks, commit_checks, cancel_checks},
    {"names", NULL, follow_names, NULL},
    {"bandwidth", NULL, follow_bandwidth, NULL},
    {"pools", NULL, follow_pools, NULL},
    {"lineups", NULL, update_lineups, NULL},
    {"files", NULL, follow_files, NULL},
};

const struct participants transition_of_servers = {
    participants, sizeof(participants) / sizeof(participants[0])};
