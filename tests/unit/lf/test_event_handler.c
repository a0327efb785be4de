/* SPDX-License-Identifier: MIT
 * Event handlers: their slots for ever, and the loop around their turns.
 */
#include "lf/event_handler.h"

#include "lf/pool.h"
#include "unit.h"

#define MANY 10000 /* more than one part of the registry holds */

/* A handler whose turn follows a script. */
struct scripted_handler {
	struct event_handler handler; /* first */
	enum turn answer;
	int note_itself; /* turns in which it leaves itself a note */
	int declares;    /* turns in which it declares the next one long */
	int turns;
	uint32_t pending[16];
	struct pool_thread *self;
};

static enum turn
follow_script(
    struct event_handler *handler, uint32_t pending, struct pool_thread *self)
{
	struct scripted_handler *h = (struct scripted_handler *)(void *)handler;

	h->self = self;
	h->pending[h->turns++ % (int)UNIT_N(h->pending)] = pending;
	if (h->note_itself > 0) {
		h->note_itself--;
		event_handler_note(handler, NOTE_RESUME);
	}
	if (h->declares > 0) {
		h->declares--;
		event_handler_declare_long(handler);
	}
	if (h->answer == TURN_RETIRED)
		claim_retire(&handler->claim);
	return h->answer;
}

static const struct event_handler_ops ops = {.turn = follow_script};

/* Slots are for ever, and so is the memory of handlers. */
static struct scripted_handler handlers[16];
static struct event_handler many[MANY], raced[4][500];
static unsigned used;

static struct scripted_handler *
owned_handler(enum turn answer)
{
	struct scripted_handler *h = &handlers[used++];

	assert_true(event_handler_init(&h->handler, &ops, HANDLE_CLIENT));
	h->answer = answer;
	claim_open(&h->handler.claim);
	return h;
}

static void
init_gives_a_slot_that_leads_back(void **state)
{
	(void)state;
	for (int i = 0; i < MANY; i++) {
		assert_true(event_handler_init(
		    &many[i], &ops, i % 2 ? HANDLE_LISTENER : HANDLE_CLIENT));
		assert_int_equal(claim_generation(&many[i].claim), 1);
		assert_false(claim_owned(&many[i].claim));
	}
	for (int i = 0; i < MANY; i++) {
		assert_ptr_equal(event_handler_at(many[i].slot), &many[i]);
		assert_int_equal(many[i].first_side,
		    i % 2 ? HANDLE_LISTENER : HANDLE_CLIENT);
	}
}

static void *
init_a_row(void *arg)
{
	uint32_t *ticket = arg, row = unit_ticket(ticket);

	for (size_t i = 0; i < UNIT_N(raced[row]); i++)
		event_handler_init(&raced[row][i], &ops, HANDLE_CLIENT);
	return NULL;
}

static void
threads_get_slots_of_their_own(void **state)
{
	struct unit_threads threads;
	uint32_t ticket = 0;

	(void)state;
	unit_threads_start(&threads, UNIT_N(raced), init_a_row, &ticket);
	unit_threads_join(&threads);
	for (size_t row = 0; row < UNIT_N(raced); row++)
		for (size_t i = 0; i < UNIT_N(raced[row]); i++)
			assert_ptr_equal(event_handler_at(raced[row][i].slot),
			    &raced[row][i]);
}

static void
its_handle_names_slot_generation_and_side(void **state)
{
	struct scripted_handler *h = owned_handler(TURN_DONE);
	handle_t first = event_handler_handle(&h->handler, HANDLE_SERVER);
	handle_t second;

	(void)state;
	assert_int_equal(handle_slot(first), h->handler.slot);
	assert_int_equal(handle_side(first), HANDLE_SERVER);
	assert_int_equal(handle_generation(first), 1);
	claim_renew(&h->handler.claim, 0);
	second = event_handler_handle(&h->handler, HANDLE_CLIENT);
	assert_int_equal(handle_generation(second), 2);
	assert_int_equal(handle_side(second), HANDLE_CLIENT);
}

static void
run_hands_over_what_is_pending_and_drops_the_claim(void **state)
{
	struct scripted_handler *h = owned_handler(TURN_DONE);
	struct pool_thread self;

	(void)state;
	claim_post(&h->handler.claim, 1, HANDLE_READABLE);
	claim_post(&h->handler.claim, 1, NOTE_TIMEOUT);
	assert_int_equal(event_handler_run(&h->handler, &self), TURN_DONE);
	assert_int_equal(h->turns, 1);
	assert_int_equal(h->pending[0], HANDLE_READABLE | NOTE_TIMEOUT);
	assert_ptr_equal(h->self, &self);
	assert_int_equal(h->handler.claim.word, claim_word(1, 0, false));
}

static void
run_goes_on_with_what_came_during_the_turn(void **state)
{
	struct scripted_handler *h = owned_handler(TURN_DONE);

	(void)state;
	h->note_itself = 2;
	claim_post(&h->handler.claim, 1, HANDLE_WRITABLE);
	assert_int_equal(event_handler_run(&h->handler, NULL), TURN_DONE);
	assert_int_equal(h->turns, 3);
	assert_int_equal(h->pending[0], HANDLE_WRITABLE);
	assert_int_equal(h->pending[1], NOTE_RESUME);
	assert_int_equal(h->pending[2], NOTE_RESUME);
	assert_false(claim_owned(&h->handler.claim));
}

