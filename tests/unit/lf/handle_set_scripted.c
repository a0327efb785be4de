/* SPDX-License-Identifier: MIT
 * See handle_set_scripted.h.
 *
 * One lock for the whole machine: a wire's bytes, its place on a list and its
 * set change together.
 */
#include "lf/handle_set_scripted.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/ensure.h"
#include "base/list.h"

#define SETS_MAX 1024

struct feed {
	struct feed *next;
	unsigned n, returned;
	struct handle_event events[];
};

struct wire {
	uint32_t unread;
	struct scripted *set; /* NULL: not registered */
	handle_t handle;
	uint32_t interest;
	uint32_t ready;   /* to be returned; 0: not on the list */
	struct list node; /* of the set's ready list */
};

struct scripted {
	struct handle_set set;
	struct machine *machine;
	pthread_cond_t changed;
	struct feed *oldest, **newest;
	struct list ready;
	struct scripted_counts counts;
	unsigned in_wait;
	bool woken;
	int wait_error;
};

struct machine {
	pthread_mutex_t lock;
	struct scripted *sets[SETS_MAX];
	unsigned sets_n, sets_open;
	unsigned sets_limit; /* of sets_n */
	unsigned wires_n;
	struct wire wires[];
};

static struct scripted *
self_of(struct handle_set *set)
{
	return (struct scripted *)(void *)set;
}

static void
lock_set(struct scripted *s)
{
	pthread_mutex_lock(&s->machine->lock);
	ENSURE(s->counts.freed == 0);
}

static struct wire *
wire_at(struct machine *m, int fd)
{
	ENSURE(fd >= 0 && (unsigned)fd < m->wires_n);
	return &m->wires[fd];
}

/* An edge. */
static void
raise_locked(struct wire *w, uint32_t ready)
{
	struct scripted *s = w->set;

	if (!s || (ready & w->interest) == 0)
		return;
	if (w->ready == 0) {
		list_append(&s->ready, &w->node);
		s->counts.queued++;
	}
	w->ready |= ready & w->interest;
	pthread_cond_signal(&s->changed);
}

static void
lower_locked(struct wire *w)
{
	if (w->ready == 0)
		return;
	w->ready = 0;
	list_remove(&w->node);
	w->set->counts.queued--;
}

static void
report_state_locked(struct wire *w)
{
	raise_locked(w, (w->unread > 0 ? HANDLE_READABLE : 0) |
	                    (w->interest & HANDLE_WRITABLE));
}

static int
scripted_add(struct handle_set *set, int fd, handle_t handle, uint32_t interest)
{
	struct scripted *s = self_of(set);
	struct wire *w = wire_at(s->machine, fd);
	int rc = 0;

	lock_set(s);
	s->counts.adds++;
	if (w->set) {
		rc = -EEXIST;
	} else {
		w->set = s;
		w->handle = handle;
		w->interest = interest;
		report_state_locked(w);
	}
	pthread_mutex_unlock(&s->machine->lock);
	return rc;
}

static int
scripted_remove(struct handle_set *set, int fd)
{
	struct scripted *s = self_of(set);
	struct wire *w = wire_at(s->machine, fd);
	int rc = -ENOENT;

	lock_set(s);
	s->counts.removes++;
	if (w->set == s) {
		lower_locked(w);
		w->set = NULL;
		rc = 0;
	}
	pthread_mutex_unlock(&s->machine->lock);
	return rc;
}

static int
scripted_reactivate(
    struct handle_set *set, int fd, handle_t handle, uint32_t interest)
{
	struct scripted *s = self_of(set);
	struct wire *w = wire_at(s->machine, fd);
	int rc = -ENOENT;

	lock_set(s);
	if (w->set == s) {
		w->handle = handle;
		w->interest = interest;
		report_state_locked(w);
		rc = 0;
	}
	pthread_mutex_unlock(&s->machine->lock);
	return rc;
}

static bool
blocked_locked(const struct scripted *s)
{
	return s->counts.queued == 0 && !s->woken && s->wait_error == 0;
}

static void
block_locked(struct scripted *s, int timeout_ms)
{
	pthread_mutex_t *lock = &s->machine->lock;
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
	s->counts.waiting++;
	while (blocked_locked(s) && rc == 0)
		rc = timeout_ms < 0
		         ? pthread_cond_wait(&s->changed, lock)
		         : pthread_cond_timedwait(&s->changed, lock, &end);
	s->counts.waiting--;
}

static unsigned
take_feed_locked(struct scripted *s, struct handle_event *events, unsigned max)
{
	struct feed *f = s->oldest;
	unsigned n = f->n - f->returned;

	if (n > max)
		n = max;
	memcpy(events, f->events + f->returned, n * sizeof(*events));
	f->returned += n;
	if (f->returned == f->n) {
		s->oldest = f->next;
		if (!s->oldest)
			s->newest = &s->oldest;
		free(f);
	}
	s->counts.queued -= n;
	return n;
}

static unsigned
take_wires_locked(struct scripted *s, struct handle_event *events, unsigned max)
{
	unsigned n = 0;

	while (n < max && !list_empty(&s->ready)) {
		struct wire *w = container_of(s->ready.next, struct wire, node);

		events[n++] = (struct handle_event){
		    .handle = w->handle, .ready = w->ready};
		lower_locked(w);
	}
	return n;
}

static int
take_locked(struct scripted *s, struct handle_event *events, unsigned max)
{
	unsigned n;
	int error = s->wait_error;

	s->woken = false;
	s->wait_error = 0;
	if (error != 0)
		return -error;
	n = s->oldest ? take_feed_locked(s, events, max)
	              : take_wires_locked(s, events, max);
	s->counts.returned += n;
	/* Another one that waits may have the rest. */
	if (s->counts.queued > 0)
		pthread_cond_signal(&s->changed);
	return (int)n;
}

