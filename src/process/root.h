/* SPDX-License-Identifier: MIT
 * The root directory of the process, `chroot = DIR` of [global].
 *
 * lfproxy changes its root directory before it reads the configuration for
 * good.  From then on all paths are looked up inside, also those of the
 * configuration itself and of an upgrade's program.  The files of the
 * configuration therefore have to be inside under the paths that they have
 * outside.
 */
#ifndef PROCESS_ROOT_H
#define PROCESS_ROOT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/* Removes from the environment the variable by which the process that is to be
 * replaced says that this one was started inside its root directory.  Called
 * before any thread starts. */
void root_inherit(void);

/* Changes the root directory if the files ask for that, and checks that the
 * files are inside, with the same contents.  may_do_without: a process without
 * CAP_SYS_CHROOT stays outside and writes a warning to standard error.  Returns
 * false with err set; then the process cannot go on.  Called before any thread
 * starts.  Blocks on the disk. */
bool root_enter(const char *const *files, size_t n, bool may_do_without,
    struct err *err) MUST_CHECK;

/* Checks that the root directory is the one that the configuration asks for:
 * root_enter could not look at a configuration that came through a pipe.
 * Returns false with err set. */
bool root_is(const char *chroot, struct err *err) MUST_CHECK;

/* Returns the path of the root directory, or "" if it was not changed. */
const char *root_text(void);

#define ROOT_TEXT_MAX      4096
#define ROOT_VARIABLE_SIZE (ROOT_TEXT_MAX + 32)

/* Writes the environment variable for the program of an upgrade, see
 * root_inherit.  Returns false if the root directory was not changed. */
bool root_variable(char out[ROOT_VARIABLE_SIZE]);

#endif
