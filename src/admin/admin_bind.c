/* SPDX-License-Identifier: MIT
 * See admin_bind.h.
 */
#include "admin/admin_bind.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <libgen.h>
#include <linux/sockios.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "net/file_owner.h"
#include "net/inherited.h"
#include "net/sock.h"

/* From linux/un.h, which cannot be included beside sys/un.h. */
#ifndef SIOCUNIXFILE
#define SIOCUNIXFILE (SIOCPROTOPRIVATE + 0)
#endif

static bool
is_unix(const struct admin_spec *spec)
{
	return spec->addr.sa.sa_family == AF_UNIX;
}

/* Returns whether the path is free, or has a socket that no process listens
 * on. */
static bool
path_is_free(const struct addr *addr, struct err *err)
{
	const char *path = addr->un.sun_path;
	struct stat st;
	bool connected;
	int fd;

	if (lstat(path, &st) < 0)
		return true; /* bind reports errors */
	if (!S_ISSOCK(st.st_mode))
		return err_set(err,
		    "the admin socket cannot be '%s': that is a file of "
		    "another kind; remove it or choose another path",
		    path);
	fd = sock_connect(addr, &connected);
	if (fd < 0 && fd != -EAGAIN)
		return true;
	if (fd >= 0)
		close(fd);
	return err_set(err,
	    "another lfproxy serves the admin socket '%s'; stop it or choose "
	    "another path",
	    path);
}

/* Looks up the user and the group of the spec; returns -1 for one that it does
 * not name. */
static bool
find_owner(const struct admin_spec *spec, uid_t *ret_uid, gid_t *ret_gid,
    struct err *err)
{
	const struct passwd *user = spec->user ? getpwnam(spec->user) : NULL;
	const struct group *group = spec->group ? getgrnam(spec->group) : NULL;

	if ((spec->user && !user) || (spec->group && !group))
		return err_set(err,
		    "the owner of the admin socket '%s' is gone from this host",
		    spec->addr.un.sun_path);
	*ret_uid = user ? user->pw_uid : (uid_t)-1;
	*ret_gid = group ? group->gr_gid : (gid_t)-1;
	return true;
}

/* Opens the file of the socket with O_PATH: by SIOCUNIXFILE, which requires
 * CAP_NET_ADMIN, otherwise by the path.  A file that is to be given away must
 * belong to this process.  Returns the descriptor, or -errno. */
static int
file_of_socket(int socket, const char *path, bool gives_away)
{
	int fd = ioctl(socket, SIOCUNIXFILE);
	struct stat st;

	if (fd >= 0)
		return fd;
	fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	/* Some file systems report another owner for every file. */
	if (fstat(fd, &st) == 0 && S_ISSOCK(st.st_mode) &&
	    (st.st_uid == geteuid() || !gives_away))
		return fd;
	close(fd);
	return -ESTALE;
}

/* Gives the file to the owner of the spec, before the socket listens: the mode
 * was set when it was bound, so the former owner could connect.  Works on the
 * descriptor, since another file could replace the one at the path. */
static bool
set_owner(const struct admin_spec *spec, int file, struct err *err)
{
	uid_t uid;
	gid_t gid;
	int rc;

	if (!spec->user && !spec->group)
		return true;
	if (!find_owner(spec, &uid, &gid, err))
		return false;
	rc = file_owner_set(file, uid, gid);
	if (rc < 0)
		return err_set(err,
		    "the admin socket '%s' cannot be given to %s%s%s: %s; "
		    "start lfproxy as root or leave user and group out",
		    spec->addr.un.sun_path, spec->user ? spec->user : "",
		    spec->group ? ":" : "", spec->group ? spec->group : "",
		    strerror(-rc));
	return true;
}

/* Records the file, and gives it to the owner of the spec. */
static bool
take_file(
    struct admin_bound *bound, const struct admin_spec *spec, struct err *err)
{
	const char *path = spec->addr.un.sun_path;
	bool gives_away = spec->user || spec->group, ok;
	int fd = file_of_socket(bound->fd, path, gives_away);

	if (fd < 0 && !gives_away)
		return true;
	if (fd < 0)
		return err_set(err,
		    "the file of the admin socket '%s' cannot be found: %s; "
		    "choose a directory that only lfproxy can write",
		    path, strerror(-fd));
	if (fstat(fd, &bound->file) < 0)
		bound->file.st_ino = 0;
	ok = set_owner(spec, fd, err);
	close(fd);
	return ok;
}

/* Adds to the error what is wrong with the directory, if anything, and that the
 * process has dropped root's rights since the start, if it has. */
static void
blame_directory(const struct addr *addr, struct err *err)
{
	char path[sizeof(addr->un.sun_path)], *dir;
	struct err why = *err;

	snprintf(path, sizeof(path), "%s", addr->un.sun_path);
	dir = dirname(path);
	if (faccessat(AT_FDCWD, dir, W_OK | X_OK, AT_EACCESS) == 0)
		return;
	if (errno == ENOENT)
		err_set(err, "%.300s; the directory '%s' does not exist",
		    why.text, dir);
	else if (errno == EACCES)
		err_set(err,
		    "%.300s; this lfproxy runs with uid %u, which may not make "
		    "files in '%s'; allow that, or restart it with the right "
		    "to",
		    why.text, (unsigned)geteuid(), dir);
}

