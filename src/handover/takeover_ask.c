/* SPDX-License-Identifier: MIT
 * See takeover_ask.h.
 */
#include "handover/takeover_ask.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "handover/takeover.h"

#define TAKEOVER_NAME_SIZE 64

/* Listens at an abstract address that cannot be guessed, whose name is written
 * with `@` in front.  Returns the socket or -1 with err set. */
static int
listen_for_peer(char name[TAKEOVER_NAME_SIZE], struct err *err)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	uint64_t random = 0;
	size_t n;
	int fd;

	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		random = clock_now_ns();
	n = (size_t)snprintf(name, TAKEOVER_NAME_SIZE,
	    "@lfproxy-%d-%016" PRIx64, (int)getpid(), random);
	memcpy(addr.sun_path + 1, name + 1, n - 1);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd >= 0 &&
	    bind(fd, (const struct sockaddr *)&addr,
	        (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n)) == 0 &&
	    listen(fd, SOMAXCONN) == 0)
		return fd;
	err_set(err, "no socket for the hand-over: %s", strerror(errno));
	if (fd >= 0)
		close(fd);
	return -1;
}

/* Asks the process at the admin socket to hand over to that name.  Returns the
 * connection or -1 with err set. */
static int
ask_at(const char *admin, const char *name, struct err *err)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	char line[TAKEOVER_NAME_SIZE + 16];
	int fd, n = snprintf(line, sizeof(line), "upgrade %s\n", name);

	if (strlen(admin) >= sizeof(addr.sun_path)) {
		err_set(err, "-x '%s': the path is too long", admin);
		return -1;
	}
	strcpy(addr.sun_path, admin);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd >= 0 &&
	    connect(fd, (const struct sockaddr *)&addr, sizeof(addr)) == 0 &&
	    send(fd, line, (size_t)n, MSG_NOSIGNAL) == n)
		return fd;
	err_set(err,
	    "-x '%s': %s; it names the admin socket of an lfproxy "
	    "that runs",
	    admin, strerror(errno));
	if (fd >= 0)
		close(fd);
	return -1;
}

/* Whether the peer is root, of this process's user, or, for root, the process
 * that listens at the admin socket: it may have become another user since. */
static bool
is_whom_was_asked(int peer, int connection)
{
	struct ucred from, asked;
	socklen_t size = sizeof(from);

	if (getsockopt(peer, SOL_SOCKET, SO_PEERCRED, &from, &size) < 0)
		return false;
	if (from.uid == 0 || from.uid == geteuid())
		return true;
	size = sizeof(asked);
	return geteuid() == 0 &&
	       getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &asked, &size) ==
	           0 &&
	       from.pid > 0 && from.pid == asked.pid;
}

/* Fills err with the process's own words. */
static void
refused_by_peer(int connection, const char *admin, struct err *err)
{
	char text[300] = "";
	ssize_t n = recv(connection, text, sizeof(text) - 1, 0);

	text[n > 0 ? strcspn(text, "\n") : 0] = '\0';
	err_set(err, "-x '%s': %s", admin,
	    *text ? text : "it has closed the connection");
}

/* Waits for an event until by_ms.  Returns false if there is none. */
static bool
poll_until(struct pollfd fds[2], uint64_t by_ms)
{
	uint64_t now_ms = clock_now_ms();

	return now_ms < by_ms && poll(fds, 2, (int)(by_ms - now_ms)) > 0;
}

/* Accepts the connection of the predecessor.  Other users see the name in
 * /proc/net/unix and can connect, too: closes their connections.  Returns the
 * connection or -1 with err set. */
static int
accept_peer(int listener, int connection, const char *admin, struct err *err)
{
	struct pollfd fds[] = {{.fd = listener, .events = POLLIN},
	    {.fd = connection, .events = POLLIN}};
	uint64_t by_ms = clock_now_ms() + TAKEOVER_WAIT_MS;
	bool others = false;

	while (poll_until(fds, by_ms)) {
		int fd;

		if (!(fds[0].revents & POLLIN)) {
			refused_by_peer(connection, admin, err);
			return -1;
		}
		fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
		if (fd >= 0 && is_whom_was_asked(fd, connection))
			return fd;
		if (fd < 0) {
			err_set(err, "-x '%s': no hand-over: %s", admin,
			    strerror(errno));
			return -1;
		}
		close(fd);
		others = true;
	}
	err_set(err, "-x '%s': no answer%s", admin,
	    others ? "; only processes of other users have connected" : "");
	return -1;
}

int
takeover_ask(const char *admin, struct err *err)
{
	char name[TAKEOVER_NAME_SIZE];
	int listener = listen_for_peer(name, err), connection = -1, peer = -1;

	if (listener >= 0)
		connection = ask_at(admin, name, err);
	if (connection >= 0)
		peer = accept_peer(listener, connection, admin, err);
	if (listener >= 0)
		close(listener);
	if (connection >= 0)
		close(connection);
	return peer;
}
