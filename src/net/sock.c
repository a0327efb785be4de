/* SPDX-License-Identifier: MIT
 * See sock.h.
 */
#include "net/sock.h"

#include <errno.h>
#include <linux/sockios.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/ensure.h"

/* The kernel cuts it to net.core.somaxconn. */
#define BACKLOG 65535

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

	/* Each of these can only fail for a socket of another family. */
	(void)setsockopt(fd, level, option, &on, sizeof(on));
}

/* What bind(2) refuses, and what to do about it. */
static int
bind_failed(int fd, int error, const struct addr *addr, struct err *err)
{
	char text[ADDR_TEXT_SIZE];
	const char *hint = "";

	close(fd);
	if (error == EADDRINUSE)
		hint = "; another program listens there, stop it or choose "
		       "another address";
	else if (error == EACCES && addr->sa.sa_family != AF_UNIX)
		hint = "; ports below 1024 need root or CAP_NET_BIND_SERVICE";
	else if (error == ENOTSOCK)
		hint = "; a file that is no socket is in the way";
	else if (error == EADDRNOTAVAIL)
		hint = "; it is not an address of this host";
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

/* True when nobody listens on the unix socket any more. */
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
bind_tcp(int fd, const struct addr *addr, bool both_families)
{
	int v6only = !both_families;

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
	char text[ADDR_TEXT_SIZE];
	struct addr v4;
	int fd, rc;

	fd = stream_socket(addr->sa.sa_family);
	if (fd == -EAFNOSUPPORT && both_families) {
		v4 = v4_wildcard(addr);
		return sock_listen(&v4, false, mode, err);
	}
	if (fd < 0) {
		err_set(err, "cannot open a socket for %s: %s",
		    addr_text(addr, text), strerror(-fd));
		return -1;
	}
	rc = addr->sa.sa_family == AF_UNIX ? bind_unix(fd, addr, mode)
	                                   : bind_tcp(fd, addr, both_families);
	if (rc == 0)
		rc = listen(fd, BACKLOG) < 0 ? -errno : 0;
	if (rc < 0 && both_families && rc == -EADDRNOTAVAIL) {
		close(fd);
		v4 = v4_wildcard(addr);
		return sock_listen(&v4, false, mode, err);
	}
	return rc < 0 ? bind_failed(fd, -rc, addr, err) : fd;
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

int
sock_connect(const struct addr *addr, bool *ret_connected)
{
	int fd = stream_socket(addr->sa.sa_family);
	int error;

	if (fd < 0)
		return fd;
	if (addr->sa.sa_family != AF_UNIX)
		set_flag(fd, IPPROTO_TCP, TCP_NODELAY);
	if (connect(fd, &addr->sa, addr->len) == 0) {
		*ret_connected = true;
		return fd;
	}
	error = errno;
	if (error == EINPROGRESS || error == EINTR) {
		*ret_connected = false;
		return fd;
	}
	close(fd);
	return -error;
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
