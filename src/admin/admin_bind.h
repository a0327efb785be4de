/* SPDX-License-Identifier: MIT
 * Where an admin socket listens: the descriptor and, of a unix socket, the
 * file.
 *
 * The file is known by its device and inode: what somebody else has put in its
 * place is neither changed nor removed.  Control thread, as all of these.
 */
#ifndef ADMIN_ADMIN_BIND_H
#define ADMIN_ADMIN_BIND_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"
#include "model/spec.h"

struct admin_bound {
	int fd;    /* listening; -1: nothing is bound */
	dev_t dev; /* of the file; ino 0: there is none */
	ino_t ino;
	uid_t uid; /* whose it was when it was made: what holds without user */
	gid_t gid;
};

/* Binds what the spec says.  The file that a dead process left is replaced, a
 * live one is an error, and so is any other file.  False with err set, and
 * nothing is left behind. */
bool admin_bind(const struct admin_spec *spec, struct admin_bound *ret_bound,
    struct err *err);

/* Closes it, and removes the file if it is still ours.  0 or -errno: the file
 * cannot be removed. */
int admin_unbind(struct admin_bound *bound, const struct admin_spec *spec);

/* Whether nobody can reach it any more: its file is gone, or is another one.
 * Where that cannot be seen it is not lost. */
bool admin_bound_lost(
    const struct admin_bound *bound, const struct admin_spec *spec);

/* Whether the path, however it is written, is the file of this one. */
bool admin_bound_is_at(const struct admin_bound *bound, const char *path);

/* The file's mode and owner, as they were before a change of them. */
struct admin_file_change {
	int fd; /* of the file; -1: nothing was changed */
	mode_t mode;
	uid_t uid;
	gid_t gid;
};

/* Gives the file the mode and the owner of the spec, as far as they differ from
 * those of the former one.  Meanwhile it is never open to more than one of the
 * two lets in.  False with err set, and everything is as it was. */
bool admin_file_change(const struct admin_bound *bound,
    const struct admin_spec *from, const struct admin_spec *to,
    struct admin_file_change *ret_change, struct err *err);

/* One of these ends a change. */
void admin_file_keep(struct admin_file_change *change);
void admin_file_put_back(struct admin_file_change *change);

#endif
