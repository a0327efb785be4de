/* SPDX-License-Identifier: MIT
 * See queue.h.
 */
#include "model/queue.h"

#include "base/mix.h"
#include "model/backend.h"
#include "model/model.h"

/* The most sessions that a handler's run wakes: SERVE_MAX that wait or, after a
 * lineup was published, that pause.  A session that was called calls CALLS_MAX
 * more: with 2, ever more threads take part until all are called. */
#define SERVE_MAX 32
#define CALLS_MAX 2

/* The value of granted of a waiter that is called to look at the lineup. */
static struct server *const a_look = (struct server *)(uintptr_t)&a_look;

void
queue_init(struct queue *queue)
{
	lock_init(&queue->lock);
	list_init(&queue->waiters);
	list_init(&queue->paused);
	list_init(&queue->due);
}

void
queue_fini(struct queue *queue)
{
	lock_fini(&queue->lock);
}

static struct waiter *
first_waiter(struct list *list)
{
	return list_empty(list) ? NULL
	                        : container_of(list->next, struct waiter, node);
}

/* Puts the waiter behind those that go before it: at the end, if it is new. */
static void
insert_waiter(struct queue *q, struct waiter *w)
{
	struct list *next = &q->waiters;

	while (next->prev != &q->waiters &&
	       container_of(next->prev, struct waiter, node)->since_us >
	           w->since_us)
		next = next->prev;
	list_append(next, &w->node);
	w->position = gauge_up(&q->waiting); /* [P19] */
}

static void
unlink_waiter(struct queue *q, struct waiter *w)
{
	list_remove(&w->node);
	gauge_down(&q->waiting);
}

/* Takes a slot for the first in line, which leaves the queue with it.  Returns
 * NULL if no session waits or no server has room. */
static struct waiter *
grant_first(struct backend_state *b)
{
	struct queue *q = &b->queue;
	struct waiter *w = first_waiter(&q->waiters);
	struct choice choice;

	if (!w)
		return NULL;
	q->ops->choice(w, &choice);
	choice.random = mix64(q->grants ^ (uintptr_t)w);
	w->granted = lineup_take_slot(
	    atomic_load_seq(&b->lineup), &choice, &w->lineup); /* [P19] */
	if (!w->granted)
		return NULL;
	q->grants++;
	/* The server and its model are pinned here, because the owner may not
	 * be in a grace section. */
	server_pin(w->granted);
	model_pin(w->granted->backend->model);
	unlink_waiter(q, w);
	return w;
}

/* Takes the first waiter that is due off its list.  Returns NULL if none is. */
static struct waiter *
call_first(struct backend_state *b)
{
	struct waiter *w = first_waiter(&b->queue.due);

	if (!w)
		return NULL;
	list_remove(&w->node);
	w->granted = a_look;
	return w;
}

/* Wakes the waiter that `take` takes off a list.  Returns false if it takes
 * none. */
static bool
wake_one(
    struct backend_state *b, struct waiter *(*take)(struct backend_state *b))
{
	struct queue *q = &b->queue;
	const struct waiter_ops *ops;
	uint32_t generation = 0;
	struct waiter *w;

	lock_acquire(&q->lock);
	ops = q->ops;
	w = take(b);
	if (w)
		generation = w->generation;
	lock_release(&q->lock);
	if (w)
		ops->wake(w, generation);
	return w;
}

void
queue_serve(struct backend_state *backend)
{
	for (unsigned i = 0;
	     i < SERVE_MAX &&
	     atomic_load_seq(&backend->queue.waiting.now) > 0 && /* [P19] */
	     wake_one(backend, grant_first);
	     i++)
		;
}

static void
call_due(struct backend_state *b, unsigned most)
{
	while (most-- > 0 && wake_one(b, call_first))
		;
}

enum wait_answer
queue_peek(const struct backend *backend)
{
	const struct backend_state *b = backend->state;
	const struct lineup *l = atomic_load_seq(&b->lineup); /* [P4] */
	unsigned max = backend->spec->maxqueue;

	if (backend->spec->timeout_queue_ms == QUEUE_NEVER)
		return l->servers_n == 0 ? WAIT_NO_SERVER : WAIT_FULL;
	return max == 0 || atomic_load_relaxed(&b->queue.waiting.now) < max
	           ? WAIT_QUEUED
	           : WAIT_FULL;
}

enum wait_answer
queue_wait(struct backend *backend, struct waiter *waiter,
    const struct waiter_ops *ops)
{
	struct queue *q = &backend->state->queue;
	enum wait_answer answer;

	if (backend->spec->timeout_queue_ms == QUEUE_NEVER)
		return queue_peek(backend);
	lock_acquire(&q->lock);
	answer = queue_peek(backend);
	if (answer == WAIT_QUEUED) {
		q->ops = ops;
		waiter->granted = NULL;
		insert_waiter(q, waiter);
	}
	lock_release(&q->lock);
	if (answer == WAIT_QUEUED)
		queue_serve(backend->state);
	return answer;
}

struct server *
queue_granted(struct backend *backend, const struct waiter *waiter)
{
	struct queue *q = &backend->state->queue;
	struct server *s;

	lock_acquire(&q->lock);
	s = waiter->granted;
	lock_release(&q->lock);
	return s;
}

struct server *
queue_leave(struct backend *backend, struct waiter *waiter)
{
	struct queue *q = &backend->state->queue;
	struct server *s;

	lock_acquire(&q->lock);
	if (!list_empty(&waiter->node))
		unlink_waiter(q, waiter);
	s = waiter->granted;
	lock_release(&q->lock);
	if (s)
		queue_serve(backend->state);
	return s;
}

bool
queue_pause(struct backend *backend, struct waiter *waiter,
    const struct waiter_ops *ops, uint64_t lineup)
{
	struct queue *q = &backend->state->queue;
	const struct lineup *l;
	bool pauses;

	lock_acquire(&q->lock);
	l = atomic_load_acquire(&backend->state->lineup); /* [P4] */
	pauses = l->joined <= lineup;
	if (pauses) {
		q->ops = ops;
		waiter->granted = NULL;
		list_append(&q->paused, &waiter->node);
	}
	lock_release(&q->lock);
	return pauses;
}

bool
queue_is_called(struct backend *backend, const struct waiter *waiter)
{
	return queue_granted(backend, waiter) == a_look;
}

void
queue_end_pause(struct backend *backend, struct waiter *waiter)
{
	struct queue *q = &backend->state->queue;
	bool called;

	lock_acquire(&q->lock);
	called = waiter->granted == a_look;
	if (!called)
		list_remove(&waiter->node);
	waiter->granted = NULL;
	lock_release(&q->lock);
	if (called)
		call_due(backend->state, CALLS_MAX);
}

void
queue_lineup_changed(struct backend_state *backend, const struct lineup *lineup)
{
	struct queue *q = &backend->queue;

	if (lineup->joined != lineup->number)
		return;
	lock_acquire(&q->lock);
	list_splice(&q->paused, &q->due);
	lock_release(&q->lock);
	call_due(backend, SERVE_MAX);
}
