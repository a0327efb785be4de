/* SPDX-License-Identifier: MIT
 * The laboratory's reading of a running proxy.
 */
#include <inttypes.h>
#include <sys/resource.h>

#include "lab.h"

static uint64_t
microseconds(const struct timeval *tv)
{
	return (uint64_t)tv->tv_sec * 1000000 + (uint64_t)tv->tv_usec;
}

static void
print(FILE *out, const char *name, uint64_t value)
{
	fprintf(out, ", \"%s\": %" PRIu64, name, value);
}

static void
print_histogram(FILE *out, const char *name, const struct histogram *h)
{
	fprintf(out,
	    ", \"%s\": {\"n\": %" PRIu64 ", \"p50_ns\": %" PRIu64
	    ", \"p99_ns\": %" PRIu64 ", \"max_ns\": %" PRIu64 "}",
	    name, histogram_count(h), histogram_quantile_ns(h, 0.5),
	    histogram_quantile_ns(h, 0.99), atomic_load_relaxed(&h->max_ns));
}

static void
print_sum(FILE *out, const struct thread_stats *sum)
{
	print(out, "waits", sum->waits);
	print(out, "fetched", sum->fetched);
	print(out, "dispatched", sum->dispatched);
	print(out, "merged", sum->merged);
	print(out, "stale", sum->stale);
	print(out, "resumed", sum->resumed);
	print(out, "turns", sum->turns);
	print(out, "inline_turns", sum->inline_turns);
	print(out, "promotions", sum->promotions);
	print(out, "wakes", sum->wakes);
	print(out, "adoptions", sum->adoptions);
	print_histogram(out, "promotion_delay", &sum->promotion_delay);
	print_histogram(out, "poll_gap", &sum->poll_gap);
	print_histogram(out, "service", &sum->service);
}

/* The turns of each thread so far, in the order of their places. */
static void
print_thread_turns(FILE *out, struct pool *pool)
{
	struct thread_status t = {.place = 0};

	fputs(", \"thread_turns\": [", out);
	for (unsigned at = 0; pool_thread_status(pool, at, &t);
	     at = t.place + 1)
		fprintf(out, "%s%" PRIu64, at > 0 ? ", " : "",
		    atomic_load_relaxed(&t.stats->turns));
	fputs("]", out);
}

void
lab_status_print(FILE *out, struct pool *pool)
{
	struct pool_status status;
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	pool_status(pool, &status);
	fprintf(out, "{\"user_us\": %" PRIu64, microseconds(&usage.ru_utime));
	print(out, "system_us", microseconds(&usage.ru_stime));
	print(out, "allocations", lab_allocations());
	print(out, "in_batch", status.in_batch);
	print(out, "taken_over", status.taken_over);
	print(out, "guarded", status.guarded);
	print(out, "wake_ns", status.wake_ns);
	print(out, "relay_ns", status.turn_ns[TURN_RELAY]);
	print(out, "accept_ns", status.turn_ns[TURN_ACCEPT]);
	print_sum(out, &status.sum);
	print_thread_turns(out, pool);
	fputs("}\n", out);
	fflush(out);
}
