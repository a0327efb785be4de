/* SPDX-License-Identifier: MIT
 * See sock.h.
 */
#include "net/sock.h"

#include <errno.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/ensure.h"
#include "base/fault.h"
#include "base/sandbox.h"
#include "net/inherited.h"

static int
stream_socket(int family)
{
	int fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	return fd < 0 ? -errno : fd;
}

static int
bind_to(int fd, const struct addr *addr)
{
	return bind(fd, &addr->sa, addr->len) < 0 ? -errno : 0;
}

static int
listen_on(int fd, unsigned backlog)
{
	int n = backlog > 0 ? (int)backlog : SOCK_BACKLOG;

	return listen(fd, n) < 0 ? -errno : 0;
}

static void
set_flag(int fd, int level, int option)
{
	int on = 1;

	/* Fails only for a socket of another family. */
	(void)setsockopt(fd, level, option, &on, sizeof(on));
}

/* Returns whether the file is a socket.  Another file must not be taken for a
 * stale socket: connect(2) refuses both in the same way. */
static bool
is_socket(const struct addr *addr)
{
	struct stat st;

	return lstat(addr->un.sun_path, &st) == 0 && S_ISSOCK(st.st_mode);
}

/* Returns whether no process listens on the unix socket any more. */
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

/* Binds the unix socket.  The umask gives the file its mode from the first
 * moment. */
static int
bind_unix(int fd, const struct addr *addr, uint32_t mode)
{
	mode_t old = umask(0777 & ~(mode_t)mode);
	int rc = bind_to(fd, addr);

	if (rc == -EADDRINUSE && !is_socket(addr))
		rc = -ENOTSOCK;
	else if (rc == -EADDRINUSE && is_stale(addr) &&
	         unlink(addr->un.sun_path) == 0)
		rc = bind_to(fd, addr);
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
	return bind_to(fd, addr);
}

/* Sets the mode, unless the file has it: a process that has given up root may
 * not change a file of root's.  Returns 0 or -errno. */
static int
set_socket_mode(const char *path, mode_t mode)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return -errno;
	if ((st.st_mode & 07777) == mode)
		return 0;
	return chmod(path, mode) < 0 ? -errno : 0;
}

/* Gives an inherited socket the options and the mode that a new one would get.
 * Options that bind(2) fixes stay, and a foreign socket keeps what the options
 * do not give.  Returns 0 or -errno. */
static int
fit_inherited(int fd, const struct addr *addr, bool foreign, uint32_t mode,
    const struct sock_options *options, struct sock_refusal *refusal)
{
	struct sock_options has = {.backlog = 0};

	if (addr->sa.sa_family == AF_UNIX)
		return set_socket_mode(addr->un.sun_path, (mode_t)mode);
	if (options && !foreign)
		sock_options_read(fd, &has);
	if (options && !sock_options_change(fd, true, &has, options, refusal))
		return -refusal->error;
	set_flag(fd, IPPROTO_TCP, TCP_NODELAY);
	return 0;
}

/* Makes the listening socket, or takes an inherited one.  Returns the
 * descriptor, or -errno, with *refusal set if an option was refused. */
static int
listen_at(const struct addr *addr, bool both_families, uint32_t mode,
    const struct sock_options *options, struct sock_refusal *refusal)
{
	unsigned backlog = options ? options->backlog : 0;
	bool foreign = false, inherited;
	int fd = inherited_take(addr, both_families, &foreign), rc;

	inherited = fd >= 0;
	if (!inherited && addr_is_descriptor(addr))
		return -ENOENT;
	if (!inherited)
		fd = stream_socket(addr->sa.sa_family);
	if (fd < 0)
		return fd;
	if (inherited)
		rc = fit_inherited(fd, addr, foreign, mode, options, refusal);
	else if (addr->sa.sa_family == AF_UNIX)
		rc = bind_unix(fd, addr, mode);
	else
		rc = bind_tcp(fd, addr, both_families, options, refusal);
	if (rc == 0)
		rc = listen_on(fd, backlog);
	if (rc == 0)
		return fd;
	close(fd);
	return rc;
}

static const char *
listen_hint(int error, const struct addr *addr, char out[SANDBOX_HINT_SIZE])
{
	if (error == EADDRINUSE)
		return "; another program listens there, stop it or choose "
		       "another address";
	if (error == EACCES && addr->sa.sa_family != AF_UNIX)
		return "; ports below 1024 need root or CAP_NET_BIND_SERVICE";
	if (error == ENOTSOCK)
		return "; a file that is not a socket is in the way";
	if (error == EADDRNOTAVAIL)
		return "; it is not an address of this host";
	if (addr->sa.sa_family == AF_UNIX)
		return sandbox_hint(
		    error, addr->un.sun_path, "RuntimeDirectory", out);
	return "";
}

