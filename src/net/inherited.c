/* SPDX-License-Identifier: MIT
 * See inherited.h.
 */
#include "net/inherited.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/text.h"
#include "net/sock.h"

struct inherited {
	int fd;
	bool both_families;
	struct addr asked, bound;
};

static struct inherited *inherited_all;
static size_t inherited_n, inherited_room;
static bool files_are_shared;

static int
sock_number(int fd, int level, int option)
{
	socklen_t size = sizeof(int);
	int n = 0;

	return getsockopt(fd, level, option, &n, &size) == 0 ? n : -1;
}

static bool
is_listening_stream(int fd)
{
	return sock_number(fd, SOL_SOCKET, SO_TYPE) == SOCK_STREAM &&
	       sock_number(fd, SOL_SOCKET, SO_ACCEPTCONN) == 1;
}

/* Accepting must not block, and other programs must not get the socket. */
static bool
set_flags(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	return flags >= 0 && fcntl(fd, F_SETFL, flags | O_NONBLOCK) == 0 &&
	       fcntl(fd, F_SETFD, FD_CLOEXEC) == 0;
}

bool
inherited_add(int fd, const struct addr *asked, struct err *err)
{
	struct inherited in = {.fd = fd}, *grown;

	if (!is_listening_stream(fd)) {
		close(fd);
		return err_set(
		    err, "descriptor %d is not a listening stream socket", fd);
	}
	grown =
	    grow(inherited_all, inherited_n, &inherited_room, sizeof(*grown));
	if (!grown || !set_flags(fd) || !sock_local_addr(fd, &in.bound)) {
		inherited_all = grown ? grown : inherited_all;
		err_set(err, "the listening socket %d cannot be used: %s", fd,
		    strerror(errno));
		close(fd);
		return false;
	}
	in.asked = asked ? *asked : in.bound;
	in.both_families = in.bound.sa.sa_family == AF_INET6 &&
	                   IN6_IS_ADDR_UNSPECIFIED(&in.bound.in6.sin6_addr) &&
	                   sock_number(fd, IPPROTO_IPV6, IPV6_V6ONLY) == 0;
	inherited_all = grown;
	grown[inherited_n++] = in;
	return true;
}

/* Returns the number that the variable has, 0 without it or for another text.
 */
static uint64_t
take_number(const char *name)
{
	const char *text = getenv(name);
	uint64_t n = 0;
	struct err err;

	if (text && !text_parse_number(text, 1, INT32_MAX, &n, &err))
		n = 0;
	unsetenv(name);
	return n;
}

bool
inherited_from_manager(struct err *err)
{
	uint64_t pid = take_number("LISTEN_PID");
	uint64_t n = take_number("LISTEN_FDS");
	bool ok = true;

	unsetenv("LISTEN_FDNAMES");
	if (pid != (uint64_t)getpid())
		return true;
	for (uint64_t i = 0; i < n; i++)
		ok = inherited_add(INHERITED_FIRST + (int)i, NULL, err) && ok;
	return ok;
}

static struct inherited *
find_inherited(const struct addr *addr, bool both_families)
{
	for (size_t i = 0; i < inherited_n; i++) {
		struct inherited *in = &inherited_all[i];

		if (in->both_families == both_families &&
		    (addr_equal(&in->asked, addr) ||
		        addr_equal(&in->bound, addr)))
			return in;
	}
	return NULL;
}

bool
inherited_has(const struct addr *addr, bool both_families)
{
	return find_inherited(addr, both_families) != NULL;
}

int
inherited_take(const struct addr *addr, bool both_families)
{
	struct inherited *in = find_inherited(addr, both_families);
	int fd;

	if (!in)
		return -1;
	fd = in->fd;
	/* The others stay in their order: that of equal addresses counts. */
	inherited_n--;
	memmove(in, in + 1,
	    (size_t)(inherited_all + inherited_n - in) * sizeof(*in));
	return fd;
}

void
inherited_share_files(bool share)
{
	files_are_shared = share;
}

bool
inherited_files_are_shared(void)
{
	return files_are_shared;
}

size_t
inherited_close(bool remove)
{
	size_t n = inherited_n;

	for (size_t i = 0; i < n; i++) {
		const struct addr *at = &inherited_all[i].bound;

		if (remove && at->sa.sa_family == AF_UNIX)
			(void)unlink(at->un.sun_path);
		close(inherited_all[i].fd);
	}
	free(inherited_all);
	inherited_all = NULL;
	inherited_n = inherited_room = 0;
	return n;
}
