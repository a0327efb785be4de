/* SPDX-License-Identifier: MIT
 * See inherited.h.
 */
#include "net/inherited.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/text.h"
#include "net/file_owner.h"
#include "net/sock.h"

struct inherited {
	int fd;
	bool both_families;
	struct addr asked, bound;
	struct addr name; /* `fd:NAME`, AF_UNSPEC: none */
	bool foreign;     /* see inherited_take */
};

static struct inherited *inherited_all;
static size_t inherited_n, inherited_room;
static bool files_are_shared;

/* Files of sockets that no listen of this process asks for.  They are removed
 * once they belong to no other process. */
static struct addr *leftovers;
static size_t leftovers_n, leftovers_room;

/* Files of sockets that were taken while they also belong to another process.
 */
static struct file_rights *files;
static size_t files_n, files_room;

/* Every name that a socket of this process has had, as in `web, api`, also of
 * sockets that were taken or closed. */
#define NAMES_SIZE 400
static char names[NAMES_SIZE];

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

/* Makes the socket non-blocking, because accepting must not block, and
 * close-on-exec, because other programs must not get it. */
static bool
set_flags(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	return flags >= 0 && fcntl(fd, F_SETFL, flags | O_NONBLOCK) == 0 &&
	       fcntl(fd, F_SETFD, FD_CLOEXEC) == 0;
}

static bool
is_known_name(const char *name)
{
	size_t n = strlen(name);

	for (const char *at = names; (at = strstr(at, name)); at += n)
		if ((at == names || at[-1] == ' ') &&
		    (at[n] == ',' || at[n] == '\0'))
			return true;
	return false;
}

/* Adds a name to the list; a name for which the list has no room is left out.
 */
static void
note_name(const struct addr *descriptor)
{
	const char *name = descriptor->un.sun_path;
	size_t used = strlen(names);

	if (addr_is_descriptor(descriptor) && !is_known_name(name) &&
	    used + strlen(name) + sizeof(", ") <= sizeof(names))
		sprintf(names + used, "%s%s", used > 0 ? ", " : "", name);
}

/* Adds a socket with a name; AF_UNSPEC: it has none. */
static bool
add_named(int fd, const struct addr *asked, const struct addr *name,
    bool foreign, struct err *err)
{
	struct inherited in = {.fd = fd, .name = *name, .foreign = foreign};
	struct inherited *grown;

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
	note_name(name);
	return true;
}

bool
inherited_add(int fd, const struct addr *asked, struct err *err)
{
	static const struct addr unnamed = {.len = 0};
	bool named = asked && addr_is_descriptor(asked);

	return add_named(fd, asked, named ? asked : &unnamed, named, err);
}

/* Returns the number in the variable, and removes the variable; 0 if it is not
 * set or has another text. */
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

/* Returns whether lfproxy itself has stored the socket under the name.  The
 * default name of a socket unit's socket ends in `.socket`. */
static bool
is_stored(const char *name)
{
	const char *end = strrchr(name, '.');

	return strncmp(name, INHERITED_STORED, strlen(INHERITED_STORED)) == 0 &&
	       (!end || strcmp(end, ".socket") != 0);
}

bool
inherited_from_manager(struct err *err)
{
	uint64_t pid = take_number("LISTEN_PID");
	uint64_t n = take_number("LISTEN_FDS");
	const char *fdnames = getenv("LISTEN_FDNAMES");
	char *copy = strdup(fdnames ? fdnames : ""), *rest = copy;
	bool ok = true;

	unsetenv("LISTEN_FDNAMES");
	if (pid != (uint64_t)getpid())
		n = 0;
	for (uint64_t i = 0; i < n; i++) {
		const char *name = rest ? strsep(&rest, ":") : "";
		struct addr named = {.len = 0};
		struct err unusable;

		/* A socket whose name cannot be written is found by its
		 * address only. */
		if (!addr_set_descriptor(name, &named, &unusable))
			named.len = 0;
		ok = add_named(INHERITED_FIRST + (int)i, NULL, &named,
		         !is_stored(name), err) &&
		     ok;
	}
	free(copy);
	return ok;
}

/* Returns whether both are paths of the same file, as /run/x and /var/run/x may
 * be. */
