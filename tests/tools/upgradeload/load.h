/* SPDX-License-Identifier: MIT
 * What all parts of upgradeload know: the command line, and what has come of
 * the sessions so far.
 */
#ifndef TOOLS_UPGRADELOAD_LOAD_H
#define TOOLS_UPGRADELOAD_LOAD_H

#include "tools/pace.h"
#include "tools/tool.h"

enum kind {
	IDLE,        /* a record at the beginning and at the end */
	MOVING,      /* a record, its answer, a pause */
	ONCE,        /* a record, its answer, the end */
	FLOOD_DOWN,  /* the server sends what is taken; the client reads late */
	FLOOD_UP,    /* the client sends what is taken; the server reads late */
	HALF_CLIENT, /* the client's half ends first */
	HALF_SERVER, /* the server's half ends first */
	QUEUED,      /* at a server that takes few at a time */
	LATE,        /* at a server that does not answer before the end */
	INSPECTED,   /* the proxy waits for the rest of its PROXY header */
	DIRECT,      /* as MOVING, but without the proxy */
	KINDS
};
extern const char *const kind_names[KINDS];

/* The command line; main writes it. */
extern struct load_options {
	bool server, cuts;
	uint64_t sessions, rate, period_ms;
	struct tool_addr to, queue, late, inspected, direct;
} opt;

extern struct load_sums {
	uint64_t made, ok, wrong, cut, refused;
	uint64_t up, down; /* bytes */
	uint64_t records;
	uint64_t by_kind[KINDS], failed_kind[KINDS];
	uint64_t open; /* sessions, and those to be opened again */
	uint64_t established, queue_open, queue_max, once_open, once_max;
} sum;

/* The times of requests over sessions that stay, of the first answers of ONCE,
 * and of requests that do not pass the proxy. */
extern struct pace_times answers, beginnings, directs;
extern bool counting; /* times */
extern bool ending;   /* sessions end; none begins */

/* Returns a number below n, which is not 0. */
uint64_t load_random(uint64_t n);

#endif
