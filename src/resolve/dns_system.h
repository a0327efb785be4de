/* SPDX-License-Identifier: MIT
 * The settings of the system's resolv.conf(5): name servers, search domains,
 * ndots.
 */
#ifndef RESOLVE_DNS_SYSTEM_H
#define RESOLVE_DNS_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include "net/addr.h"

struct dns_system {
	struct addr *servers; /* with ports; at least one */
	size_t servers_n;
	char **domains;
	size_t domains_n;
	unsigned ndots;
	struct timespec changed; /* time of the file; 0: there is no file */
};

/* Reads the file as c-ares does: if it names no name server, 127.0.0.1 is used.
 * Returns false when memory is short or the file cannot be read. */
bool dns_system_read(struct dns_system *system, const char *path);

/* Frees the members. */
void dns_system_fini(struct dns_system *system);

/* Returns whether the file has changed since it was read. */
bool dns_system_is_old(const struct dns_system *system, const char *path);

#endif
