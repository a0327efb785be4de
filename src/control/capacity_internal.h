/* SPDX-License-Identifier: MIT
 * What the files of the capacity share.  Nobody else includes this.
 */
#ifndef CONTROL_CAPACITY_INTERNAL_H
#define CONTROL_CAPACITY_INTERNAL_H

#include <stdint.h>

#include "control/capacity.h"

/* The names of its files, where the kernel tracks connections. */
#define CAPACITY_CONNTRACK "/proc/sys/net/netfilter/nf_conntrack_"

/* What is open now. */
uint64_t capacity_descriptors(const struct control *control);
/* What the pipes to splice through may hold, of 4 KiB. */
uint64_t capacity_pipe_pages(struct control *control);

enum found {
	FOUND_END,  /* there is no such row, nor any behind it */
	FOUND_NONE, /* nothing to be said of this one */
	FOUND_ROW,
};

/* limit: 0 and UINT64_MAX are none. */
enum found capacity_set_row(struct capacity_row *row, const char *resource,
    double used, double limit, const struct trend *trend);

/* The i-th row of servers, from 0. */
enum found capacity_find_server(struct control *c, struct capacity_scan *scan,
    size_t i, struct capacity_row *row);

#endif
