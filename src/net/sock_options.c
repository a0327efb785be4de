/* SPDX-License-Identifier: MIT
 * See sock_options.h.
 */
#include "net/sock_options.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/sock_options_internal.h"

#define SYSCTL_TCP "/proc/sys/net/ipv4/tcp_"

static const struct sock_options none;

/* Reads the first line of a file of /proc/sys.  Returns false, with out empty,
 * when that fails. */
static bool
sysctl_line(const char *path, char *out, size_t size)
{
	FILE *file = fopen(path, "re");
	bool ok = file && fgets(out, (int)size, file);

	if (file)
		fclose(file);
	out[ok ? strcspn(out, "\n") : 0] = '\0';
	return ok;
}

/* Returns the nth number of the file, counted from 0; -1: there is none. */
static long
sysctl_number(const char *path, int nth)
{
	char text[100];
	long n[3];

	if (!sysctl_line(path, text, sizeof(text)) ||
	    sscanf(text, "%ld %ld %ld", &n[0], &n[1], &n[2]) <= nth)
		return -1;
	return n[nth];
}

/* -- setting options -- */

/* A change of options.  The functions below set the options in which from and
 * to differ.  They return whether to go on with the next option. */
struct change {
	int fd, family;
	const struct sock_options *from, *to;
	bool atomic; /* stop at the first refusal */
	struct sock_refusal refusal;
};

static bool
refuse_option(struct change *c, const char *option, int error)
{
	bool essential = strcmp(option, "mark") == 0 ||
	                 strcmp(option, "interface") == 0 ||
	                 strcmp(option, "transparent") == 0;

	if (!c->refusal.option || (essential && !c->refusal.essential))
		c->refusal = (struct sock_refusal){option, error, essential};
	return !c->atomic;
}

static bool
set_bytes(struct change *c, const char *option, int level, int name,
    const void *value, size_t size)
{
	return setsockopt(c->fd, level, name, value, (socklen_t)size) == 0 ||
	       refuse_option(c, option, errno);
}

static bool
set_number(
    struct change *c, const char *option, int level, int name, uint64_t number)
{
	int n = (int)number;

	return set_bytes(c, option, level, name, &n, sizeof(n));
}

static bool
change_number(struct change *c, const char *option, int level, int name,
    uint64_t from, uint64_t to)
{
	return from == to || set_number(c, option, level, name, to);
}

/* Sets one of the times of keepalive.  kernels: the file with the kernel's
 * default. */
static bool
change_keepalive_time(
    struct change *c, int name, unsigned from, unsigned to, const char *kernels)
{
	long n = to;

	if (from == to)
		return true;
	if (to == 0)
		n = sysctl_number(kernels, 0);
	return set_number(c, "keepalive", IPPROTO_TCP, name, (uint64_t)n);
}

static bool
change_keepalive(struct change *c)
{
	const struct sock_keepalive *from = &c->from->keepalive;
	const struct sock_keepalive *to = &c->to->keepalive;

	return change_number(c, "keepalive", SOL_SOCKET, SO_KEEPALIVE,
	           from->on == SWITCH_ON, to->on == SWITCH_ON) &&
	       change_keepalive_time(c, TCP_KEEPIDLE, from->idle_s, to->idle_s,
	           SYSCTL_TCP "keepalive_time") &&
	       change_keepalive_time(c, TCP_KEEPINTVL, from->interval_s,
	           to->interval_s, SYSCTL_TCP "keepalive_intvl") &&
	       change_keepalive_time(c, TCP_KEEPCNT, from->count, to->count,
	           SYSCTL_TCP "keepalive_probes");
}

/* Sets a buffer size, which locks it; without a size, sets the kernel's default
 * and removes the lock, so that the kernel adapts the size of each connection
 * again. */
static bool
change_buffer(struct change *c, const char *option, int name, uint64_t from,
    uint64_t to, int lock, const char *kernels)
{
	socklen_t len = sizeof(int);
	int locks = 0;
	long adapted;

	if (to > 0)
		return change_number(c, option, SOL_SOCKET, name, from, to);
	if (from == 0)
		return true;
	if (getsockopt(c->fd, SOL_SOCKET, SO_BUF_LOCK, &locks, &len) < 0)
		return refuse_option(c, option, errno);
	adapted = sysctl_number(kernels, 1);
	if (adapted <= 0)
		return refuse_option(c, option, ENOENT);
	/* The kernel doubles the size that is set. */
	return set_number(c, option, SOL_SOCKET, name, (uint64_t)adapted / 2) &&
	       set_number(c, option, SOL_SOCKET, SO_BUF_LOCK,
	           (unsigned)(locks & ~lock));
}

