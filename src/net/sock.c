/* SPDX-License-Identifier: MIT
 * See sock.h.
 */
#include "net/sock.h"

#include <errno.h>
#include <linux/sockios.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/ensure.h"
#include "base/fault.h"
#include "base/sandbox.h"

static int
stream_socket(int family)
{
	int fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	return fd < 0 ? -errno : fd;
}

static void
set_flag(int fd, int level, int option)
{
	int on = 1;

	/* Fails only for a socket of another family. */
	(void)setsockopt(fd, level, option, &on, sizeof(on));
}

/* Closes fd and sets err: the error of bind(2), and what to do about it.
 * Returns -1. */
static int
bind_failed(int fd, int error, const struct addr *addr, struct err *err)
{
	char text[ADDR_TEXT_SIZE], sandbox[SANDBOX_HINT_SIZE];
	const char *hint = "";

	close(fd);
	if (error == EADDRINUSE)
		hint = "; another program listens there, stop it or choose "
		       "another address";
	else if (error == EACCES && addr->sa.sa_family != AF_UNIX)
		hint = "; ports below 1024 need root or CAP_NET_BIND_SERVICE";
	else if (error == ENOTSOCK)
		hint = "; a file that is not a socket is in the way";
	else if (error == EADDRNOTAVAIL)
		hint = "; it is not an address of this host";
	else if (addr->sa.sa_family == AF_UNIX)
		hint = sandbox_hint(
		    error, addr->un.sun_path, "RuntimeDirectory", sandbox);
	err_set(err, "cannot listen on %s: %s%s", addr_text(addr, text),
	    strerror(error), hint);
	return -1;
}

/* connect(2) refuses a file of any other kind as it refuses a stale socket, and
 * such a file must not be taken for one. */
static bool
is_socket(const struct addr *addr)
{
	struct stat st;

	return lstat(addr->un.sun_path, &st) == 0 && S_ISSOCK(st.st_mode);
}

/* Returns true when no process listens on the unix socket any more. */
static bool
is_stale(const struct addr *addr)
{
	int fd = stream_socket(AF_UNIX);
	bool stale;

	if (fd < 0)
		return false;
	stale = connect(fd, &addr->sa, addr->len) < 0 && errno == ECONNREFUSED;
	close(fd);
	return stale;
}

/* The mode is there from the first moment: the umask sees to that. */
static int
bind_unix(int fd, const struct addr *addr, uint32_t mode)
{
	mode_t old = umask(0777 & ~(mode_t)mode);
	int rc = bind(fd, &addr->sa, addr->len) < 0 ? -errno : 0;

	if (rc == -EADDRINUSE && !is_socket(addr))
		rc = -ENOTSOCK;
	else if (rc == -EADDRINUSE && is_stale(addr) &&
	         unlink(addr->un.sun_path) == 0)
		rc = bind(fd, &addr->sa, addr->len) < 0 ? -errno : 0;
	umask(old);
	return rc;
}

static int
bind_tcp(int fd, const struct addr *addr, bool both_families,
    const struct sock_options *options, struct sock_refusal *refusal)
{
	int v6only = !both_families;

	if (options &&
	    !sock_options_listen(fd, addr->sa.sa_family, options, refusal))
		return -refusal->error;
	set_flag(fd, SOL_SOCKET, SO_REUSEADDR);
	set_flag(fd, IPPROTO_TCP, TCP_NODELAY);
	if (addr->sa.sa_family == AF_INET6)
		(void)setsockopt(
		    fd, IPPROTO_IPV6, IPV6_V6ONLY, &v6only, sizeof(v6only));
	return bind(fd, &addr->sa, addr->len) < 0 ? -errno : 0;
}

static struct addr
v4_wildcard(const struct addr *v6)
{
	return (struct addr){
	    .in = {.sin_family = AF_INET, .sin_port = v6->in6.sin6_port},
	    .len = sizeof(struct sockaddr_in)};
}

int
sock_listen(
    const struct addr *addr, bool both_families, uint32_t mode, struct err *err)
{
	return sock_listen_with(addr, both_families, mode, NULL, err);
}

static int
option_refused(int fd, const struct sock_refusal *refusal,
    const struct addr *addr, struct err *err)
{
	char text[ADDR_TEXT_SIZE];

	close(fd);
	err_set(err, "cannot listen on %s with the option %s: %s%s",
	    addr_text(addr, text), refusal->option, strerror(refusal->error),
	    sock_refusal_hint(refusal));
	return -1;
}

int
sock_listen_with(const struct addr *addr, bool both_families, uint32_t mode,
    const struct sock_options *options, struct err *err)
{
	struct sock_refusal refusal = {.option = NULL};
	unsigned backlog =
	    options && options->backlog > 0 ? options->backlog : SOCK_BACKLOG;
	char text[ADDR_TEXT_SIZE];
	struct addr v4;
	int fd, rc;

	fd = stream_socket(addr->sa.sa_family);
	if (fd == -EAFNOSUPPORT && both_families) {
		v4 = v4_wildcard(addr);
		return sock_listen_with(&v4, false, mode, options, err);
	}
	if (fd < 0) {
		err_set(err, "cannot open a socket for %s: %s",
		    addr_text(addr, text), strerror(-fd));
		return -1;
	}
	if (addr->sa.sa_family == AF_UNIX)
		rc = bind_unix(fd, addr, mode);
	else
		rc = bind_tcp(fd, addr, both_families, options, &refusal);
	if (refusal.option)
		return option_refused(fd, &refusal, addr, err);
	if (rc == 0)
		rc = listen(fd, (int)backlog) < 0 ? -errno : 0;
	if (rc < 0 && both_families && rc == -EADDRNOTAVAIL) {
		close(fd);
		v4 = v4_wildcard(addr);
		return sock_listen_with(&v4, false, mode, options, err);
	}
	return rc < 0 ? bind_failed(fd, -rc, addr, err) : fd;
}

