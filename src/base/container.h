/* SPDX-License-Identifier: MIT
 * Containers whose process 1 is lfproxy itself, or the small init of a
 * container engine in front of lfproxy.
 *
 * No service manager waits there for as long as lfproxy asks: an engine kills
 * all processes some seconds after SIGTERM.
 */
#ifndef BASE_CONTAINER_H
#define BASE_CONTAINER_H

#include <stdbool.h>

/* Returns whether process 1 is lfproxy or such an init, by its name; false
 * where that cannot be read.  The first call, which is to come before a
 * chroot(2), decides for all. */
bool container_is_around(void);

/* Returns whether the end of this process ends the container. */
bool container_ends_with_this(void);

#endif