static bool
change_congestion(struct change *c)
{
	char kernels[SOCK_CONGESTION_SIZE];
	const char *to = c->to->congestion;

	if (strcmp(c->from->congestion, to) == 0)
		return true;
	if (!to[0] && !sysctl_line(SYSCTL_TCP "congestion_control", kernels,
	                  sizeof(kernels)))
		return refuse_option(c, "congestion", errno);
	if (!to[0])
		to = kernels;
	return set_bytes(
	    c, "congestion", IPPROTO_TCP, TCP_CONGESTION, to, strlen(to));
}

/* Sets the DSCP.  An IPv6 socket may carry IPv4 as well, which has its own
 * field. */
static bool
change_dscp(struct change *c)
{
	unsigned from = c->from->dscp << 2, to = c->to->dscp << 2;

	return (c->family != AF_INET6 || change_number(c, "dscp", IPPROTO_IPV6,
	                                     IPV6_TCLASS, from, to)) &&
	       change_number(c, "dscp", IPPROTO_IP, IP_TOS, from, to);
}

/* Changes the options that listeners and sockets towards a server share, except
 * for interface. */
static bool
change_common(struct change *c)
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
	           LOCK_SEND, SYSCTL_TCP "wmem") &&
	       change_buffer(c, "rcvbuf", SO_RCVBUF, from->rcvbuf, to->rcvbuf,
	           LOCK_RECEIVE, SYSCTL_TCP "rmem") &&
	       change_dscp(c);
}

static bool
change_listener(struct change *c)
{
	const struct sock_options *from = c->from, *to = c->to;

	return change_number(c, "defer_accept", IPPROTO_TCP, TCP_DEFER_ACCEPT,
	           from->defer_accept_s, to->defer_accept_s) &&
	       change_number(c, "tfo", IPPROTO_TCP, TCP_FASTOPEN,
	           from->fast_open, to->fast_open);
}

/* Changes the backlog: while the socket listens, listen(2) only sets how many
 * connections may wait. */
static bool
change_backlog(struct change *c)
{
	unsigned n = c->to->backlog;

	return c->from->backlog == n ||
	       listen(c->fd, n > 0 ? (int)n : SOCK_BACKLOG) == 0 ||
	       refuse_option(c, "backlog", errno);
}

/* Changes the interface, as the last option of a change that may have to be
 * undone: a process that is not root may set an interface, but not remove it.
 */
static bool
change_interface(struct change *c)
{
	const char *to = c->to->interface;

	return strcmp(c->from->interface, to) == 0 ||
	       set_bytes(c, "interface", SOL_SOCKET, SO_BINDTODEVICE, to,
	           strlen(to) + 1);
}

static bool
change_ended(const struct change *c, struct sock_refusal *ret_refusal)
{
	*ret_refusal = c->refusal;
	return !c->refusal.option;
}

bool
sock_options_connect(int fd, int family, const struct sock_options *options,
    struct sock_refusal *ret_refusal)
{
	struct change c = {fd, family, &none, options, .atomic = false};

	(void)change_common(&c);
	(void)change_interface(&c);
	return change_ended(&c, ret_refusal);
}

bool
sock_options_listen(int fd, int family, const struct sock_options *options,
    struct sock_refusal *ret_refusal)
{
	struct change c = {fd, family, &none, options, .atomic = false};

	(void)change_common(&c);
	(void)change_listener(&c);
	(void)change_interface(&c);
	if (options->reuseport == SWITCH_ON)
		(void)set_number(&c, "reuseport", SOL_SOCKET, SO_REUSEPORT, 1);
	if (options->transparent == SWITCH_ON &&
	    !sock_options_transparent(fd, family))
		(void)refuse_option(&c, "transparent", errno);
	return change_ended(&c, ret_refusal);
}

static void
change_all(struct change *c, bool listens)
{
	socklen_t len = sizeof(c->family);

	(void)getsockopt(c->fd, SOL_SOCKET, SO_DOMAIN, &c->family, &len);
	if (change_common(c) && change_listener(c) &&
	    (!listens || change_backlog(c)))
		(void)change_interface(c);
}

bool
sock_options_put_back(int fd, bool listens, const struct sock_options *from,
    const struct sock_options *to, struct sock_refusal *ret_refusal)
{
	struct change c = {fd, AF_INET, from, to, .atomic = false};

	change_all(&c, listens);
	return change_ended(&c, ret_refusal);
}

bool
sock_options_change(int fd, bool listens, const struct sock_options *from,
    const struct sock_options *to, struct sock_refusal *ret_refusal)
{
	struct change c = {fd, AF_INET, from, to, .atomic = true};
	struct change back = {fd, AF_INET, to, from, .atomic = false};

	change_all(&c, listens);
	if (c.refusal.option)
		change_all(&back, listens);
	return change_ended(&c, ret_refusal);
}

