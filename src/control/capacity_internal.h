/* SPDX-License-Identifier: MIT
 * Internals of the capacity table.  Only capacity*.c include this file.
 *
 * capacity_rows.c calls capacity_servers.c, and both call capacity_row.c.
 */
#ifndef CONTROL_CAPACITY_INTERNAL_H
#define CONTROL_CAPACITY_INTERNAL_H

#include <stdint.h>

#include "control/capacity.h"

/* The common part of the names of the connection tracking files. */
#define CAPACITY_CONNTRACK "/proc/sys/net/netfilter/nf_conntrack_"

/* The number of open descriptors. */
uint64_t capacity_descriptors(const struct control *control);
/* The capacity of all pipes for splicing, in pages of 4 KiB. */
uint64_t capacity_pipe_pages(struct control *control);

enum found {
	FOUND_END,  /* no such row, and none after it */
	FOUND_NONE, /* nothing to show for this index */
	FOUND_ROW,
};

/* Fills the row and returns FOUND_ROW.  A limit of 0 or UINT64_MAX means no
 * limit. */
enum found capacity_row_set(struct capacity_row *row, const char *resource,
    double used, double limit, const struct trend *trend);

/* Sets the row's rate of change; unit is the size of one of the trend's units.
 */
void capacity_row_set_trend(
    struct capacity_row *row, const struct trend *trend, double unit);

/* Finds the i-th row of servers, from 0. */
enum found capacity_find_server(struct control *c, struct capacity_scan *scan,
    size_t i, struct capacity_row *row);

#endif
