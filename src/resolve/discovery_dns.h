/* SPDX-License-Identifier: MIT
 * Servers found by DNS (discovery.h): a member for each address of a name, or
 * for each SRV record of a service (RFC 2782).
 *
 * The source is asked again after the TTL of its answer (renewal.h).  A member
 * that an answer does not confirm because name servers fail, or because the
 * name or target has no records, is kept for hold_ms; each such answer is
 * reported by on_error.  Then the member is left out: with none left, the list
 * is empty.
 *
 * SRV weights 0 to 65535 become the weights 1 to 256, as in HAProxy.  Records
 * of another priority than the best one become backups.  A target is at the
 * address that came along with the records, or else its name is looked up.  A
 * member stays at its address while its target has that address.
 */
#ifndef RESOLVE_DISCOVERY_DNS_H
#define RESOLVE_DISCOVERY_DNS_H

#include "resolve/discovery.h"
#include "resolve/dns.h"

/* Follows the addresses of the host, each with the port.  family: AF_INET,
 * AF_INET6, or AF_UNSPEC for both.  A key is the address without the port.
 * Returns NULL when memory is short. */
struct discovery *discovery_dns_new(struct dns *dns, const char *host,
    unsigned port, int family, struct discovery_owner owner);

/* Follows the SRV records of the name, as `_http._tcp.app.internal`.  A key is
 * `TARGET:PORT`.  Returns NULL when memory is short. */
struct discovery *discovery_srv_new(
    struct dns *dns, const char *name, struct discovery_owner owner);

#endif
