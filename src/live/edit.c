/* SPDX-License-Identifier: MIT
 * See edit.h.
 */
#include "live/edit.h"

#include <stdlib.h>
#include <string.h>

#include "base/ensure.h"
#include "base/events.h"
#include "config/edit.h"
#include "live/control.h"
#include "live/transition.h"
#include "process/server_sockets.h"

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

/* The next list of a backend's servers, as in backend_change_prepare. */
struct next_list {
	struct backend *backend;
	struct server_spec **servers;
	size_t n, singles_n;
};

static bool
make_change(struct transition *t)
{
	const struct next_list *l = t->arg;

	t->servers_n = backend_change_prepare(
	    t->servers, l->backend, l->servers, l->n, l->singles_n);
	return t->servers_n == 1 || control_refuse(t->errors, "out of memory");
}

/* Replaces the list of the backend's servers.  Takes ownership of the list.
 * Returns false with errors. */
static bool
change_servers(
    struct control *c, const struct next_list *next, struct err_list *errors)
{
	struct backend_change change;
	struct transition t = {.parts = &transition_of_servers,
	    .control = c,
	    .errors = errors,
	    .make_changes = make_change,
	    .arg = next,
	    .servers = &change};

	if (!transition_prepare(&t))
		return false;
	transition_commit(&t);
	return true;
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
	return change_servers(c,
	    &(struct next_list){backend, list, b->servers_n + 1, at + 1},
	    errors);
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
	s = config_read_server(c->instance.model->spec, backend, value, errors);
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
	if (!limits_suffice(&control->orders.limits.budget,
	        control->instance.model->spec, "the servers that were added",
	        &err))
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
	struct spec *spec = control->instance.model->spec;
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
	if (!change_servers(control,
	        &(struct next_list){
	            backend, list, b->servers_n - 1, b->singles_n - 1},
	        errors))
		return false;
	server->state->deleted = true;
	event_add(EVENT_SERVER_REMOVED, LOG_LEVEL_INFO, b->name,
	    server->spec->name, "server %s/%s is deleted: by operator", b->name,
	    server->spec->name);
	return true;
}
