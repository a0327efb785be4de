/* SPDX-License-Identifier: MIT
 * The root directory of the process, `chroot = DIR` of [global].
 *
 * lfproxy changes it before it reads the configuration for good.  All paths
 * from then on, of the configuration itself and of an upgrade's program, are
 * looked up inside; so the files of the configuration have to be there under
 * the paths that they have outside.
 */
#ifndef CONTROL_ROOT_H
#define CONTROL_ROOT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/* Takes the variable out of the environment by which the process that is to be
 * replaced says that this one was started inside.  Before any thread starts. */
void root_inherit(void);

/* Changes the root directory if the files ask for that, and checks that the
 * files are inside, with the same contents.  may_do_without: a process without
 * CAP_SYS_CHROOT stays outside and writes a warning to standard error.  Returns
 * false with err set; the process cannot go on then.  Before any thread
 * starts; blocks on the disk. */
bool root_enter(const char *const *files, size_t n, bool may_do_without,
    struct err *err) MUST_CHECK;

/* Checks that the root directory is that of the configuration, which
 * root_enter could not look at if it came through a pipe.  Returns false with
 * err set. */
bool root_is(const char *chroot, struct err *err) MUST_CHECK;

/* Returns the directory, or "" if the root was not changed. */
const char *root_text(void);

#define ROOT_TEXT_MAX      4096
#define ROOT_VARIABLE_SIZE (ROOT_TEXT_MAX + 32)

/* Writes the variable for an upgrade's program, see root_inherit.  Returns
 * false if the root was not changed. */
bool root_variable(char out[ROOT_VARIABLE_SIZE]);

#endif
