/* SPDX-License-Identifier: MIT
 * See dns_channel.h.
 */
#include "resolve/dns_channel.h"

#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/clock.h"

/* The size of a datagram that no network fragments (DNS flag day 2020). */
#define UDP_SIZE 1232

#define CLASS_IN       1
#define FLAG_TRUNCATED 0x02 /* in the third byte */

/* Whether c-ares has the calls that replace ares_query and
 * ares_set_socket_functions. */
#define CARES_1_34 (ARES_VERSION >= 0x012200)

/* -- sockets -- */

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

/* Connects to the address that c-ares wants.  Only the channel's own has the
 * scope of a link-local address: c-ares 1.18 drops it. */
static int
dns_socket_connect(
    ares_socket_t fd, const struct sockaddr *sa, ares_socklen_t len, void *arg)
{
	const struct addr *addr = &((struct dns_server *)arg)->addr;

	if (addr->sa.sa_family == AF_INET6 && addr->in6.sin6_scope_id != 0)
		return connect(fd, &addr->sa, addr->len);
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
	if (n > 0)
		s->heard_ms = clock_now_ms();
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

#if CARES_1_34

static int
dns_socket_set_option(ares_socket_t fd, ares_socket_opt_t option,
    const void *value, ares_socklen_t len, void *arg)
{
	(void)fd;
	(void)option;
	(void)value;
	(void)len;
	(void)arg;
	errno = ENOSYS;
	return -1;
}

static int
dns_socket_connect_ex(ares_socket_t fd, const struct sockaddr *sa,
    ares_socklen_t len, unsigned flags, void *arg)
{
	(void)flags;
	return dns_socket_connect(fd, sa, len, arg);
}

static ares_ssize_t
dns_socket_send_ex(ares_socket_t fd, const void *bytes, size_t size, int flags,
    const struct sockaddr *to, ares_socklen_t to_len, void *arg)
{
	struct iovec part = {.iov_len = size};

	(void)flags;
	(void)to;
	(void)to_len;
	memcpy(&part.iov_base, &bytes, sizeof(bytes));
	return dns_socket_send(fd, &part, 1, arg);
}

static unsigned
interface_number(const char *name, void *arg)
{
	(void)arg;
	return if_nametoindex(name);
}

static const char *
interface_name(unsigned number, char *name, size_t size, void *arg)
{
	(void)arg;
	return size < IF_NAMESIZE ? NULL : if_indextoname(number, name);
}

static bool
set_sockets(struct dns_server *s, ares_channel ares)
{
	static const struct ares_socket_functions_ex functions = {
	    .version = 1,
	    .flags = ARES_SOCKFUNC_FLAG_NONBLOCKING,
	    .asocket = dns_socket_open,
	    .aclose = dns_socket_close,
	    .asetsockopt = dns_socket_set_option,
	    .aconnect = dns_socket_connect_ex,
	    .arecvfrom = dns_socket_receive,
	    .asendto = dns_socket_send_ex,
	    .aif_nametoindex = interface_number,
	    .aif_indextoname = interface_name,
	};

	return ares_set_socket_functions_ex(ares, &functions, s) ==
	       ARES_SUCCESS;
}

#else

static bool
set_sockets(struct dns_server *s, ares_channel ares)
{
	static const struct ares_socket_functions functions = {
	    .asocket = dns_socket_open,
	    .aclose = dns_socket_close,
	    .aconnect = dns_socket_connect,
	    .arecvfrom = dns_socket_receive,
	    .asendv = dns_socket_send,
	};

	ares_set_socket_functions(ares, &functions, s);
	return true;
}

#endif

/* -- questions -- */

#if CARES_1_34

struct dns_ask {
	ares_callback done;
	void *arg;
};

/* Passes the answer on as a message, as ares_query did. */
static void
on_record(void *arg, ares_status_t status, size_t timeouts,
    const ares_dns_record_t *record)
{
	struct dns_ask *ask = arg;
	unsigned char *message = NULL;
	size_t len = 0;

	if (status == ARES_SUCCESS)
		status = ares_dns_write(record, &message, &len);
	ask->done(ask->arg, (int)status, (int)timeouts, message, (int)len);
	ares_free_string(message);
	free(ask);
}

void
dns_channel_ask(struct dns_server *server, const char *name, int type,
    ares_callback done, void *arg)
{
	struct dns_ask *ask = malloc(sizeof(*ask));

	if (!ask) {
		done(arg, ARES_ENOMEM, 0, NULL, 0);
		return;
	}
	*ask = (struct dns_ask){.done = done, .arg = arg};
	/* The callback gets every error. */
	(void)ares_query_dnsrec(server->ares, name, ARES_CLASS_IN,
	    (ares_dns_rec_type_t)type, on_record, ask, NULL);
}

#else

void
dns_channel_ask(struct dns_server *server, const char *name, int type,
    ares_callback done, void *arg)
{
	ares_query(server->ares, name, CLASS_IN, type, done, arg);
}

#endif

/* -- life -- */

/* Names the server to c-ares as `10.0.0.2:53` or `[fe80::2]:53`; c-ares 1.34
 * refuses a link-local address without `%INTERFACE`, and 1.18 with it. */
static bool
set_name_server(const struct addr *a, ares_channel ares)
{
	char host[INET6_ADDRSTRLEN], interface[IF_NAMESIZE] = "";
	char text[INET6_ADDRSTRLEN + IF_NAMESIZE + 16];
	bool v6 = a->sa.sa_family == AF_INET6;
	const void *ip = &a->in.sin_addr;

	if (v6)
		ip = &a->in6.sin6_addr;
	if (CARES_1_34 && v6 && a->in6.sin6_scope_id != 0)
		(void)if_indextoname(a->in6.sin6_scope_id, interface);
	inet_ntop(a->sa.sa_family, ip, host, sizeof(host));
	snprintf(text, sizeof(text), v6 ? "[%s]:%u%s%s" : "%s:%u%s%s", host,
	    addr_port(a), *interface ? "%" : "", interface);
	return ares_set_servers_ports_csv(ares, text) == ARES_SUCCESS;
}

bool
dns_channel_open(struct dns_server *server)
{
	static char lookups[] = "b"; /* no file: hosts_file.c reads it */
	static char nothing[] = "/dev/null";
	struct ares_options options = {
	    .flags = ARES_FLAG_NOSEARCH | ARES_FLAG_NOALIASES |
	             ARES_FLAG_NOCHECKRESP | ARES_FLAG_EDNS,
	    .timeout = (int)server->timeout_ms,
	    .tries = 1,
	    .ednspsz = UDP_SIZE,
	    .lookups = lookups,
	    .resolvconf_path = nothing,
	    .sock_state_cb = dns_server_watch,
	    .sock_state_cb_data = server};
	int mask = ARES_OPT_FLAGS | ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES |
	           ARES_OPT_EDNSPSZ | ARES_OPT_LOOKUPS | ARES_OPT_RESOLVCONF |
	           ARES_OPT_SOCK_STATE_CB;
	ares_channel ares;

#if CARES_1_34
	/* No time-out longer than that, and no answer from a cache: renewals
	 * know when a name is asked for again. */
	options.maxtimeout = options.timeout;
	options.qcache_max_ttl = 0;
	mask |= ARES_OPT_MAXTIMEOUTMS | ARES_OPT_QUERY_CACHE;
#endif
	if (ares_init_options(&ares, &options, mask) != ARES_SUCCESS)
		return false;
	if (!set_sockets(server, ares) ||
	    !set_name_server(&server->addr, ares)) {
		ares_destroy(ares);
		return false;
	}
	dns_channel_close(server);
	server->ares = ares;
	return true;
}

void
dns_channel_close(struct dns_server *server)
{
	if (server->ares)
		ares_destroy(server->ares);
	server->ares = NULL;
}
