/* SPDX-License-Identifier: MIT
 * `show pool`.
 */
#include "commands/show.h"

#include <inttypes.h>

#include "commands/commands.h"
#include "config/pool_text.h"

static void
put_pool_threads(struct report *r, const struct pool_facts *f)
{
	const unsigned *roles = f->status.roles;
	char text[THREADS_TEXT_SIZE];

	report_put(r, "threads", "\n  threads     %u wanted", f->threads);
	report_put(r, "resident", ", %u resident", f->status.threads);
	report_object(r, "roles");
	report_put(
	    r, "leading", "\n  roles       %u leading", roles[ROLE_LEADING]);
	report_put(r, "processing", ", %u processing", roles[ROLE_PROCESSING]);
	report_put(r, "standby", ", %u standby", roles[ROLE_STANDBY]);
	report_put(r, "following", ", %u following", roles[ROLE_FOLLOWING]);
	report_close(r);
	report_list(r, "classes");
	for (unsigned i = 0; i < f->classes_n; i++) {
		report_object(r, NULL);
		report_json(r, "threads", "%u", f->classes[i].threads);
		report_json(r, "nice", "%d", f->classes[i].nice);
		report_close(r);
	}
	report_close(r);
	report_text(r, "\n  classes     %s",
	    threads_text(f->classes, f->classes_n, text));
}

static void
put_autoscale(struct report *r, const struct pool_facts *f)
{
	if (f->autoscale_max == 0) {
		report_text(r, "\n  autoscale   off");
		report_json_null(r, "autoscale");
		return;
	}
	report_object(r, "autoscale");
	report_put(r, "min", "\n  autoscale   %u", f->autoscale_min);
	report_put(r, "max", "..%u threads", f->autoscale_max);
	report_close(r);
}

static void
put_pool_settings(struct report *r, const struct pool_facts *f)
{
	char text[CPU_LIST_TEXT_SIZE];

	report_put(r, "shards", "\n  shards      %u", f->status.shards);
	report_json(r, "shards_closing", "%u", f->shards_closing);
	if (f->shards_closing > 0)
		report_text(r, ", and %u closing", f->shards_closing);
	report_put(r, "promotion", "\n  promotion   %s",
	    policy_name(f->status.policy));
	report_put(
	    r, "order", ", order %s", promotion_order_name(f->status.order));
	report_put(
	    r, "cpus", "\n  cpus        %s", cpu_list_text(&f->cpus, text));
	report_put(
	    r, "handlers", "\n  handlers    %" PRIu64, f->status.handlers);
	report_put(r, "moved", ", moved %" PRIu64, f->status.sum.moved);
}

static void
put_pool_counters(struct report *r, const struct pool_status *s)
{
	const struct thread_stats *n = &s->sum;
	uint64_t sum = n->dispatched + n->merged + n->stale + s->in_batch;

	report_put(
	    r, "fetched", "\n  ledger      fetched %" PRIu64, n->fetched);
	report_text(r, n->fetched == sum ? " =" : " ~");
	report_put(r, "dispatched", " dispatched %" PRIu64, n->dispatched);
	report_put(r, "merged", " + merged %" PRIu64, n->merged);
	report_put(r, "stale", " + stale %" PRIu64, n->stale);
	report_put(r, "in_batch", " + in batch %" PRIu64, s->in_batch);
	report_put(r, "waits", "\n  waits       %" PRIu64, n->waits);
	report_put(r, "wait_errors", ", errors %" PRIu64, n->wait_errors);
	report_put(r, "turns", "\n  turns       %" PRIu64, n->turns);
	report_put(r, "inline_turns", ", inline %" PRIu64, n->inline_turns);
	report_put(r, "resumed", ", resumed %" PRIu64, n->resumed);
	report_put(r, "promotions", "\n  promotions  %" PRIu64, n->promotions);
	report_put(r, "wakes", ", wakes %" PRIu64, n->wakes);
	report_put(
	    r, "adoptions", "\n  leadership  adoptions %" PRIu64, n->adoptions);
	report_put(r, "taken_over", ", taken over %" PRIu64, s->taken_over);
	report_put(r, "guarded", ", guarded %" PRIu64, s->guarded);
	report_put(
	    r, "long_running", "\n  long turns  %u running", s->long_running);
	report_put(r, "long_limit", " of %u", s->long_limit);
	report_put(r, "long_nice", ", nicer by %u", s->long_nice);
	report_put(r, "long_waiting", ", %u waiting", s->long_waiting);
	report_put(r, "long_waits", ", waits %" PRIu64, s->long_waits);
	report_put(r, "long_waited_us", ", waited %.1f us",
	    (double)s->long_waited_ns / 1e3);
	report_put(r, "wake_us", "\n  costs       wake %.1f us",
	    (double)s->wake_ns / 1e3);
	report_put(r, "relay_turn_us", ", relay turn %.1f us",
	    (double)s->turn_ns[TURN_RELAY] / 1e3);
	report_put(r, "accept_turn_us", ", accept turn %.1f us",
	    (double)s->turn_ns[TURN_ACCEPT] / 1e3);
}

