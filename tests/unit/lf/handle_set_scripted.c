/* SPDX-License-Identifier: MIT
 * See handle_set_scripted.h.
 */
#include "lf/handle_set_scripted.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/ensure.h"

struct batch {
	struct batch *next;
	unsigned n, returned;
	struct handle_event events[];
};

struct scripted {
	struct handle_set set;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct batch *oldest, **newest;
	struct scripted_counts counts;
	struct scripted_handle *handles;
	unsigned handles_n;
	unsigned in_wait;
	bool woken;
	int wait_error, add_error;
};

static struct scripted *
self_of(struct handle_set *set)
{
	return (struct scripted *)(void *)set;
}

static int
scripted_add(struct handle_set *set, int fd, handle_t handle, uint32_t interest)
{
	struct scripted *s = self_of(set);
	int error;

	pthread_mutex_lock(&s->lock);
	s->counts.adds++;
	error = s->add_error;
	s->add_error = 0;
	if (error == 0) {
		s->handles = reallocarray(
		    s->handles, s->handles_n + 1, sizeof(*s->handles));
		ENSURE(s->handles);
		s->handles[s->handles_n++] = (struct scripted_handle){
		    .fd = fd, .handle = handle, .interest = interest};
	}
	pthread_mutex_unlock(&s->lock);
	return -error;
}

/* The registration of fd that counts, or NULL. */
static struct scripted_handle *
find_locked(struct scripted *s, int fd)
{
	for (unsigned i = s->handles_n; i-- > 0;)
		if (s->handles[i].fd == fd && !s->handles[i].removed)
			return &s->handles[i];
	return NULL;
}

static int
scripted_remove(struct handle_set *set, int fd)
{
	struct scripted *s = self_of(set);
	struct scripted_handle *h;

	pthread_mutex_lock(&s->lock);
	s->counts.removes++;
	h = find_locked(s, fd);
	if (h)
		h->removed = true;
	pthread_mutex_unlock(&s->lock);
	return h ? 0 : -ENOENT;
}

static int
scripted_reactivate(
    struct handle_set *set, int fd, handle_t handle, uint32_t interest)
{
	struct scripted *s = self_of(set);
	struct scripted_handle *h;

	pthread_mutex_lock(&s->lock);
	s->counts.reactivates++;
	h = find_locked(s, fd);
	if (h) {
		h->handle = handle;
		h->interest = interest;
	}
	pthread_mutex_unlock(&s->lock);
	return h ? 0 : -ENOENT;
}

static bool
blocked_locked(const struct scripted *s)
{
	return !s->oldest && !s->woken && s->wait_error == 0;
}

static void
block_locked(struct scripted *s, int timeout_ms)
{
	struct timespec end;
	int rc = 0;

	if (timeout_ms == 0)
		return;
	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += timeout_ms / 1000;
	end.tv_nsec += timeout_ms % 1000 * 1000000L;
	if (end.tv_nsec >= 1000000000L) {
		end.tv_sec++;
		end.tv_nsec -= 1000000000L;
	}
	s->counts.waiting = true;
	while (blocked_locked(s) && rc == 0)
		rc = timeout_ms < 0
		         ? pthread_cond_wait(&s->changed, &s->lock)
		         : pthread_cond_timedwait(&s->changed, &s->lock, &end);
	s->counts.waiting = false;
}

static int
take_locked(struct scripted *s, struct handle_event *events, int max)
{
	struct batch *b = s->oldest;
	unsigned n;

	if (!b)
		return 0;
	n = b->n - b->returned;
	if (n > (unsigned)max)
		n = (unsigned)max;
	memcpy(events, b->events + b->returned, n * sizeof(*events));
	b->returned += n;
	s->counts.queued -= n;
	if (b->returned == b->n) {
		s->oldest = b->next;
		if (!s->oldest)
			s->newest = &s->oldest;
		free(b);
	}
	return (int)n;
}

static int
scripted_wait(struct handle_set *set, struct handle_event *events, int max,
    int timeout_ms)
{
	struct scripted *s = self_of(set);
	int n;

	pthread_mutex_lock(&s->lock);
	s->counts.waits++;
	if (s->in_wait++ > 0)
		s->counts.double_waits++;
	if (blocked_locked(s))
		block_locked(s, timeout_ms);
	s->woken = false;
	n = -s->wait_error;
	s->wait_error = 0;
	if (n == 0)
		n = take_locked(s, events, max);
	s->in_wait--;
	pthread_mutex_unlock(&s->lock);
	return n;
}

static void
scripted_wake(struct handle_set *set)
{
	struct scripted *s = self_of(set);

	pthread_mutex_lock(&s->lock);
	s->counts.wakes++;
	s->woken = true;
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->lock);
}

static void
scripted_set_free(struct handle_set *set)
{
	struct scripted *s = self_of(set);

	pthread_mutex_lock(&s->lock);
	s->counts.freed++;
	pthread_mutex_unlock(&s->lock);
}

static const struct handle_set_ops scripted_ops = {
    .add = scripted_add,
    .remove = scripted_remove,
    .reactivate = scripted_reactivate,
    .wait = scripted_wait,
    .wake = scripted_wake,
    .free = scripted_set_free,
};

struct scripted *
scripted_new(void)
{
	struct scripted *s = calloc(1, sizeof(*s));

	ENSURE(s);
	s->set.ops = &scripted_ops;
	s->newest = &s->oldest;
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->changed, NULL);
	return s;
}

void
scripted_free(struct scripted *scripted)
{
	struct scripted *s = scripted;

	while (s->oldest) {
		struct batch *b = s->oldest;

		s->oldest = b->next;
		free(b);
	}
	free(s->handles);
	pthread_cond_destroy(&s->changed);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

struct handle_set *
scripted_set(struct scripted *scripted)
{
	return &scripted->set;
}

void
scripted_feed(
    struct scripted *scripted, const struct handle_event *events, unsigned n)
{
	struct scripted *s = scripted;
	struct batch *b = malloc(sizeof(*b) + n * sizeof(*events));

	ENSURE(b && n > 0);
	*b = (struct batch){.n = n};
	memcpy(b->events, events, n * sizeof(*events));
	pthread_mutex_lock(&s->lock);
	*s->newest = b;
	s->newest = &b->next;
	s->counts.fed += n;
	s->counts.queued += n;
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->lock);
}

void
scripted_fail_wait(struct scripted *scripted, int error)
{
	pthread_mutex_lock(&scripted->lock);
	scripted->wait_error = error;
	pthread_cond_broadcast(&scripted->changed);
	pthread_mutex_unlock(&scripted->lock);
}

void
scripted_fail_add(struct scripted *scripted, int error)
{
	pthread_mutex_lock(&scripted->lock);
	scripted->add_error = error;
	pthread_mutex_unlock(&scripted->lock);
}

struct scripted_counts
scripted_counts(struct scripted *scripted)
{
	struct scripted_counts c;

	pthread_mutex_lock(&scripted->lock);
	c = scripted->counts;
	pthread_mutex_unlock(&scripted->lock);
	return c;
}

bool
scripted_handle_at(
    struct scripted *scripted, unsigned i, struct scripted_handle *ret_handle)
{
	bool found;

	pthread_mutex_lock(&scripted->lock);
	found = i < scripted->handles_n;
	if (found)
		*ret_handle = scripted->handles[i];
	pthread_mutex_unlock(&scripted->lock);
	return found;
}
