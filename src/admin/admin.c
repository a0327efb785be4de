/* SPDX-License-Identifier: MIT
 * See admin.h.
 */
#include "admin/admin.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "admin/client.h"
#include "base/log.h"
#include "net/sock.h"

#define ACCEPTS_A_TURN 16
#define PAUSE_S        0.1 /* when a connection could not be accepted */

struct admin {
	struct ev_loop *loop;
	struct command_env env;
	int fd;
	ev_io io;
	ev_timer pause;
	struct addr addr;
	dev_t dev; /* of the file, which somebody may have replaced */
	ino_t ino;
	struct list clients; /* oldest first */
	unsigned clients_n;
};

static void
on_gone(struct client *client)
{
	struct admin *admin = client->owner;

	list_remove(&client->node);
	admin->clients_n--;
}

/* Makes room by closing the oldest connection that owes and is owed nothing,
 * so that idlers, however many, do not lock the operator out. */
static bool
make_room(struct admin *admin)
{
	if (admin->clients_n < ADMIN_CLIENTS_MAX)
		return true;
	list_for_each (node, &admin->clients) {
		struct client *client = container_of(node, struct client, node);

		if (!client_is_idle(client))
			continue;
		client_dismiss(
		    client, client->commanded
		                ? ""
		                : "Closed: there are too many admin "
		                  "connections and this one was idle.\n\n");
		return true;
	}
	return false;
}

static void
refuse(int fd)
{
	static const char line[] =
	    "Too many admin connections; close one or try again later.\n\n";

	(void)send(fd, line, sizeof(line) - 1, MSG_NOSIGNAL | MSG_DONTWAIT);
	close(fd);
}

static void
add_client(struct admin *admin, int fd)
{
	struct client *client;

	if (!make_room(admin)) {
		refuse(fd);
		return;
	}
	client = client_new(admin->loop, fd, &admin->env, admin, on_gone);
	if (!client)
		return;
	list_append(&admin->clients, &client->node);
	admin->clients_n++;
}

/* The connection stays in the backlog, so the loop would be called again at
 * once: rest a little instead. */
static void
pause_accepting(struct admin *admin, int error)
{
	static struct log_limit limit;

	log_limited(&limit, LOG_LEVEL_WARNING,
	    "an admin connection could not be accepted: %s; raise the limit "
	    "on open files (LimitNOFILE= in the unit)",
	    strerror(error));
	ev_io_stop(admin->loop, &admin->io);
	ev_timer_set(&admin->pause, PAUSE_S, 0.);
	ev_timer_start(admin->loop, &admin->pause);
}

static void
on_pause_over(struct ev_loop *loop, ev_timer *timer, int events)
{
	struct admin *admin = timer->data;

	(void)events;
	ev_io_start(loop, &admin->io);
}

static void
on_connection(struct ev_loop *loop, ev_io *io, int events)
{
	struct admin *admin = io->data;

	(void)loop;
	(void)events;
	for (int i = 0; i < ACCEPTS_A_TURN; i++) {
		int fd =
		    accept4(io->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

		if (fd >= 0)
			add_client(admin, fd);
		else if (errno == EAGAIN)
			return;
		else if (errno != EINTR && errno != ECONNABORTED) {
			pause_accepting(admin, errno);
			return;
		}
	}
}

static bool
set_path(struct admin *admin, const char *path, struct err *err)
{
	struct sockaddr_un *un = &admin->addr.un;

	if (strlen(path) >= sizeof(un->sun_path))
		return err_set(err,
		    "the path of the admin socket, '%s', is longer than %zu "
		    "bytes; choose a shorter one",
		    path, sizeof(un->sun_path) - 1);
	un->sun_family = AF_UNIX;
	strcpy(un->sun_path, path);
	admin->addr.len = sizeof(*un);
	return true;
}

/* What is at the path now may go: nothing, or a socket nobody listens on. */
static bool
path_is_free(const struct addr *addr, struct err *err)
{
	const char *path = addr->un.sun_path;
	struct stat st;
	bool connected;
	int fd;

	if (lstat(path, &st) < 0)
		return true; /* bind will say what is wrong, if anything */
	if (!S_ISSOCK(st.st_mode))
		return err_set(err,
		    "the admin socket cannot be '%s': that is a file of "
		    "another kind; remove it or choose another path",
		    path);
	fd = sock_connect(addr, &connected);
	if (fd < 0 && fd != -EAGAIN)
		return true;
	if (fd >= 0)
		close(fd);
	return err_set(err,
	    "another lfproxy serves the admin socket '%s'; stop it or choose "
	    "another path",
	    path);
}

static bool
listen_at(
    struct admin *admin, const struct global_spec *global, struct err *err)
{
	struct stat st;

	if (!set_path(admin, global->admin, err) ||
	    !path_is_free(&admin->addr, err))
		return false;
	admin->fd = sock_listen(&admin->addr, false, global->admin_mode, err);
	if (admin->fd < 0)
		return false;
	if (lstat(global->admin, &st) == 0) {
		admin->dev = st.st_dev;
		admin->ino = st.st_ino;
	}
	return true;
}

struct admin *
admin_open(struct control *control, struct err *err)
{
	const struct global_spec *global =
	    &control_model(control)->spec->global;
	struct admin *admin = calloc(1, sizeof(*admin));

	if (!admin) {
		err_set(err, "out of memory for the admin socket");
		return NULL;
	}
	list_init(&admin->clients);
	admin->loop = control_loop(control);
	admin->env.control = control;
	if (!listen_at(admin, global, err)) {
		free(admin);
		return NULL;
	}
	ev_init(&admin->pause, on_pause_over);
	ev_io_init(&admin->io, on_connection, admin->fd, EV_READ);
	admin->io.data = admin->pause.data = admin;
	ev_io_start(admin->loop, &admin->io);
	return admin;
}

static void
remove_file(const struct admin *admin)
{
	const char *path = admin->addr.un.sun_path;
	struct stat st;

	if (lstat(path, &st) == 0 && st.st_dev == admin->dev &&
	    st.st_ino == admin->ino)
		(void)unlink(path);
}

void
admin_close(struct admin *admin)
{
	if (!admin)
		return;
	list_for_each_safe (node, &admin->clients)
		client_close(container_of(node, struct client, node));
	ev_io_stop(admin->loop, &admin->io);
	ev_timer_stop(admin->loop, &admin->pause);
	remove_file(admin);
	close(admin->fd);
	free(admin);
}