static void
put_pool_keys(struct report *r, const struct pool_facts *f)
{
	report_put(r, "key_operations", "\n  TLS keys    operations %" PRIu64,
	    f->status.sum.key_operations);
	report_put(r, "key_rate", ", in the last second %" PRIu64, f->key_rate);
}

static void
put_pool_times(struct report *r, const char *name, const char *label,
    const struct histogram *histogram)
{
	struct times t = times_of(histogram);

	report_object(r, name);
	report_text(r, "\n  %-15s", label);
	report_put(r, "count", " %11" PRIu64, t.count);
	report_put(r, "p50", " %11.1f", t.p50_us);
	report_put(r, "p90", " %11.1f", t.p90_us);
	report_put(r, "p99", " %11.1f", t.p99_us);
	report_put(r, "max", " %11.1f", t.max_us);
	report_close(r);
}

void
show_pool_put(struct report *report, const struct pool_facts *facts)
{
	const struct thread_stats *sum = &facts->status.sum;

	report_row(report);
	report_put(report, "name", "pool %s", facts->name);
	put_pool_threads(report, facts);
	put_autoscale(report, facts);
	put_pool_settings(report, facts);
	put_pool_counters(report, &facts->status);
	put_pool_keys(report, facts);
	report_text(report, "\n  %-15s %11s %11s %11s %11s %11s", "times in us",
	    "count", "p50", "p90", "p99", "max");
	put_pool_times(report, "promotion_delay_us", "promotion delay",
	    &sum->promotion_delay);
	put_pool_times(report, "poll_gap_us", "poll gap", &sum->poll_gap);
	put_pool_times(report, "service_us", "service", &sum->service);
	report_row_end(report);
}

bool
show_each_pool(
    struct call *call, void (*put)(struct report *report,
                           const struct pools *pools, struct pool *pool))
{
	struct pools *pools = call->env->pools;
	bool json = call_take_json(call);
	const char *name = call->args[0];
	struct pool *only = name ? pools_find(pools, name, call->err) : NULL;
	struct report r;

	if (name && !only)
		return err_as_sentence(call->err);
	report_begin(&r, json, call->out);
	report_head(&r, "");
	for (size_t i = 0; i < pools_count(pools); i++)
		if (!only || only == pools_at(pools, i))
			put(&r, pools, pools_at(pools, i));
	report_end(&r);
	return true;
}

static void
put_pool(struct report *r, const struct pools *pools, struct pool *pool)
{
	struct pool_facts facts;

	pool_facts_read(pools, pool, &facts);
	show_pool_put(r, &facts);
}

bool
run_show_pool(struct call *call)
{
	return show_each_pool(call, put_pool);
}
