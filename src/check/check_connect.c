/* SPDX-License-Identifier: MIT
 * The connect check: the server accepts a connection.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check/check_kind.h"

struct connect_run {
	int fd;
	ev_io io;
	ev_timer timeout;
};

/* Ends the run and closes its socket.
 *
 * The close is an ordinary one, where HAProxy resets (SO_LINGER 0): a server
 * then reads an end of stream instead of logging an error at every check.  The
 * price is a socket in TIME_WAIT on our side, thirty per server with the
 * default interval, which cost no descriptor and block no other destination. */
static void
run_end(struct check *check)
{
	struct connect_run *run = check->run;

	ev_io_stop(check->loop, &run->io);
	ev_timer_stop(check->loop, &run->timeout);
	if (run->fd >= 0)
		close(run->fd);
	free(run);
	check->run = NULL;
}

/* Nobody listens on a loopback port that the kernel chose for our own end:
 * TCP's simultaneous open then connects the socket to itself (RFC 9293,
 * section 3.5), which proves nothing. */
static bool
connected_to_itself(int fd)
{
	struct addr own = {.len = sizeof(own.un)};
	struct addr peer = {.len = sizeof(peer.un)};

	if (getsockname(fd, &own.sa, &own.len) < 0 ||
	    getpeername(fd, &peer.sa, &peer.len) < 0)
		return false;
	return own.sa.sa_family != AF_UNIX && addr_equal(&own, &peer);
}

static void
connected(struct check *check)
{
	struct connect_run *run = check->run;
	bool itself = connected_to_itself(run->fd);

	run_end(check);
	if (itself)
		check_connect_failed(check, ECONNREFUSED);
	else
		check_done(check, CHECK_STATUS_L4OK, 0, "");
}

static void
failed(struct check *check, int error)
{
	run_end(check);
	check_connect_failed(check, error);
}

static void
on_writable(struct ev_loop *loop, ev_io *io, int events)
{
	struct check *check = io->data;
	int error = 0;
	socklen_t len = sizeof(error);

	(void)loop;
	(void)events;
	if (getsockopt(io->fd, SOL_SOCKET, SO_ERROR, &error, &len) < 0)
		error = errno;
	if (error)
		failed(check, error);
	else
		connected(check);
}

static void
on_timeout(struct ev_loop *loop, ev_timer *timer, int events)
{
	struct check *check = timer->data;

	(void)loop;
	(void)events;
	run_end(check);
	check_done(check, CHECK_STATUS_L4TOUT, 0, "no answer to the connect");
}

static void
connect_start(struct check *check)
{
	const struct addr *addr = &check->server->spec->addr;
	struct connect_run *run = calloc(1, sizeof(*run));

	if (!run) {
		check_skip(check, ENOMEM);
		return;
	}
	check->run = run;
	run->io.data = run->timeout.data = check;
	run->fd = socket(
	    addr->sa.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	ev_io_init(&run->io, on_writable, run->fd, EV_WRITE);
	ev_timer_init(&run->timeout, on_timeout,
	    (double)check->spec->timeout_ms / 1e3, 0.);
	if (run->fd < 0) {
		failed(check, errno);
	} else if (connect(run->fd, &addr->sa, addr->len) == 0) {
		connected(check);
	} else if (errno == EINPROGRESS) {
		ev_io_start(check->loop, &run->io);
		ev_timer_start(check->loop, &run->timeout);
	} else {
		failed(check, errno);
	}
}

const struct check_ops check_connect_ops = {
    .start = connect_start,
    .cancel = run_end,
};
