/* SPDX-License-Identifier: MIT
 * See client_slices.h.
 */
#include "admin/client_slices.h"

#include "base/clock.h"

/* Returns whether the client can go on after its slice. */
static bool
run_slice(struct client_slice *slice)
{
	uint64_t end = clock_now_ns() + CLIENT_SLICE_NS;

	do
		if (!slice->step(slice))
			return false;
	while (clock_now_ns() < end);
	return true;
}

/* Takes the next client off the queue; returns NULL if there is none.
 * Alternates between the two lists while both have clients. */
static struct client_slice *
take_client(struct client_slices *slices)
{
	bool fresh = list_empty(&slices->ongoing) ||
	             (slices->ongoing_last && !list_empty(&slices->fresh));
	struct list *node = (fresh ? &slices->fresh : &slices->ongoing)->next;

	if (node == &slices->fresh)
		return NULL;
	slices->ongoing_last = !fresh;
	list_remove(node);
	return container_of(node, struct client_slice, node);
}

static void
before_wait(struct ev_loop *loop, ev_prepare *prepare, int events)
{
	struct client_slices *slices = prepare->data;
	uint64_t end = clock_now_ns() + CLIENT_SLICES_BUDGET_NS;
	struct client_slice *slice;

	(void)events;
	if (ev_is_active(&slices->pause))
		return;
	/* Begin with a fresh client, whatever ended the last round. */
	slices->ongoing_last = true;
	while ((slice = take_client(slices))) {
		if (run_slice(slice))
			list_append(&slices->ongoing, &slice->node);
		if (clock_now_ns() >= end)
			break;
	}
	if (list_empty(&slices->fresh) && list_empty(&slices->ongoing))
		return;
	ev_timer_set(&slices->pause, CLIENT_SLICES_PAUSE_S, 0.);
	ev_timer_start(loop, &slices->pause);
}

/* Wakes the loop; before_wait serves the queue. */
static void
on_slices_pause_over(struct ev_loop *loop, ev_timer *timer, int events)
{
	(void)loop;
	(void)timer;
	(void)events;
}

void
client_slices_init(struct client_slices *slices, struct ev_loop *loop)
{
	slices->loop = loop;
	list_init(&slices->fresh);
	list_init(&slices->ongoing);
	ev_init(&slices->pause, on_slices_pause_over);
	ev_prepare_init(&slices->before_wait, before_wait);
	slices->before_wait.data = slices;
	ev_prepare_start(loop, &slices->before_wait);
}

void
client_slices_fini(struct client_slices *slices)
{
	ev_prepare_stop(slices->loop, &slices->before_wait);
	ev_timer_stop(slices->loop, &slices->pause);
}

void
client_slice_request(struct client_slices *slices, struct client_slice *slice)
{
	if (list_empty(&slice->node))
		list_append(&slices->fresh, &slice->node);
}
