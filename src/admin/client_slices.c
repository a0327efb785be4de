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

static bool
no_client_waits(const struct client_slices *slices)
{
	return list_empty(&slices->fresh) && list_empty(&slices->ongoing);
}

/* Alternates between the two lists while both have clients. */
static struct client_slice *
take_client(struct client_slices *slices)
{
	bool fresh = list_empty(&slices->ongoing) ||
	             (slices->ongoing_last && !list_empty(&slices->fresh));
	struct list *from = fresh ? &slices->fresh : &slices->ongoing;
	struct client_slice *slice =
	    container_of(from->next, struct client_slice, node);

	slices->ongoing_last = !fresh;
	client_slice_cancel(slice);
	return slice;
}

static void
queue_again(struct client_slices *slices, struct client_slice *slice)
{
	slice->queued = true;
	list_append(&slices->ongoing, &slice->node);
}

static void
before_wait(struct ev_loop *loop, ev_prepare *prepare, int events)
{
	struct client_slices *slices = prepare->data;
	uint64_t end = clock_now_ns() + CLIENT_SLICES_BUDGET_NS;

	(void)events;
	if (ev_is_active(&slices->pause))
		return;
	/* Begin with a fresh client, whatever ended the last round. */
	slices->ongoing_last = true;
	while (!no_client_waits(slices) && clock_now_ns() < end) {
		struct client_slice *slice = take_client(slices);

		if (run_slice(slice))
			queue_again(slices, slice);
	}
	if (no_client_waits(slices))
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
	if (slice->queued)
		return;
	slice->queued = true;
	list_append(&slices->fresh, &slice->node);
}

void
client_slice_cancel(struct client_slice *slice)
{
	if (!slice->queued)
		return;
	slice->queued = false;
	list_remove(&slice->node);
}
