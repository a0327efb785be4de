/* SPDX-License-Identifier: MIT
 * The settings of the system's resolv.conf(5): name servers, search domains,
 * and the options ndots, timeout, attempts and rotate.
 */
#ifndef RESOLVE_DNS_SYSTEM_H
#define RESOLVE_DNS_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include "net/addr.h"

struct dns_system {
	struct addr *servers; /* with ports; at least one */
	size_t servers_n, servers_room;
	char **domains; /* without a last dot */
	size_t domains_n, domains_room;
	unsigned ndots;
	unsigned timeout_s, attempts; /* 0: the file does not say */
	bool rotate;
	struct timespec changed; /* time of the file; 0: there is no file */
};

/* Reads the file, and LOCALDOMAIN and RES_OPTIONS, which come before it.  The
 * last `search` or `domain` counts; without any, the domain of the machine's
 * own name is searched.  If the file is missing or names no name server,
 * 127.0.0.1 is used.
 *
 * c-ares 1.34 no longer reports search domains, and res_ninit(3) reads one file
 * only and reports no more than three name servers and six domains.
 *
 * Returns false when memory is short or the file cannot be read. */
bool dns_system_read(struct dns_system *system, const char *path);

/* Frees the members. */
void dns_system_fini(struct dns_system *system);

/* Returns whether the file has changed since it was read. */
bool dns_system_is_old(const struct dns_system *system, const char *path);

#endif