int
sock_listen_with(const struct addr *addr, bool both_families, uint32_t mode,
    const struct sock_options *options, struct err *err)
{
	struct sock_refusal refusal = {.option = NULL};
	char text[ADDR_TEXT_SIZE], sandbox[SANDBOX_HINT_SIZE];
	int rc = listen_at(addr, both_families, mode, options, &refusal);

	if (both_families && !refusal.option &&
	    (rc == -EAFNOSUPPORT || rc == -EADDRNOTAVAIL)) {
		const struct addr v4 = {.in = {.sin_family = AF_INET,
		                            .sin_port = addr->in6.sin6_port},
		    .len = sizeof(v4.in)};

		return sock_listen_with(&v4, false, mode, options, err);
	}
	if (rc >= 0)
		return rc;
	if (rc == -ENOENT && addr_is_descriptor(addr)) {
		inherited_explain_names(addr, err);
		return -1;
	}
	addr_text(addr, text);
	if (refusal.option)
		err_set(err, "cannot listen on %s with the option %s: %s%s",
		    text, refusal.option, strerror(-rc),
		    sock_refusal_hint(&refusal));
	else
		err_set(err, "cannot listen on %s: %s%s", text, strerror(-rc),
		    listen_hint(-rc, addr, sandbox));
	return -1;
}

int
sock_listen(
    const struct addr *addr, bool both_families, uint32_t mode, struct err *err)
{
	return sock_listen_with(addr, both_families, mode, NULL, err);
}

/* After shutdown(2) Linux keeps a port that was asked for, and releases a port
 * that it had chosen itself.  In the first case bind(2) fails with EINVAL. */
int
sock_listen_again(int fd, const struct addr *addr, unsigned backlog)
{
	int rc = bind_to(fd, addr);

	return rc < 0 && rc != -EINVAL ? rc : listen_on(fd, backlog);
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

bool
sock_peer_addr(int fd, struct addr *ret_addr)
{
	struct addr a = {.len = sizeof(struct sockaddr_un)};

	if (getpeername(fd, &a.sa, &a.len) < 0)
		return false;
	*ret_addr = a;
	return true;
}

/* Starts the connect.  Returns 1 when it is complete already, 0 when it is
 * under way, or -errno. */
static int
begin_connect(int fd, const struct addr *addr)
{
	if (!fault_fails(FAULT_CONNECT) &&
	    connect(fd, &addr->sa, addr->len) == 0)
		return 1;
	return errno == EINPROGRESS || errno == EINTR ? 0 : -errno;
}

/* Binds the socket to the source.  With a given port SO_REUSEADDR lets
 * connections to different servers share it. */
static int
bind_source(int fd, const struct addr *source, const struct addr *to)
{
	struct addr a = *source;

	/* Without a family, bind to the wildcard address of the destination's.
	 * sin_port and sin6_port are in the same place. */
	if (source->sa.sa_family == AF_UNSPEC)
		a = (struct addr){.in = {.sin_family = to->sa.sa_family,
		                      .sin_port = source->in.sin_port},
		    .len = to->len};
	if (a.in.sin_port == 0)
		set_flag(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT);
	else
		set_flag(fd, SOL_SOCKET, SO_REUSEADDR);
	return bind_to(fd, &a);
}

static int
source_refused(struct sock_refusal *refusal, int error)
{
	*refusal = (struct sock_refusal){
	    .option = "source", .error = error, .essential = true};
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
		return source_refused(ret_refusal, errno);
	rc = way->source ? bind_source(fd, way->source, to) : 0;
	return rc < 0 ? source_refused(ret_refusal, -rc) : 0;
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
sock_close_silent(int fd)
{
	int on = 1;

	/* A socket under repair is closed without a packet (tcp_close). */
	if (setsockopt(fd, IPPROTO_TCP, TCP_REPAIR, &on, sizeof(on)) == 0) {
		close(fd);
		return;
	}
	/* The option of the other family has no effect, or fails. */
	(void)setsockopt(fd, IPPROTO_IP, IP_TTL, &on, sizeof(on));
	(void)setsockopt(fd, IPPROTO_IPV6, IPV6_UNICAST_HOPS, &on, sizeof(on));
	sock_close_reset(fd);
}

void
sock_close_reset(int fd)
{
	struct linger now = {.l_onoff = 1, .l_linger = 0};

	(void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
	close(fd);
}
