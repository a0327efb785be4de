/* SPDX-License-Identifier: MIT
 * Half-Sync/Half-Reactive in the place of src/lf/shard*.c: what the paper holds
 * Leader/Followers against (POSA2, 5.4), for the laboratory alone.
 *
 *   kernel --wait--> I/O thread --queue--> workers --turn
 *                        ^                    |
 *                        +--mailbox-----------+ turns that want to go on
 *
 * The I/O thread of the shard waits for events and claims their handlers.  It
 * reads what has arrived, copies it into a request that it allocates, and puts
 * the request into a bounded queue, a mutex with two condition variables.  The
 * workers take the requests and run the turns, which find the bytes there
 * (hshr_request.h).  --no-copy: a request is only a pointer to its handler, and
 * its worker reads; nothing is allocated or copied.  In both forms no worker is
 * signalled unless one waits.  Everything above shard.h is lfproxy's own.
 */
#include "lf/shard.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "base/clock.h"
#include "base/ensure.h"
#include "hshr_request.h"
#include "lf/pool.h"
#include "lf/turns.h"

#define QUEUE_SIZE 1024u
#define SHARDS_MAX 64u

/* A piece of work that the I/O thread hands to a worker.  The worker owns the
 * handler and the request. */
struct work {
	struct event_handler *handler;
	struct request *request; /* NULL: the turn reads */
};

struct queue {
	pthread_mutex_t lock;
	pthread_cond_t not_empty, not_full;
	struct work slots[QUEUE_SIZE];
	unsigned first, n;
	unsigned takers; /* waiting, and not signalled so far */
	bool putter;     /* waiting */
} CACHE_LINE_ALIGNED;

static struct queue queues[SHARDS_MAX];

void
batch_init(struct batch *batch)
{
	memset(batch, 0, sizeof(*batch));
	batch->resumed_end = &batch->resumed;
}

/* The promotion only says which thread does the I/O: nobody ever joins. */
static void
no_kick(void *arg)
{
	(void)arg;
}

int
shard_init(struct shard *shard, struct pool *pool, unsigned id,
    const struct promotion_ops *promotion)
{
	struct queue *q = &queues[id];

	ENSURE(id < SHARDS_MAX);
	memset(shard, 0, sizeof(*shard));
	shard->pool = pool;
	shard->id = id;
	shard->alarm = -1;
	shard->inside = SHARD_NO_SET;
	batch_init(&shard->batch);
	pthread_mutex_init(&q->lock, NULL);
	pthread_cond_init(&q->not_empty, NULL);
	pthread_cond_init(&q->not_full, NULL);
	return promotion->create(no_kick, NULL, &shard->promotion);
}

void
shard_fini(struct shard *shard)
{
	shard->promotion->ops->free(shard->promotion);
	handle_set_free(shard->set);
}

/* As in src/lf/shard.c, note "asleep and mailbox". */
static void
wake(struct shard *shard)
{
	if (atomic_load_seq(&shard->asleep) &&
	    atomic_swap_seq(&shard->asleep, 0u))
		handle_set_wake(shard->set);
}

void
shard_submit(struct event_handler *handler)
{
	struct shard *shard = handler->shard;

	event_handler_push(&shard->mailbox, handler);
	wake(shard);
}

bool
shard_note(struct event_handler *handler, uint32_t generation, uint32_t note)
{
	switch (claim_post(&handler->claim, generation, note)) {
	case CLAIM_STALE:
		return false;
	case CLAIM_LEFT:
		return true;
	case CLAIM_TAKEN:
		break;
	}
	shard_submit(handler);
	return true;
}

/* Everybody looks at the summons. */
void
shard_order(struct shard *shard)
{
	struct queue *q = &queues[shard->id];

	(void)atomic_swap_seq(&shard->orders, 1u);
	wake(shard);
	pthread_mutex_lock(&q->lock);
	q->takers = 0;
	pthread_cond_broadcast(&q->not_empty);
	pthread_cond_broadcast(&q->not_full);
	pthread_mutex_unlock(&q->lock);
}

bool
shard_guard(struct shard *shard, uint64_t now_ns, uint64_t limit_ns)
{
	(void)shard;
	(void)now_ns;
	(void)limit_ns;
	return false;
}

static bool
summoned(const struct pool_thread *self)
{
	return atomic_load_seq(&self->member.summons) == MEMBER_RETIRE;
}

