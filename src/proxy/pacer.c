/* SPDX-License-Identifier: MIT
 * See pacer.h.
 */
#include "proxy/pacer.h"

#include "proxy/pacing.h"

int
pacer_init(struct pacer *pacer, uint32_t max)
{
	const struct slab_options options = {
	    .size = sizeof(struct pacing),
	    .max = max,
	};

	pacer->next_look_ns = UINT64_MAX;
	return slab_init(&pacer->records, &options);
}

void
pacer_fini(struct pacer *pacer)
{
	slab_fini(&pacer->records);
}

void
pacing_unref(struct pacer *pacer, struct pacing *pacing)
{
	if (atomic_sub_acq_rel(&pacing->refs, 1u) == 1) /* [P39] */
		slab_give(&pacer->records, pacing->index);
}

/* Note: directions that wait and the pacer's next look.
 *
 * The owner pushes the direction, then reads when the next look is.  The pacer
 * writes that the next look is open, then takes the stack.  The first step of
 * each is a read-modify-write, and these are in one total order, so the owner
 * of a direction that the pacer has not taken calls the pacer.  The owner does
 * not call if the next look is within a tick: otherwise each wait would cost a
 * call. */
void
pacer_push(struct pacer *pacer, struct pace *pace, uint64_t now_ns)
{
	uint64_t by_ns = now_ns + PACER_TICK_NS;
	struct pace *top = atomic_load_relaxed(&pacer->pushed);

	if (pace->due_ns > by_ns)
		by_ns = pace->due_ns;
	do
		pace->next = top;
	while (!atomic_cas_seq(&pacer->pushed, &top, pace)); /* [P37] */
	if (by_ns < atomic_load_seq(&pacer->next_look_ns) && /* [P37] */
	    pacer->call)
		pacer->call(pacer->call_arg);
}

/* Leaves NOTE_PACE with the session.  The owner sets closed before it retires
 * the claim.  So if closed is false, a generation that was read before is the
 * session's; it changes when the session exchanges its server, and the note is
 * then posted again.  [P40] */
static void
note_paced_session(const struct pacing *pacing)
{
	struct event_handler *h = &pacing->session->handler;
	uint32_t generation;

	do {
		generation = claim_generation_acquire(&h->claim); /* [P40] */
		if (atomic_load_acquire(&pacing->closed))
			return;
	} while (!shard_note(h, generation, NOTE_PACE));
}

/* Wakes the direction.  The owner may push it again as soon as it is DUE. */
static void
wake(struct pacer *pacer, struct pace *pace)
{
	struct pacing *pacing = pacing_of(pace);

	atomic_store_release(&pace->state, (uint8_t)PACE_DUE); /* [P38] */
	note_paced_session(pacing);
	pacing_unref(pacer, pacing);
}

static void
append(struct pace_list *list, struct pace *pace)
{
	pace->next = NULL;
	if (list->first)
		list->last->next = pace;
	else
		list->first = pace;
	list->last = pace;
}

static struct pace *
take_first(struct pace_list *list)
{
	struct pace *pace = list->first;

	if (pace)
		list->first = pace->next;
	return pace;
}

/* Wakes the direction if it is due or its session has ended; else puts it into
 * the slot of its time, or into the last slot if its time is further away, to
 * be sorted again from there. */
static void
sort_in(struct pacer *pacer, struct pace *pace)
{
	uint64_t tick = (pace->due_ns + PACER_TICK_NS - 1) / PACER_TICK_NS;

	if (tick <= pacer->tick ||
	    atomic_load_acquire(&pacing_of(pace)->closed)) {
		wake(pacer, pace);
		return;
	}
	if (tick - pacer->tick >= PACER_SLOTS)
		tick = pacer->tick + PACER_SLOTS - 1;
	append(&pacer->slots[tick % PACER_SLOTS], pace);
	pacer->in_slots++;
}

/* Takes the directions of all slots up to that tick, in order. */
static struct pace_list
take_slots(struct pacer *pacer, uint64_t to_tick)
{
	struct pace_list taken = {.first = NULL};
	uint64_t n = to_tick - pacer->tick;

	for (uint64_t i = 1; i <= n && i <= PACER_SLOTS && pacer->in_slots;
	     i++) {
		struct pace_list *slot =
		    &pacer->slots[(pacer->tick + i) % PACER_SLOTS];
		struct pace *pace;

		while ((pace = take_first(slot))) {
			append(&taken, pace);
			pacer->in_slots--;
		}
	}
	pacer->tick = to_tick;
	return taken;
}

/* Takes the stack, in the order in which directions were pushed. */
static struct pace_list
take_pushed(struct pacer *pacer)
{
	struct pace *pace = atomic_swap_seq(&pacer->pushed, NULL); /* [P37] */
	struct pace_list list = {.first = NULL};

	while (pace) {
		struct pace *next = pace->next;

		pace->next = list.first;
		list.first = pace;
		pace = next;
	}
	return list;
}

/* Sorts all directions of the list.  Returns how many were woken. */
static uint32_t
sort_all(struct pacer *pacer, struct pace_list *list)
{
	uint32_t before = pacer->in_slots, n = 0;
	struct pace *pace;

	for (; (pace = take_first(list)); n++)
		sort_in(pacer, pace);
	return n - (pacer->in_slots - before);
}

/* Returns the time of the first slot that is not empty; UINT64_MAX: all are
 * empty. */
static uint64_t
next_slot_ns(const struct pacer *pacer)
{
	for (uint64_t i = 1; pacer->in_slots > 0 && i <= PACER_SLOTS; i++)
		if (pacer->slots[(pacer->tick + i) % PACER_SLOTS].first)
			return (pacer->tick + i) * PACER_TICK_NS;
	return UINT64_MAX;
}

/* Looks again within a tick after directions were woken: most of them wait
 * again soon, and this look finds them without a call. */
uint64_t
pacer_look(struct pacer *pacer, uint64_t now_ns)
{
	struct pace_list list;
	uint64_t next_ns;
	uint32_t woken;

	(void)atomic_swap_seq(&pacer->next_look_ns, UINT64_MAX); /* [P37] */
	list = take_slots(pacer, now_ns / PACER_TICK_NS);
	woken = sort_all(pacer, &list);
	list = take_pushed(pacer);
	woken += sort_all(pacer, &list);
	next_ns = next_slot_ns(pacer);
	if (woken > 0 && next_ns > now_ns + PACER_TICK_NS)
		next_ns = now_ns + PACER_TICK_NS;
	(void)atomic_swap_seq(&pacer->next_look_ns, next_ns); /* [P37] */
	return next_ns;
}

void
pacer_wake_all(struct pacer *pacer)
{
	struct pace_list list = take_slots(pacer, pacer->tick + PACER_SLOTS);
	struct pace *pace;

	pacer->tick -= PACER_SLOTS;
	while ((pace = take_first(&list)))
		wake(pacer, pace);
	list = take_pushed(pacer);
	while ((pace = take_first(&list)))
		wake(pacer, pace);
}
