/* SPDX-License-Identifier: MIT
 * See edit.h.
 */
#include "control/edit.h"

#include <stdlib.h>
#include <string.h>

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

/* -- servers that come and go -- */

bool
control_prepare_change(struct control *control,
    const struct backend_change *change, struct err_list *errors)
{
	for (size_t i = 0; i < change->came_n; i++)
		server_names_prepare_server(control, change->came[i]);
	return checker_prepare_servers(
	           control->checker, change->came, change->came_n) ||
	       control_refuse(errors, "out of memory");
}

/* Makes the rest of the control plane follow a change that was committed. */
static void
follow_change(struct control *c, struct backend_change *change)
{
	bool limited = false, with_tls = false;

	for (size_t i = 0; i < change->gone_n; i++) {
		struct server *s = change->gone[i];

		checker_drop_server(c->checker, s);
		server_names_drop(c, s);
		limited |= bandwidth_limits_server(s);
		with_tls |= s->tls != NULL;
	}
	for (size_t i = 0; i < change->came_n; i++) {
		struct server *s = change->came[i];

		server_names_add(c, s);
		limited |= bandwidth_limits_server(s);
		with_tls |= s->tls != NULL;
		/* A server with a name was reported when it got its address. */
		if (s->state->refs == 1 && !s->spec->host)
			server_warn_of_loop(s);
	}
	if (limited)
		control_follow_bandwidth(c);
	if (with_tls) {
		config_follow_servers(c->model->spec);
		pools_follow(c->pools, c->model->spec);
	}
}

void
control_commit_changes(
    struct control *control, struct backend_change *changes, size_t n)
{
	struct control *c = control;

	for (size_t i = 0; i < n; i++)
		backend_change_commit(&changes[i]);
	checker_commit_servers(c->checker);
	for (size_t i = 0; i < n; i++) {
		follow_change(c, &changes[i]);
		backend_change_fini(&changes[i]);
	}
	model_update(c->model);
	/* A server may be the first that needs a context of its section. */
	tls_watch_follow(&c->tls_watch, c->model->spec);
}

/* -- servers added and deleted -- */

/* Returns a copy of the backend's list of servers with room for one more, or
 * NULL with errors. */
static struct server_spec **
copy_list(const struct backend_spec *b, struct err_list *errors)
{
	struct server_spec **list = calloc(b->servers_n + 1, sizeof(*list));

	if (!list)
		control_refuse(errors, "out of memory");
	else if (b->servers_n > 0)
		memcpy(list, b->servers, b->servers_n * sizeof(*list));
	return list;
}

/* Replaces the list of the backend's servers.  Takes ownership of the list.
 * Returns false with errors. */
static bool
change_servers(struct control *c, struct backend *backend,
    struct server_spec **list, size_t n, size_t singles_n,
    struct err_list *errors)
{
	struct backend_change change;

	if (!backend_change_prepare(&change, backend, list, n, singles_n))
		return control_refuse(errors, "out of memory");
	if (control_prepare_change(c, &change, errors)) {
		control_commit_changes(c, &change, 1);
		return true;
	}
	backend_change_cancel(&change);
	return false;
}

/* Puts the server behind the single servers of the backend, and before the
 * members of sets.  Takes ownership of the server.  Returns false with errors.
 */
static bool
insert_server(struct control *c, struct backend *backend,
    struct server_spec *server, struct err_list *errors)
{
	const struct backend_spec *b = backend->spec;
	size_t at = b->singles_n;
	struct server_spec **list = copy_list(b, errors);

	if (!list) {
		server_spec_free(server);
		return false;
	}
	memmove(
	    &list[at + 1], &list[at], (b->servers_n - at) * sizeof(list[0]));
	list[at] = server;
	return change_servers(
	    c, backend, list, b->servers_n + 1, at + 1, errors);
}

/* Reads a server and tries its options on a socket.  Returns NULL with errors.
 */
static struct server_spec *
read_server(struct control *c, const struct backend_spec *backend,
    const char *value, struct err_list *errors)
{
	struct server_spec *s;
	struct err err;

	if (!control_may_change(c, errors))
		return NULL;
	s = config_read_server(c->model->spec, backend, value, errors);
	if (!s || server_socket_try(backend, s, true, &err))
		return s;
	control_refuse(errors, err.text);
	server_spec_free(s);
	return NULL;
}

struct server *
control_add_server(struct control *control, struct backend *backend,
    const char *value, struct err_list *errors)
{
	static struct log_limit limit;
	const struct backend_spec *b = backend->spec;
	struct server_spec *spec = read_server(control, b, value, errors);
	struct err err;

	if (!spec || !insert_server(control, backend, spec, errors))
		return NULL;
	event_add(EVENT_SERVER_ADDED, LOG_LEVEL_INFO, b->name, spec->name,
	    "server %s/%s is added, in maintenance, at %s", b->name, spec->name,
	    spec->address);
	/* The new server's check may take a descriptor.  The descriptors of
	 * sessions were set aside at the start. */
	if (!limits_suffice(&control->budget, control->model->spec,
	        "the servers that were added", &err))
		log_limited(&limit, LOG_LEVEL_WARNING, "%s", err.text);
	return backend->servers[b->singles_n - 1];
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
	struct backend *backend = server->backend;
	struct spec *spec = control->model->spec;
	struct backend_spec *b =
	    &spec->backends[backend->spec - spec->backends];
	struct server_spec **list;
	size_t at = 0;

	if (!control_may_change(control, errors))
		return false;
	list = copy_list(b, errors);
	if (!list)
		return false;
	while (list[at] != server->spec)
		ENSURE(++at < b->singles_n);
	memmove(&list[at], &list[at + 1],
	    (b->servers_n - at - 1) * sizeof(list[0]));
	/* If the change fails, the name stays noted, which has no effect as
	 * long as the server is there. */
	if (!config_note_deleted(b, server->spec)) {
		free(list);
		return control_refuse(errors, "out of memory");
	}
	if (!change_servers(control, backend, list, b->servers_n - 1,
	        b->singles_n - 1, errors))
		return false;
	server->state->deleted = true;
	event_add(EVENT_SERVER_REMOVED, LOG_LEVEL_INFO, b->name,
	    server->spec->name, "server %s/%s is deleted: the operator says so",
	    b->name, server->spec->name);
	return true;
}
