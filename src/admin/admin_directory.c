/* SPDX-License-Identifier: MIT
 * See admin_directory.h.
 */
#include "admin/admin_directory.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <libgen.h>
#include <pwd.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "net/file_owner.h"

#define PATH_SIZE FILE_RIGHTS_PATH_SIZE

/* Returns the directory of the path in out, NULL for an address without one. */
static const char *
directory_of(const struct admin_spec *spec, char out[PATH_SIZE])
{
	if (spec->addr.sa.sa_family != AF_UNIX ||
	    spec->addr.un.sun_path[0] == '\0')
		return NULL;
	snprintf(out, PATH_SIZE, "%s", spec->addr.un.sun_path);
	return dirname(out);
}

/* Gives the directory away if this process has made it: another one may have
 * taken its place. */
static void
give_directory(const char *path, const struct global_spec *global)
{
	const struct passwd *user =
	    global->user ? getpwnam(global->user) : NULL;
	const struct group *group =
	    global->group ? getgrnam(global->group) : NULL;
	gid_t gid = group ? group->gr_gid : user ? user->pw_gid : (gid_t)-1;
	int fd;
	struct stat st;

	if (!user && !group)
		return;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return;
	if (fstat(fd, &st) == 0 && st.st_uid == geteuid())
		(void)file_owner_set(fd, user ? user->pw_uid : (uid_t)-1, gid);
	close(fd);
}

void
admin_directory_make(
    const struct admin_spec *spec, const struct global_spec *global)
{
	char path[PATH_SIZE];
	const char *dir = directory_of(spec, path);

	if (dir && mkdir(dir, 0755) == 0)
		give_directory(dir, global);
}

bool
admin_directory_refuses(const struct admin_spec *spec)
{
	char path[PATH_SIZE];
	const char *dir = directory_of(spec, path);
	struct stat st;

	return dir && lstat(spec->addr.un.sun_path, &st) < 0 &&
	       faccessat(AT_FDCWD, dir, W_OK | X_OK, AT_EACCESS) < 0 &&
	       (errno == ENOENT || errno == EACCES || errno == EROFS);
}