bool
admin_bind(const struct admin_spec *spec, struct admin_bound *ret_bound,
    struct err *err)
{
	struct admin_bound bound = {.fd = -1};

	if (is_unix(spec) && !inherited_has(&spec->addr, false) &&
	    !path_is_free(&spec->addr, err))
		return false;
	bound.fd = sock_listen(&spec->addr, false, spec->mode, err);
	if (bound.fd < 0) {
		if (is_unix(spec))
			blame_directory(&spec->addr, err);
		return false;
	}
	if (is_unix(spec) && !take_file(&bound, spec, err)) {
		(void)admin_unbind(&bound, spec);
		return false;
	}
	*ret_bound = bound;
	return true;
}

static bool
is_file(const struct admin_bound *bound, const struct stat *st)
{
	return bound->file.st_ino != 0 && st->st_dev == bound->file.st_dev &&
	       st->st_ino == bound->file.st_ino;
}

bool
admin_bound_is_at(const struct admin_bound *bound, const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 && is_file(bound, &st);
}

bool
admin_bound_lost(const struct admin_bound *bound, const struct admin_spec *spec)
{
	struct stat st;

	if (!is_unix(spec))
		return false;
	if (lstat(spec->addr.un.sun_path, &st) == 0)
		return !is_file(bound, &st);
	return errno == ENOENT || errno == ENOTDIR;
}

int
admin_unbind(struct admin_bound *bound, const struct admin_spec *spec)
{
	int rc = 0;

	if (is_unix(spec) && !inherited_files_are_shared() &&
	    admin_bound_is_at(bound, spec->addr.un.sun_path) &&
	    unlink(spec->addr.un.sun_path) < 0)
		rc = -errno;
	if (bound->fd >= 0)
		close(bound->fd);
	bound->fd = -1;
	bound->file.st_ino = 0;
	return rc;
}

/* -- a change of the file -- */

/* Opens the file at the path if it is the socket's own, and reads its mode and
 * owner.  The caller works on the descriptor, since another file could replace
 * the one at the path between two calls.  Returns the descriptor, or -errno. */
static int
open_socket_file(
    const struct admin_bound *bound, const char *path, struct stat *st)
{
	int fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (file_owner_get(fd, st) == 0 && is_file(bound, st))
		return fd;
	close(fd);
	return -ESTALE;
}

static bool
same_name(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

/* Sets in st the mode and the owner that the file is to have where `to` differs
 * from `from`.  A user or group that the spec no longer names becomes the one
 * at creation. */
static bool
wanted_owner(const struct admin_bound *bound, const struct admin_spec *from,
    const struct admin_spec *to, struct stat *st, struct err *err)
{
	uid_t uid;
	gid_t gid;

	if (!find_owner(to, &uid, &gid, err))
		return false;
	if (!same_name(from->user, to->user))
		st->st_uid = to->user ? uid : bound->file.st_uid;
	if (!same_name(from->group, to->group))
		st->st_gid = to->group ? gid : bound->file.st_gid;
	return true;
}

static bool
change_failed(const struct admin_spec *to, int error, struct err *err)
{
	bool right = error == EPERM || error == EACCES;

	return err_set(err,
	    "the admin socket '%s' cannot be given mode=%04o%s%s%s%s: %s%s",
	    to->addr.un.sun_path, (unsigned)to->mode, to->user ? " user=" : "",
	    to->user ? to->user : "", to->group ? " group=" : "",
	    to->group ? to->group : "", strerror(error),
	    right && geteuid() != 0
	        ? "; this lfproxy does not run as root (any more), so that "
	          "takes a restart"
	        : "");
}

bool
admin_file_change(const struct admin_bound *bound,
    const struct admin_spec *from, const struct admin_spec *to,
    struct admin_file_change *ret_change, struct err *err)
{
	struct admin_file_change c = {.fd = -1};
	struct stat wanted;
	int rc;

	*ret_change = c;
	if (!is_unix(to) ||
	    (from->mode == to->mode && same_name(from->user, to->user) &&
	        same_name(from->group, to->group)))
		return true;
	c.fd = open_socket_file(bound, to->addr.un.sun_path, &c.was);
	if (c.fd < 0)
		return change_failed(to, -c.fd, err);
	wanted = c.was;
	if (from->mode != to->mode)
		wanted.st_mode = (mode_t)to->mode;
	if (!wanted_owner(bound, from, to, &wanted, err)) {
		close(c.fd);
		return false;
	}
	rc = file_rights_change(c.fd, &c.was, &wanted);
	if (rc < 0) {
		admin_file_put_back(&c);
		return change_failed(to, -rc, err);
	}
	*ret_change = c;
	return true;
}

void
admin_file_keep(struct admin_file_change *change)
{
	if (change->fd >= 0)
		close(change->fd);
	change->fd = -1;
}

/* Ignores errors: the process can undo what it could change. */
void
admin_file_put_back(struct admin_file_change *change)
{
	struct stat is;

	if (change->fd < 0)
		return;
	if (file_owner_get(change->fd, &is) == 0)
		(void)file_rights_change(change->fd, &is, &change->was);
	admin_file_keep(change);
}
