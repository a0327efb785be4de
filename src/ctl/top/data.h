/* SPDX-License-Identifier: MIT
 * The figures of one round: the answers to `show info`, `show stat`, `show
 * pool`, `show threads` and perhaps `show top clients`, and rates since the
 * previous round.
 */
#ifndef CTL_TOP_DATA_H
#define CTL_TOP_DATA_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "ctl/client.h"

#define TOP_HISTORY 64 /* rounds that a sparkline can show */

/* Values of past rounds, the latest last. */
struct top_history {
	unsigned n;
	float values[TOP_HISTORY];
};

/* The byte counters at a time. */
struct top_bytes {
	uint64_t at_ns, in, out;
};

#define TOP_PAST 4

/* The kinds of lines of the view.  The last three are rows of `show stat`. */
enum top_kind {
	TOP_EMPTY,
	TOP_TITLE,
	TOP_POOL,
	TOP_CLIENT,
	TOP_FRONTEND,
	TOP_BACKEND,
	TOP_SERVER,
};

/* A row of `show stat`.  Strings belong to struct top_data and are never NULL.
 */
struct top_item {
	enum top_kind kind;
	const char *proxy, *name; /* name: of a server, else "" */
	const char *status, *check, *pool;
	bool down;
	uint64_t sessions, peak, total, errors, queue, weight;
	uint64_t bytes_in, bytes_out;
	double rate;                /* sessions/s since the previous round */
	double in_rate, out_rate;   /* bytes/s since past[0] */
	struct top_history history; /* of the rate */
	/* Samples about a second apart, the oldest first.  Sessions add their
	 * bytes to the counters once a second, so rates over less time would
	 * alternate between zero and too much. */
	struct top_bytes past[TOP_PAST];
	unsigned past_n;
};

struct top_pool {
	const char *name;
	uint64_t threads, resident, shards, handlers;
	uint64_t leading, processing, following;
	bool autoscaled, classed; /* `set pool threads N` would end that */
	uint64_t promotions, wakes;
	double promotion_rate, wake_rate;
	char *roles; /* a letter for each thread: L, P, or . for following */
};

/* A row of `show top clients`. */
struct top_client {
	const char *name; /* a range, as commands take it */
	uint64_t bytes, sessions, errors;
	double byte_rate; /* over the time that the answer is about */
};

struct top_head {
	const char *program, *version, *node;
	uint64_t pid, uptime_s, sessions, sessions_max, idle_percent, stopping;
	uint64_t expiring;                    /* certificates */
	uint64_t total, errors, servers_down; /* sums of the items */
	double rate, in_rate, out_rate;       /* of all frontends */
	struct top_history history;
};

struct top_data {
	uint64_t at_ns; /* time of the request; 0: no data yet */
	struct top_head head;
	struct top_pool *pools;
	struct top_item *items;
	struct top_client *clients;
	size_t pools_n, items_n, clients_n;
	uint64_t clients_s;     /* the time that their figures are about */
	char clients_note[80];  /* why there are no clients */
	struct ctl_text answer; /* split into the strings above */
	json_t *pools_json, *clients_json;
};

/* Requests everything over one connection; blocks for at most timeout_ms per
 * step.  clients: request the clients as well.  Returns false with err set on
 * failure.  HAProxy has no pools, and no clients. */
bool top_data_read(const char *where, int timeout_ms, bool clients,
    struct top_data *ret_data, struct err *err) MUST_CHECK;

/* Frees everything, and makes the data empty. */
void top_data_fini(struct top_data *data);

/* Sets rates and histories from the previous round, matching by name.  A
 * counter that decreased (lfproxy was restarted, or the counters cleared)
 * counts from zero.  New items, and all items of the first round (before is
 * NULL), keep the rates that lfproxy reports, or have none. */
void top_rates(struct top_data *data, const struct top_data *before);

#endif