static int
scripted_wait(struct handle_set *set, struct handle_event *events, int max,
    int timeout_ms)
{
	struct scripted *s = self_of(set);
	int n;

	lock_set(s);
	s->counts.waits++;
	if (s->in_wait++ > 0)
		s->counts.double_waits++;
	if (blocked_locked(s))
		block_locked(s, timeout_ms);
	n = take_locked(s, events, (unsigned)max);
	s->in_wait--;
	pthread_mutex_unlock(&s->machine->lock);
	return n;
}

static void
scripted_wake(struct handle_set *set)
{
	struct scripted *s = self_of(set);

	lock_set(s);
	s->counts.wakes++;
	s->woken = true;
	pthread_cond_signal(&s->changed);
	pthread_mutex_unlock(&s->machine->lock);
}

static void
scripted_free(struct handle_set *set)
{
	struct scripted *s = self_of(set);

	lock_set(s);
	ENSURE(s->in_wait == 0);
	s->counts.freed++;
	s->machine->sets_open--;
	pthread_mutex_unlock(&s->machine->lock);
}

static const struct handle_set_ops scripted_ops = {
    .add = scripted_add,
    .remove = scripted_remove,
    .reactivate = scripted_reactivate,
    .wait = scripted_wait,
    .wake = scripted_wake,
    .free = scripted_free,
};

struct machine *
machine_new(unsigned wires)
{
	struct machine *m = calloc(1, sizeof(*m) + wires * sizeof(struct wire));

	ENSURE(m);
	m->wires_n = wires;
	m->sets_limit = SETS_MAX;
	pthread_mutex_init(&m->lock, NULL);
	return m;
}

void
machine_free(struct machine *machine)
{
	struct machine *m = machine;

	for (unsigned i = 0; i < m->sets_n; i++) {
		struct scripted *s = m->sets[i];

		while (s->oldest) {
			struct feed *f = s->oldest;

			s->oldest = f->next;
			free(f);
		}
		pthread_cond_destroy(&s->changed);
		free(s);
	}
	pthread_mutex_destroy(&m->lock);
	free(m);
}

int
machine_new_set(void *machine, struct handle_set **ret_set)
{
	struct machine *m = machine;
	struct scripted *s;

	if (m->sets_n == m->sets_limit)
		return -EMFILE;
	s = calloc(1, sizeof(*s));
	ENSURE(s && m->sets_n < SETS_MAX);
	pthread_mutex_lock(&m->lock);
	m->sets[m->sets_n++] = s;
	m->sets_open++;
	s->set.ops = &scripted_ops;
	s->machine = m;
	s->newest = &s->oldest;
	list_init(&s->ready);
	pthread_cond_init(&s->changed, NULL);
	pthread_mutex_unlock(&m->lock);
	*ret_set = &s->set;
	return 0;
}

struct scripted *
machine_set(struct machine *machine, unsigned i)
{
	return machine->sets[i];
}

unsigned
machine_sets(struct machine *machine)
{
	unsigned n;

	pthread_mutex_lock(&machine->lock);
	n = machine->sets_n;
	pthread_mutex_unlock(&machine->lock);
	return n;
}

unsigned
machine_sets_open(struct machine *machine)
{
	unsigned n;

	pthread_mutex_lock(&machine->lock);
	n = machine->sets_open;
	pthread_mutex_unlock(&machine->lock);
	return n;
}

struct scripted *
scripted_of(struct handle_set *set)
{
	return self_of(set);
}

void
machine_limit_sets(struct machine *machine, unsigned more)
{
	machine->sets_limit = machine->sets_n + more;
}

void
machine_write(struct machine *machine, int fd, uint32_t bytes)
{
	struct wire *w = wire_at(machine, fd);

	pthread_mutex_lock(&machine->lock);
	w->unread += bytes;
	raise_locked(w, HANDLE_READABLE);
	pthread_mutex_unlock(&machine->lock);
}

uint32_t
machine_read(struct machine *machine, int fd, uint32_t max)
{
	struct wire *w = wire_at(machine, fd);
	uint32_t n;

	pthread_mutex_lock(&machine->lock);
	n = w->unread < max ? w->unread : max;
	w->unread -= n;
	pthread_mutex_unlock(&machine->lock);
	return n;
}

uint64_t
machine_unread(struct machine *machine)
{
	uint64_t n = 0;

	pthread_mutex_lock(&machine->lock);
	for (unsigned i = 0; i < machine->wires_n; i++)
		n += machine->wires[i].unread;
	pthread_mutex_unlock(&machine->lock);
	return n;
}

void
scripted_feed(
    struct scripted *scripted, const struct handle_event *events, unsigned n)
{
	struct scripted *s = scripted;
	struct feed *f = malloc(sizeof(*f) + n * sizeof(*events));

	ENSURE(f && n > 0);
	*f = (struct feed){.n = n};
	memcpy(f->events, events, n * sizeof(*events));
	pthread_mutex_lock(&s->machine->lock);
	*s->newest = f;
	s->newest = &f->next;
	s->counts.queued += n;
	pthread_cond_signal(&s->changed);
	pthread_mutex_unlock(&s->machine->lock);
}

void
scripted_fail_wait(struct scripted *scripted, int error)
{
	pthread_mutex_lock(&scripted->machine->lock);
	scripted->wait_error = error;
	pthread_cond_signal(&scripted->changed);
	pthread_mutex_unlock(&scripted->machine->lock);
}

struct scripted_counts
scripted_counts(struct scripted *scripted)
{
	struct scripted_counts c;

	pthread_mutex_lock(&scripted->machine->lock);
	c = scripted->counts;
	pthread_mutex_unlock(&scripted->machine->lock);
	return c;
}
