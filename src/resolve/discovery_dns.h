/* SPDX-License-Identifier: MIT
 * Servers found by DNS (discovery.h): a member for each address of a name, or
 * for each SRV record of a service (RFC 2782).
 *
 * The name, and the targets of its records, are followed in a table of names
 * (names.h).  Members are kept as long as the answers that they come from, and
 * each answer that fails is reported by on_error.  When an answer lapses its
 * members are left out; if no member is left, the list is empty.
 *
 * SRV weights 0 to 65535 become the weights 1 to 256, as in HAProxy.  Records
 * whose priority is not the best one become backups.  The addresses of a target
 * are those that came along with the records; if there are none, the target is
 * looked up.  A member stays at its address while its target has that address.
 */
#ifndef RESOLVE_DISCOVERY_DNS_H
#define RESOLVE_DISCOVERY_DNS_H

#include "resolve/discovery.h"
#include "resolve/names.h"

/* Follows the addresses of the host; members have that port.  family: AF_INET,
 * AF_INET6, or AF_UNSPEC for both.  A key is the address without the port.
 * Returns NULL when memory is short. */
struct discovery *discovery_dns_new(struct names *names, const char *host,
    unsigned port, int family, struct discovery_owner owner);

/* Follows the SRV records of the name, as `_http._tcp.app.internal`.  A key is
 * `TARGET:PORT`.  Returns NULL when memory is short. */
struct discovery *discovery_srv_new(
    struct names *names, const char *name, struct discovery_owner owner);

/* Makes the sources that have the name report.  The name has changed
 * (names_take_changed), and is not one of servers. */
void discovery_dns_report(const struct name *name);

#endif