/* Linux keeps a port that was asked for, and lets go of one that it has chosen,
 * while getsockname(2) goes on to tell it; bind(2) knows (EINVAL). */
int
sock_listen_again(int fd, const struct addr *addr, unsigned backlog)
{
	if (bind(fd, &addr->sa, addr->len) < 0 && errno != EINVAL)
		return -errno;
	return listen(fd, backlog > 0 ? (int)backlog : SOCK_BACKLOG) < 0
	           ? -errno
	           : 0;
}

bool
sock_local_addr(int fd, struct addr *ret_addr)
{
	struct addr a = {.len = sizeof(struct sockaddr_un)};

	if (getsockname(fd, &a.sa, &a.len) < 0)
		return false;
	*ret_addr = a;
	return true;
}

/* 0, 1 when connected already, or -errno. */
static int
begin_connect(int fd, const struct addr *addr)
{
	if (!fault_fails(FAULT_CONNECT) &&
	    connect(fd, &addr->sa, addr->len) == 0)
		return 1;
	return errno == EINPROGRESS || errno == EINTR ? 0 : -errno;
}

/* The wildcard of the destination's family if only a port is given. */
static struct addr
source_for(const struct addr *source, const struct addr *to)
{
	struct addr a = {.sa.sa_family = to->sa.sa_family, .len = to->len};

	if (source->sa.sa_family != AF_UNSPEC)
		return *source;
	if (to->sa.sa_family == AF_INET6)
		a.in6.sin6_port = source->in.sin_port;
	else
		a.in.sin_port = source->in.sin_port;
	return a;
}

/* Several connections to different servers may share a port that is given. */
static int
bind_source(int fd, const struct addr *source, const struct addr *to)
{
	struct addr a = source_for(source, to);

	/* sin_port and sin6_port are in the same place. */
	if (a.in.sin_port == 0)
		set_flag(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT);
	else
		set_flag(fd, SOL_SOCKET, SO_REUSEADDR);
	return bind(fd, &a.sa, a.len) < 0 ? -errno : 0;
}

static int
refuse(struct sock_refusal *refusal, const char *option, int error)
{
	*refusal = (struct sock_refusal){
	    .option = option, .error = error, .essential = true};
	return -error;
}

int
sock_prepare(int fd, const struct addr *to, const struct sock_way *way,
    struct sock_refusal *ret_refusal)
{
	int family = to->sa.sa_family, rc;

	ret_refusal->option = NULL;
	if (!sock_options_connect(fd, family, way->options, ret_refusal) &&
	    ret_refusal->essential)
		return -ret_refusal->error;
	if (way->fast_open && !sock_options_fast_open(fd) &&
	    !ret_refusal->option)
		*ret_refusal =
		    (struct sock_refusal){.option = "tfo", .error = errno};
	if (way->transparent && !sock_options_transparent(fd, family))
		return refuse(ret_refusal, "source", errno);
	rc = way->source ? bind_source(fd, way->source, to) : 0;
	return rc < 0 ? refuse(ret_refusal, "source", -rc) : 0;
}

int
sock_connect_by(const struct addr *addr, const struct sock_way *way,
    bool *ret_connected, struct sock_refusal *ret_refusal)
{
	int fd, rc;

	ret_refusal->option = NULL;
	if (fault_fails(FAULT_SOCKET))
		return -errno;
	fd = stream_socket(addr->sa.sa_family);
	if (fd < 0)
		return fd;
	if (addr->sa.sa_family != AF_UNIX) {
		set_flag(fd, IPPROTO_TCP, TCP_NODELAY);
		rc = sock_prepare(fd, addr, way, ret_refusal);
		if (rc < 0)
			goto fail;
	}
	rc = begin_connect(fd, addr);
	if (rc < 0)
		goto fail;
	*ret_connected = rc == 1;
	return fd;
fail:
	close(fd);
	return rc;
}

int
sock_connect(const struct addr *addr, bool *ret_connected)
{
	static const struct sock_options none;
	const struct sock_way way = {.options = &none};
	struct sock_refusal refusal;

	return sock_connect_by(addr, &way, ret_connected, &refusal);
}

bool
sock_backlog(int fd, uint32_t *ret_waiting, uint32_t *ret_max)
{
	struct tcp_info info;
	socklen_t len = sizeof(info);

	/* While it listens both have another meaning than their names'
	 * (tcp_get_info). */
	if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len) < 0 ||
	    len < offsetof(struct tcp_info, tcpi_lost) ||
	    info.tcpi_state != TCP_LISTEN)
		return false;
	*ret_waiting = info.tcpi_unacked;
	*ret_max = info.tcpi_sacked;
	return true;
}

int
sock_take_error(int fd)
{
	int error = 0;
	socklen_t len = sizeof(error);

	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len) < 0)
		return errno;
	return error;
}

bool
sock_at_end(int fd)
{
	char byte;
	ssize_t n = recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);

	return n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR);
}

int
sock_unread(int fd)
{
	int bytes = 0;

	return ioctl(fd, FIONREAD, &bytes) < 0 ? 0 : bytes;
}

int
sock_unacknowledged(int fd)
{
	int bytes = 0, domain = AF_UNIX;
	socklen_t len = sizeof(domain);

	(void)getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &len);
	if (domain == AF_UNIX || ioctl(fd, SIOCOUTQ, &bytes) < 0)
		return 0;
	return bytes;
}

void
sock_close_reset(int fd)
{
	struct linger now = {.l_onoff = 1, .l_linger = 0};

	(void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
	close(fd);
}
