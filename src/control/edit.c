/* SPDX-License-Identifier: MIT
 * See edit.h.
 */
#include "control/edit.h"

#include "base/ensure.h"
#include "base/events.h"
#include "config/edit.h"
#include "control/control_internal.h"
#include "control/server_sockets.h"
#include "proxy/accesslog.h"

/* -- how one model follows another -- */

bool
control_refuse(struct err_list *errors, const char *why)
{
	err_list_add(errors, NULL, 0, "%s", why);
	return false;
}

bool
control_may_change(const struct control *control, struct err_list *errors)
{
	if (control->phase != RUNNING)
		return control_refuse(errors, "lfproxy is stopping");
	/* The other process would not get the change. */
	return !control->upgrade ||
	       control_refuse(errors, "an upgrade is under way");
}

struct model *
control_prepare_model(
    struct control *control, struct spec *spec, struct err_list *errors)
{
	struct model *model;
	struct err err;

	/* Reclaim old models now, so that a thousand changes in a row do not
	 * keep a thousand models. */
	(void)model_reclaim(control->model);
	model = model_new(spec, control->grace, control->model);
	err_oom(&err);
	if (model)
		server_names_prepare(control, model);
	if (model && accesslog_open(model, &err) &&
	    checker_prepare(control->checker, model))
		return model;
	model_free(model);
	control_refuse(errors, err.text);
	return NULL;
}

void
control_publish_model(struct control *control, struct model *model)
{
	model_publish(model, control->model);
	checker_commit(control->checker);
	control->model = model;
	server_names_commit(control);
}

void
control_retire_model(struct control *control, struct model *before)
{
	model_retire(before);
	server_followup_review(control);
}

/* -- servers added and deleted -- */

/* Returns a copy of the spec in force, and in ret_backend the backend in it
 * that is to be edited.  Returns NULL with errors. */
static struct spec *
copy_to_edit(struct control *c, const struct backend *backend,
    struct backend_spec **ret_backend, struct err_list *errors)
{
	struct spec *spec;
	size_t i = 0;

	if (!control_may_change(c, errors))
		return NULL;
	spec = spec_copy(c->model->spec);
	if (!spec) {
		control_refuse(errors, "out of memory");
		return NULL;
	}
	while (c->model->backends[i] != backend)
		ENSURE(++i < spec->backends_n);
	*ret_backend = &spec->backends[i];
	return spec;
}

void
control_publish_edit(struct control *control, struct model *model)
{
	control_publish_model(control, model);
	control_follow_bandwidth(control);
	pools_follow(control->pools, model->spec);
	listeners_follow(control->listeners, model);
	/* The former model has no part in the states of new servers.  Servers
	 * with names were reported when they got their addresses. */
	model_for_each_server (s, model)
		if (s->state->refs == 1 && !s->spec->host)
			server_warn_of_loop(s);
}

void
control_retire_edit(struct control *control, struct model *before)
{
	const struct model *model = control->model;

	control_retire_model(control, before);
	tls_watch_follow(&control->tls_watch, model->spec);
	list_watch_follow(&control->list_watch, model);
}

static void
commit_edit(struct control *c, struct model *model)
{
	struct model *before = c->model;

	control_publish_edit(c, model);
	control_retire_edit(c, before);
}

/* Tries the options of the backend's last server, apart from those of sets, on
 * a socket.  Returns false with errors. */
static bool
try_last_server(const struct backend_spec *b, struct err_list *errors)
{
	struct err err;

	return server_socket_try(b, b->servers[b->singles_n - 1], true, &err) ||
	       control_refuse(errors, err.text);
}

struct server *
control_add_server(struct control *control, const struct backend *backend,
    const char *value, struct err_list *errors)
{
	static struct log_limit limit;
	struct backend_spec *b;
	struct spec *spec = copy_to_edit(control, backend, &b, errors);
	struct model *model;
	struct server *s;
	struct err err;

	if (!spec)
		return NULL;
	if (!config_add_server(spec, b, value, errors) ||
	    !try_last_server(b, errors)) {
		spec_free(spec);
		return NULL;
	}
	model = control_prepare_model(control, spec, errors);
	if (!model)
		return NULL;
	commit_edit(control, model);
	s = model->backends[b - spec->backends]->servers[b->singles_n - 1];
	event_add(EVENT_SERVER_ADDED, LOG_LEVEL_INFO, b->name, s->spec->name,
	    "server %s/%s is added, in maintenance, at %s", b->name,
	    s->spec->name, s->spec->address);
	/* The new server's check may take a descriptor.  The descriptors of
	 * sessions were set aside at the start. */
	if (!limits_suffice(
	        &control->budget, spec, "the servers that were added", &err))
		log_limited(&limit, LOG_LEVEL_WARNING, "%s", err.text);
	return s;
}

enum server_removable
control_server_removable(const struct server *server)
{
	if (server->spec->set.is_set)
		return SERVER_OF_SET;
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
	struct backend_spec *b;
	struct spec *spec = copy_to_edit(control, server->backend, &b, errors);
	const char *name = server->spec->name;
	struct model *model;

	if (!spec)
		return false;
	if (!config_del_server(spec, b, name, errors)) {
		spec_free(spec);
		return false;
	}
	model = control_prepare_model(control, spec, errors);
	if (!model)
		return false;
	server->state->deleted = true;
	event_add(EVENT_SERVER_REMOVED, LOG_LEVEL_INFO, b->name, name,
	    "server %s/%s is deleted: the operator says so", b->name, name);
	commit_edit(control, model);
	return true;
}
