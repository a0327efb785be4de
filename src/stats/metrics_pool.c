/* SPDX-License-Identifier: MIT
 * See metrics_pool.h.
 */
#include "stats/metrics_pool.h"

#include <inttypes.h>
#include <stddef.h>

#include "stats/metrics_text.h"

struct pool_metric {
	const char *name, *type, *help;
	size_t offset; /* of the value in struct pool_status */
	/* Writes the samples of a pool, with the value at `value`. */
	void (*put)(FILE *out, const struct pool_metric *metric,
	    const struct metric_labels *labels, const void *value);
};

static void
put_unsigned(FILE *out, const struct pool_metric *metric,
    const struct metric_labels *labels, const void *value)
{
	metric_number(out, metric->name, labels, *(const unsigned *)value);
}

static void
put_uint64(FILE *out, const struct pool_metric *metric,
    const struct metric_labels *labels, const void *value)
{
	metric_number(out, metric->name, labels, *(const uint64_t *)value);
}

static void
put_seconds(FILE *out, const struct pool_metric *metric,
    const struct metric_labels *labels, const void *value)
{
	char text[24];

	snprintf(
	    text, sizeof(text), "%" PRIu64, *(const uint64_t *)value / 1000);
	metric_text(out, metric->name, labels, text, 1000000);
}

static void
put_histogram(FILE *out, const struct pool_metric *metric,
    const struct metric_labels *labels, const void *value)
{
	metric_histogram(out, metric->name, labels, value);
}

static void
put_roles(FILE *out, const struct pool_metric *metric,
    const struct metric_labels *labels, const void *value)
{
	const unsigned *threads = value;

	for (enum thread_role role = 0; role < ROLES; role++) {
		const struct metric_labels with =
		    metric_labels_with(labels, "role", thread_role_name(role));

		metric_number(out, metric->name, &with, threads[role]);
	}
}

#define GAUGE(name, member, help, put)                                         \
	{                                                                      \
		"lfproxy_pool_" name, "gauge", help,                           \
		    offsetof(struct pool_status, member), put                  \
	}
#define COUNTER(name, member, help)                                            \
	{                                                                      \
		"lfproxy_pool_" name "_total", "counter", help,                \
		    offsetof(struct pool_status, member), put_uint64           \
	}
#define HISTOGRAM(name, member, help)                                          \
	{                                                                      \
		"lfproxy_pool_" name "_seconds", "histogram", help,            \
		    offsetof(struct pool_status, member), put_histogram        \
	}

static const struct pool_metric pool_metrics[] = {
    GAUGE("threads", threads, "threads of the pool", put_unsigned),
    GAUGE("role_threads", roles, "threads in each role", put_roles),
    GAUGE("shards", shards, "shards, each with a handle set", put_unsigned),
    GAUGE("handlers", handlers, "registered sessions", put_uint64),
    GAUGE("batch_events", in_batch, "events fetched and not yet dispatched",
        put_uint64),
    GAUGE("long_limit", long_limit, "long turns that may run at once",
        put_unsigned),
    GAUGE("long_running", long_running, "long turns that run", put_unsigned),
    GAUGE("long_waiting", long_waiting, "long turns that wait for others",
        put_unsigned),
    COUNTER("long_waits", long_waits, "long turns that had to wait"),
    {"lfproxy_pool_long_waited_seconds_total", "counter",
        "time that long turns have waited",
        offsetof(struct pool_status, long_waited_ns), put_seconds},
    COUNTER("key_operations", sum.key_operations,
        "signatures with private keys for TLS"),
    COUNTER("taken_over", taken_over, "leaderships taken from a busy leader"),
    COUNTER("guarded", guarded, "leaderships that the guard took"),
    COUNTER("waits", sum.waits, "polls for events"),
    COUNTER("fetched", sum.fetched, "events fetched"),
    COUNTER("dispatched", sum.dispatched, "events dispatched to a handler"),
    COUNTER("merged", sum.merged, "events merged into a running turn"),
    COUNTER("stale", sum.stale, "events of a handle that was closed"),
    COUNTER("resumed", sum.resumed, "handlers resumed without an event"),
    COUNTER("turns", sum.turns, "runs of a handler"),
    COUNTER("inline_turns", sum.inline_turns, "runs by the leader itself"),
    COUNTER("promotions", sum.promotions, "promotions before a turn"),
    COUNTER("wakes", sum.wakes, "followers woken"),
    COUNTER("adoptions", sum.adoptions,
        "times that a thread led a shard that is not its own"),
    COUNTER("moved", sum.moved,
        "sessions moved to a shard of the pool with less load"),
    COUNTER("wait_errors", sum.wait_errors, "polls for events that failed"),
    HISTOGRAM("promotion_delay", sum.promotion_delay,
        "from the wake-up of a follower until it runs"),
    HISTOGRAM("poll_gap", sum.poll_gap,
        "time without a poll by any thread while events waited"),
    HISTOGRAM("service", sum.service, "duration of a turn"),
};

size_t
metrics_pools_count(void)
{
	return sizeof(pool_metrics) / sizeof(pool_metrics[0]);
}

void
metrics_put_pools(FILE *out, struct pools *pools, size_t number)
{
	const struct pool_metric *metric = &pool_metrics[number];

	metric_begin(out, metric->name, metric->type, metric->help);
	for (size_t i = 0; i < pools_count(pools); i++) {
		struct pool *pool = pools_at(pools, i);
		const struct metric_labels labels = {
		    {"pool", pool_name(pool), NULL}};
		struct pool_status status;

		pool_status(pool, &status);
		metric->put(out, metric, &labels,
		    (const char *)&status + metric->offset);
	}
}

void
metrics_put_exhaustion(FILE *out, const struct exhaustion *exhaustion)
{
	static const char name[] = "lfproxy_resource_exhausted_total";

	metric_begin(
	    out, name, "counter", "times that a resource was exhausted");
	for (enum resource i = 0; i < RESOURCES; i++) {
		const struct metric_labels labels = {
		    {"resource", resource_name(i), NULL}};

		metric_number(out, name, &labels,
		    atomic_load_relaxed(&exhaustion->count[i]));
	}
}
