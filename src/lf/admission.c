/* SPDX-License-Identifier: MIT
 * See admission.h.
 */
#include "lf/admission.h"

#include <string.h>

#include "base/atomics.h"
#include "base/clock.h"
#include "base/ensure.h"
#include "lf/event_handler.h"

void
admission_init(struct admission *admission)
{
	memset(admission, 0, sizeof(*admission));
	lock_init(&admission->lock);
	pthread_cond_init(&admission->ready, NULL);
	admission->limit = 1;
	admission->end = &admission->first;
}

void
admission_fini(struct admission *admission)
{
	pthread_cond_destroy(&admission->ready);
	lock_fini(&admission->lock);
}

/* Changes the number of waiting handlers.  The sum of their waits grows with
 * each of them all the time, so no handler has to keep when it began to wait.
 * Times of different threads may be in disorder by as much as a turn. */
static void
set_waiting_locked(struct admission *a, uint32_t waiting, uint64_t now_ns)
{
	if (now_ns > a->since_ns) {
		atomic_store_relaxed(&a->waited_ns,
		    a->waited_ns + a->waiting * (now_ns - a->since_ns));
		a->since_ns = now_ns;
	}
	atomic_store_relaxed(&a->waiting, waiting);
}

static bool
admit_locked(struct admission *a, struct event_handler *h)
{
	if (a->running >= a->limit)
		return false;
	(void)atomic_add_seq(&a->running, 1u); /* [P18] */
	h->next_turn = NEXT_ADMITTED;
	return true;
}

bool
admission_ask(
    struct admission *admission, struct event_handler *handler, uint64_t now_ns)
{
	bool admitted, hand_over;

	lock_acquire(&admission->lock);
	hand_over = admission->apart && admission->running < admission->limit;
	admitted = !admission->apart && admit_locked(admission, handler);
	if (!admitted) {
		handler->next = NULL;
		*admission->end = handler;
		admission->end = &handler->next;
		atomic_store_relaxed(
		    &admission->waits, admission->waits + !hand_over);
		set_waiting_locked(admission, admission->waiting + 1, now_ns);
	}
	lock_release(&admission->lock);
	if (hand_over)
		pthread_cond_signal(&admission->ready);
	return admitted;
}

static struct event_handler *
take_first_locked(struct admission *a, uint64_t now_ns)
{
	struct event_handler *h = a->first;

	if (!h || !admit_locked(a, h))
		return NULL;
	a->first = h->next;
	if (!a->first)
		a->end = &a->first;
	set_waiting_locked(a, a->waiting - 1, now_ns);
	return h;
}

struct event_handler *
admission_end(struct admission *admission, uint64_t now_ns)
{
	struct event_handler *h;

	lock_acquire(&admission->lock);
	ENSURE(admission->running > 0);
	atomic_store_relaxed(&admission->running, admission->running - 1);
	h = take_first_locked(admission, now_ns);
	lock_release(&admission->lock);
	return h;
}

void
admission_set_limit(struct admission *admission, uint32_t limit)
{
	lock_acquire(&admission->lock);
	atomic_store_relaxed(&admission->limit, limit);
	lock_release(&admission->lock);
}

struct event_handler *
admission_take(struct admission *admission, uint64_t now_ns)
{
	struct event_handler *h;

	lock_acquire(&admission->lock);
	h = take_first_locked(admission, now_ns);
	lock_release(&admission->lock);
	return h;
}

void
admission_set_apart(struct admission *admission, bool apart)
{
	lock_acquire(&admission->lock);
	admission->apart = apart;
	lock_release(&admission->lock);
}

void
admission_wake(struct admission *admission)
{
	/* A thread that has looked and does not yet wait holds the lock. */
	lock_acquire(&admission->lock);
	lock_release(&admission->lock);
	pthread_cond_broadcast(&admission->ready);
}

struct event_handler *
admission_await(struct admission *admission, const uint32_t *summons)
{
	struct event_handler *h = NULL;

	lock_acquire(&admission->lock);
	while (atomic_load_seq(summons) == 0 &&
	       !(h = take_first_locked(admission, clock_now_ns())))
		lock_wait(&admission->lock, &admission->ready);
	lock_release(&admission->lock);
	return h;
}