bool
sock_options_any(const struct sock_options *options)
{
	return memcmp(options, &none, sizeof(none)) != 0;
}

bool
sock_options_fast_open(int fd)
{
	int on = 1;

	return setsockopt(
	           fd, IPPROTO_TCP, TCP_FASTOPEN_CONNECT, &on, sizeof(on)) == 0;
}

bool
sock_options_transparent(int fd, int family)
{
	bool v6 = family == AF_INET6;
	int on = 1;

	return setsockopt(fd, v6 ? IPPROTO_IPV6 : IPPROTO_IP,
	           v6 ? IPV6_TRANSPARENT : IP_TRANSPARENT, &on,
	           sizeof(on)) == 0;
}

const char *
sock_refusal_hint(const struct sock_refusal *refusal)
{
	const char *option = refusal->option;

	if (refusal->error == ENODEV)
		return "; the interface does not exist";
	if (refusal->error != EPERM)
		return "";
	if (strcmp(option, "congestion") == 0)
		return "; without CAP_NET_ADMIN it must be one of "
		       "net.ipv4.tcp_allowed_congestion_control";
	if (strcmp(option, "interface") == 0)
		return "; it takes CAP_NET_RAW";
	return "; it takes CAP_NET_RAW or CAP_NET_ADMIN";
}

/* -- what the kernel does by half -- */

struct curtailed {
	void (*warn)(const char *sentence, void *arg);
	void *arg;
};

static void __attribute__((format(printf, 2, 3)))
report_curtailed(const struct curtailed *c, const char *format, ...)
{
	char sentence[200];
	va_list args;

	va_start(args, format);
	vsnprintf(sentence, sizeof(sentence), format, args);
	va_end(args);
	c->warn(sentence, c->arg);
}

/* Reports a buffer that is smaller than wanted.  The kernel tells twice the
 * size that it has accepted. */
static void
check_buffer(int fd, const struct curtailed *c, const char *option, int name,
    const char *sysctl, uint64_t wanted)
{
	socklen_t len = sizeof(int);
	int got = 0;

	if (wanted > 0 && getsockopt(fd, SOL_SOCKET, name, &got, &len) == 0 &&
	    (uint64_t)got / 2 < wanted)
		report_curtailed(c,
		    "the kernel cuts %s to %d bytes; raise %s or ask for less",
		    option, got / 2, sysctl);
}

static void
check_fast_open(const struct curtailed *c, bool listener)
{
	const long bit = listener ? 2 : 1;
	long have = sysctl_number(SYSCTL_TCP "fastopen", 0);

	if (have >= 0 && !(have & bit))
		report_curtailed(c,
		    "tfo has no effect: net.ipv4.tcp_fastopen is %ld; set its "
		    "bit %ld (%s)",
		    have, bit, listener ? "server" : "client");
}

static void
check_backlog(const struct curtailed *c, unsigned wanted)
{
	long have = sysctl_number("/proc/sys/net/core/somaxconn", 0);

	if (have >= 0 && wanted > (unsigned long)have)
		report_curtailed(c,
		    "the kernel cuts backlog to %ld; raise net.core.somaxconn "
		    "or ask for less",
		    have);
}

void
sock_options_curtailed(int fd, const struct sock_options *options,
    bool listener, void (*warn)(const char *sentence, void *arg), void *arg)
{
	const struct curtailed c = {warn, arg};

	check_buffer(
	    fd, &c, "sndbuf", SO_SNDBUF, "net.core.wmem_max", options->sndbuf);
	check_buffer(
	    fd, &c, "rcvbuf", SO_RCVBUF, "net.core.rmem_max", options->rcvbuf);
	if (options->fast_open > 0)
		check_fast_open(&c, listener);
	if (options->backlog > 0)
		check_backlog(&c, options->backlog);
}

bool
sock_congestion_exists(const char *name)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool exists;

	/* Without a socket the answer is unknown; the listener will report an
	 * error. */
	if (fd < 0)
		return true;
	exists = setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name,
	             (socklen_t)strlen(name)) == 0 ||
	         errno != ENOENT;
	close(fd);
	return exists;
}

bool
sock_congestion_for_all(const char *name)
{
	char all[SOCK_CONGESTIONS_SIZE], *rest = all, *word;

	if (!sysctl_line(
	        SYSCTL_TCP "allowed_congestion_control", all, sizeof(all)))
		return false;
	while ((word = strsep(&rest, " ")))
		if (strcmp(word, name) == 0)
			return true;
	return false;
}

const char *
sock_congestions(char out[SOCK_CONGESTIONS_SIZE])
{
	(void)sysctl_line(SYSCTL_TCP "available_congestion_control", out,
	    SOCK_CONGESTIONS_SIZE);
	return out;
}
