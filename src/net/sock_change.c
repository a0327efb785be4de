/* SPDX-License-Identifier: MIT
 * See sock_change.h.
 */
#include "net/sock_change.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#ifndef SO_BUF_LOCK
#define SO_BUF_LOCK 72 /* Linux 5.16 */
#endif
#define LOCK_SEND    1
#define LOCK_RECEIVE 2

#define BACKLOG 65535 /* as sock_listen, without being told */

struct changing {
	int fd;
	bool listens;
	const struct sock_options *from, *to;
	bool goes_on; /* whatever is refused: all else is put back */
	struct sock_refusal refusal; /* the first one */
};

static bool
refuse(struct changing *c, const char *option, int error)
{
	if (!c->refusal.option)
		c->refusal = (struct sock_refusal){
		    .option = option, .error = error, .essential = true};
	return c->goes_on;
}

static bool
set(struct changing *c, const char *option, int level, int name, unsigned value)
{
	int n = (int)value;

	return setsockopt(c->fd, level, name, &n, sizeof(n)) == 0 ||
	       refuse(c, option, errno);
}

/* A file of /proc/sys/net with words in it; false: it cannot be read. */
static bool
read_words(const char *path, char *to, size_t size)
{
	FILE *file = fopen(path, "re");
	bool ok;

	if (!file)
		return false;
	ok = fgets(to, (int)size, file) != NULL;
	fclose(file);
	if (ok)
		to[strcspn(to, "\n")] = '\0';
	return ok;
}

/* The nth number in it, from 0; 0: there is none. */
static unsigned
read_number(const char *path, int nth)
{
	unsigned n[3] = {0};
	char text[100];

	if (!read_words(path, text, sizeof(text)) ||
	    sscanf(text, "%u %u %u", &n[0], &n[1], &n[2]) <= nth)
		return 0;
	return n[nth];
}

static bool
set_time(struct changing *c, int name, unsigned from, unsigned to,
    const char *kernels)
{
	if (from == to)
		return true;
	if (to == 0)
		to = read_number(kernels, 0);
	return set(c, "keepalive", IPPROTO_TCP, name, to);
}

static bool
change_keepalive(struct changing *c)
{
	const struct sock_keepalive *from = &c->from->keepalive;
	const struct sock_keepalive *to = &c->to->keepalive;

	if ((from->on == SWITCH_ON) != (to->on == SWITCH_ON) &&
	    !set(c, "keepalive", SOL_SOCKET, SO_KEEPALIVE, to->on == SWITCH_ON))
		return false;
	return set_time(c, TCP_KEEPIDLE, from->idle_s, to->idle_s,
	           "/proc/sys/net/ipv4/tcp_keepalive_time") &&
	       set_time(c, TCP_KEEPINTVL, from->interval_s, to->interval_s,
	           "/proc/sys/net/ipv4/tcp_keepalive_intvl") &&
	       set_time(c, TCP_KEEPCNT, from->count, to->count,
	           "/proc/sys/net/ipv4/tcp_keepalive_probes");
}

/* A buffer size that was set is locked.  Without a lock the kernel adapts the
 * size of each connection, beginning with its default. */
static bool
change_buffer(struct changing *c, const char *option, int name, uint64_t from,
    uint64_t to, int lock, const char *kernels)
{
	socklen_t len = sizeof(int);
	unsigned adapted;
	int locks = 0;

	if (from == to)
		return true;
	if (to > 0)
		return set(c, option, SOL_SOCKET, name, (unsigned)to);
	if (getsockopt(c->fd, SOL_SOCKET, SO_BUF_LOCK, &locks, &len) < 0)
		return refuse(c, option, errno);
	adapted = read_number(kernels, 1);
	if (adapted == 0)
		return refuse(c, option, ENOENT);
	/* The kernel doubles it. */
	return set(c, option, SOL_SOCKET, name, adapted / 2) &&
	       set(c, option, SOL_SOCKET, SO_BUF_LOCK,
	           (unsigned)(locks & ~lock));
}

