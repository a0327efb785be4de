/* SPDX-License-Identifier: MIT
 * See worker.h.
 */
#include "base/worker.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "base/atomics.h"
#include "base/ensure.h"
#include "base/thread.h"

/* All but `ended` and `loop` is the control thread's alone. */
static struct worker {
	bool started;
	struct ev_loop *loop; /* not changed while threads run */
	ev_async ended;       /* sent by the threads */
	struct list waiting, begun;
} worker;

static void *
worker_thread(void *arg)
{
	struct work *work = arg;

	(void)pthread_setname_np(pthread_self(), "lf-worker");
	/* On Linux the nice value is the thread's.  0: the calling one. */
	if (work->queue->nice != 0)
		(void)setpriority(PRIO_PROCESS, 0, work->queue->nice);
	work->run(work);
	atomic_store_release(&work->ended, true); /* [P44] */
	ev_async_send(worker.loop, &worker.ended);
	return NULL;
}

/* Starts the job's thread.  A job without a thread has ended: its done is
 * called from the loop. */
static void
begin_work(struct work *work)
{
	list_remove(&work->node);
	list_append(&worker.begun, &work->node);
	work->begun = true;
	work->queue->running++;
	work->error = thread_start(&work->thread, NULL, worker_thread, work);
	if (work->error == 0)
		return;
	work->ended = true;
	ev_feed_event(worker.loop, &worker.ended, EV_ASYNC);
}

static void
begin_waiting(void)
{
	list_for_each_safe (node, &worker.waiting) {
		struct work *work = container_of(node, struct work, node);

		if (work->queue->running < work->queue->at_once)
			begin_work(work);
	}
}

/* Ends a job whose thread was joined, or could not be made. */
static void
end_work(struct work *work)
{
	list_remove(&work->node);
	work->queue->running--;
	work->done(work, work->cancelled ? ECANCELED : work->error);
}

static void
on_work_ended(struct ev_loop *loop, ev_async *ended, int events)
{
	(void)loop;
	(void)ended;
	(void)events;
	/* Nodes are removed by this loop alone; done may append nodes. */
	list_for_each_safe (node, &worker.begun) {
		struct work *work = container_of(node, struct work, node);

		if (!atomic_load_acquire(&work->ended)) /* [P44] */
			continue;
		if (work->error == 0)
			(void)pthread_join(work->thread, NULL);
		end_work(work);
	}
	begin_waiting();
}

void
worker_start(struct ev_loop *loop)
{
	worker.loop = loop;
	list_init(&worker.waiting);
	list_init(&worker.begun);
	ev_async_init(&worker.ended, on_work_ended);
	ev_async_start(loop, &worker.ended);
	worker.started = true;
}

void
worker_submit(struct work *work)
{
	ENSURE(work->queue->at_once > 0);
	if (!worker.started) {
		work->run(work);
		work->done(work, 0);
		return;
	}
	work->begun = work->cancelled = work->ended = false;
	list_append(&worker.waiting, &work->node);
	begin_waiting();
}

void
worker_cancel(struct work *work)
{
	work->cancelled = true;
	if (work->begun)
		return;
	list_remove(&work->node);
	work->done(work, ECANCELED);
}

/* -- calls -- */

struct call_work {
	struct work work;
	void (*run)(void *object);
	void *object;
};

static void
run_call(struct work *work)
{
	struct call_work *c = container_of(work, struct call_work, work);

	c->run(c->object);
	c->run = NULL;
}

static void
end_call(struct work *work, int error)
{
	struct call_work *c = container_of(work, struct call_work, work);

	(void)error;
	if (c->run)
		run_call(work);
	free(c);
}

void
worker_call(struct work_queue *queue, void (*run)(void *object), void *object)
{
	struct call_work *c = calloc(1, sizeof(*c));

	if (!c) {
		run(object);
		return;
	}
	*c = (struct call_work){
	    .work = {.queue = queue, .run = run_call, .done = end_call},
	    .run = run,
	    .object = object};
	worker_submit(&c->work);
}

/* -- the end -- */

static struct timespec
wall_time_in(uint64_t ms)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	ts.tv_nsec += (long)(ms % 1000) * 1000000;
	ts.tv_sec += (time_t)(ms / 1000) + ts.tv_nsec / 1000000000;
	ts.tv_nsec %= 1000000000;
	return ts;
}

bool
worker_stop(uint64_t limit_ms)
{
	const struct timespec until = wall_time_in(limit_ms);

	if (!worker.started)
		return true;
	worker.started = false;
	while (!list_empty(&worker.waiting))
		worker_cancel(
		    container_of(worker.waiting.next, struct work, node));
	list_for_each_safe (node, &worker.begun) {
		struct work *work = container_of(node, struct work, node);

		worker_cancel(work);
		if (work->error == 0 &&
		    pthread_timedjoin_np(work->thread, NULL, &until) != 0)
			continue;
		end_work(work);
	}
	ev_async_stop(worker.loop, &worker.ended);
	return list_empty(&worker.begun);
}
