/* SPDX-License-Identifier: MIT
 * See event_handler.h.
 *
 * Slots are found in a table of two levels whose parts are made on demand and
 * never freed: a stale event may name any slot that was ever given out.
 */
#include "lf/event_handler.h"

#include <stdlib.h>

#include "base/fault.h"
#include "base/lock.h"

#define PART  4096u
#define PARTS 1024u

/* More rounds than this without a pause would let one busy session keep a
 * thread for itself. */
#define ROUNDS 4

static struct event_handler **parts[PARTS];
static uint32_t slots;
static struct lock slots_lock = LOCK_INITIALIZER;

static bool
enter_locked(struct event_handler *handler)
{
	uint32_t slot = slots;

	if (slot == PARTS * PART)
		return false;
	if (!parts[slot / PART]) {
		struct event_handler **part = calloc(PART, sizeof(*part));

		if (!part)
			return false;
		atomic_store_release(&parts[slot / PART], part); /* [P8] */
	}
	handler->slot = slot;
	atomic_store_release(&parts[slot / PART][slot % PART], handler);
	slots++;
	return true;
}

bool
event_handler_init(struct event_handler *handler,
    const struct event_handler_ops *ops, enum handle_side first_side)
{
	bool entered;

	handler->ops = ops;
	handler->first_side = (uint8_t)first_side;
	handler->long_turns = 0;
	handler->busy = 0;
	handler->next_turn = NEXT_SHORT;
	handler->shard = NULL;
	handler->next = NULL;
	claim_init(&handler->claim);
	/* A leaf: slabs make handlers while they grow, under a lock. */
	lock_acquire_leaf(&slots_lock);
	entered = enter_locked(handler);
	lock_release(&slots_lock);
	return entered;
}

struct event_handler *
event_handler_at(uint32_t slot)
{
	struct event_handler **part;

	ENSURE(slot < PARTS * PART);
	part = atomic_load_acquire(&parts[slot / PART]); /* [P8] */
	ENSURE(part);
	return atomic_load_acquire(&part[slot % PART]);
}

enum turn
event_handler_run(struct event_handler *handler, struct pool_thread *self)
{
	for (int round = 0; round < ROUNDS; round++) {
		uint32_t pending;
		enum turn turn;

		if (handler->next_turn == NEXT_LONG)
			return TURN_MORE;
		handler->next_turn = NEXT_SHORT;
		if (fault_declares(
		        handler->slot, handler->first_side != HANDLE_LISTENER))
			event_handler_declare_long(handler);
		pending = claim_take(&handler->claim);
		turn = handler->ops->turn(handler, pending, self);
		if (turn != TURN_DONE)
			return turn;
		if (claim_drop(&handler->claim))
			return TURN_DONE;
	}
	return TURN_MORE;
}

void
event_handler_push(
    struct event_handler **mailbox, struct event_handler *handler)
{
	struct event_handler *newest = atomic_load_relaxed(mailbox);

	do
		handler->next = newest;
	while (!atomic_cas_seq(mailbox, &newest, handler));
}

struct event_handler *
event_handler_take_all(
    struct event_handler **mailbox, struct event_handler **ret_newest)
{
	struct event_handler *h = atomic_swap_acq_rel(mailbox, NULL);
	struct event_handler *oldest = NULL;

	if (h)
		*ret_newest = h;
	while (h) {
		struct event_handler *older = h->next;

		h->next = oldest;
		oldest = h;
		h = older;
	}
	return oldest;
}
