/* SPDX-License-Identifier: MIT
 * See admin_socket.h.
 */
#include "admin/admin_socket.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "admin/admin_bind.h"
#include "admin/client.h"
#include "admin/client_room.h"
#include "admin/grants.h"
#include "base/log.h"
#include "net/sock.h"

#define ACCEPTS_PER_EVENT 8
#define PAUSE_S           0.1 /* when a connection could not be accepted */

/* The changes that a reload makes, between prepare and commit. */
struct admin_socket_next {
	const struct admin_spec *spec; /* NULL: no reload is under way */
	struct grants grants;
	struct admin_file_change file;
	struct admin_bound bound; /* the new one, if the file was lost */
};

static const struct admin_socket_next no_next = {.file.fd = -1, .bound.fd = -1};

struct admin_socket {
	const struct admin_spec *spec;
	const struct command_env *env;
	struct ev_loop *loop;
	struct grants grants;
	struct admin_bound bound;
	ev_io io;
	ev_timer pause;
	struct list clients; /* oldest first */
	unsigned clients_n;
	struct admin_socket_next next;
};

static void
on_gone(struct client *client)
{
	struct admin_socket *socket = client->owner; /* NULL: it is closed */

	list_remove(&client->node);
	if (socket)
		socket->clients_n--;
}

static void
dismiss_for_another(struct client *client)
{
	bool may_hear = client_is_idle(client) && !client->commanded;

	client_dismiss(
	    client, may_hear ? "Closed: there are too many admin connections "
	                       "and this one was idle.\n\n"
	                     : "");
}

static bool
make_room_for_client(
    struct admin_socket *socket, const struct command_mode *newcomer)
{
	struct client *client;

	if (socket->clients_n < socket->spec->maxconn)
		return true;
	client = client_to_close(&socket->clients, newcomer);
	if (client)
		dismiss_for_another(client);
	return client != NULL;
}

static void
refuse_connection(int fd)
{
	static const char line[] =
	    "Too many admin connections; close one or try again later.\n\n";

	(void)send(fd, line, sizeof(line) - 1, MSG_NOSIGNAL | MSG_DONTWAIT);
	close(fd);
}

static void
add_client(struct admin_socket *socket, int fd)
{
	struct command_mode newcomer = {
	    .timeout_s = (double)socket->spec->timeout_ms / 1e3};
	struct client *client;

	peer_learn(fd, &newcomer.peer);
	newcomer.level = grants_level(
	    &socket->grants, fd, &newcomer.peer, admin_socket_level(socket));
	if (!make_room_for_client(socket, &newcomer)) {
		refuse_connection(fd);
		return;
	}
	client = client_new(
	    socket->loop, fd, socket->env, &newcomer, socket, on_gone);
	if (!client)
		return;
	list_append(&socket->clients, &client->node);
	socket->clients_n++;
}

/* Stops accepting for PAUSE_S: the connection stays in the backlog, so the
 * event would come again at once.  EINVAL: another process, which has the
 * socket as well, has shut it down. */
static void
pause_admin_accept(struct admin_socket *socket, int error)
{
	static struct log_limit limit;

	if (error != EINVAL)
		log_limited(&limit, LOG_LEVEL_WARNING,
		    "cannot accept an admin connection: %s%s", strerror(error),
		    error == EMFILE || error == ENFILE
		        ? "; raise the limit on open files (LimitNOFILE= in "
		          "the unit)"
		        : "");
	ev_io_stop(socket->loop, &socket->io);
	ev_timer_set(&socket->pause, PAUSE_S, 0.);
	ev_timer_start(socket->loop, &socket->pause);
}

static void
resume_admin_accept(struct ev_loop *loop, ev_timer *timer, int events)
{
	struct admin_socket *socket = timer->data;

	(void)events;
	ev_io_start(loop, &socket->io);
}

