/* SPDX-License-Identifier: MIT
 * Servers found by DNS (discovery.h): a member for each address of a name, or
 * for each SRV record of a service (RFC 2782).
 *
 * The source is asked for again after the TTL of its answer (renewal.h).  A
 * member may remain unconfirmed because name servers fail, or because the name
 * or the target has no records.  Such a member is kept for hold_ms, and each
 * such answer is reported by on_error.  Then the member is left out; if no
 * member is left, the list is empty.
 *
 * SRV weights 0 to 65535 become the weights 1 to 256, as in HAProxy.  Records
 * whose priority is not the best one become backups.  The address of a target
 * is the one that came along with the records; if there is none, the target's
 * name is looked up.  A member stays at its address while its target has that
 * address.
 */
#ifndef RESOLVE_DISCOVERY_DNS_H
#define RESOLVE_DISCOVERY_DNS_H

#include "resolve/discovery.h"
#include "resolve/dns.h"

/* Follows the addresses of the host; members have that port.  family: AF_INET,
 * AF_INET6, or AF_UNSPEC for both.  A key is the address without the port.
 * Returns NULL when memory is short. */
struct discovery *discovery_dns_new(struct dns *dns, const char *host,
    unsigned port, int family, struct discovery_owner owner);

/* Follows the SRV records of the name, as `_http._tcp.app.internal`.  A key is
 * `TARGET:PORT`.  Returns NULL when memory is short. */
struct discovery *discovery_srv_new(
    struct dns *dns, const char *name, struct discovery_owner owner);

#endif
