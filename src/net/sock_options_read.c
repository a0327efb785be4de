/* SPDX-License-Identifier: MIT
 * Reads the options that the kernel has for a socket: sock_options_read and
 * sock_backlog of sock_options.h.
 */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/sock_options.h"
#include "net/sock_options_internal.h"

/* The socket that is read, and a new one of its family. */
struct reading {
	int fd, fresh;
};

/* Returns the option's number; -1 if the kernel does not tell it. */
static int
option_number(int fd, int level, int name)
{
	socklen_t len = sizeof(int);
	int n = 0;

	return getsockopt(fd, level, name, &n, &len) == 0 ? n : -1;
}

/* Returns the option's number; 0 if it is that of a new socket. */
static unsigned
unusual_number(const struct reading *r, int level, int name)
{
	int n = option_number(r->fd, level, name);

	return n < 0 || n == option_number(r->fresh, level, name) ? 0
	                                                          : (unsigned)n;
}

/* Reads the option's text; leaves ret_text empty if it is that of a new socket.
 */
static void
read_unusual_text(
    const struct reading *r, int level, int name, char *ret_text, size_t size)
{
	char usual[SOCK_CONGESTION_SIZE + IF_NAMESIZE] = "";
	socklen_t len = (socklen_t)(size - 1), usual_len = sizeof(usual) - 1;

	memset(ret_text, 0, size);
	if (getsockopt(r->fd, level, name, ret_text, &len) < 0 ||
	    (getsockopt(r->fresh, level, name, usual, &usual_len) == 0 &&
	        strcmp(ret_text, usual) == 0))
		memset(ret_text, 0, size);
}

/* Returns the buffer size that was set; 0 if none was.  The kernel reports
 * twice that size.  A size that it adapts was not set, but kernels before 5.16
 * do not tell which are adapted. */
static uint64_t
read_buffer(const struct reading *r, int name, int lock)
{
	int locks = option_number(r->fd, SOL_SOCKET, SO_BUF_LOCK);

	if (locks >= 0 && !(locks & lock))
		return 0;
	return unusual_number(r, SOL_SOCKET, name) / 2;
}

bool
sock_backlog(int fd, uint32_t *ret_waiting, uint32_t *ret_max)
{
	struct tcp_info info;
	socklen_t len = sizeof(info);

	/* In a listening socket both fields have another meaning than their
	 * names (tcp_get_info). */
	if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len) < 0 ||
	    len < offsetof(struct tcp_info, tcpi_lost) ||
	    info.tcpi_state != TCP_LISTEN)
		return false;
	*ret_waiting = info.tcpi_unacked;
	*ret_max = info.tcpi_sacked;
	return true;
}

static unsigned
read_backlog(int fd)
{
	uint32_t waiting, max;

	return sock_backlog(fd, &waiting, &max) ? max : 0;
}

static unsigned
read_dscp(const struct reading *r, int family)
{
	return family == AF_INET6
	           ? unusual_number(r, IPPROTO_IPV6, IPV6_TCLASS) >> 2
	           : unusual_number(r, IPPROTO_IP, IP_TOS) >> 2;
}

void
sock_options_read(int fd, struct sock_options *ret_options)
{
	int family = option_number(fd, SOL_SOCKET, SO_DOMAIN);
	struct reading r = {fd, socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0)};
	struct sock_options *o = ret_options;

	*o = (struct sock_options){
	    .keepalive = {.on = unusual_number(&r, SOL_SOCKET, SO_KEEPALIVE)
	                            ? SWITCH_ON
	                            : SWITCH_DEFAULT,
	        .idle_s = unusual_number(&r, IPPROTO_TCP, TCP_KEEPIDLE),
	        .interval_s = unusual_number(&r, IPPROTO_TCP, TCP_KEEPINTVL),
	        .count = unusual_number(&r, IPPROTO_TCP, TCP_KEEPCNT)},
	    .user_timeout_ms =
	        unusual_number(&r, IPPROTO_TCP, TCP_USER_TIMEOUT),
	    .mss = unusual_number(&r, IPPROTO_TCP, TCP_MAXSEG),
	    .sndbuf = read_buffer(&r, SO_SNDBUF, LOCK_SEND),
	    .rcvbuf = read_buffer(&r, SO_RCVBUF, LOCK_RECEIVE),
	    .dscp = read_dscp(&r, family),
	    .mark = unusual_number(&r, SOL_SOCKET, SO_MARK),
	    .fast_open = unusual_number(&r, IPPROTO_TCP, TCP_FASTOPEN),
	    .backlog = read_backlog(fd),
	    .defer_accept_s =
	        unusual_number(&r, IPPROTO_TCP, TCP_DEFER_ACCEPT)};
	read_unusual_text(&r, IPPROTO_TCP, TCP_CONGESTION, o->congestion,
	    sizeof(o->congestion));
	read_unusual_text(&r, SOL_SOCKET, SO_BINDTODEVICE, o->interface,
	    sizeof(o->interface));
	if (r.fresh >= 0)
		close(r.fresh);
}
