/* SPDX-License-Identifier: MIT
 * See loop_stats.h.
 *
 * During an iteration no check starts or ends, and no request on the admin
 * socket is answered.
 */
#include "live/loop_stats.h"

#include "base/clock.h"

static void
start_clocks(struct loop_stats *stats)
{
	stats->began_ns = clock_now_ns();
	stats->began_cpu_ns = clock_thread_ns();
}

static void
on_iteration_begin(struct ev_loop *loop, ev_check *begin, int events)
{
	(void)loop;
	(void)events;
	start_clocks(begin->data);
}

static void
on_iteration_end(struct ev_loop *loop, ev_prepare *end, int events)
{
	struct loop_stats *stats = end->data;
	/* Read the CPU time between the two readings of the clock, so that it
	 * cannot be longer than the wall time. */
	uint64_t cpu_ns = clock_thread_ns() - stats->began_cpu_ns;
	uint64_t took_ns = clock_now_ns() - stats->began_ns;

	(void)loop;
	(void)events;
	/* The first iteration of the loop has no recorded beginning. */
	if (stats->began_ns == 0)
		return;
	stats->iterations++;
	if (took_ns > stats->longest_ns)
		stats->longest_ns = took_ns;
	if (cpu_ns > stats->longest_cpu_ns)
		stats->longest_cpu_ns = cpu_ns;
}

void
loop_stats_watch(struct ev_loop *loop, struct loop_stats *stats)
{
	ev_check_init(&stats->begin, on_iteration_begin);
	ev_set_priority(&stats->begin, EV_MAXPRI);
	ev_prepare_init(&stats->end, on_iteration_end);
	ev_set_priority(&stats->end, EV_MINPRI);
	stats->begin.data = stats->end.data = stats;
	ev_check_start(loop, &stats->begin);
	ev_prepare_start(loop, &stats->end);
	ev_unref(loop);
	ev_unref(loop);
}

void
loop_stats_clear(struct loop_stats *stats)
{
	stats->iterations = stats->longest_ns = stats->longest_cpu_ns = 0;
	if (stats->began_ns > 0)
		start_clocks(stats);
}
