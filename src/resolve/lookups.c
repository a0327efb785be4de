/* SPDX-License-Identifier: MIT
 * See lookups.h.
 */
#include "resolve/lookups.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/list.h"
#include "base/lock.h"
#include "base/thread.h"

struct lookup {
	struct list node; /* in queue, or in answers */
	struct lookup_answer answer;
	int family;
	char host[];
};

/* The lock guards everything. */
struct lookups {
	struct lock lock;
	pthread_cond_t answered;
	struct list queue, answers;
	size_t queued, idle; /* idle: threads on their way to the queue */
	unsigned threads;
	unsigned users; /* threads, and the owner */
	bool closed;    /* the owner is gone */
	lookup_function look;
	void (*notify)(void *arg);
	void *arg;
};

static void
lookups_drop(struct list *lookups)
{
	list_for_each_safe (node, lookups) {
		list_remove(node);
		free(container_of(node, struct lookup, node));
	}
}

/* Gives the lock back; the last user frees everything. */
static void
lookups_leave(struct lookups *l)
{
	bool last = --l->users == 0;

	lock_release(&l->lock);
	if (!last)
		return;
	lookups_drop(&l->queue);
	lookups_drop(&l->answers);
	pthread_cond_destroy(&l->answered);
	lock_fini(&l->lock);
	free(l);
}

static struct lookup *
lookup_pop(struct list *list)
{
	struct list *node = list->next;

	if (list_empty(list))
		return NULL;
	list_remove(node);
	return container_of(node, struct lookup, node);
}

static void
lookups_put_answer(struct lookups *l, struct lookup *lookup)
{
	if (l->closed) {
		free(lookup);
		return;
	}
	list_append(&l->answers, &lookup->node);
	pthread_cond_signal(&l->answered);
	l->notify(l->arg);
}

static void *
lookups_thread(void *arg)
{
	struct lookups *l = arg;
	struct lookup *lookup;

	(void)pthread_setname_np(pthread_self(), "lfproxy-names");
	lock_acquire(&l->lock);
	l->idle--;
	while (!l->closed && (lookup = lookup_pop(&l->queue))) {
		l->queued--;
		lock_release(&l->lock);
		lookup->answer.error =
		    l->look(lookup->host, lookup->family, &lookup->answer.addr);
		lock_acquire(&l->lock);
		lookups_put_answer(l, lookup);
	}
	l->threads--;
	lookups_leave(l);
	return NULL;
}

/* Returns 0 or an errno.  Caller holds the lock. */
static int
lookups_start_thread(struct lookups *l)
{
	pthread_t id;
	int rc = thread_start(&id, NULL, lookups_thread, l);

	if (rc != 0)
		return rc;
	(void)pthread_detach(id);
	l->threads++;
	l->idle++;
	l->users++;
	return 0;
}

/* With threads that are busy the queue is worked off later; without any it
 * would never be, so what is in it has failed.  Caller holds the lock. */
static void
lookups_see_to_threads(struct lookups *l)
{
	struct lookup *lookup;
	int rc = 0;

	if (l->queued > l->idle && l->threads < LOOKUPS_THREADS_MAX)
		rc = lookups_start_thread(l);
	if (rc == 0 || l->threads > 0)
		return;
	while ((lookup = lookup_pop(&l->queue))) {
		l->queued--;
		lookup->answer.error = rc;
		lookups_put_answer(l, lookup);
	}
}

bool
lookups_start(void *resolver, const char *host, int family, struct name *name)
{
	struct lookups *l = resolver;
	size_t size = strlen(host) + 1;
	struct lookup *lookup = calloc(1, sizeof(*lookup) + size);

	if (!lookup)
		return false;
	lookup->answer.name = name;
	lookup->family = family;
	memcpy(lookup->host, host, size);
	lock_acquire(&l->lock);
	list_append(&l->queue, &lookup->node);
	l->queued++;
	lookups_see_to_threads(l);
	lock_release(&l->lock);
	return true;
}

struct lookups *
lookups_new(lookup_function look, void (*notify)(void *arg), void *arg)
{
	struct lookups *l = calloc(1, sizeof(*l));
	pthread_condattr_t attr;

	if (!l)
		return NULL;
	l->users = 1;
	l->look = look;
	l->notify = notify;
	l->arg = arg;
	list_init(&l->queue);
	list_init(&l->answers);
	lock_init(&l->lock);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&l->answered, &attr);
	pthread_condattr_destroy(&attr);
	return l;
}

void
lookups_free(struct lookups *lookups)
{
	if (!lookups)
		return;
	lock_acquire(&lookups->lock);
	lookups->closed = true;
	lookups_leave(lookups);
}

bool
lookups_take(struct lookups *lookups, struct lookup_answer *ret_answer)
{
	struct lookup *lookup;

	lock_acquire(&lookups->lock);
	lookup = lookup_pop(&lookups->answers);
	lock_release(&lookups->lock);
	if (!lookup)
		return false;
	*ret_answer = lookup->answer;
	free(lookup);
	return true;
}

bool
lookups_wait(struct lookups *lookups, uint64_t until_ms)
{
	struct timespec until = {.tv_sec = (time_t)(until_ms / 1000),
	    .tv_nsec = (long)(until_ms % 1000) * 1000000};
	bool any;

	lock_acquire(&lookups->lock);
	while (list_empty(&lookups->answers) &&
	       lock_wait_until(&lookups->lock, &lookups->answered, &until) !=
	           ETIMEDOUT)
		;
	any = !list_empty(&lookups->answers);
	lock_release(&lookups->lock);
	return any;
}
