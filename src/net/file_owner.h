/* SPDX-License-Identifier: MIT
 * The owner and the group of a unix socket's file.
 *
 * A process without CAP_CHOWN can give its files only to its own groups, and a
 * filter of system calls, such as the systemd unit's, may refuse chown(2) even
 * for that.  The group then gets its rights by an access control list, acl(5),
 * which the file's owner may always set:
 *
 *	user::rw- group::--- group:GROUP:rwx mask::rw- other::---
 *
 * The mask is the mode's part for the group, so chmod(2) works as usual, and
 * the group that the file was made with has no rights.
 */
#ifndef NET_FILE_OWNER_H
#define NET_FILE_OWNER_H

#include <sys/stat.h>
#include <sys/types.h>
#include <sys/un.h>

#define FILE_RIGHTS_PATH_SIZE sizeof(((struct sockaddr_un *)0)->sun_path)

/* Reads the file's status as fstat(2) does, also from an O_PATH descriptor,
 * except that st_gid is the group that has the group's rights.  Returns 0 or
 * -errno. */
int file_owner_get(int fd, struct stat *ret_st);

/* Gives the file to the user and to the group; -1 leaves either as it is.  fd
 * may be an O_PATH descriptor.  Returns 0 or -errno. */
int file_owner_set(int fd, uid_t uid, gid_t gid);

/* Changes the mode and the owner of the file from those of is to those of
 * wanted; removes rights before it adds others.  fd may be an O_PATH
 * descriptor.  Returns 0 or -errno. */
int file_rights_change(
    int fd, const struct stat *is, const struct stat *wanted);

/* The file of a unix socket, with its mode and its owner. */
struct file_rights {
	char path[FILE_RIGHTS_PATH_SIZE]; /* "": there is none */
	struct stat st;                   /* as file_owner_get gives it */
};

/* Reads the mode and the owner of the file.  Not for a path of
 * FILE_RIGHTS_PATH_SIZE or more. */
void file_rights_read(const char *path, struct file_rights *ret_rights);
/* Gives the file back its mode and its owner, unless another file is in its
 * place.  Returns 0 or -errno. */
int file_rights_restore(const struct file_rights *rights);

#endif
