/* SPDX-License-Identifier: MIT
 * See dns_server.h.
 */
#include "resolve/dns_server.h"

#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "resolve/dns_channel.h"

/* c-ares 1.34 derives its time-outs from the delays of answers once there are
 * three of them, and then gives up after 250 ms where `timeout` allows more: a
 * channel with as many answers is replaced as soon as it is idle. */
#define ANSWERS_MAX 3

struct dns_socket {
	struct list node;
	ev_io io;
	struct dns_server *server;
};

const struct dns_counts_row dns_counts_rows[DNS_COUNTS] = {
#define X(member, name, help) {name, help},
    DNS_COUNTS_TABLE(X)
#undef X
};

uint64_t
dns_counts_at(const struct dns_counts *counts, size_t row)
{
	uint64_t all[DNS_COUNTS];

	memcpy(all, counts, sizeof(all));
	return all[row];
}

/* -- events -- */

static void
on_dns_socket(struct ev_loop *loop, ev_io *io, int events)
{
	struct dns_server *s = ((struct dns_socket *)io->data)->server;

	(void)loop;
	s->reads_left = DNS_SERVER_READS;
	/* c-ares may have the socket freed in here. */
	ares_process_fd(s->ares, events & EV_READ ? io->fd : ARES_SOCKET_BAD,
	    events & EV_WRITE ? io->fd : ARES_SOCKET_BAD);
}

static struct dns_socket *
find_dns_socket(const struct dns_server *s, int fd)
{
	list_for_each (node, &s->sockets) {
		struct dns_socket *socket =
		    container_of(node, struct dns_socket, node);

		if (socket->io.fd == fd)
			return socket;
	}
	return NULL;
}

static void
watch_socket(struct dns_server *s, int fd, int events)
{
	struct dns_socket *socket = find_dns_socket(s, fd);

	if (!socket) {
		socket = calloc(1, sizeof(*socket));
		/* The socket stays unwatched, so its questions time out. */
		if (!socket)
			return;
		socket->server = s;
		ev_init(&socket->io, on_dns_socket);
		socket->io.data = socket;
		list_append(&s->sockets, &socket->node);
	} else if (s->loop) {
		ev_io_stop(s->loop, &socket->io);
	}
	ev_io_set(&socket->io, fd, events);
	if (s->loop)
		ev_io_start(s->loop, &socket->io);
}

static void
forget_socket(struct dns_server *s, int fd)
{
	struct dns_socket *socket = find_dns_socket(s, fd);

	if (!socket)
		return;
	if (s->loop)
		ev_io_stop(s->loop, &socket->io);
	list_remove(&socket->node);
	free(socket);
}

void
dns_server_watch(void *server, ares_socket_t fd, int readable, int writable)
{
	if (readable || writable)
		watch_socket(server, fd,
		    (readable ? EV_READ : 0) | (writable ? EV_WRITE : 0));
	else
		forget_socket(server, fd);
}

void
dns_server_move(struct dns_server *server, struct ev_loop *loop)
{
	list_for_each (node, &server->sockets) {
		struct dns_socket *socket =
		    container_of(node, struct dns_socket, node);

		if (server->loop)
			ev_io_stop(server->loop, &socket->io);
		if (loop)
			ev_io_start(loop, &socket->io);
	}
	server->loop = loop;
}

/* -- questions -- */

/* Returns the error for a status of c-ares, and counts it. */
static enum dns_error
count_status(struct dns_server *s, int status)
{
	switch (status) {
	case ARES_SUCCESS:
		return DNS_OK;
	case ARES_ENODATA:
		s->counts.any_err++;
		return DNS_EMPTY;
	case ARES_ENOTFOUND:
		s->counts.nx++;
		return DNS_NXDOMAIN;
	case ARES_ETIMEOUT:
		s->counts.timeout++;
		return DNS_TIMEOUT;
	case ARES_EREFUSED:
		s->counts.refused++;
		return DNS_REFUSED;
	case ARES_ECONNREFUSED:
		return DNS_UNREACHABLE;
	case ARES_EBADNAME:
	case ARES_EBADQUERY:
		return DNS_BAD_NAME;
	case ARES_EBADRESP:
	case ARES_EOF:
		s->counts.invalid++;
		return DNS_MALFORMED;
	case ARES_ENOMEM:
	case ARES_EDESTRUCTION:
	case ARES_ECANCELLED:
		return DNS_NO_MEMORY;
	default:
		s->counts.other++;
		return DNS_SERVFAIL;
	}
}

static void
on_dns_reply(
    void *arg, int status, int timeouts, unsigned char *message, int len)
{
	struct dns_question *q = arg;
	struct dns_server *s = q->server;
	enum dns_error error = count_status(s, status);

	(void)timeouts;
	s->asked--;
	s->answers += error != DNS_TIMEOUT;
	q->done(q, error, message, len > 0 ? (size_t)len : 0);
}

void
dns_server_ask(struct dns_server *server, struct dns_question *question,
    const char *name, int type)
{
	if (server->answers >= ANSWERS_MAX && server->asked == 0 &&
	    dns_channel_open(server))
		server->answers = 0;
	question->server = server;
	server->asked++;
	dns_channel_ask(server, name, type, on_dns_reply, question);
}

void
dns_server_note(struct dns_server *server, enum dns_error found)
{
	server->counts.valid += found == DNS_OK;
	server->counts.any_err += found == DNS_EMPTY;
	server->counts.invalid += found == DNS_MALFORMED;
}

void
dns_server_tick(struct dns_server *server)
{
	ares_process_fd(server->ares, ARES_SOCKET_BAD, ARES_SOCKET_BAD);
}

/* -- life -- */

static void
forget_sockets(struct dns_server *s)
{
	while (!list_empty(&s->sockets))
		forget_socket(
		    s, container_of(s->sockets.next, struct dns_socket, node)
		           ->io.fd);
}

struct dns_server *
dns_server_new(
    struct ev_loop *loop, const struct addr *addr, uint64_t timeout_ms)
{
	struct dns_server *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->loop = loop;
	s->addr = *addr;
	s->timeout_ms = timeout_ms;
	list_init(&s->sockets);
	addr_text(addr, s->text);
	if (dns_channel_open(s))
		return s;
	free(s);
	return NULL;
}

void
dns_server_free(struct dns_server *server)
{
	if (!server)
		return;
	dns_channel_close(server);
	forget_sockets(server);
	free(server);
}