static void
run_ends_after_a_few_rounds_and_keeps_the_claim(void **state)
{
	struct scripted_handler *h = owned_handler(TURN_DONE);
	int rounds;

	(void)state;
	h->note_itself = 1000;
	assert_int_equal(event_handler_run(&h->handler, NULL), TURN_MORE);
	rounds = h->turns;
	assert_in_range(rounds, 1, 16);
	assert_true(claim_owned(&h->handler.claim));
	/* What came in the last round is not lost. */
	h->note_itself = 0;
	assert_int_equal(event_handler_run(&h->handler, NULL), TURN_DONE);
	assert_int_equal(h->turns, rounds + 1);
	assert_int_equal(h->pending[rounds % 16], NOTE_RESUME);
}

static void
more_keeps_the_claim_and_leaves_the_bits(void **state)
{
	struct scripted_handler *h = owned_handler(TURN_MORE);

	(void)state;
	h->note_itself = 1;
	assert_int_equal(event_handler_run(&h->handler, NULL), TURN_MORE);
	assert_int_equal(h->turns, 1);
	assert_int_equal(
	    h->handler.claim.word, claim_word(1, NOTE_RESUME, true));
}

static void
retired_is_not_touched_again(void **state)
{
	struct scripted_handler *h = owned_handler(TURN_RETIRED);

	(void)state;
	h->note_itself = 1;
	assert_int_equal(event_handler_run(&h->handler, NULL), TURN_RETIRED);
	assert_int_equal(h->turns, 1);
	assert_int_equal(h->handler.claim.word, claim_word(2, 0, false));
}

/* The bits that came during the turn are left for the declared one. */
static void
a_turn_that_is_declared_long_needs_admission(void **state)
{
	struct scripted_handler *h = owned_handler(TURN_DONE);

	(void)state;
	h->note_itself = h->declares = 1;
	assert_int_equal(event_handler_run(&h->handler, NULL), TURN_MORE);
	assert_int_equal(h->turns, 1);
	assert_int_equal(event_handler_run(&h->handler, NULL), TURN_MORE);
	assert_int_equal(h->turns, 1);
	h->handler.next_turn = NEXT_ADMITTED;
	assert_int_equal(event_handler_run(&h->handler, NULL), TURN_DONE);
	assert_int_equal(h->turns, 2);
	assert_int_equal(h->pending[1], NOTE_RESUME);
	assert_int_equal(h->handler.next_turn, NEXT_SHORT);
	/* Declared without bits: the claim is dropped. */
	h->declares = 1;
	claim_post(&h->handler.claim, 1, HANDLE_WRITABLE);
	assert_int_equal(event_handler_run(&h->handler, NULL), TURN_DONE);
	assert_int_equal(h->handler.next_turn, NEXT_LONG);
	assert_false(claim_owned(&h->handler.claim));
}

static void
a_mailbox_gives_all_oldest_first_and_is_empty_then(void **state)
{
	struct event_handler a = {.slot = 1}, b = {.slot = 2}, c = {.slot = 3};
	struct event_handler *mailbox = NULL, *newest = NULL, *h;

	(void)state;
	assert_null(event_handler_take_all(&mailbox, &newest));
	assert_null(newest);
	event_handler_push(&mailbox, &a);
	event_handler_push(&mailbox, &b);
	event_handler_push(&mailbox, &c);
	h = event_handler_take_all(&mailbox, &newest);
	assert_ptr_equal(h, &a);
	assert_ptr_equal(h->next, &b);
	assert_ptr_equal(h->next->next, &c);
	assert_null(h->next->next->next);
	assert_ptr_equal(newest, &c);
	assert_null(mailbox);
	event_handler_push(&mailbox, &b);
	assert_ptr_equal(event_handler_take_all(&mailbox, &newest), &b);
	assert_null(b.next);
}

#define POSTED 20000

struct post {
	struct event_handler *mailbox;
	struct event_handler handlers[4][POSTED];
	uint32_t ticket, ended;
};

static void *
push_all(void *arg)
{
	struct post *p = arg;
	uint32_t n = unit_ticket(&p->ticket);

	for (uint32_t i = 0; i < POSTED; i++) {
		p->handlers[n][i].slot = n * POSTED + i;
		event_handler_push(&p->mailbox, &p->handlers[n][i]);
	}
	atomic_add_acq_rel(&p->ended, 1u);
	return NULL;
}

static void
a_mailbox_loses_nothing_and_keeps_each_senders_order(void **state)
{
	static struct post p;
	uint32_t next[4] = {0}, total = 0;
	struct unit_threads threads;

	(void)state;
	unit_threads_start(&threads, 4, push_all, &p);
	while (total < 4 * POSTED) {
		bool last = atomic_load_acquire(&p.ended) == 4;
		struct event_handler *newest;
		struct event_handler *h =
		    event_handler_take_all(&p.mailbox, &newest);

		assert_false(last && !h);
		for (; h; h = h->next, total++)
			assert_int_equal(
			    h->slot % POSTED, next[h->slot / POSTED]++);
	}
	unit_threads_join(&threads);
	assert_null(p.mailbox);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(init_gives_a_slot_that_leads_back),
	    cmocka_unit_test(threads_get_slots_of_their_own),
	    cmocka_unit_test(its_handle_names_slot_generation_and_side),
	    cmocka_unit_test(
	        run_hands_over_what_is_pending_and_drops_the_claim),
	    cmocka_unit_test(run_goes_on_with_what_came_during_the_turn),
	    cmocka_unit_test(run_ends_after_a_few_rounds_and_keeps_the_claim),
	    cmocka_unit_test(more_keeps_the_claim_and_leaves_the_bits),
	    cmocka_unit_test(retired_is_not_touched_again),
	    cmocka_unit_test(a_turn_that_is_declared_long_needs_admission),
	    cmocka_unit_test(
	        a_mailbox_gives_all_oldest_first_and_is_empty_then),
	    cmocka_unit_test(
	        a_mailbox_loses_nothing_and_keeps_each_senders_order),
	};

	unit_watchdog();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
