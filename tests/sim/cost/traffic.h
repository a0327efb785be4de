/* SPDX-License-Identifier: MIT
 * Sessions of the cost model, their clients and servers, and what they count.
 *
 * A request goes from its client through a turn of its session to the server,
 * and its answer through another turn back.  The client then sends the next
 * one (a closed loop).
 *
 * On the same CPUs, as in the laboratory, one thread is all clients and one is
 * the server.  Elsewhere, they take a time and no CPU.
 */
#ifndef SIM_COST_TRAFFIC_H
#define SIM_COST_TRAFFIC_H

#include <stdbool.h>
#include <stdint.h>

#include "lf/pool.h"

struct traffic_options {
	unsigned connections;
	unsigned requests; /* of a connection; 0: no end */
	bool local;        /* clients and server use the same CPUs */
	/* Elsewhere: the time from an answer to the next request, and from a
	 * request to its answer; half of it to half more. */
	uint32_t client_ns, server_ns;
	/* How many of a thousand turns compute, and how many sleep. */
	unsigned busy_permille, slow_permille;
	uint32_t busy_ns, slow_ns;
};

/* Wires that traffic_start needs. */
unsigned traffic_wires(const struct traffic_options *options);

/* Starts the clients on sessions of that pool.  Runs on the control thread. */
void traffic_start(const struct traffic_options *options, struct pool *pool);

/* Counts from here on. */
void traffic_measure(void);

struct traffic_figures {
	uint64_t answers;
	uint64_t p50_ns, p99_ns; /* from request to answer */
};
/* Returns what was counted. */
struct traffic_figures traffic_figures(void);

#endif
