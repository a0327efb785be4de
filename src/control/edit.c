/* SPDX-License-Identifier: MIT
 * See edit.h.
 */
#include "control/edit.h"

#include <string.h>

#include "base/ensure.h"
#include "base/events.h"
#include "base/text.h"
#include "config/edit.h"
#include "control/control_internal.h"
#include "control/server_sockets.h"
#include "proxy/accesslog.h"

static bool
refuse(struct err_list *errors, const char *why)
{
	err_list_add(errors, NULL, 0, "%s", why);
	return false;
}

static struct backend_spec *
find_backend(struct spec *spec, const char *name)
{
	size_t i = 0;

	while (
	    i < spec->backends_n && strcmp(spec->backends[i].name, name) != 0)
		i++;
	ENSURE(i < spec->backends_n);
	return &spec->backends[i];
}

/* A copy to be edited; NULL after an error. */
static struct spec *
copy_spec(struct control *c, struct err_list *errors)
{
	struct spec *spec;

	if (c->phase != RUNNING) {
		refuse(errors, "lfproxy is stopping");
		return NULL;
	}
	spec = spec_copy(c->model->spec);
	if (!spec)
		refuse(errors, "out of memory");
	return spec;
}

/* Everything that can fail.  Takes the spec over; NULL when nothing was
 * changed. */
static struct model *
prepare(struct control *c, struct spec *spec, struct err_list *errors)
{
	struct model *model;
	struct err err;

	/* Reclaim old models now, so that a thousand changes in a row do not
	 * keep a thousand models. */
	(void)model_reclaim(c->model);
	model = model_new(spec, c->grace, c->model);
	err_oom(&err);
	if (model)
		server_names_prepare(c, model);
	if (model && accesslog_open(model, &err) &&
	    checker_prepare(c->checker, model))
		return model;
	model_free(model);
	refuse(errors, err.text);
	return NULL;
}

/* The last of the backend's servers is one that the kernel lets be connected
 * to. */
static bool
try_last(const struct backend_spec *b, struct err_list *errors)
{
	struct err err;

	return server_socket_try(
	           b, &b->servers[b->servers_n - 1], true, &err) ||
	       refuse(errors, err.text);
}

/* In the order of a reload, and for its reasons. */
static void
commit(struct control *c, struct model *model)
{
	struct model *before = c->model;

	model_publish(model, before);
	checker_commit(c->checker, model);
	c->model = model;
	server_names_commit(c);
	listeners_follow(c->listeners, model);
	model_retire(before);
	server_followup_review(c);
}

/* Each added server's check may take a descriptor.  The descriptors of sessions
 * were set aside at the start. */
static void
warn_of_descriptors(const struct control *c)
{
	static struct log_limit limit;
	uint32_t sessions;

	if (!limits_suffice(&c->budget, c->model->spec, &sessions))
		log_limited(&limit, LOG_LEVEL_WARNING,
		    "with the servers that were added the descriptors are "
		    "enough for %u session%s and not for %u; allow more "
		    "(LimitNOFILE= in the unit) and restart",
		    sessions, text_s(sessions), c->budget.sessions);
}

struct server *
control_add_server(struct control *control, const struct backend *backend,
    const char *value, struct err_list *errors)
{
	struct spec *spec = copy_spec(control, errors);
	struct backend_spec *b;
	struct model *model;
	struct server *s;

	if (!spec)
		return NULL;
	b = find_backend(spec, backend->spec->name);
	if (!config_add_server(spec, b, value, errors) ||
	    !try_last(b, errors)) {
		spec_free(spec);
		return NULL;
	}
	model = prepare(control, spec, errors);
	if (!model)
		return NULL;
	commit(control, model);
	s = model->backends[b - spec->backends]->servers[b->servers_n - 1];
	event_add(EVENT_SERVER_ADDED, LOG_LEVEL_INFO, b->name, s->spec->name,
	    "server %s/%s is added, in maintenance, at %s", b->name,
	    s->spec->name, s->spec->address);
	warn_of_descriptors(control);
	return s;
}

enum server_removable
control_server_removable(const struct server *server)
{
	if (server->trackers)
		return SERVER_TRACKED;
	if (server_admin_of(server) != SERVER_MAINT)
		return SERVER_IN_USE;
	return atomic_load_relaxed(&server->sessions->now) > 0
	           ? SERVER_CONNECTED
	           : SERVER_REMOVABLE;
}

bool
control_del_server(
    struct control *control, struct server *server, struct err_list *errors)
{
	struct spec *spec = copy_spec(control, errors);
	const char *name = server->spec->name;
	struct backend_spec *b;
	struct model *model;

	if (!spec)
		return false;
	b = find_backend(spec, server->backend->spec->name);
	if (!config_del_server(spec, b, name, errors)) {
		spec_free(spec);
		return false;
	}
	model = prepare(control, spec, errors);
	if (!model)
		return false;
	server->state->deleted = true;
	event_add(EVENT_SERVER_REMOVED, LOG_LEVEL_INFO, b->name, name,
	    "server %s/%s is deleted: the operator says so", b->name, name);
	commit(control, model);
	return true;
}