static bool
change_congestion(struct changing *c)
{
	const char *to = c->to->congestion;
	char without[SOCK_CONGESTION_SIZE];

	if (strcmp(c->from->congestion, to) == 0)
		return true;
	if (!to[0]) {
		if (!read_words("/proc/sys/net/ipv4/tcp_congestion_control",
		        without, sizeof(without)))
			return refuse(c, "congestion", errno);
		to = without;
	}
	return setsockopt(c->fd, IPPROTO_TCP, TCP_CONGESTION, to,
	           (socklen_t)strlen(to)) == 0 ||
	       refuse(c, "congestion", errno);
}

static bool
change_dscp(struct changing *c)
{
	int domain = AF_INET;
	socklen_t len = sizeof(domain);

	if (c->from->dscp == c->to->dscp)
		return true;
	(void)getsockopt(c->fd, SOL_SOCKET, SO_DOMAIN, &domain, &len);
	if (domain == AF_INET6 &&
	    !set(c, "dscp", IPPROTO_IPV6, IPV6_TCLASS, c->to->dscp << 2))
		return false;
	return set(c, "dscp", IPPROTO_IP, IP_TOS, c->to->dscp << 2);
}

static bool
change_interface(struct changing *c)
{
	const char *to = c->to->interface;

	return strcmp(c->from->interface, to) == 0 ||
	       setsockopt(c->fd, SOL_SOCKET, SO_BINDTODEVICE, to,
	           (socklen_t)strlen(to) + 1) == 0 ||
	       refuse(c, "interface", errno);
}

static bool
change_number(struct changing *c, const char *option, int level, int name,
    uint64_t from, uint64_t to)
{
	return from == to || set(c, option, level, name, (unsigned)to);
}

/* While it listens listen(2) only changes how many may wait. */
static bool
change_backlog(struct changing *c)
{
	unsigned n = c->to->backlog;

	if (c->from->backlog == n || !c->listens)
		return true;
	return listen(c->fd, n > 0 ? (int)n : BACKLOG) == 0 ||
	       refuse(c, "backlog", errno);
}

static bool
change_all(struct changing *c)
{
	const struct sock_options *from = c->from, *to = c->to;

	return change_number(
	           c, "mark", SOL_SOCKET, SO_MARK, from->mark, to->mark) &&
	       change_congestion(c) && change_keepalive(c) &&
	       change_number(c, "user_timeout", IPPROTO_TCP, TCP_USER_TIMEOUT,
	           from->user_timeout_ms, to->user_timeout_ms) &&
	       change_number(
	           c, "mss", IPPROTO_TCP, TCP_MAXSEG, from->mss, to->mss) &&
	       change_buffer(c, "sndbuf", SO_SNDBUF, from->sndbuf, to->sndbuf,
	           LOCK_SEND, "/proc/sys/net/ipv4/tcp_wmem") &&
	       change_buffer(c, "rcvbuf", SO_RCVBUF, from->rcvbuf, to->rcvbuf,
	           LOCK_RECEIVE, "/proc/sys/net/ipv4/tcp_rmem") &&
	       change_dscp(c) &&
	       change_number(c, "defer_accept", IPPROTO_TCP, TCP_DEFER_ACCEPT,
	           from->defer_accept_s, to->defer_accept_s) &&
	       change_number(c, "tfo", IPPROTO_TCP, TCP_FASTOPEN,
	           from->fast_open, to->fast_open) &&
	       change_backlog(c) &&
	       /* Last: who is not root may set one, but not take it away. */
	       change_interface(c);
}

bool
sock_change_back(int fd, bool listens, const struct sock_options *from,
    const struct sock_options *to, struct sock_refusal *ret_refusal)
{
	struct changing c = {fd, listens, from, to, true, {.option = NULL}};

	(void)change_all(&c);
	*ret_refusal = c.refusal;
	return !c.refusal.option;
}

bool
sock_change(int fd, bool listens, const struct sock_options *from,
    const struct sock_options *to, struct sock_refusal *ret_refusal)
{
	struct changing c = {fd, listens, from, to, false, {.option = NULL}};
	struct sock_refusal ignored;
	const bool done = change_all(&c);

	*ret_refusal = c.refusal;
	if (done)
		return true;
	/* Set back the options that were changed before the failure. */
	(void)sock_change_back(fd, listens, to, from, &ignored);
	return false;
}
