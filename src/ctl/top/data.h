/* SPDX-License-Identifier: MIT
 * The figures of one round: what `show info`, `show stat`, `show pool` and
 * `show threads` said, and what follows from the round before.
 */
#ifndef CTL_TOP_DATA_H
#define CTL_TOP_DATA_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define TOP_HISTORY 64 /* rounds that a sparkline can show */

/* Values of the past rounds, the latest last. */
struct top_history {
	unsigned n;
	float values[TOP_HISTORY];
};

/* What the bytes were at that time. */
struct top_bytes {
	uint64_t at_ns, in, out;
};

#define TOP_PAST 4

enum top_kind { TOP_FRONTEND, TOP_BACKEND, TOP_SERVER };

/* A row of `show stat`.  Strings are the data's, never NULL. */
struct top_item {
	enum top_kind kind;
	const char *proxy, *name; /* the name is a server's, else "" */
	const char *status, *check, *pool;
	uint64_t sessions, peak, total, errors, queue, weight;
	uint64_t bytes_in, bytes_out;
	double rate;              /* sessions a second, since the last round */
	double in_rate, out_rate; /* bytes a second, since past[0] */
	struct top_history history; /* of the rate */
	/* About a second apart, the oldest first: a session adds its bytes to
	 * the counters once a second, so that over less time it would seem to
	 * rest and to rush in turn. */
	struct top_bytes past[TOP_PAST];
	unsigned past_n;
};

struct top_pool {
	const char *name;
	unsigned threads, resident, shards, handlers;
	unsigned leading, processing, following;
	bool autoscaled, classed; /* a plain number would end that */
	uint64_t promotions, wakes, turns;
	double promotion_rate, wake_rate, turn_rate;
	char *roles; /* a letter for each thread: L, P, or . for following */
};

struct top_head {
	const char *program, *version, *node;
	uint64_t pid, uptime_s, sessions, sessions_max, idle_percent;
	bool stopping;
	double rate, in_rate, out_rate; /* of all frontends */
	struct top_history history;
};

struct top_data {
	uint64_t at_ns; /* when it was asked for; 0: never */
	struct top_head head;
	struct top_pool *pools;
	struct top_item *items;
	size_t pools_n, items_n;
	char *info, *stat; /* cut up; the strings point into it */
	json_t *pools_json;
};

/* Asks for everything over one connection.  False: err says why there is
 * nothing, and ret_data is untouched.  A server without pools (HAProxy) has
 * none here. */
bool top_data_read(const char *where, int timeout_ms, struct top_data *ret_data,
    struct err *err);

void top_data_fini(struct top_data *data);

/* Fills in rates and histories from the round before, matching by name.  A
 * counter that went back (lfproxy was started again, or the counters cleared)
 * counts from zero.  What is new, and all of the first round (before is NULL),
 * has the rates that lfproxy reports, or none. */
void top_rates(struct top_data *data, const struct top_data *before);

#endif