/* At the end of the process a full queue may stay so: false. */
static bool
put(struct queue *q, struct work work, struct pool_thread *self)
{
	bool signal, room;

	pthread_mutex_lock(&q->lock);
	while (q->n == QUEUE_SIZE && !summoned(self)) {
		q->putter = true;
		pthread_cond_wait(&q->not_full, &q->lock);
		q->putter = false;
	}
	room = q->n < QUEUE_SIZE;
	if (room)
		q->slots[(q->first + q->n++) % QUEUE_SIZE] = work;
	signal = q->takers > 0;
	q->takers -= signal;
	pthread_mutex_unlock(&q->lock);
	if (signal) {
		atomic_bump_own(&self->stats.wakes, 1u);
		pthread_cond_signal(&q->not_empty);
	}
	return room;
}

static struct work
take(struct queue *q, struct pool_thread *self)
{
	struct work work = {0};
	bool signal;

	pthread_mutex_lock(&q->lock);
	while (q->n == 0 && !summoned(self)) {
		q->takers++;
		pthread_cond_wait(&q->not_empty, &q->lock);
	}
	if (q->n > 0) {
		work = q->slots[q->first];
		q->first = (q->first + 1) % QUEUE_SIZE;
		q->n--;
	}
	signal = q->putter;
	pthread_mutex_unlock(&q->lock);
	if (signal)
		pthread_cond_signal(&q->not_full);
	return work;
}

static void
put_events(struct shard *shard, int n, struct pool_thread *self)
{
	struct batch *b = &shard->batch;

	atomic_bump_own(&self->stats.waits, 1u);
	atomic_bump_own(&self->stats.fetched, (unsigned)n);
	for (int i = 0; i < n; i++) {
		const struct handle_event *e = &b->events[i];
		struct event_handler *h =
		    event_handler_at(handle_slot(e->handle));
		struct work work = {.handler = h};

		request_expect(h);
		switch (claim_post(&h->claim, handle_generation(e->handle),
		    handle_pending(e->handle, e->ready))) {
		case CLAIM_STALE:
			atomic_bump_own(&self->stats.stale, 1u);
			break;
		case CLAIM_LEFT:
			atomic_bump_own(&self->stats.merged, 1u);
			break;
		case CLAIM_TAKEN:
			atomic_bump_own(&self->stats.dispatched, 1u);
			work.request =
			    request_read(h, handle_side(e->handle), e->ready);
			if (!put(&queues[shard->id], work, self))
				request_free(work.request);
			break;
		}
	}
}

static void
put_mailbox(struct shard *shard, struct pool_thread *self)
{
	struct event_handler *h, *newest;

	if (!atomic_load_relaxed(&shard->mailbox))
		return;
	h = event_handler_take_all(&shard->mailbox, &newest);
	while (h) {
		struct event_handler *following = h->next;

		atomic_bump_own(&self->stats.resumed, 1u);
		(void)put(
		    &queues[shard->id], (struct work){.handler = h}, self);
		h = following;
	}
}

static void
do_io(struct shard *shard, struct pool_thread *self)
{
	turns_set_role(self, ROLE_LEADING);
	while (!summoned(self)) {
		int timeout_ms = 0, n;

		(void)atomic_swap_seq(&shard->asleep, 1u);
		if (!atomic_load_seq(&shard->mailbox) && !summoned(self))
			timeout_ms = -1;
		n = handle_set_wait(
		    shard->set, shard->batch.events, SHARD_BATCH, timeout_ms);
		atomic_store_relaxed(&shard->asleep, 0u);
		if (n < 0)
			n = 0;
		put_events(shard, n, self);
		put_mailbox(shard, self);
		if (atomic_load_relaxed(&shard->unguarded) &&
		    atomic_swap_acq_rel(&shard->unguarded, 0u))
			pool_call_guard(shard->pool);
	}
}

static void
work(struct shard *shard, struct pool_thread *self)
{
	turns_set_role(self, ROLE_PROCESSING);
	while (!summoned(self)) {
		struct work work = take(&queues[shard->id], self);

		if (!work.handler)
			continue;
		self->now_ns = clock_now_ns();
		request_begin(work.request);
		if (turns_run(work.handler, self) == TURN_MORE)
			shard_submit(work.handler);
		request_end();
	}
}

/* The first thread of a shard does the I/O, for ever; threads and shards do not
 * change in this build. */
void
shard_serve(struct pool_thread *self)
{
	struct shard *home = atomic_load_acquire(&self->home);

	self->now_ns = clock_now_ns();
	if (promotion_try_lead(home->promotion, true))
		do_io(home, self);
	else
		work(home, self);
}

/* Threads apart run TLS handshakes, which the laboratory does not make. */
void
shard_serve_long(struct pool_thread *self)
{
	(void)self;
}
