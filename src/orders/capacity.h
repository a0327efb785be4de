/* SPDX-License-Identifier: MIT
 * The use of limited resources, and when each one will run out.
 *
 * The control thread adds a sample of every resource to its trend each
 * TREND_STEP_S; the trends of frontends, backends and servers are in their
 * states.  The rows of the table are made one by one for `show capacity`.  All
 * functions run on the control thread.
 */
#ifndef ORDERS_CAPACITY_H
#define ORDERS_CAPACITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/trend.h"
#include "model/server_cursor.h"
#include "process/system_facts.h"

struct instance;
struct listeners;
struct pools;
struct session_limits;

/* The number and duration of the samples. */
struct capacity_cost {
	uint64_t samples, last_ns, longest_ns;
};

struct capacity {
	struct instance *instance; /* borrowed, as these three */
	const struct session_limits *limits;
	struct listeners *listeners;
	struct pools *pools; /* NULL: not started */
	bool odd; /* capacity_second was called an odd number of times */
	struct cgroup_memory cgroup;
	struct trend descriptors, sessions, resident, group; /* last two: KiB */
	struct trend pipes, pages, tracked, overflows, drops;
	struct capacity_cost cost;
	uint64_t own; /* descriptors open at the first sample; 0: unknown */
};

/* Takes a sample, every other time.  Called once a second. */
void capacity_second(struct capacity *capacity);

enum capacity_unit { CAPACITY_COUNT, CAPACITY_BYTES, CAPACITY_THREADS };

/* A row of the table. */
struct capacity_row {
	const char *resource;
	char of[256]; /* the object it belongs to; "": the process */
	enum capacity_unit unit;
	bool known; /* used is valid */
	double used;
	bool limited;
	double limit;
	bool has_trend;
	double per_s;
	const char *note; /* how to read the numbers, or NULL */
};

/* Returns the seconds until used reaches the limit, or INFINITY. */
double capacity_full_in_s(const struct capacity_row *row);

/* A position in the table; starts zeroed.  The model may change between two
 * rows.  Caller calls capacity_scan_fini. */
struct capacity_scan {
	unsigned section;
	size_t i;
	/* In the sections of servers. */
	size_t backend;
	struct server_cursor server;
	uint64_t ports; /* ports that the system assigns; 0: unknown */
	struct destinations *destinations;
};
/* Fills the next row.  Returns false after the last one. */
bool capacity_next(struct capacity *capacity, struct capacity_scan *scan,
    struct capacity_row *ret_row);
/* Frees what the scan holds; the struct is the caller's. */
void capacity_scan_fini(struct capacity_scan *scan);

/* Returns the number of open descriptors; 0: not known yet. */
uint64_t capacity_descriptors(const struct capacity *capacity);

/* Returns the cost of the samples since the start. */
struct capacity_cost capacity_cost(const struct capacity *capacity);

#endif
