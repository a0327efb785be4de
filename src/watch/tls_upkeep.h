/* SPDX-License-Identifier: MIT
 * Regular work for TLS: warnings before certificates expire, rotation of ticket
 * keys, rates of handshakes.
 *
 * All functions run on the control thread and do not block.
 */
#ifndef WATCH_TLS_UPKEEP_H
#define WATCH_TLS_UPKEEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tls/settings.h"

struct spec;

/* The time before a certificate expires at which warnings begin. */
#define TLS_EXPIRY_WARNING_S (14 * 86400)
/* The interval at which the warning of a certificate is repeated. */
#define TLS_EXPIRY_REPEAT_S 86400

/* Handshakes in a role, of all sections. */
struct tls_role_status {
	uint64_t begun, done, resumed;     /* since the start */
	uint64_t ended;                    /* connections, of begun */
	uint64_t cache_hits, cache_misses; /* of sessions that clients name */
	uint64_t done_rate, done_peak;     /* in the last second; its maximum */
	uint64_t full_rate, full_peak;     /* those that resumed no session */
};

struct tls_status {
	struct tls_role_status roles[TLS_ROLES];
	unsigned expiring; /* certificates within the time of the warnings, or
	                    * expired */
	bool any;          /* a certificate is in use */
	int64_t first_end; /* if any: when the first expires, since 1970 */
};

/* A certificate whose expiry was warned of. */
struct tls_warned;

struct tls_upkeep {
	struct tls_status status;
	struct tls_warned *warned;
	size_t warned_n;
	uint64_t looked_ms; /* of the last look at certificates and tickets; 0:
	                       none */
};

/* Updates the status, and does what is due.  Called once a second. */
void tls_upkeep_second(struct tls_upkeep *upkeep, const struct spec *spec);

/* Frees everything. */
void tls_upkeep_fini(struct tls_upkeep *upkeep);

#endif
