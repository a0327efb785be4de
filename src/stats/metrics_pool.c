/* SPDX-License-Identifier: MIT
 * See metrics_pool.h.
 */
#include "stats/metrics_pool.h"

#include <stddef.h>

#include "stats/metrics_text.h"

/* clang-format off: a line each. */
static const struct word {
	const char *name;
	size_t offset; /* in struct thread_stats */
	const char *help;
} words[] = {
    {"lfproxy_pool_waits_total", offsetof(struct thread_stats, waits),
        "looks at the handle set"},
    {"lfproxy_pool_fetched_total", offsetof(struct thread_stats, fetched),
        "events that they brought"},
    {"lfproxy_pool_dispatched_total", offsetof(struct thread_stats, dispatched),
        "of these, that found their handler free"},
    {"lfproxy_pool_merged_total", offsetof(struct thread_stats, merged),
        "of these, left to the owner of the handler"},
    {"lfproxy_pool_stale_total", offsetof(struct thread_stats, stale),
        "of these, of a handle that was gone"},
    {"lfproxy_pool_resumed_total", offsetof(struct thread_stats, resumed),
        "handlers taken up from a mailbox"},
    {"lfproxy_pool_turns_total", offsetof(struct thread_stats, turns),
        "runs of a handler"},
    {"lfproxy_pool_inline_turns_total",
        offsetof(struct thread_stats, inline_turns),
        "of these, by the leader itself"},
    {"lfproxy_pool_promotions_total", offsetof(struct thread_stats, promotions),
        "times that leadership was given up before a turn"},
    {"lfproxy_pool_wakes_total", offsetof(struct thread_stats, wakes),
        "followers called"},
    {"lfproxy_pool_hand_offs_total", offsetof(struct thread_stats, hand_offs),
        "handlers given to the thread that they are bound to"},
    {"lfproxy_pool_adoptions_total", offsetof(struct thread_stats, adoptions),
        "times that a thread led another shard than its own"},
    {"lfproxy_pool_wait_errors_total",
        offsetof(struct thread_stats, wait_errors),
        "looks at the handle set that failed"},
};

static const struct word histograms[] = {
    {"lfproxy_pool_promotion_delay_seconds",
        offsetof(struct thread_stats, promotion_delay),
        "from the call of a follower until it ran"},
    {"lfproxy_pool_poll_gap_seconds", offsetof(struct thread_stats, poll_gap),
        "between two polls for events while events waited"},
    {"lfproxy_pool_service_seconds", offsetof(struct thread_stats, service),
        "of a run of a handler"},
};
/* clang-format on */

#define WORDS      (sizeof(words) / sizeof(words[0]))
#define HISTOGRAMS (sizeof(histograms) / sizeof(histograms[0]))

enum gauge_metric {
	POOL_THREADS,
	POOL_ROLES,
	POOL_SHARDS,
	POOL_HANDLERS,
	POOL_IN_BATCH,
	POOL_TAKEN_OVER,
	POOL_GUARDED,
	POOL_GAUGES
};

static const struct gauge_text {
	const char *name, *type, *help;
} gauges[POOL_GAUGES] = {
    [POOL_THREADS] = {"lfproxy_pool_threads", "gauge", "threads of the pool"},
    [POOL_ROLES] = {"lfproxy_pool_role_threads", "gauge",
        "threads in each role"},
    [POOL_SHARDS] = {"lfproxy_pool_shards", "gauge", "handle sets"},
    [POOL_HANDLERS] = {"lfproxy_pool_handlers", "gauge",
        "sessions and listeners that it serves"},
    [POOL_IN_BATCH] = {"lfproxy_pool_batch_events", "gauge",
        "events fetched and not looked at so far"},
    [POOL_TAKEN_OVER] = {"lfproxy_pool_taken_over_total", "counter",
        "tokens of leadership picked up from a busy leader"},
    [POOL_GUARDED] = {"lfproxy_pool_guarded_total", "counter",
        "of these, by the guard"},
};

size_t
metrics_pools_count(void)
{
	return POOL_GAUGES + WORDS + HISTOGRAMS;
}

static void
put_roles(FILE *out, const char *name, const char *pool,
    const struct pool_status *status)
{
	for (enum thread_role role = 0; role < ROLES; role++) {
		const struct metric_labels labels = {
		    {"pool", pool, "role", thread_role_name(role), NULL}};

		metric_number(out, name, &labels, status->roles[role]);
	}
}

static uint64_t
gauge_of(enum gauge_metric which, const struct pool_status *status)
{
	switch (which) {
	case POOL_THREADS:
		return status->threads;
	case POOL_SHARDS:
		return status->shards;
	case POOL_HANDLERS:
		return status->handlers;
	case POOL_IN_BATCH:
		return status->in_batch;
	case POOL_TAKEN_OVER:
		return status->taken_over;
	case POOL_GUARDED:
		return status->guarded;
	case POOL_ROLES:
	case POOL_GAUGES:
		break;
	}
	return 0;
}

static const void *
word_of(const struct word *word, const struct pool_status *status)
{
	return (const char *)&status->sum + word->offset;
}

static void
put_pool(FILE *out, size_t number, const char *pool,
    const struct pool_status *status)
{
	const struct metric_labels labels = {{"pool", pool, NULL}};
	const struct word *word;

	if (number == POOL_ROLES) {
		put_roles(out, gauges[number].name, pool, status);
	} else if (number < POOL_GAUGES) {
		metric_number(out, gauges[number].name, &labels,
		    gauge_of((enum gauge_metric)number, status));
	} else if (number < POOL_GAUGES + WORDS) {
		word = &words[number - POOL_GAUGES];
		metric_number(out, word->name, &labels,
		    *(const uint64_t *)word_of(word, status));
	} else {
		word = &histograms[number - POOL_GAUGES - WORDS];
		metric_histogram(
		    out, word->name, &labels, word_of(word, status));
	}
}

static void
put_header(FILE *out, size_t number)
{
	if (number < POOL_GAUGES)
		metric_begin(out, gauges[number].name, gauges[number].type,
		    gauges[number].help);
	else if (number < POOL_GAUGES + WORDS)
		metric_begin(out, words[number - POOL_GAUGES].name, "counter",
		    words[number - POOL_GAUGES].help);
	else
		metric_begin(out, histograms[number - POOL_GAUGES - WORDS].name,
		    "histogram", histograms[number - POOL_GAUGES - WORDS].help);
}

void
metrics_put_pools(FILE *out, struct pools *pools, size_t number)
{
	put_header(out, number);
	for (size_t i = 0; i < pools_count(pools); i++) {
		struct pool *pool = pools_at(pools, i);
		struct pool_status status;

		pool_status(pool, &status);
		put_pool(out, number, pool_name(pool), &status);
	}
}

void
metrics_put_exhaustion(FILE *out, const struct exhaustion *exhaustion)
{
	static const char name[] = "lfproxy_resource_exhausted_total";

	metric_begin(out, name, "counter", "times that the system was short");
	for (enum resource i = 0; i < RESOURCES; i++) {
		const struct metric_labels labels = {
		    {"of", resource_name(i), NULL}};

		metric_number(out, name, &labels, exhaustion->count[i]);
	}
}
