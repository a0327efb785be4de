/* SPDX-License-Identifier: MIT
 * Whether this process may do what is asked of connections to servers.
 */
#ifndef CONTROL_SERVER_SOCKETS_H
#define CONTROL_SERVER_SOCKETS_H

#include <stdbool.h>

#include "base/err.h"
#include "model/spec.h"

/* Tries the server's options and source on a socket of its own, with the rights
 * that the process will keep.  False with err set when the kernel refuses one;
 * what it will only do by half, and a source that is not this host's yet, is a
 * warning, if those are wanted. */
bool server_socket_try(const struct backend_spec *backend,
    const struct server_spec *server, bool warns, struct err *err) MUST_CHECK;

/* The same for all of them: the first that is refused. */
bool server_sockets_try(
    const struct spec *spec, bool warns, struct err *err) MUST_CHECK;

#endif
