/* SPDX-License-Identifier: MIT
 * What the kernel knows of a TCP connection: TCP_INFO, the part that tells a
 * slow path from a slow peer.
 */
#ifndef NET_TCP_FACTS_H
#define NET_TCP_FACTS_H

#include <stdbool.h>
#include <stdint.h>

struct tcp_facts {
	uint64_t delivery_rate; /* bytes a second, of the latest; 0: unknown */
	uint32_t rtt_us, rttvar_us, min_rtt_us;
	uint32_t retransmits; /* segments sent again, of all */
	uint32_t cwnd, mss;   /* segments; bytes of one */
};

/* Also of a connection that was reset.  A system call of half a microsecond and
 * more; false for what is no TCP socket. */
bool tcp_facts_read(int fd, struct tcp_facts *ret_facts);

#endif
