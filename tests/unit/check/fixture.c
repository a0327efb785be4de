/* SPDX-License-Identifier: MIT
 * See fixture.h.
 */
#include "balance/balance.h"
#include "check/fixture.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "net/sock.h"
#include "servers.h"

struct talk {
	ev_io io;
	struct peer *peer;
	bool answering;
};

static void
talk_end(struct talk *talk)
{
	ev_io_stop(talk->peer->loop, &talk->io);
	close(talk->io.fd);
	talk->peer->closed++;
	free(talk);
}

static void
talk_answer(struct talk *talk)
{
	struct peer *peer = talk->peer;
	size_t n = strlen(peer->reply);
	char block[4096];

	if (!talk->answering) {
		(void)send(talk->io.fd, peer->reply, n, MSG_NOSIGNAL);
		talk->answering = true;
	}
	if (!peer->endless) {
		talk_end(talk);
		return;
	}
	ev_io_stop(peer->loop, &talk->io);
	ev_io_set(&talk->io, talk->io.fd, EV_WRITE);
	ev_io_start(peer->loop, &talk->io);
	memset(block, peer->reply[n - 1], sizeof(block));
	if (send(talk->io.fd, block, sizeof(block),
	        MSG_NOSIGNAL | MSG_DONTWAIT) < 0 &&
	    errno != EAGAIN)
		talk_end(talk);
}

static void
on_talk(struct ev_loop *loop, ev_io *io, int events)
{
	struct talk *talk = io->data;
	struct peer *peer = talk->peer;
	size_t room = sizeof(peer->request) - peer->request_n - 1;
	ssize_t n;

	(void)loop;
	if (events & EV_WRITE) {
		talk_answer(talk);
		return;
	}
	n = recv(io->fd, peer->request + peer->request_n, room, MSG_DONTWAIT);
	if (n <= 0) {
		talk_end(talk);
		return;
	}
	peer->request_n += (size_t)n;
	peer->request[peer->request_n] = '\0';
	if (peer->reply && strstr(peer->request, "\r\n\r\n"))
		talk_answer(talk);
}