static bool
same_file(const struct addr *a, const struct addr *b)
{
	struct stat one, other;

	return b->sa.sa_family == AF_UNIX && stat(a->un.sun_path, &one) == 0 &&
	       stat(b->un.sun_path, &other) == 0 &&
	       one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

/* Returns the unix socket of the file, or NULL. */
static struct inherited *
find_by_file(const struct addr *addr)
{
	for (size_t i = 0; i < inherited_n; i++)
		if (same_file(addr, &inherited_all[i].bound))
			return &inherited_all[i];
	return NULL;
}

static struct inherited *
find_inherited(const struct addr *addr, bool both_families)
{
	for (size_t i = 0; i < inherited_n; i++) {
		struct inherited *in = &inherited_all[i];

		if (addr_is_descriptor(addr)) {
			if (addr_equal(&in->name, addr))
				return in;
			continue;
		}
		if (in->both_families == both_families &&
		    (addr_equal(&in->asked, addr) ||
		        addr_equal(&in->bound, addr)))
			return in;
	}
	return addr->sa.sa_family == AF_UNIX ? find_by_file(addr) : NULL;
}

bool
inherited_has(const struct addr *addr, bool both_families)
{
	return find_inherited(addr, both_families) != NULL;
}

/* Notes the rights of the file, to be put back.  If memory is short, the file
 * keeps the rights that this process gives it. */
static void
note_file(const struct addr *file)
{
	struct file_rights *grown =
	    grow(files, files_n, &files_room, sizeof(*grown));

	if (!grown)
		return;
	files = grown;
	file_rights_read(file->un.sun_path, &grown[files_n++]);
}

int
inherited_take(const struct addr *addr, bool both_families, bool *ret_foreign)
{
	struct inherited *in = find_inherited(addr, both_families);
	int fd;

	if (!in)
		return -1;
	fd = in->fd;
	*ret_foreign = in->foreign;
	if (files_are_shared && in->bound.sa.sa_family == AF_UNIX)
		note_file(&in->bound);
	/* The others keep their order, which matters for equal addresses. */
	inherited_n--;
	memmove(in, in + 1,
	    (size_t)(inherited_all + inherited_n - in) * sizeof(*in));
	return fd;
}

const struct addr *
inherited_at(size_t i)
{
	return i < inherited_n ? &inherited_all[i].bound : NULL;
}

void
inherited_explain_names(const struct addr *descriptor, struct err *err)
{
	const char *name = descriptor->un.sun_path;

	if (names[0] == '\0')
		err_set(err,
		    "no socket has the name '%s', and none has another name: "
		    "start lfproxy by a socket unit with FileDescriptorName=%s",
		    name, name);
	else if (is_known_name(name))
		err_set(err,
		    "the sockets with the name '%s' were closed or are used "
		    "under their addresses; a restart brings them back",
		    name);
	else
		err_set(err,
		    "no socket has the name '%s'; the service manager has "
		    "passed %s",
		    name, names);
}

/* Notes a file to be removed later.  If memory is short, the file stays. */
static void
keep_leftover(const struct addr *file)
{
	struct addr *grown =
	    grow(leftovers, leftovers_n, &leftovers_room, sizeof(*grown));

	if (!grown)
		return;
	leftovers = grown;
	grown[leftovers_n++] = *file;
}

static void
remove_leftovers(void)
{
	for (size_t i = 0; i < leftovers_n; i++)
		(void)unlink(leftovers[i].un.sun_path);
	free(leftovers);
	leftovers = NULL;
	leftovers_n = leftovers_room = 0;
}

void
inherited_share_files(bool share)
{
	files_are_shared = share;
	if (!share)
		remove_leftovers();
}

bool
inherited_files_are_shared(void)
{
	return files_are_shared;
}

void
inherited_put_back_files(void)
{
	for (size_t i = 0; i < files_n; i++)
		(void)file_rights_restore(&files[i]);
}

size_t
inherited_close(void)
{
	size_t n = inherited_n;

	for (size_t i = 0; i < n; i++) {
		const struct inherited *in = &inherited_all[i];

		/* The files of a service manager's sockets belong to it. */
		if (files_are_shared && in->bound.sa.sa_family == AF_UNIX &&
		    !addr_is_descriptor(&in->name))
			keep_leftover(&in->bound);
		close(in->fd);
	}
	free(inherited_all);
	inherited_all = NULL;
	inherited_n = inherited_room = 0;
	return n;
}
