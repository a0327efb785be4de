/* SPDX-License-Identifier: MIT
 * Whether this process may do what is asked of connections to servers.
 */
#ifndef CONTROL_SERVER_SOCKETS_H
#define CONTROL_SERVER_SOCKETS_H

#include <stdbool.h>

#include "base/err.h"
#include "model/spec.h"

/* Tries each server's options and source on a socket of its own, with the
 * rights that the process will keep.  False with err set when the kernel
 * refuses one; what it will only do by half, and a source that is not this
 * host's yet, is a warning. */
bool server_sockets_try(const struct spec *spec, struct err *err);

#endif
