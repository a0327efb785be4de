/* SPDX-License-Identifier: MIT
 * A session that relays between two pairs of sockets, for tests of the relay.
 */
#ifndef UNIT_RELAY_STAGE_H
#define UNIT_RELAY_STAGE_H

#include <errno.h>
#include <sys/socket.h>

#include "lf/pool.h"
#include "proxy/relay.h"
#include "proxy/tls_side.h"
#include "unit.h"

#define NOW_MS 100000u

/* A session that relays; its client and its server are the other ends. */
struct stage {
	struct session *session;
	struct frontend_spec frontend_spec;
	struct backend_spec backend_spec;
	struct server_state server_state;
	struct server server;
	struct backend backend;
	struct proxy proxy;
	struct proxy_thread local;
	struct pool_thread self;
	struct {
		struct frontend frontend;
		struct backend *backends[1];
	} front;
	int peer[2];
};

static struct stage stage;
static int send_error; /* of the next send; 0: none */

/* In the place of the C library's. */
ssize_t
send(int fd, const void *data, size_t size, int flags)
{
	if (send_error == 0)
		return sendto(fd, data, size, flags, NULL, 0);
	errno = send_error;
	send_error = 0;
	return -1;
}

static int
set_up(void **state)
{
	struct stage *st = &stage;
	struct session *s;
	uint32_t index;

	(void)state;
	memset(st, 0, sizeof(*st));
	st->frontend_spec = (struct frontend_spec){.timeout_client_ms = 60000,
	    .timeout_client_fin_ms = 60000,
	    .half_close = true};
	st->backend_spec = (struct backend_spec){.timeout_server_ms = 60000,
	    .timeout_server_fin_ms = 60000,
	    .half_close = true};
	st->backend.spec = &st->backend_spec;
	st->server.backend = &st->backend;
	st->server.state = &st->server_state;
	st->front.frontend.spec = &st->frontend_spec;
	st->front.frontend.counters = counters_new();
	st->backend.counters = counters_new();
	st->server.counters = counters_new();
	st->front.frontend.backends[0] = &st->backend;
	st->local.proxy = &st->proxy;
	st->self.local = &st->local;
	st->self.now_ns = (uint64_t)NOW_MS * 1000000;
	assert_int_equal(proxy_init(&st->proxy, 1, 0, 0), 0);
	s = st->session = slab_take(&st->proxy.sessions, &index);
	s->frontend = &st->front.frontend;
	s->server = &st->server;
	s->accepted_ms = s->connected_ms = NOW_MS;
	s->counted_ms = (uint32_t)NOW_MS;
	for (int i = 0; i < 2; i++) {
		int ends[2];

		assert_int_equal(
		    socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends),
		    0);
		st->peer[i] = ends[0];
		side_reset(&s->side[i], ends[1], NOW_MS);
		s->side[i].writable = true;
	}
	s->cause = CAUSE_DONE;
	s->state = SESSION_CONNECTING;
	session_set_state(s, SESSION_RELAYING, &st->self);
	return 0;
}

static int
tear_down(void **state)
{
	struct stage *st = &stage;

	(void)state;
	relay_drop_pending(st->session, &st->proxy);
	for (int i = 0; i < 2; i++) {
		tls_side_free(&st->session->side[i]);
		close(st->peer[i]);
		close(st->session->side[i].fd);
	}
	free(st->front.frontend.counters);
	free(st->backend.counters);
	free(st->server.counters);
	proxy_fini(&st->proxy);
	return 0;
}

#endif
