/* SPDX-License-Identifier: MIT
 * See show_pool.h.
 */
#include "commands/show_pool.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "commands/commands.h"
#include "commands/pool_json.h"
#include "config/pool_text.h"

static void put(FILE *out, const char *key, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

static void
put(FILE *out, const char *key, const char *fmt, ...)
{
	va_list ap;

	fprintf(out, "  %-11s ", key);
	va_start(ap, fmt);
	vfprintf(out, fmt, ap);
	va_end(ap);
	fputc('\n', out);
}

static void
put_threads(FILE *out, const struct pool_facts *f)
{
	struct thread_class_spec classes[POOL_CLASSES_MAX];
	const unsigned *roles = f->status.roles;
	char text[THREADS_TEXT_SIZE];

	for (unsigned i = 0; i < f->classes_n; i++)
		classes[i] =
		    (struct thread_class_spec){.threads = f->classes[i].threads,
		        .nice = f->classes[i].nice};
	put(out, "threads", "%u wanted, %u resident", f->threads,
	    f->status.threads);
	put(out, "roles", "%u leading, %u processing, %u following",
	    roles[ROLE_LEADING], roles[ROLE_PROCESSING], roles[ROLE_FOLLOWING]);
	put(out, "classes", "%s", threads_text(classes, f->classes_n, text));
	if (f->autoscale_max > 0)
		put(out, "autoscale", "%u..%u threads", f->autoscale_min,
		    f->autoscale_max);
	else
		put(out, "autoscale", "off");
}

static void
put_settings(FILE *out, const struct pool_facts *f)
{
	char text[CPU_LIST_TEXT_SIZE];

	if (f->shards_closing > 0)
		put(out, "shards", "%u, and %u closing", f->status.shards,
		    f->shards_closing);
	else
		put(out, "shards", "%u", f->status.shards);
	put(out, "promotion", "%s, order %s", policy_name(f->status.policy),
	    promotion_order_name(f->status.order));
	put(out, "cpus", "%s", cpu_list_text(&f->cpus, text));
	put(out, "handlers", "%" PRIu64, f->status.handlers);
}

static void
put_ledger(FILE *out, const struct pool_status *s)
{
	const struct thread_stats *n = &s->sum;
	uint64_t sum = n->dispatched + n->merged + n->stale + s->in_batch;

	put(out, "ledger",
	    "fetched %" PRIu64 " %c dispatched %" PRIu64 " + merged %" PRIu64
	    " + stale %" PRIu64 " + in batch %" PRIu64,
	    n->fetched, n->fetched == sum ? '=' : '~', n->dispatched, n->merged,
	    n->stale, s->in_batch);
}

static void
put_counters(FILE *out, const struct pool_status *s)
{
	const struct thread_stats *n = &s->sum;

	put(out, "waits", "%" PRIu64 ", errors %" PRIu64, n->waits,
	    n->wait_errors);
	put(out, "turns",
	    "%" PRIu64 ", inline %" PRIu64 ", resumed %" PRIu64
	    ", hand-offs %" PRIu64,
	    n->turns, n->inline_turns, n->resumed, n->hand_offs);
	put(out, "promotions", "%" PRIu64 ", wakes %" PRIu64, n->promotions,
	    n->wakes);
	put(out, "leadership",
	    "adoptions %" PRIu64 ", taken over %" PRIu64 ", guarded %" PRIu64,
	    n->adoptions, s->taken_over, s->guarded);
	put(out, "costs",
	    "wake %.1f us, relay turn %.1f us, accept turn %.1f us",
	    (double)s->wake_ns / 1e3, (double)s->turn_ns[TURN_RELAY] / 1e3,
	    (double)s->turn_ns[TURN_ACCEPT] / 1e3);
}

static void
put_times(FILE *out, const char *what, const struct histogram *histogram)
{
	struct times t = times_of(histogram);

	fprintf(out, "  %-15s %11" PRIu64 " %11.1f %11.1f %11.1f %11.1f\n",
	    what, t.count, t.p50_us, t.p90_us, t.p99_us, t.max_us);
}

void
show_pool_render(FILE *out, const struct pool_facts *facts)
{
	const struct thread_stats *sum = &facts->status.sum;

	fprintf(out, "pool %s\n", facts->name);
	put_threads(out, facts);
	put_settings(out, facts);
	put_ledger(out, &facts->status);
	put_counters(out, &facts->status);
	fprintf(out, "  %-15s %11s %11s %11s %11s %11s\n", "times in us",
	    "count", "p50", "p90", "p99", "max");
	put_times(out, "promotion delay", &sum->promotion_delay);
	put_times(out, "poll gap", &sum->poll_gap);
	put_times(out, "service", &sum->service);
}

bool
run_show_pool(struct call *call)
{
	struct pools *pools;
	struct pool *pool;
	bool json, complete = true;
	json_t *all;

	if (!call_pool(call, &pool, &json))
		return false;
	pools = control_pools(call->env->control);
	all = json ? json_array() : NULL;
	for (size_t i = 0; i < pools_count(pools); i++) {
		struct pool_facts facts;

		if (pool && pool != pools_at(pools, i))
			continue;
		pool_facts_read(pools, pools_at(pools, i), &facts);
		if (!json)
			show_pool_render(call->out, &facts);
		else if (json_array_append_new(all, pool_json(&facts)) < 0)
			complete = false;
	}
	return !json || json_print(all, complete, call->out, call->err);
}
