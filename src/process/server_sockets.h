/* SPDX-License-Identifier: MIT
 * Checks that this process may set the options of connections to servers.
 */
#ifndef PROCESS_SERVER_SOCKETS_H
#define PROCESS_SERVER_SOCKETS_H

#include <stdbool.h>

#include "base/err.h"
#include "model/spec.h"

/* Tries the server's options and source on a temporary socket, with the rights
 * that the process will keep.  Returns false with err set when the kernel
 * refuses one.  If warns is set, logs a warning for a value that the kernel
 * would cut short and for a source that is not yet an address of this host. */
bool server_socket_try(const struct backend_spec *backend,
    const struct server_spec *server, bool warns, struct err *err) MUST_CHECK;

/* Tries all servers of the spec.  Returns false with err set at the first one
 * that is refused. */
bool server_sockets_try(
    const struct spec *spec, bool warns, struct err *err) MUST_CHECK;

#endif
