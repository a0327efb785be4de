/* SPDX-License-Identifier: MIT
 * `show threads`.
 */
#include <inttypes.h>

#include "commands/commands.h"
#include "commands/show.h"

static void
put_thread_role(struct report *r, const struct thread_status *t)
{
	static const struct {
		const char *name;
		enum thread_role role;
	} roles[] = {
	    {"following_us", ROLE_FOLLOWING},
	    {"standby_us", ROLE_STANDBY},
	    {"leading_us", ROLE_LEADING},
	    {"processing_us", ROLE_PROCESSING},
	};
	const char *role = thread_role_name(t->role);

	report_put(r, "tid", " %7d", t->tid);
	report_put(r, "shard", " %5u", t->shard);
	report_put(r, "class", " %5u", t->grade);
	report_put(r, "nice", " %4d", t->nice);
	report_json_bool(r, "retiring", t->retiring);
	report_json_string(r, "role", role);
	report_text(r, " %-10s", t->retiring ? "retiring" : role);
	for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++) {
		double ns = (double)t->role_ns[roles[i].role];

		report_json(r, roles[i].name, "%f", ns / 1e3);
		report_text(r, " %8.1f", ns / 1e9);
	}
}

/* Writes a counter that its thread may be adding to. */
#define PUT_COUNTER(r, fmt, t, field)                                          \
	report_put(r, #field, fmt, atomic_load_relaxed(&(t)->stats->field))

static void
put_thread_events(struct report *r, const struct thread_status *t)
{
	PUT_COUNTER(r, " %10" PRIu64, t, fetched);
	PUT_COUNTER(r, " %10" PRIu64, t, dispatched);
	PUT_COUNTER(r, " %9" PRIu64, t, merged);
	PUT_COUNTER(r, " %8" PRIu64, t, stale);
	PUT_COUNTER(r, " %8" PRIu64, t, resumed);
	PUT_COUNTER(r, " %10" PRIu64, t, turns);
	PUT_COUNTER(r, " %10" PRIu64, t, inline_turns);
}

static void
put_thread_leadership(struct report *r, const struct thread_status *t)
{
	PUT_COUNTER(r, " %11" PRIu64, t, waits);
	PUT_COUNTER(r, " %11" PRIu64, t, wait_errors);
	PUT_COUNTER(r, " %11" PRIu64, t, promotions);
	PUT_COUNTER(r, " %11" PRIu64, t, wakes);
	PUT_COUNTER(r, " %11" PRIu64, t, adoptions);
}

/* Writes microseconds, in seven columns and a blank; long times have no
 * decimal. */
static void
put_us(struct report *r, const char *name, double us)
{
	report_put(r, name, us < 99999.95 ? " %7.1f" : " %7.0f", us);
}

static void
put_thread_times(struct report *r, const struct thread_status *t)
{
	const struct {
		const char *name;
		const struct histogram *histogram;
	} all[] = {
	    {"promotion_delay_us", &t->stats->promotion_delay},
	    {"poll_gap_us", &t->stats->poll_gap},
	    {"service_us", &t->stats->service},
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct times times = times_of(all[i].histogram);

		report_object(r, all[i].name);
		report_json(r, "count", "%" PRIu64, times.count);
		put_us(r, "p50", times.p50_us);
		report_json(r, "p90", "%f", times.p90_us);
		put_us(r, "p99", times.p99_us);
		put_us(r, "max", times.max_us);
		report_close(r);
	}
}

static const struct {
	const char *head;
	void (*put)(struct report *r, const struct thread_status *thread);
} tables[] = {
    {"                                             seconds spent\n"
     "  thread     tid shard class nice role       follows"
     "  standby    leads processes\n",
        put_thread_role},
    {"  thread    fetched dispatched    merged    stale  resumed"
     "      turns     inline\n",
        put_thread_events},
    {"  thread       waits      errors  promotions       wakes"
     "   adoptions\n",
        put_thread_leadership},
    {"          promotion delay, us          poll gap, us"
     "           service, us\n"
     "  thread     p50     p99     max     p50     p99     max"
     "     p50     p99     max\n",
        put_thread_times},
};
#define TABLES (sizeof(tables) / sizeof(tables[0]))

static void
put_threads_json(struct report *r, const char *pool,
    const struct thread_status *threads, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		report_row(r);
		report_json_string(r, "pool", pool);
		report_json(r, "thread", "%u", threads[i].place);
		for (size_t j = 0; j < TABLES; j++)
			tables[j].put(r, &threads[i]);
		report_row_end(r);
	}
}

static void
put_threads_text(struct report *r, const char *pool,
    const struct thread_status *threads, size_t n)
{
	report_text(r, "pool %s\n", pool);
	for (size_t j = 0; j < TABLES; j++) {
		fputs(tables[j].head, r->out);
		for (size_t i = 0; i < n; i++) {
			report_text(r, "  %6u", threads[i].place);
			tables[j].put(r, &threads[i]);
			report_row_end(r);
		}
	}
}

void
show_threads_put(struct report *report, const char *pool,
    const struct thread_status *threads, size_t n)
{
	if (report->json)
		put_threads_json(report, pool, threads, n);
	else
		put_threads_text(report, pool, threads, n);
}

static void
put_pool_of_threads(
    struct report *r, const struct pools *pools, struct pool *pool)
{
	static struct thread_status threads[POOL_THREADS_MAX];

	(void)pools;
	show_threads_put(r, pool_name(pool), threads,
	    pool_facts_threads(pool, threads, POOL_THREADS_MAX));
}

bool
run_show_threads(struct call *call)
{
	return show_each_pool(call, put_pool_of_threads);
}
