/* SPDX-License-Identifier: MIT
 * See tcp_facts.h.  This is a separate file because it needs the kernel's
 * header, which has fields that the C library's does not have, and the two
 * cannot be included together.
 */
#include "net/tcp_facts.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

/* The states of tcpi_state, as in /proc/net/tcp; the kernel's header does not
 * export their names. */
enum {
	STATE_SYN_SENT = 2,
	STATE_SYN_RECV = 3,
	STATE_CLOSE = 7,
	STATE_LISTEN = 10,
};

/* Returns whether the handshake was completed.  After a reset the state no
 * longer shows that, but the number of acknowledged bytes does: the kernel
 * counts in it the SYN of a connect, and the data of either side. */
static bool
was_up(const struct tcp_info *info)
{
	switch (info->tcpi_state) {
	case STATE_SYN_SENT:
	case STATE_SYN_RECV:
	case STATE_LISTEN:
		return false;
	case STATE_CLOSE:
		return info->tcpi_min_rtt != UINT32_MAX ||
		       info->tcpi_bytes_acked > 0 ||
		       info->tcpi_bytes_received > 0;
	default:
		return true;
	}
}

bool
tcp_facts_read(int fd, struct tcp_facts *ret_facts)
{
	struct tcp_info info = {0};
	socklen_t size = sizeof(info);
	bool measured;

	if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) < 0 ||
	    !was_up(&info))
		return false;
	/* Before the first sample the variance has an initial value. */
	measured = info.tcpi_rtt > 0;
	*ret_facts = (struct tcp_facts){
	    .delivery_rate = info.tcpi_delivery_rate,
	    .rtt_us = measured ? info.tcpi_rtt : TCP_FACT_UNKNOWN,
	    .rttvar_us = measured ? info.tcpi_rttvar : TCP_FACT_UNKNOWN,
	    .min_rtt_us = info.tcpi_min_rtt,
	    .retransmits = info.tcpi_total_retrans,
	    .cwnd = info.tcpi_snd_cwnd,
	    .mss = info.tcpi_snd_mss,
	};
	return true;
}
