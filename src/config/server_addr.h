/* SPDX-License-Identifier: MIT
 * The address of a server, with its own port or that of the client's
 * connection.
 */
#ifndef CONFIG_SERVER_ADDR_H
#define CONFIG_SERVER_ADDR_H

#include <stdbool.h>

#include "base/err.h"
#include "model/spec.h"
#include "net/addr.h"

/* Reads what addr_parse_name reads, and `HOST`, `HOST:+N` and `HOST:-N`, for
 * which the port is 0.  Sets addr, port and port_offset of the server.  Returns
 * false with err set and the server unchanged.  Never blocks. */
bool server_addr_parse(const char *text, struct server_spec *server,
    struct addr_name *ret_name, struct err *err) MUST_CHECK;

#endif
