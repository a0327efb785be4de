/* SPDX-License-Identifier: MIT
 * See file_owner.h.
 */
#include "net/file_owner.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/posix_acl.h>
#include <linux/posix_acl_xattr.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/xattr.h>
#include <unistd.h>

#define ACL_NAME "system.posix_acl_access"
#define RIGHTS   (ACL_READ | ACL_WRITE | ACL_EXECUTE)

/* The entries of the list in file_owner.h, in the order that acl(5) demands. */
enum { USER_OBJ, GROUP_OBJ, GROUP, MASK, OTHER, ENTRIES };
static const uint16_t tags[ENTRIES] = {[USER_OBJ] = ACL_USER_OBJ,
    [GROUP_OBJ] = ACL_GROUP_OBJ,
    [GROUP] = ACL_GROUP,
    [MASK] = ACL_MASK,
    [OTHER] = ACL_OTHER};

struct acl {
	struct posix_acl_xattr_header header;
	struct posix_acl_xattr_entry entries[ENTRIES];
};

/* Writes a path of the descriptor, because the calls for attributes take no
 * O_PATH descriptors.  Returns out. */
#define PATH_SIZE 40
static const char *
descriptor_path(int fd, char out[PATH_SIZE])
{
	snprintf(out, PATH_SIZE, "/proc/self/fd/%d", fd);
	return out;
}

static struct acl
acl_for(mode_t mode, gid_t gid)
{
	const uint16_t rights[ENTRIES] = {[USER_OBJ] = mode >> 6 & RIGHTS,
	    [GROUP] = RIGHTS,
	    [MASK] = mode >> 3 & RIGHTS,
	    [OTHER] = mode & RIGHTS};
	struct acl acl = {.header.a_version = htole32(POSIX_ACL_XATTR_VERSION)};

	for (int i = 0; i < ENTRIES; i++) {
		acl.entries[i].e_tag = htole16(tags[i]);
		acl.entries[i].e_perm = htole16(rights[i]);
		acl.entries[i].e_id =
		    htole32(i == GROUP ? gid : (uint32_t)ACL_UNDEFINED_ID);
	}
	return acl;
}

/* Returns whether the file has a list of the form in file_owner.h, and sets
 * *ret_gid to its group if so. */
static bool
find_acl(int fd, gid_t *ret_gid)
{
	char path[PATH_SIZE];
	struct acl acl;

	if (getxattr(descriptor_path(fd, path), ACL_NAME, &acl, sizeof(acl)) !=
	    sizeof(acl))
		return false;
	for (int i = 0; i < ENTRIES; i++)
		if (acl.entries[i].e_tag != htole16(tags[i]))
			return false;
	if (acl.entries[GROUP_OBJ].e_perm != 0)
		return false;
	*ret_gid = le32toh(acl.entries[GROUP].e_id);
	return true;
}

int
file_owner_get(int fd, struct stat *ret_st)
{
	if (fstat(fd, ret_st) < 0)
		return -errno;
	(void)find_acl(fd, &ret_st->st_gid);
	return 0;
}

/* Gives the rights of the group to another group, or back to the file's own.
 * Returns 0 or -errno. */
static int
set_group(int fd, const struct stat *st, gid_t gid)
{
	struct acl acl = acl_for(st->st_mode, gid);
	char path[PATH_SIZE];
	int rc;

	if (gid == st->st_gid)
		rc = removexattr(descriptor_path(fd, path), ACL_NAME);
	else
		rc = setxattr(
		    descriptor_path(fd, path), ACL_NAME, &acl, sizeof(acl), 0);
	return rc < 0 ? -errno : 0;
}

int
file_owner_set(int fd, uid_t uid, gid_t gid)
{
	char path[PATH_SIZE];
	struct stat st;
	gid_t now;
	bool listed, same_user;

	if (fstat(fd, &st) < 0)
		return -errno;
	now = st.st_gid;
	listed = find_acl(fd, &now);
	same_user = uid == (uid_t)-1 || uid == st.st_uid;
	/* Without CAP_CHOWN a call that changes nothing may be refused. */
	if (same_user && (gid == (gid_t)-1 || gid == now))
		return 0;
	if (fchownat(fd, "", uid, gid, AT_EMPTY_PATH) == 0) {
		if (listed && gid != (gid_t)-1)
			(void)removexattr(descriptor_path(fd, path), ACL_NAME);
		return 0;
	}
	if (errno != EPERM || !same_user)
		return -errno;
	return set_group(fd, &st, gid) == 0 ? 0 : -EPERM;
}

/* Sets the mode.  fchmod(2) takes no O_PATH descriptors.  Returns 0 or -errno.
 */
static int
set_mode(int fd, mode_t mode)
{
	char path[PATH_SIZE];

	return chmod(descriptor_path(fd, path), mode) < 0 ? -errno : 0;
}

int
file_rights_change(int fd, const struct stat *is, const struct stat *wanted)
{
	mode_t both = is->st_mode & wanted->st_mode & 0777;
	int rc = 0;

	if (is->st_uid == wanted->st_uid && is->st_gid == wanted->st_gid)
		both = wanted->st_mode & 0777;
	if ((is->st_mode & 0777) != both)
		rc = set_mode(fd, both);
	if (rc == 0 &&
	    (is->st_uid != wanted->st_uid || is->st_gid != wanted->st_gid))
		rc = file_owner_set(fd, wanted->st_uid, wanted->st_gid);
	if (rc == 0 && (wanted->st_mode & 0777) != both)
		rc = set_mode(fd, wanted->st_mode & 0777);
	return rc;
}

/* Opens the file and reads its mode and owner.  Returns an O_PATH descriptor or
 * -errno. */
static int
open_owned(const char *path, struct stat *ret_st)
{
	int fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC), rc;

	if (fd < 0)
		return -errno;
	rc = file_owner_get(fd, ret_st);
	if (rc == 0)
		return fd;
	close(fd);
	return rc;
}

void
file_rights_read(const char *path, struct file_rights *ret_rights)
{
	int fd = open_owned(path, &ret_rights->st);

	snprintf(ret_rights->path, sizeof(ret_rights->path), "%s",
	    fd < 0 ? "" : path);
	if (fd >= 0)
		close(fd);
}

int
file_rights_restore(const struct file_rights *rights)
{
	const struct stat *was = &rights->st;
	struct stat is;
	int fd, rc = 0;

	if (!rights->path[0])
		return 0;
	fd = open_owned(rights->path, &is);
	if (fd < 0)
		return fd == -ENOENT ? 0 : fd;
	if (is.st_dev == was->st_dev && is.st_ino == was->st_ino)
		rc = file_rights_change(fd, &is, was);
	close(fd);
	return rc;
}
