/* SPDX-License-Identifier: MIT
 * The kernel's facts about a TCP connection: the part of TCP_INFO that tells a
 * slow path from a slow peer.
 */
#ifndef NET_TCP_FACTS_H
#define NET_TCP_FACTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

#define TCP_FACT_UNKNOWN UINT32_MAX

/* Facts about a connection.  Each field has a value for a fact that the kernel
 * has not measured. */
struct tcp_facts {
	uint64_t delivery_rate; /* bytes a second, the latest; 0: unknown */
	/* Microseconds, or TCP_FACT_UNKNOWN. */
	uint32_t rtt_us, rttvar_us, min_rtt_us;
	uint32_t retransmits; /* segments sent again, in total */
	uint32_t cwnd, mss;   /* segments; bytes of one */
};

/* Reads the facts of a connection, also of one that was reset.  Returns false
 * for a socket that is not TCP and for a connection that was never up, because
 * the kernel has only initial values for it.  Takes half a microsecond or more;
 * never blocks. */
bool tcp_facts_read(int fd, struct tcp_facts *ret_facts) MUST_CHECK;

#endif
