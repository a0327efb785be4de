/* SPDX-License-Identifier: MIT
 * See client_turns.h.
 */
#include "admin/client_turns.h"

#include "base/clock.h"

/* True when it can go on after its slice. */
static bool
run_slice(struct client_turn *turn)
{
	uint64_t end = clock_now_ns() + CLIENT_TURNS_SLICE_NS;

	do
		if (!turn->step(turn))
			return false;
	while (clock_now_ns() < end);
	return true;
}

static bool
is_empty(const struct client_turns *turns)
{
	return list_empty(&turns->fresh) && list_empty(&turns->going);
}

/* One of either kind in turn, as far as there are both. */
static struct client_turn *
take_next(struct client_turns *turns)
{
	bool fresh = list_empty(&turns->going) ||
	             (turns->went && !list_empty(&turns->fresh));
	struct list *from = fresh ? &turns->fresh : &turns->going;
	struct client_turn *turn =
	    container_of(from->next, struct client_turn, node);

	turns->went = !fresh;
	client_turn_leave(turn);
	return turn;
}

static void
go_on(struct client_turns *turns, struct client_turn *turn)
{
	turn->queued = true;
	list_append(&turns->going, &turn->node);
}

static void
before_wait(struct ev_loop *loop, ev_prepare *prepare, int events)
{
	struct client_turns *turns = prepare->data;
	uint64_t end = clock_now_ns() + CLIENT_TURNS_BUDGET_NS;

	(void)events;
	if (ev_is_active(&turns->rest))
		return;
	/* Whoever comes is not to wait for the former round's last one. */
	turns->went = true;
	while (!is_empty(turns) && clock_now_ns() < end) {
		struct client_turn *turn = take_next(turns);

		if (run_slice(turn))
			go_on(turns, turn);
	}
	if (is_empty(turns))
		return;
	ev_timer_set(&turns->rest, CLIENT_TURNS_REST_S, 0.);
	ev_timer_start(loop, &turns->rest);
}

/* What wakes the loop; before_wait does the rest. */
static void
on_rested(struct ev_loop *loop, ev_timer *timer, int events)
{
	(void)loop;
	(void)timer;
	(void)events;
}

void
client_turns_init(struct client_turns *turns, struct ev_loop *loop)
{
	turns->loop = loop;
	list_init(&turns->fresh);
	list_init(&turns->going);
	ev_init(&turns->rest, on_rested);
	ev_prepare_init(&turns->before_wait, before_wait);
	turns->before_wait.data = turns;
	ev_prepare_start(loop, &turns->before_wait);
}

void
client_turns_fini(struct client_turns *turns)
{
	ev_prepare_stop(turns->loop, &turns->before_wait);
	ev_timer_stop(turns->loop, &turns->rest);
}

void
client_turn_ask(struct client_turns *turns, struct client_turn *turn)
{
	if (turn->queued)
		return;
	turn->queued = true;
	list_append(&turns->fresh, &turn->node);
}

void
client_turn_leave(struct client_turn *turn)
{
	if (!turn->queued)
		return;
	turn->queued = false;
	list_remove(&turn->node);
}
