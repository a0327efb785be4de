/* SPDX-License-Identifier: MIT
 * The values of `dns=` and `srv=`.  All functions are pure.
 */
#ifndef RESOLVE_DISCOVERY_NAME_H
#define RESOLVE_DISCOVERY_NAME_H

#include "base/err.h"
#include "net/addr.h"

/* Reads HOST:PORT.  An address in place of the host is an error.  Returns false
 * with err set when the source is wrong. */
bool discovery_name_read(
    const char *source, struct addr_name *ret_name, struct err *err) MUST_CHECK;

/* Returns whether the source is HOST:PORT, or false with err set. */
bool discovery_name_check(const char *source, struct err *err) MUST_CHECK;

/* Returns whether the source is a name that SRV records may have,
 * _SERVICE._PROTO.DOMAIN (RFC 2782), or false with err set. */
bool discovery_srv_name_check(const char *source, struct err *err) MUST_CHECK;

#endif
