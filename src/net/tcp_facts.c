/* SPDX-License-Identifier: MIT
 * See tcp_facts.h.  The kernel's header has fields that the C library's lacks;
 * the two cannot be included together, hence a file of its own.
 */
#include "net/tcp_facts.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

bool
tcp_facts_read(int fd, struct tcp_facts *ret_facts)
{
	struct tcp_info info = {0};
	socklen_t size = sizeof(info);

	if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) < 0)
		return false;
	*ret_facts = (struct tcp_facts){
	    .delivery_rate = info.tcpi_delivery_rate,
	    .rtt_us = info.tcpi_rtt,
	    .rttvar_us = info.tcpi_rttvar,
	    .min_rtt_us = info.tcpi_min_rtt,
	    .retransmits = info.tcpi_total_retrans,
	    .cwnd = info.tcpi_snd_cwnd,
	    .mss = info.tcpi_snd_mss,
	};
	return true;
}
