/* SPDX-License-Identifier: MIT
 * The listening descriptor of an admin socket and, for a unix socket, its file.
 *
 * The file is known by its device and inode: another file that has replaced it
 * is neither changed nor removed.  All functions run on the control thread.
 */
#ifndef ADMIN_ADMIN_BIND_H
#define ADMIN_ADMIN_BIND_H

#include <stdbool.h>
#include <sys/stat.h>

#include "base/err.h"
#include "model/spec.h"

struct admin_bound {
	int fd;           /* listening; -1: nothing is bound */
	struct stat file; /* at creation; st_ino 0: no file */
};

/* Binds the address of the spec.  Replaces a socket file that no process
 * listens on; any other file is an error.  Returns false with err set and
 * nothing left behind. */
bool admin_bind(const struct admin_spec *spec, struct admin_bound *ret_bound,
    struct err *err) MUST_CHECK;

/* Closes the descriptor and removes the file if it is still ours.  Returns 0,
 * or -errno if the file cannot be removed. */
int admin_unbind(struct admin_bound *bound, const struct admin_spec *spec);

/* Returns whether clients can no longer reach the socket because its file is
 * gone or replaced; false if that cannot be determined. */
bool admin_bound_lost(
    const struct admin_bound *bound, const struct admin_spec *spec);

/* Returns whether the path leads to the file of this socket. */
bool admin_bound_is_at(const struct admin_bound *bound, const char *path);

/* A change of the file's mode and owner. */
struct admin_file_change {
	int fd; /* of the file; -1: nothing was changed */
	struct stat was;
};

/* Gives the file the mode and the owner of `to` where they differ from those of
 * `from`.  Meanwhile the file is never open to a user that neither of them lets
 * in.  Returns false with err set and nothing changed. */
bool admin_file_change(const struct admin_bound *bound,
    const struct admin_spec *from, const struct admin_spec *to,
    struct admin_file_change *ret_change, struct err *err) MUST_CHECK;

/* Ends a change, keeping it. */
void admin_file_keep(struct admin_file_change *change);
/* Ends a change, undoing it. */
void admin_file_put_back(struct admin_file_change *change);

#endif
