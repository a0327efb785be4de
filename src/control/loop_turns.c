/* SPDX-License-Identifier: MIT
 * See loop_turns.h.
 */
#include "control/loop_turns.h"

#include <time.h>

#include "base/clock.h"

static uint64_t
cpu_now_ns(void)
{
	struct timespec ts;

	if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts) < 0)
		return 0;
	return (uint64_t)ts.tv_sec * NS_PER_S + (uint64_t)ts.tv_nsec;
}

static void
on_begin(struct ev_loop *loop, ev_check *begin, int events)
{
	struct loop_turns *turns = begin->data;

	(void)loop;
	(void)events;
	turns->began_ns = clock_now_ns();
	turns->began_cpu_ns = cpu_now_ns();
}

static void
on_end(struct ev_loop *loop, ev_prepare *end, int events)
{
	struct loop_turns *turns = end->data;
	/* The wall's clock is read around the processor's: a turn cannot use
	 * more of the one than it takes of the other. */
	uint64_t cpu_ns = cpu_now_ns() - turns->began_cpu_ns;
	uint64_t took_ns = clock_now_ns() - turns->began_ns;

	(void)loop;
	(void)events;
	/* The first one begins with the loop. */
	if (turns->began_ns == 0)
		return;
	turns->count++;
	if (took_ns > turns->longest_ns)
		turns->longest_ns = took_ns;
	if (cpu_ns > turns->longest_cpu_ns)
		turns->longest_cpu_ns = cpu_ns;
}

void
loop_turns_watch(struct ev_loop *loop, struct loop_turns *turns)
{
	ev_check_init(&turns->begin, on_begin);
	ev_set_priority(&turns->begin, EV_MAXPRI);
	ev_prepare_init(&turns->end, on_end);
	ev_set_priority(&turns->end, EV_MINPRI);
	turns->begin.data = turns->end.data = turns;
	ev_check_start(loop, &turns->begin);
	ev_prepare_start(loop, &turns->end);
	ev_unref(loop);
	ev_unref(loop);
}

/* The turn that asks for it is not over: it counts from here. */
void
loop_turns_clear(struct loop_turns *turns)
{
	turns->count = turns->longest_ns = turns->longest_cpu_ns = 0;
	if (turns->began_ns > 0) {
		turns->began_ns = clock_now_ns();
		turns->began_cpu_ns = cpu_now_ns();
	}
}