static void
on_accept(struct ev_loop *loop, ev_io *io, int events)
{
	struct peer *peer = io->data;
	struct talk *talk = calloc(1, sizeof(*talk));
	int fd = accept4(io->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

	(void)events;
	assert_non_null(talk);
	assert_true(fd >= 0);
	peer->accepted++;
	peer->request_n = 0;
	talk->peer = peer;
	talk->io.data = talk;
	ev_io_init(&talk->io, on_talk, fd, EV_READ);
	ev_io_start(loop, &talk->io);
}

static void
listen_at(struct fixture *f, const struct addr *addr)
{
	struct peer *peer = &f->peer;
	struct err err = {""};

	peer->loop = f->loop;
	peer->fd = sock_listen(addr, false, 0600, &err);
	if (peer->fd < 0)
		fail_msg("%s", err.text);
	assert_true(sock_local_addr(peer->fd, &peer->addr));
	peer->io.data = peer;
	ev_io_init(&peer->io, on_accept, peer->fd, EV_READ);
	ev_io_start(f->loop, &peer->io);
}

void
peer_listen(struct fixture *f, const char *path)
{
	struct addr addr;
	struct err err;
	char text[ADDR_TEXT_SIZE];

	snprintf(text, sizeof(text), "%s%s", path ? "unix:" : "",
	    path ? path : "127.0.0.1:0");
	assert_true(addr_parse(text, ADDR_LISTEN, &addr, &err));
	listen_at(f, &addr);
}

void
peer_shut(struct fixture *f)
{
	ev_io_stop(f->loop, &f->peer.io);
	close(f->peer.fd);
	f->peer.fd = -1;
}

void
peer_again(struct fixture *f)
{
	struct addr addr = f->peer.addr;

	listen_at(f, &addr);
}

void
peer_listen_full(struct fixture *f)
{
	bool connected;

	peer_listen(f, NULL);
	ev_io_stop(f->loop, &f->peer.io);
	assert_int_equal(listen(f->peer.fd, 0), 0);
	while (f->fill_n < 8)
		f->fill[f->fill_n++] = sock_connect(&f->peer.addr, &connected);
}

static char *
copy(const char *s)
{
	char *c = strdup(s);

	assert_non_null(c);
	return c;
}

static void *
zeroed(size_t size)
{
	void *p = calloc(1, size);

	assert_non_null(p);
	return p;
}

static void
set_check(struct check_spec *check, enum check_kind kind, uint64_t timeout_ms)
{
	*check = (struct check_spec){
	    .kind = kind,
	    .interval_ms = 20,
	    .timeout_ms = timeout_ms,
	    .fall = 3,
	    .rise = 2,
	    .path = copy("/healthz"),
	    .method = copy("GET"),
	};
	status_set_add(&check->status, 200, 399);
}

static struct spec *
spec_of(const struct addr *addr, enum check_kind kind, uint64_t timeout_ms)
{
	struct spec *spec = zeroed(sizeof(*spec));
	char text[ADDR_TEXT_SIZE];

	spec->backends_n = 1;
	spec->backends = zeroed(sizeof(*spec->backends));
	spec->backends->name = copy("app");
	spec->backends->balance = &balance_roundrobin;
	make_servers(spec->backends, 1);
	*spec->backends->servers[0] = (struct server_spec){
	    .name = copy("s1"),
	    .address = copy(addr_text(addr, text)),
	    .addr = *addr,
	    .weight = WEIGHT_DEFAULT,
	};
	set_check(&spec->backends->check, kind, timeout_ms);
	return spec;
}

void
start_checks(struct fixture *f, enum check_kind kind, uint64_t timeout_ms)
{
	f->model =
	    model_new(spec_of(&f->peer.addr, kind, timeout_ms), f->grace, NULL);
	assert_non_null(f->model);
	f->server = f->model->backends[0]->servers[0];
	assert_int_equal(checker_new(f->loop, f->model, &f->checker), 0);
}

static void
on_guard(struct ev_loop *loop, ev_timer *timer, int events)
{
	(void)timer;
	(void)events;
	ev_break(loop, EVBREAK_ALL);
}

/* The timer lets a condition that nothing announces be looked at, too. */
void
run_until(struct fixture *f, bool (*holds)(struct fixture *f))
{
	uint64_t deadline = clock_now_ms() + UNIT_DEADLINE_S * 1000u;
	ev_timer look;

	ev_timer_init(&look, on_guard, 0.01, 0.01);
	ev_timer_start(f->loop, &look);
	while (!holds(f) && clock_now_ms() < deadline) {
		ev_run(f->loop, EVRUN_ONCE);
		/* The control loop does this before it waits. */
		if (f->model)
			model_update(f->model);
	}
	ev_timer_stop(f->loop, &look);
	assert_true(holds(f));
}

static bool
checked(struct fixture *f)
{
	return f->server->state->last.status != CHECK_STATUS_INI;
}

void
run_until_checked(struct fixture *f)
{
	run_until(f, checked);
}

size_t
open_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	size_t n = 0;

	assert_non_null(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

int
fixture_setup(void **state)
{
	struct fixture *f = zeroed(sizeof(*f));

	f->peer.fd = -1;
	f->loop = ev_loop_new(EVFLAG_AUTO);
	f->grace = grace_new();
	*state = f;
	return f->loop && f->grace ? 0 : -1;
}

static bool
talks_ended(struct fixture *f)
{
	return f->peer.accepted == f->peer.closed;
}

int
fixture_teardown(void **state)
{
	struct fixture *f = *state;

	checker_free(f->checker);
	run_until(f, talks_ended);
	if (f->peer.fd >= 0)
		peer_shut(f);
	while (f->fill_n)
		close(f->fill[--f->fill_n]);
	model_free(f->model);
	grace_free(f->grace);
	ev_loop_destroy(f->loop);
	free(f);
	return 0;
}
