/* SPDX-License-Identifier: MIT
 * See queue.h.
 */
#include "model/queue.h"

#include "model/backend.h"
#include "model/model.h"

static void
append(struct queue *q, struct waiter *w)
{
	w->prev = q->tail;
	w->next = NULL;
	*(q->tail ? &q->tail->next : &q->head) = w;
	q->tail = w;
	w->position = gauge_up(&q->waiting); /* [P19] */
}

static void
unlink_waiter(struct queue *q, struct waiter *w)
{
	*(w->prev ? &w->prev->next : &q->head) = w->next;
	*(w->next ? &w->next->prev : &q->tail) = w->prev;
	w->prev = w->next = NULL;
	gauge_down(&q->waiting);
}

static bool
is_linked(const struct queue *q, const struct waiter *w)
{
	return w->prev || q->head == w;
}

/* A slot for the first in line, who leaves the queue with it; NULL: nobody
 * waits, or no server has room. */
static struct waiter *
grant_first(struct backend_state *b, uint32_t *ret_generation)
{
	struct queue *q = &b->queue;
	struct waiter *w = q->head;
	struct choice choice;

	if (!w)
		return NULL;
	q->ops->choice(w, &choice);
	choice.random = mix64(q->grants ^ (uintptr_t)w);
	w->granted = backend_take_slot(b, &choice, &w->lineup);
	if (!w->granted)
		return NULL;
	q->grants++;
	/* For its owner, who may be in no grace section in which it could. */
	model_pin(w->granted->backend->model);
	unlink_waiter(q, w);
	*ret_generation = w->generation;
	return w;
}

void
queue_serve(struct backend_state *backend)
{
	struct queue *q = &backend->queue;

	while (atomic_load_seq(&q->waiting.now) > 0) { /* [P19] */
		uint32_t generation = 0;
		const struct waiter_ops *ops;
		struct waiter *w;

		pthread_mutex_lock(&q->lock);
		ops = q->ops;
		w = grant_first(backend, &generation);
		pthread_mutex_unlock(&q->lock);
		if (!w)
			return;
		ops->wake(w, generation);
	}
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
	pthread_mutex_lock(&q->lock);
	answer = queue_peek(backend);
	if (answer == WAIT_QUEUED) {
		q->ops = ops;
		waiter->granted = NULL;
		append(q, waiter);
	}
	pthread_mutex_unlock(&q->lock);
	if (answer == WAIT_QUEUED)
		queue_serve(backend->state);
	return answer;
}

struct server *
queue_granted(struct backend *backend, struct waiter *waiter)
{
	struct queue *q = &backend->state->queue;
	struct server *s;

	pthread_mutex_lock(&q->lock);
	s = waiter->granted;
	pthread_mutex_unlock(&q->lock);
	return s;
}

struct server *
queue_leave(struct backend *backend, struct waiter *waiter)
{
	struct queue *q = &backend->state->queue;
	struct server *s;

	pthread_mutex_lock(&q->lock);
	if (is_linked(q, waiter))
		unlink_waiter(q, waiter);
	s = waiter->granted;
	pthread_mutex_unlock(&q->lock);
	return s;
}