static void
on_connection(struct ev_loop *loop, ev_io *io, int events)
{
	struct admin_socket *socket = io->data;

	(void)loop;
	(void)events;
	for (int i = 0; i < ACCEPTS_PER_EVENT; i++) {
		int fd =
		    accept4(io->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

		if (fd >= 0)
			add_client(socket, fd);
		else if (errno == EAGAIN)
			return;
		else if (errno != EINTR && errno != ECONNABORTED) {
			pause_admin_accept(socket, errno);
			return;
		}
	}
}

static bool
read_grants(
    const struct admin_spec *spec, struct grants *ret_grants, struct err *err)
{
	struct grants grants = {NULL, 0};

	if (grants_add(&grants, spec->operators, LEVEL_OPERATOR, err) &&
	    grants_add(&grants, spec->admins, LEVEL_ADMIN, err)) {
		*ret_grants = grants;
		return true;
	}
	grants_fini(&grants);
	return false;
}

struct admin_socket *
admin_socket_open(const struct admin_spec *spec, const struct command_env *env,
    struct ev_loop *loop, struct err *err)
{
	struct admin_socket *socket = calloc(1, sizeof(*socket));

	if (!socket) {
		err_oom(err);
		return NULL;
	}
	socket->spec = spec;
	socket->env = env;
	socket->loop = loop;
	socket->bound.fd = -1;
	socket->next = no_next;
	list_init(&socket->clients);
	ev_init(&socket->pause, resume_admin_accept);
	ev_init(&socket->io, on_connection);
	socket->io.data = socket->pause.data = socket;
	if (!read_grants(spec, &socket->grants, err) ||
	    !admin_bind(spec, &socket->bound, err)) {
		admin_socket_close(socket);
		return NULL;
	}
	return socket;
}

static void
start_accepting(struct admin_socket *socket)
{
	ev_io_set(&socket->io, socket->bound.fd, EV_READ);
	ev_io_start(socket->loop, &socket->io);
}

/* Closes the listening socket and removes its file if it is still ours.
 * Returns 0, or -errno if the file cannot be removed. */
static int
stop_listening(struct admin_socket *socket)
{
	ev_io_stop(socket->loop, &socket->io);
	ev_timer_stop(socket->loop, &socket->pause);
	return admin_unbind(&socket->bound, socket->spec);
}

void
admin_socket_close(struct admin_socket *socket)
{
	if (!socket)
		return;
	admin_clients_close(&socket->clients);
	(void)stop_listening(socket);
	grants_fini(&socket->grants);
	free(socket);
}

void
admin_socket_hold(struct admin_socket *socket)
{
	ev_io_stop(socket->loop, &socket->io);
}

void
admin_socket_resume(struct admin_socket *socket)
{
	start_accepting(socket);
}

int
admin_socket_fd(const struct admin_socket *socket)
{
	return socket->bound.fd;
}

void
admin_socket_hand_over(struct admin_socket *socket)
{
	/* The file is not ours any more. */
	socket->bound.file.st_ino = 0;
	(void)stop_listening(socket);
	list_for_each (node, &socket->clients)
		client_leave(container_of(node, struct client, node));
}

/* -- a reload -- */

bool
admin_socket_serves(
    const struct admin_socket *socket, const struct admin_spec *spec)
{
	if (addr_equal(&socket->spec->addr, &spec->addr))
		return true;
	return spec->addr.sa.sa_family == AF_UNIX &&
	       admin_bound_is_at(&socket->bound, spec->addr.un.sun_path);
}

bool
admin_socket_prepare(
    struct admin_socket *socket, const struct admin_spec *spec, struct err *err)
{
	struct admin_socket_next *next = &socket->next;

	if (!read_grants(spec, &next->grants, err))
		return false;
	if (admin_bound_lost(&socket->bound, spec)
	        ? admin_bind(spec, &next->bound, err)
	        : admin_file_change(
	              &socket->bound, socket->spec, spec, &next->file, err)) {
		next->spec = spec;
		return true;
	}
	grants_fini(&next->grants);
	return false;
}

bool
admin_socket_is_prepared(const struct admin_socket *socket)
{
	return socket->next.spec != NULL;
}

void
admin_socket_cancel(struct admin_socket *socket)
{
	struct admin_socket_next next = socket->next;

	if (!next.spec) {
		admin_socket_close(socket);
		return;
	}
	(void)admin_unbind(&next.bound, next.spec);
	admin_file_put_back(&next.file);
	grants_fini(&next.grants);
	socket->next = no_next;
}

/* Accepts the connections in the backlog, up to maxconn: no client is closed
 * for them.  A unix socket is shut down first, which keeps its backlog but lets
 * no further client connect; a TCP socket would drop its backlog. */
static void
accept_rest(struct admin_socket *socket)
{
	int fd;

	if (socket->spec->addr.sa.sa_family == AF_UNIX)
		(void)shutdown(socket->bound.fd, SHUT_RD);
	while (socket->clients_n < socket->spec->maxconn &&
	       (fd = accept4(socket->bound.fd, NULL, NULL,
	            SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0)
		add_client(socket, fd);
}

/* Lowered rights apply at once; raised rights apply to new connections. */
static void
lower_levels(struct admin_socket *socket)
{
	list_for_each (node, &socket->clients) {
		struct client *client = container_of(node, struct client, node);
		enum admin_level level = grants_level(&socket->grants,
		    client->fd, &client->mode.peer, admin_socket_level(socket));

		if (client->mode.level > level)
			client->mode.level = level;
	}
}

void
admin_socket_commit(struct admin_socket *socket, struct changes *changes)
{
	struct admin_socket_next next = socket->next;

	if (!next.spec) {
		start_accepting(socket);
		return;
	}
	if (next.bound.fd >= 0) {
		accept_rest(socket);
		(void)stop_listening(socket);
		socket->bound = next.bound;
		start_accepting(socket);
		changes_add(changes, false,
		    "global: admin: %s: its file was lost, it was bound again",
		    next.spec->text);
	}
	admin_file_keep(&next.file);
	grants_fini(&socket->grants);
	socket->grants = next.grants;
	socket->spec = next.spec;
	socket->next = no_next;
	lower_levels(socket);
}

void
admin_socket_leave(
    struct admin_socket *socket, struct list *left, struct changes *changes)
{
	int rc;

	accept_rest(socket);
	rc = stop_listening(socket);
	if (rc < 0)
		changes_add(changes, true,
		    "global: admin: %s: its file cannot be removed: %s; remove "
		    "it by hand",
		    socket->spec->text, strerror(-rc));
	list_for_each (node, &socket->clients) {
		struct client *client = container_of(node, struct client, node);

		client->owner = NULL;
		client_leave(client);
	}
	list_splice(&socket->clients, left);
	admin_socket_close(socket);
}

void
admin_clients_close(struct list *clients)
{
	list_for_each_safe (node, clients)
		client_close(container_of(node, struct client, node));
}

/* -- statistics -- */

unsigned
admin_clients_count(const struct list *clients)
{
	unsigned n = 0;

	list_for_each (node, clients) {
		const struct client *client =
		    container_of(node, struct client, node);

		n += client->state != CLIENT_LINGERING;
	}
	return n;
}

const struct list *
admin_socket_clients(const struct admin_socket *socket)
{
	return &socket->clients;
}

const char *
admin_socket_text(
    const struct admin_socket *socket, char out[ADMIN_SOCKET_TEXT_SIZE])
{
	char text[ADDR_TEXT_SIZE];
	struct addr addr;

	if (socket->spec->addr.sa.sa_family == AF_UNIX)
		snprintf(out, ADMIN_SOCKET_TEXT_SIZE, "unix@%s",
		    socket->spec->addr.un.sun_path);
	else if (sock_local_addr(socket->bound.fd, &addr))
		snprintf(out, ADMIN_SOCKET_TEXT_SIZE, "%s@%s",
		    addr.sa.sa_family == AF_INET6 ? "ipv6" : "ipv4",
		    addr_text(&addr, text));
	else
		snprintf(out, ADMIN_SOCKET_TEXT_SIZE, "%s", socket->spec->text);
	return out;
}

enum admin_level
admin_socket_level(const struct admin_socket *socket)
{
	return socket->spec->level;
}
