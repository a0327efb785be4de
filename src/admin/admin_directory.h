/* SPDX-License-Identifier: MIT
 * The directory of an admin socket: made if it is missing.  All functions run
 * on the control thread.
 */
#ifndef ADMIN_ADMIN_DIRECTORY_H
#define ADMIN_ADMIN_DIRECTORY_H

#include <stdbool.h>

#include "model/spec.h"

/* Makes the directory of the spec's socket if it is missing, but not those
 * above.  The directory gets the mode 0755, and belongs to the user and the
 * group that lfproxy becomes, who has to remove and to make the socket again.
 * Errors are those of binding the socket, which follows. */
void admin_directory_make(
    const struct admin_spec *spec, const struct global_spec *global);

/* Returns whether there is no socket at the spec's path, and none can be made
 * because the directory is missing or not writable. */
bool admin_directory_refuses(const struct admin_spec *spec);

#endif
