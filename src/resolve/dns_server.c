/* SPDX-License-Identifier: MIT
 * See dns_server.h.
 */
#include "resolve/dns_server.h"

#include <ares.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/list.h"

/* The size of a datagram that no network fragments (DNS flag day 2020). */
#define UDP_SIZE 1232

#define CLASS_IN       1
#define FLAG_TRUNCATED 0x02 /* in the third byte */

struct dns_socket {
	struct list node;
	ev_io io; /* its events are set also without a loop */
	struct dns_server *server;
};

struct dns_server {
	struct ev_loop *loop;
	ares_channel channel;
	struct list sockets;
	struct addr addr;
	struct dns_counts counts;
	unsigned asked;
	unsigned reads_left; /* in this turn */
	char text[ADDR_TEXT_SIZE];
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

/* -- sockets, as c-ares wants them -- */

static ares_socket_t
dns_socket_open(int family, int type, int protocol, void *arg)
{
	int fd = socket(family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, protocol);
	int one = 1;

	(void)arg;
	if (fd >= 0 && type == SOCK_STREAM)
		(void)setsockopt(
		    fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	return fd;
}

static int
dns_socket_close(ares_socket_t fd, void *arg)
{
	(void)arg;
	return close(fd);
}

static int
dns_socket_connect(
    ares_socket_t fd, const struct sockaddr *sa, ares_socklen_t len, void *arg)
{
	(void)arg;
	return connect(fd, sa, len);
}

/* Receives for c-ares, which reads until there is nothing left.  A name server
 * that sends without end is not read any further in this turn. */
static ares_ssize_t
dns_socket_receive(ares_socket_t fd, void *to, size_t size, int flags,
    struct sockaddr *from, ares_socklen_t *from_len, void *arg)
{
	struct dns_server *s = arg;
	const unsigned char *bytes = to;
	ssize_t n;

	if (s->reads_left == 0) {
		errno = EAGAIN;
		return -1;
	}
	s->reads_left--;
	n = recvfrom(fd, to, size, flags, from, from_len);
	/* c-ares asks for the sender of datagrams only. */
	if (from && n > 2 && (bytes[2] & FLAG_TRUNCATED))
		s->counts.truncated++;
	return n;
}

static ares_ssize_t
dns_socket_send(ares_socket_t fd, const struct iovec *parts, int n, void *arg)
{
	struct msghdr message = {.msg_iov = NULL};
	struct dns_server *s = arg;
	ssize_t sent;

	/* sendmsg(2) takes no const, and changes nothing. */
	memcpy(&message.msg_iov, &parts, sizeof(parts));
	message.msg_iovlen = (size_t)n;
	sent = sendmsg(fd, &message, MSG_NOSIGNAL);
	if (sent >= 0)
		s->counts.sent++;
	else if (errno != EAGAIN)
		s->counts.snd_error++;
	return sent;
}

static const struct ares_socket_functions socket_functions = {
    .asocket = dns_socket_open,
    .aclose = dns_socket_close,
    .aconnect = dns_socket_connect,
    .arecvfrom = dns_socket_receive,
    .asendv = dns_socket_send,
};

/* -- events -- */

static void
dns_server_act(struct dns_server *s, int fd, int events)
{
	s->reads_left = DNS_SERVER_READS;
	ares_process_fd(s->channel, events & EV_READ ? fd : ARES_SOCKET_BAD,
	    events & EV_WRITE ? fd : ARES_SOCKET_BAD);
}

static void
on_dns_socket(struct ev_loop *loop, ev_io *io, int events)
{
	struct dns_socket *socket = io->data;

	(void)loop;
	/* c-ares may have the socket freed in here. */
	dns_server_act(socket->server, io->fd, events);
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

static void
on_socket_state(void *arg, ares_socket_t fd, int readable, int writable)
{
	if (readable || writable)
		watch_socket(arg, fd,
		    (readable ? EV_READ : 0) | (writable ? EV_WRITE : 0));
	else
		forget_socket(arg, fd);
}

size_t
dns_server_sockets(
    const struct dns_server *server, struct pollfd *fds, size_t n, size_t max)
{
	list_for_each (node, &server->sockets) {
		const struct dns_socket *socket =
		    container_of(node, struct dns_socket, node);
		int events = socket->io.events;

		if (n == max)
			break;
		fds[n++] = (struct pollfd){.fd = socket->io.fd,
		    .events = (short)((events & EV_READ ? POLLIN : 0) |
		                      (events & EV_WRITE ? POLLOUT : 0))};
	}
	return n;
}

void
dns_server_ready(struct dns_server *server, const struct pollfd *fd)
{
	int events =
	    (fd->revents & (POLLIN | POLLERR | POLLHUP) ? EV_READ : 0) |
	    (fd->revents & POLLOUT ? EV_WRITE : 0);

	if (events && find_dns_socket(server, fd->fd))
		dns_server_act(server, fd->fd, events);
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
	q->done(q, error, message, len > 0 ? (size_t)len : 0);
}

void
dns_server_ask(struct dns_server *server, struct dns_question *question,
    const char *name, int type)
{
	question->server = server;
	server->asked++;
	ares_query(
	    server->channel, name, CLASS_IN, type, on_dns_reply, question);
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
	ares_process_fd(server->channel, ARES_SOCKET_BAD, ARES_SOCKET_BAD);
}

/* -- life -- */

static bool
set_name_server(struct dns_server *s)
{
	struct ares_addr_port_node node = {.family = s->addr.sa.sa_family};

	node.udp_port = node.tcp_port = (int)addr_port(&s->addr);
	if (node.family == AF_INET)
		node.addr.addr4 = s->addr.in.sin_addr;
	else
		memcpy(&node.addr.addr6, &s->addr.in6.sin6_addr,
		    sizeof(node.addr.addr6));
	return ares_set_servers_ports(s->channel, &node) == ARES_SUCCESS;
}

struct dns_server *
dns_server_new(
    struct ev_loop *loop, const struct addr *addr, uint64_t timeout_ms)
{
	struct dns_server *s = calloc(1, sizeof(*s));
	static char lookups[] = "b"; /* no file: hosts_file.c reads it */
	static char nothing[] = "/dev/null";
	struct ares_options options = {
	    .flags = ARES_FLAG_NOSEARCH | ARES_FLAG_NOALIASES |
	             ARES_FLAG_NOCHECKRESP | ARES_FLAG_EDNS,
	    .timeout = (int)timeout_ms,
	    .tries = 1,
	    .ednspsz = UDP_SIZE,
	    .lookups = lookups,
	    .resolvconf_path = nothing,
	    .sock_state_cb = on_socket_state,
	    .sock_state_cb_data = s};
	int mask = ARES_OPT_FLAGS | ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES |
	           ARES_OPT_EDNSPSZ | ARES_OPT_LOOKUPS | ARES_OPT_RESOLVCONF |
	           ARES_OPT_SOCK_STATE_CB;

	if (!s)
		return NULL;
	s->loop = loop;
	s->addr = *addr;
	list_init(&s->sockets);
	addr_text(addr, s->text);
	if (ares_init_options(&s->channel, &options, mask) != ARES_SUCCESS) {
		free(s);
		return NULL;
	}
	ares_set_socket_functions(s->channel, &socket_functions, s);
	if (set_name_server(s))
		return s;
	dns_server_free(s);
	return NULL;
}

void
dns_server_free(struct dns_server *server)
{
	if (!server)
		return;
	ares_destroy(server->channel);
	while (!list_empty(&server->sockets))
		forget_socket(server,
		    container_of(server->sockets.next, struct dns_socket, node)
		        ->io.fd);
	free(server);
}

unsigned
dns_server_asked(const struct dns_server *server)
{
	return server->asked;
}

const char *
dns_server_text(const struct dns_server *server)
{
	return server->text;
}

const struct dns_counts *
dns_server_counts(const struct dns_server *server)
{
	return &server->counts;
}

const struct addr *
dns_server_addr(const struct dns_server *server)
{
	return &server->addr;
}
