/* SPDX-License-Identifier: MIT
 * See show_threads.h.
 */
#include "commands/show_threads.h"

#include <inttypes.h>
#include <stdlib.h>

#include "commands/commands.h"
#include "commands/pool_json.h"

static double
seconds(const struct thread_status *t, enum thread_role role)
{
	return (double)t->role_ns[role] / 1e9;
}

static void
put_role(FILE *out, const struct thread_status *t)
{
	fprintf(out, "  %6u %7d %5u %5u %4d %-10s %11.3f %11.3f %11.3f\n",
	    t->place, t->tid, t->shard, t->grade, t->nice,
	    t->retiring ? "retiring" : thread_role_name(t->role),
	    seconds(t, ROLE_FOLLOWING), seconds(t, ROLE_LEADING),
	    seconds(t, ROLE_PROCESSING));
}

static uint64_t
word(const uint64_t *counter)
{
	return atomic_load_relaxed(counter);
}

static void
put_events(FILE *out, const struct thread_status *t)
{
	const struct thread_stats *s = t->stats;

	fprintf(out,
	    "  %6u %10" PRIu64 " %10" PRIu64 " %9" PRIu64 " %8" PRIu64
	    " %8" PRIu64 " %10" PRIu64 " %10" PRIu64 "\n",
	    t->place, word(&s->fetched), word(&s->dispatched), word(&s->merged),
	    word(&s->stale), word(&s->resumed), word(&s->turns),
	    word(&s->inline_turns));
}

static void
put_leadership(FILE *out, const struct thread_status *t)
{
	const struct thread_stats *s = t->stats;

	fprintf(out,
	    "  %6u %11" PRIu64 " %11" PRIu64 " %11" PRIu64 " %11" PRIu64
	    " %11" PRIu64 " %11" PRIu64 "\n",
	    t->place, word(&s->waits), word(&s->wait_errors),
	    word(&s->promotions), word(&s->wakes), word(&s->adoptions),
	    word(&s->hand_offs));
}

/* Seven columns and a blank; the tenth is not worth one in what takes long. */
static void
put_us(FILE *out, double us)
{
	fprintf(out, us < 99999.95 ? " %7.1f" : " %7.0f", us);
}

static void
put_times(FILE *out, const struct thread_status *t)
{
	const struct histogram *histograms[] = {&t->stats->promotion_delay,
	    &t->stats->poll_gap, &t->stats->service};

	fprintf(out, "  %6u", t->place);
	for (int i = 0; i < 3; i++) {
		struct times times = times_of(histograms[i]);

		put_us(out, times.p50_us);
		put_us(out, times.p99_us);
		put_us(out, times.max_us);
	}
	fputc('\n', out);
}

static const struct {
	const char *head;
	void (*put)(FILE *out, const struct thread_status *thread);
} tables[] = {
    {"                                             seconds spent\n"
     "  thread     tid shard class nice role         following"
     "     leading  processing\n",
        put_role},
    {"  thread    fetched dispatched    merged    stale  resumed"
     "      turns     inline\n",
        put_events},
    {"  thread       waits      errors  promotions       wakes"
     "   adoptions   hand-offs\n",
        put_leadership},
    {"          promotion delay, us          poll gap, us"
     "           service, us\n"
     "  thread     p50     p99     max     p50     p99     max"
     "     p50     p99     max\n",
        put_times},
};

void
show_threads_render(
    FILE *out, const char *pool, const struct thread_status *threads, size_t n)
{
	fprintf(out, "pool %s\n", pool);
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		fputs(tables[i].head, out);
		for (size_t j = 0; j < n; j++)
			tables[i].put(out, &threads[j]);
	}
}

static bool
append_all(json_t *array, const char *pool, const struct thread_status *threads,
    size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (json_array_append_new(
		        array, thread_json(pool, &threads[i])) < 0)
			return false;
	return true;
}

bool
run_show_threads(struct call *call)
{
	struct pools *pools;
	struct thread_status *threads;
	struct pool *pool;
	json_t *all;
	bool json, ok;

	if (!call_pool(call, &pool, &json))
		return false;
	pools = control_pools(call->env->control);
	threads = calloc(POOL_THREADS_LIMIT, sizeof(*threads));
	all = json ? json_array() : NULL;
	ok = threads != NULL;
	for (size_t i = 0; ok && i < pools_count(pools); i++) {
		struct pool *p = pools_at(pools, i);
		size_t n;

		if (pool && pool != p)
			continue;
		n = pool_facts_threads(p, threads, POOL_THREADS_LIMIT);
		if (json)
			ok = append_all(all, pool_name(p), threads, n);
		else
			show_threads_render(
			    call->out, pool_name(p), threads, n);
	}
	free(threads);
	if (json)
		return json_print(all, ok, call->out, call->err);
	return ok || err_oom(call->err);
}
