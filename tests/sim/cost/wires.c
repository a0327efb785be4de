/* SPDX-License-Identifier: MIT
 * See wires.h.
 */
#include "sim/cost/wires.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/ensure.h"
#include "base/list.h"
#include "sim/cost/cpus.h"
#include "sim/kernel.h"

struct cost_set {
	struct handle_set set;
	struct list ready;   /* of wires */
	struct list waiting; /* of waiters, the last one first */
	bool woken;          /* the eventfd has an event */
	uint64_t locked_ns;  /* until then some CPU uses the list of what is
	                        ready */
};

struct waiter {
	struct list node;
	bool woken;
};

struct wire {
	struct cost_set *set; /* NULL: not registered */
	handle_t handle;
	uint32_t interest;
	uint32_t ready; /* to be returned; 0: not on the list */
	struct list node;
};

static struct wire *wires;
static unsigned wires_n;

static struct cost_set *
cost_set_of(struct handle_set *set)
{
	return (struct cost_set *)(void *)set;
}

static struct wire *
wire_at(int fd)
{
	ENSURE(fd >= 0 && (unsigned)fd < wires_n);
	return &wires[fd];
}

void
wires_open(unsigned n)
{
	wires = calloc(n, sizeof(*wires));
	ENSURE(wires);
	wires_n = n;
}

static void
wake_waiter(struct cost_set *s)
{
	struct waiter *w;

	if (list_empty(&s->waiting))
		return;
	w = container_of(s->waiting.next, struct waiter, node);
	list_remove(&w->node);
	w->woken = true;
	sim_unblock_one(w);
}

/* The list of what is ready is locked for so long, after who came before.
 * Returns when that is over. */
static uint64_t
lock_list(struct cost_set *s, uint64_t ns)
{
	uint64_t now_ns = cpus_now_ns();

	if (s->locked_ns < now_ns)
		s->locked_ns = now_ns;
	s->locked_ns += ns;
	return s->locked_ns;
}

static void
raise_wire(struct wire *w, uint32_t ready)
{
	struct cost_set *s = w->set;

	ready &= w->interest;
	if (!s || ready == 0)
		return;
	if (w->ready == 0)
		list_append(&s->ready, &w->node);
	w->ready |= ready;
	/* Part of the sender's turn; others have to wait for it. */
	(void)lock_list(s, cpus_costs()->line_transfer_ns);
	wake_waiter(s);
}

void
wires_raise(unsigned wire, uint32_t ready)
{
	raise_wire(wire_at((int)wire), ready);
}

static int
cost_add(struct handle_set *set, int fd, handle_t handle, uint32_t interest)
{
	struct wire *w = wire_at(fd);

	if (w->set)
		return -EEXIST;
	w->set = cost_set_of(set);
	w->handle = handle;
	w->interest = interest;
	return 0;
}

static int
cost_remove(struct handle_set *set, int fd)
{
	struct wire *w = wire_at(fd);

	if (w->set != cost_set_of(set))
		return -ENOENT;
	if (w->ready != 0)
		list_remove(&w->node);
	w->ready = 0;
	w->set = NULL;
	return 0;
}

static int
cost_reactivate(
    struct handle_set *set, int fd, handle_t handle, uint32_t interest)
{
	(void)set;
	(void)fd;
	(void)handle;
	(void)interest;
	return -ENOSYS; /* no handler of the cost model calls it */
}

/* Blocks until there is an event or it is late. */
static void
wait_for_event(struct cost_set *s, int timeout_ms)
{
	uint64_t until_ns = SIM_NEVER;
	bool in_time = timeout_ms != 0;

	if (timeout_ms > 0)
		until_ns = cpus_now_ns() + (uint64_t)timeout_ms * 1000000u;
	while (in_time && list_empty(&s->ready) && !s->woken) {
		struct waiter w = {.woken = false};

		list_init(&w.node);
		list_append(s->waiting.next, &w.node); /* first */
		in_time = sim_block(&w, until_ns, __func__, __LINE__);
		list_remove(&w.node);
	}
}

static int
take_events(struct cost_set *s, struct handle_event *events, int max)
{
	int n = 0;

	while (n < max && !list_empty(&s->ready)) {
		struct wire *w = container_of(s->ready.next, struct wire, node);

		events[n++] = (struct handle_event){
		    .handle = w->handle, .ready = w->ready};
		list_remove(&w->node);
		w->ready = 0;
	}
	return n;
}

/* Threads take events one after the other, and spin meanwhile.  Events that
 * another CPU has put on the list have to be brought from there. */
static void
spend_taking(struct cost_set *s, int n)
{
	uint64_t each_ns =
	    cpus_costs()->wait_event_ns + cpus_costs()->line_transfer_ns;

	if (n > 0)
		cpus_spend(lock_list(s, (uint64_t)n * each_ns) - cpus_now_ns());
}

static int
cost_wait(struct handle_set *set, struct handle_event *events, int max,
    int timeout_ms)
{
	struct cost_set *s = cost_set_of(set);
	int n;

	cpus_spend(cpus_costs()->wait_call_ns);
	wait_for_event(s, timeout_ms);
	s->woken = false;
	n = take_events(s, events, max);
	spend_taking(s, n);
	/* More than fitted: for another one. */
	if (!list_empty(&s->ready))
		wake_waiter(s);
	return n;
}

static void
cost_wake(struct handle_set *set)
{
	struct cost_set *s = cost_set_of(set);

	cpus_spend(cpus_costs()->event_write_ns);
	s->woken = true;
	wake_waiter(s);
}

static void
cost_free(struct handle_set *set)
{
	free(cost_set_of(set));
}

static const struct handle_set_ops cost_ops = {
    .add = cost_add,
    .remove = cost_remove,
    .reactivate = cost_reactivate,
    .wait = cost_wait,
    .wake = cost_wake,
    .free = cost_free,
};

int
wires_new_set(void *arg, struct handle_set **ret_set)
{
	struct cost_set *s = calloc(1, sizeof(*s));

	(void)arg;
	if (!s)
		return -ENOMEM;
	s->set.ops = &cost_ops;
	list_init(&s->ready);
	list_init(&s->waiting);
	*ret_set = &s->set;
	return 0;
}
