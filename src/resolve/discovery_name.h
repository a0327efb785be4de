/* SPDX-License-Identifier: MIT
 * The values of `dns=` and `srv=`.  Pure functions.
 */
#ifndef RESOLVE_DISCOVERY_NAME_H
#define RESOLVE_DISCOVERY_NAME_H

#include "base/err.h"
#include "net/addr.h"

/* Reads HOST:PORT; an address in the place of the host is an error.  Returns
 * false with err set. */
bool discovery_name_read(
    const char *source, struct addr_name *ret_name, struct err *err) MUST_CHECK;

/* Whether the source is HOST:PORT, or false with err set. */
bool discovery_name_check(const char *source, struct err *err) MUST_CHECK;

/* Whether the source is a name that SRV records may have,
 * _SERVICE._PROTO.DOMAIN (RFC 2782), or false with err set. */
bool discovery_srv_name_check(const char *source, struct err *err) MUST_CHECK;

#endif
