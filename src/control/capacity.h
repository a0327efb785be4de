/* SPDX-License-Identifier: MIT
 * What lfproxy uses of what it may use, and when that will run out.
 *
 * Sampled on the control thread every TREND_STEP_S; a trend for each resource,
 * those of frontends, backends and servers in their states.  The rows are made
 * one by one when somebody asks.
 */
#ifndef CONTROL_CAPACITY_H
#define CONTROL_CAPACITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/trend.h"
#include "control/system_facts.h"

struct control;
struct pool;

/* How many threads' worth of turns a pool runs. */
struct pool_load {
	const struct pool *pool; /* only to be compared */
	uint64_t busy_ns;        /* of all its threads, at the last sample */
	uint64_t at_ns;
	uint32_t milli; /* threads, times 1000, since the one before */
	struct trend trend;
};

struct capacity {
	bool odd; /* seconds */
	struct cgroup_memory cgroup;
	bool cgroup_known;
	struct pool_load *pools;
	size_t pools_n;
	struct trend descriptors, sessions, resident, group; /* KiB */
	struct trend pipes, pages, tracked, overflows, drops;
	uint64_t samples, last_ns, longest_ns; /* what they took */
	uint64_t
	    own; /* descriptors, before there were sessions; 0: not known */
};

/* Control thread, as all of these: once a second. */
void capacity_second(struct control *control);
void capacity_fini(struct capacity *capacity);

enum capacity_unit { CAPACITY_COUNT, CAPACITY_BYTES, CAPACITY_THREADS };

/* A line of the table. */
struct capacity_row {
	const char *resource;
	char of[256]; /* whose; "": the process's */
	enum capacity_unit unit;
	bool known; /* used is */
	double used;
	bool limited;
	double limit;
	bool has_trend;
	double per_s;
	const char *note; /* what the numbers are not, or NULL */
};

/* When used reaches the limit, in seconds; infinite: not at all. */
double capacity_full_in_s(const struct capacity_row *row);

/* Where one is among the rows.  Zeroed it begins; between two rows everything
 * may change.  To be freed. */
struct capacity_scan {
	unsigned section;
	size_t i;
	size_t backend, server; /* in the sections of servers */
	uint64_t ports;         /* that the system gives out; 0: not known */
	struct destinations *destinations;
};
bool capacity_next(struct control *control, struct capacity_scan *scan,
    struct capacity_row *ret_row);
void capacity_scan_fini(struct capacity_scan *scan);

/* What sampling costs. */
struct capacity_cost {
	uint64_t samples, last_ns, longest_ns;
};
struct capacity_cost capacity_cost(const struct control *control);

#endif
