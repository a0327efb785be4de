/* SPDX-License-Identifier: MIT
 * Servers with a maxconn and the queue before them.
 */
#include <sched.h>
#include <string.h>

#include "base/mix.h"
#include "base/grace.h"
#include "model/ejection.h"
#include "model/server_operator.h"
#include "rig.h"

#define WAITERS 1000
#define LIMIT   10

/* A session that waits: woken counts the wakes it got. */
struct guest {
	struct waiter waiter;
	unsigned woken;
};

static void
guest_choice(const struct waiter *waiter, struct choice *choice)
{
	*choice = (struct choice){.key = waiter->key};
}

static void
guest_wake(struct waiter *waiter, uint32_t generation)
{
	struct guest *g = (struct guest *)waiter;

	assert_int_equal(generation, 7);
	(void)atomic_add_acq_rel(&g->woken, 1u);
}

static const struct waiter_ops guest_ops = {guest_choice, guest_wake};

static void
limit(struct rig *rig, unsigned maxconn)
{
	for (size_t i = 0; i < rig->spec->servers_n; i++)
		rig->spec->servers[i]->maxconn = maxconn;
	assert_int_equal(backend_rebuild(rig->backend), 0);
}

static enum wait_answer
wait_in(struct rig *rig, struct guest *g)
{
	*g =
	    (struct guest){.waiter = {.generation = 7, .since_us = WAITER_NEW}};
	return queue_wait(rig->backend, &g->waiter, &guest_ops);
}

/* What a session does when it ends. */
static void
end(struct server *s)
{
	backend_release(s);
}

static void
give_back(struct server *s)
{
	model_unpin(s->backend->model);
	end(s);
}

static void
every_algorithm_fills_all_servers_and_none_over_the_limit(void **state)
{
	static const struct balance_ops *const kinds[] = {&balance_roundrobin,
	    &balance_leastconn, &balance_random, &balance_source, &balance_hash,
	    &balance_first, &balance_ewma};
	static const unsigned weights[] = {200, 10, 1};
	struct rig rig;

	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		rig_init(&rig, kinds[k], 3, weights, false);
		limit(&rig, LIMIT);
		for (unsigned i = 0; i < 3 * LIMIT; i++)
			assert_non_null(rig_choose(&rig, mix64(i), mix64(~i)));
		assert_null(rig_choose(&rig, 1, 1));
		for (unsigned i = 0; i < 3; i++) {
			struct server *s = rig.backend->servers[i];

			assert_int_equal(s->sessions->now, LIMIT);
			assert_int_equal(s->sessions->peak, LIMIT);
		}
		rig_fini(&rig);
	}
}

static void
first_goes_on_when_one_is_full(void **state)
{
	struct rig rig;

	rig_init(&rig, &balance_first, 3, NULL, false);
	limit(&rig, 2);
	for (unsigned i = 0; i < 6; i++)
		assert_int_equal(rig_number(rig_choose(&rig, 0, 0)), i / 2);
	rig_fini(&rig);
}

/* Symptom: while sessions were handed over, those that waited got their places,
 * and the server had twice as many. */
static void
place_of_a_passed_session_is_not_given_away(void **state)
{
	struct guest guest;
	struct server *passed, *stays, *granted;
	struct rig rig;

	rig_init(&rig, &balance_leastconn, 1, NULL, false);
	limit(&rig, 2);
	passed = rig_choose(&rig, 0, 0);
	stays = rig_choose(&rig, 0, 1);
	assert_int_equal(wait_in(&rig, &guest), WAIT_QUEUED);
	assert_int_equal(backend_own_sessions(passed), 2);
	backend_pass(passed);
	assert_int_equal(backend_own_sessions(passed), 1);
	assert_int_equal(guest.woken, 0);
	assert_null(rig_choose(&rig, 0, 2));
	/* That of one that ends is. */
	end(stays);
	assert_int_equal(guest.woken, 1);
	granted = queue_granted(rig.backend, &guest.waiter);
	assert_non_null(granted);
	assert_int_equal(wait_in(&rig, &guest), WAIT_QUEUED);
	backend_release_passed(passed);
	assert_int_equal(guest.woken, 1);
	assert_int_equal(backend_own_sessions(passed), 2);
	give_back(queue_granted(rig.backend, &guest.waiter));
	give_back(granted);
	assert_int_equal(passed->sessions->now, 0);
	rig_fini(&rig);
}

/* Symptom: sessions that waited when another process took them over came there
 * in another order. */
static void
who_waited_in_another_process_goes_first_in_that_order(void **state)
{
	static const uint64_t since_us[] = {WAITER_NEW, 5, 3, WAITER_NEW, 4, 3};
	static const unsigned order[] = {2, 5, 4, 1, 0, 3};
	struct guest guests[6];
	struct server *s;
	struct rig rig;

	rig_init(&rig, &balance_roundrobin, 1, NULL, false);
	limit(&rig, 1);
	s = rig_choose(&rig, 0, 0);
	for (unsigned i = 0; i < 6; i++) {
		guests[i] = (struct guest){
		    .waiter = {.generation = 7, .since_us = since_us[i]}};
		assert_int_equal(
		    queue_wait(rig.backend, &guests[i].waiter, &guest_ops),
		    WAIT_QUEUED);
	}
	end(s);
	for (unsigned i = 0; i < 6; i++) {
		s = queue_granted(rig.backend, &guests[order[i]].waiter);
		assert_non_null(s);
		give_back(s);
	}
	rig_fini(&rig);
}

static void
first_come_first_served(void **state)
{
	static struct guest guests[WAITERS];
	struct server *busy[2 * LIMIT];
	struct rig rig;

	rig_init(&rig, &balance_leastconn, 2, NULL, false);
	limit(&rig, LIMIT);
	for (unsigned i = 0; i < 2 * LIMIT; i++)
		busy[i] = rig_choose(&rig, 0, i);
	for (unsigned i = 0; i < WAITERS; i++) {
		assert_int_equal(wait_in(&rig, &guests[i]), WAIT_QUEUED);
		assert_int_equal(guests[i].waiter.position, i + 1);
	}
	for (unsigned i = 0; i < WAITERS; i++) {
		struct server **slot = &busy[i * 7 % (2 * LIMIT)];

		assert_null(queue_granted(rig.backend, &guests[i].waiter));
		end(*slot);
		assert_int_equal(guests[i].woken, 1);
		*slot = queue_granted(rig.backend, &guests[i].waiter);
		assert_non_null(*slot);
		model_unpin((*slot)->backend->model);
		/* Nobody overtakes. */
		assert_null(rig_choose(&rig, 0, i));
	}
	assert_int_equal(rig.backend->state->queue.waiting.now, 0);
	assert_int_equal(rig.backend->state->queue.waiting.peak, WAITERS);
	for (unsigned i = 0; i < 2 * LIMIT; i++)
		end(busy[i]);
	assert_int_equal(rig.model->pins, 0);
	rig_fini(&rig);
}

static void
who_leaves_is_passed_over(void **state)
{
	struct guest guests[4];
	struct server *s;
	struct rig rig;

	rig_init(&rig, &balance_roundrobin, 1, NULL, false);
	limit(&rig, 1);
	s = rig_choose(&rig, 0, 0);
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(wait_in(&rig, &guests[i]), WAIT_QUEUED);
	assert_null(queue_leave(rig.backend, &guests[0].waiter));
	assert_null(queue_leave(rig.backend, &guests[2].waiter));
	end(s);
	assert_int_equal(guests[1].woken, 1);
	/* Granted, and ends all the same: the slot goes on. */
	give_back(queue_leave(rig.backend, &guests[1].waiter));
	assert_int_equal(guests[3].woken, 1);
	give_back(queue_leave(rig.backend, &guests[3].waiter));
	assert_int_equal(guests[0].woken + guests[2].woken, 0);
	assert_int_equal(rig.backend->servers[0]->sessions->now, 0);
	rig_fini(&rig);
}

/* Between the choice that found no room and the wait. */
static void
room_made_just_before_is_not_missed(void **state)
{
	struct server *s;
	struct guest g;
	struct rig rig;

	rig_init(&rig, &balance_roundrobin, 1, NULL, false);
	limit(&rig, 1);
	s = rig_choose(&rig, 0, 0);
	assert_null(rig_choose(&rig, 0, 0));
	end(s);
	assert_int_equal(wait_in(&rig, &g), WAIT_QUEUED);
	assert_int_equal(g.woken, 1);
	give_back(queue_leave(rig.backend, &g.waiter));
	rig_fini(&rig);
}

static void
the_queue_has_a_limit(void **state)
{
	struct guest guests[3];
	struct rig rig;

	rig_init(&rig, &balance_roundrobin, 1, NULL, false);
	limit(&rig, 1);
	rig.spec->maxqueue = 2;
	assert_non_null(rig_choose(&rig, 0, 0));
	assert_int_equal(wait_in(&rig, &guests[0]), WAIT_QUEUED);
	assert_int_equal(wait_in(&rig, &guests[1]), WAIT_QUEUED);
	assert_int_equal(wait_in(&rig, &guests[2]), WAIT_FULL);
	rig_set_up(&rig, 0, false);
	assert_int_equal(wait_in(&rig, &guests[2]), WAIT_FULL);
	/* A limit that was raised makes room as an ended session does. */
	rig.spec->servers[0]->maxconn = 2;
	rig_set_up(&rig, 0, true);
	assert_int_equal(guests[0].woken, 1);
	assert_int_equal(guests[1].woken, 0);
	limit(&rig, 0);
	assert_int_equal(guests[1].woken, 1);
	rig_fini(&rig);
}

/* And are served in the order in which they came, as far as there is room. */
static void
without_a_server_they_wait_for_one(void **state)
{
	struct guest guests[5];
	struct server *s;
	struct rig rig;

	rig_init(&rig, &balance_roundrobin, 2, NULL, false);
	limit(&rig, 2);
	rig_set_up(&rig, 0, false);
	rig_set_up(&rig, 1, false);
	assert_null(rig_choose(&rig, 0, 0));
	for (unsigned i = 0; i < 5; i++)
		assert_int_equal(wait_in(&rig, &guests[i]), WAIT_QUEUED);
	rig_set_up(&rig, 1, true);
	for (unsigned i = 0; i < 5; i++)
		assert_int_equal(guests[i].woken, i < 2);
	limit(&rig, 0);
	for (unsigned i = 0; i < 5; i++) {
		assert_int_equal(guests[i].woken, 1);
		s = queue_leave(rig.backend, &guests[i].waiter);
		assert_int_equal(rig_number(s), 1);
		give_back(s);
	}
	rig_fini(&rig);
}

static void
those_who_waited_are_shared_out_among_the_servers(void **state)
{
	static struct guest guests[WAITERS];
	unsigned of[2] = {0};
	struct rig rig;

	rig_init(&rig, &balance_roundrobin, 2, NULL, false);
	rig_set_up(&rig, 0, false);
	rig_set_up(&rig, 1, false);
	for (unsigned i = 0; i < WAITERS; i++)
		assert_int_equal(wait_in(&rig, &guests[i]), WAIT_QUEUED);
	rig.backend->servers[0]->state->up = true;
	rig_set_up(&rig, 1, true);
	for (unsigned i = 0; i < WAITERS; i++) {
		struct server *s =
		    queue_granted(rig.backend, &guests[i].waiter);

		assert_non_null(s);
		assert_ptr_equal(
		    queue_leave(rig.backend, &guests[i].waiter), s);
		of[rig_number(s)]++;
		give_back(s);
	}
	assert_int_equal(of[0], WAITERS / 2);
	assert_int_equal(of[1], WAITERS / 2);
	rig_fini(&rig);
}

static void
nobody_waits_where_nobody_may(void **state)
{
	struct guest g;
	struct rig rig;

	rig_init(&rig, &balance_roundrobin, 1, NULL, false);
	rig.spec->timeout_queue_ms = QUEUE_NEVER;
	limit(&rig, 1);
	assert_non_null(rig_choose(&rig, 0, 0));
	assert_int_equal(wait_in(&rig, &g), WAIT_FULL);
	rig_set_up(&rig, 0, false);
	assert_int_equal(wait_in(&rig, &g), WAIT_NO_SERVER);
	assert_int_equal(rig.backend->state->queue.waiting.now, 0);
	rig_fini(&rig);
}

static bool
pauses(struct rig *rig, struct guest *g, uint64_t lineup)
{
	*g = (struct guest){.waiter = {.generation = 7}};
	return queue_pause(rig->backend, &g->waiter, &guest_ops, lineup);
}

static uint64_t
present_number(const struct rig *rig)
{
	return rig->backend->state->lineup->number;
}

static void
one_that_pauses_is_called_when_a_server_joins_the_lineup(void **state)
{
	struct addr addr = {.len = sizeof(struct sockaddr_in),
	    .in = {.sin_family = AF_INET, .sin_port = 1}};
	struct guest g;
	struct rig rig;

	rig_init(&rig, &balance_roundrobin, 3, NULL, false);
	rig_set_up(&rig, 2, false);
	assert_true(pauses(&rig, &g, present_number(&rig)));
	/* Not when one leaves, or only weights change. */
	rig_set_up(&rig, 1, false);
	rig.spec->servers[0]->weight = 2;
	assert_int_equal(backend_rebuild(rig.backend), 0);
	assert_int_equal(g.woken, 0);
	assert_false(queue_is_called(rig.backend, &g.waiter));
	rig_set_up(&rig, 2, true);
	assert_int_equal(g.woken, 1);
	assert_true(queue_is_called(rig.backend, &g.waiter));
	/* Once. */
	rig_set_up(&rig, 1, true);
	assert_int_equal(g.woken, 1);
	queue_end_pause(rig.backend, &g.waiter);
	assert_false(queue_is_called(rig.backend, &g.waiter));

	/* One that is at another address counts as one that joins. */
	assert_true(pauses(&rig, &g, present_number(&rig)));
	assert_true(operator_set_addr(rig.backend->servers[0], &addr));
	model_update(rig.model);
	assert_int_equal(g.woken, 1);
	queue_end_pause(rig.backend, &g.waiter);

	/* One whose pause has ended is not meant. */
	assert_true(pauses(&rig, &g, present_number(&rig)));
	queue_end_pause(rig.backend, &g.waiter);
	rig_set_up(&rig, 1, false);
	rig_set_up(&rig, 1, true);
	assert_int_equal(g.woken, 0);
	assert_int_equal(rig.backend->state->queue.waiting.peak, 0);
	rig_fini(&rig);
}

/* Between the choice and the pause. */
static void
a_server_that_joins_just_before_a_pause_is_not_missed(void **state)
{
	uint64_t number;
	struct guest g;
	struct rig rig;

	rig_init(&rig, &balance_roundrobin, 2, NULL, false);
	rig_set_up(&rig, 1, false);
	number = present_number(&rig);
	rig_set_up(&rig, 1, true);
	assert_false(pauses(&rig, &g, number));
	number = present_number(&rig);
	rig_set_up(&rig, 1, false);
	assert_true(pauses(&rig, &g, number));
	queue_end_pause(rig.backend, &g.waiter);
	rig_fini(&rig);
}

static void
many_that_pause_are_called_in_few_steps_each(void **state)
{
	static struct guest guests[WAITERS];
	unsigned called = 0, before, most = 0;
	struct rig rig;

	rig_init(&rig, &balance_roundrobin, 2, NULL, false);
	rig_set_up(&rig, 1, false);
	for (unsigned i = 0; i < WAITERS; i++)
		assert_true(pauses(&rig, &guests[i], present_number(&rig)));
	rig_set_up(&rig, 1, true);
	for (unsigned i = 0; i < WAITERS; i++)
		called += guests[i].woken;
	/* The control thread's part. */
	assert_in_range(called, 1, 64);
	for (unsigned i = 0; i < WAITERS; i++) {
		before = called;
		assert_int_equal(guests[i].woken, 1);
		queue_end_pause(rig.backend, &guests[i].waiter);
		called = 0;
		for (unsigned j = 0; j < WAITERS; j++)
			called += guests[j].woken;
		if (called - before > most)
			most = called - before;
	}
	assert_int_equal(called, WAITERS);
	assert_in_range(most, 1, 4);
	rig_fini(&rig);
}

static void
many_that_wait_are_served_in_few_steps_each(void **state)
{
	static struct guest guests[WAITERS];
	unsigned woken = 0;
	struct rig rig;

	rig_init(&rig, &balance_roundrobin, 1, NULL, false);
	rig_set_up(&rig, 0, false);
	for (unsigned i = 0; i < WAITERS; i++)
		assert_int_equal(wait_in(&rig, &guests[i]), WAIT_QUEUED);
	rig_set_up(&rig, 0, true);
	for (unsigned i = 0; i < WAITERS; i++)
		woken += guests[i].woken;
	assert_in_range(woken, 1, 64);
	/* Also when one that was granted a server ends instead. */
	for (unsigned i = 0; i < WAITERS; i++) {
		assert_int_equal(guests[i].woken, 1);
		give_back(queue_leave(rig.backend, &guests[i].waiter));
	}
	assert_int_equal(rig.backend->state->queue.waiting.now, 0);
	rig_fini(&rig);
}

static void
only_a_server_that_came_since_is_forgiven(void **state)
{
	struct server *b;
	uint32_t all[3], tried[3];
	struct passive *passive;
	uint64_t seen;
	struct rig rig;

	rig_init(&rig, &balance_roundrobin, 3, NULL, false);
	b = rig.backend->servers[1];
	for (unsigned i = 0; i < 3; i++)
		all[i] = rig.backend->servers[i]->serial;
	seen = present_number(&rig);
	memcpy(tried, all, sizeof(tried));
	assert_int_equal(
	    lineup_forgive(backend_lineup(rig.backend), seen, tried, 3, 0), 3);
	rig_set_up(&rig, 1, false);
	rig_set_up(&rig, 1, true);
	/* The first one is not to be forgiven, whatever came since. */
	assert_int_equal(
	    lineup_forgive(backend_lineup(rig.backend), seen, tried, 3, 2), 3);
	assert_int_equal(
	    lineup_forgive(backend_lineup(rig.backend), seen, tried, 3, 1), 2);
	assert_int_equal(tried[0], all[0]);
	assert_int_equal(tried[1], all[2]);
	/* The end of an ejection by time alone does not say that it is well. */
	seen = present_number(&rig);
	rig.spec->eject_after = 1;
	passive = &b->state->passive;
	passive->ejected = true;
	passive->until_ms = 1;
	assert_int_equal(backend_rebuild(rig.backend), 0);
	assert_int_equal(rig.backend->state->lineup->servers_n, 2);
	(void)backend_readmit(rig.backend, 2);
	model_update(rig.model);
	assert_int_equal(rig.backend->state->lineup->servers_n, 3);
	memcpy(tried, all, sizeof(tried));
	assert_int_equal(
	    lineup_forgive(backend_lineup(rig.backend), seen, tried, 3, 0), 3);
	rig_fini(&rig);
}

struct worker {
	pthread_t thread;
	struct rig *rig;
	unsigned number, turns, served, left;
};

/* Sessions one after the other, some of which leave the queue: whoever stays is
 * served in the end, or this never ends. */
static void *
work(void *arg)
{
	struct worker *w = arg;
	struct guest g;

	for (unsigned i = 0; i < w->turns; i++) {
		uint64_t random = mix64(w->number * 1000000ull + i);
		struct server *s = rig_choose(w->rig, random, random);
		bool pinned = false;

		if (!s) {
			assert_int_equal(wait_in(w->rig, &g), WAIT_QUEUED);
			while (random % 4 != 0 &&
			       !queue_granted(w->rig->backend, &g.waiter))
				sched_yield();
			s = queue_leave(w->rig->backend, &g.waiter);
			pinned = s;
			/* Memory of waiters lasts: so does this one. */
			while (s && atomic_load_seq(&g.woken) == 0)
				sched_yield();
		}
		if (!s) {
			w->left++;
			continue;
		}
		assert_true(atomic_load_relaxed(&s->sessions->now) <= 1);
		w->served++;
		if (random % 8 == 0)
			sched_yield();
		if (pinned)
			give_back(s);
		else
			end(s);
	}
	return NULL;
}

static void
threads_lose_no_wake_up(void **state)
{
	struct worker workers[8];
	unsigned turns = 4000, served = 0, left = 0;
	struct rig rig;

	rig_init(&rig, &balance_leastconn, 2, NULL, false);
	limit(&rig, 1);
	for (unsigned i = 0; i < 8; i++) {
		workers[i] =
		    (struct worker){.rig = &rig, .number = i, .turns = turns};
		assert_int_equal(
		    pthread_create(&workers[i].thread, NULL, work, &workers[i]),
		    0);
	}
	for (unsigned i = 0; i < 8; i++) {
		pthread_join(workers[i].thread, NULL);
		served += workers[i].served;
		left += workers[i].left;
	}
	assert_int_equal(served + left, 8 * turns);
	assert_true(served > 0);
	assert_true(rig.backend->state->queue.waiting.peak > 1);
	assert_int_equal(rig.backend->state->queue.waiting.now, 0);
	assert_int_equal(rig.model->pins, 0);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(rig.backend->servers[i]->sessions->now, 0);
		assert_int_equal(rig.backend->servers[i]->sessions->peak, 1);
	}
	rig_fini(&rig);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(
	        every_algorithm_fills_all_servers_and_none_over_the_limit),
	    cmocka_unit_test(first_goes_on_when_one_is_full),
	    cmocka_unit_test(place_of_a_passed_session_is_not_given_away),
	    cmocka_unit_test(
	        who_waited_in_another_process_goes_first_in_that_order),
	    cmocka_unit_test(first_come_first_served),
	    cmocka_unit_test(who_leaves_is_passed_over),
	    cmocka_unit_test(room_made_just_before_is_not_missed),
	    cmocka_unit_test(the_queue_has_a_limit),
	    cmocka_unit_test(without_a_server_they_wait_for_one),
	    cmocka_unit_test(those_who_waited_are_shared_out_among_the_servers),
	    cmocka_unit_test(nobody_waits_where_nobody_may),
	    cmocka_unit_test(threads_lose_no_wake_up),
	    cmocka_unit_test(
	        one_that_pauses_is_called_when_a_server_joins_the_lineup),
	    cmocka_unit_test(
	        a_server_that_joins_just_before_a_pause_is_not_missed),
	    cmocka_unit_test(many_that_pause_are_called_in_few_steps_each),
	    cmocka_unit_test(many_that_wait_are_served_in_few_steps_each),
	    cmocka_unit_test(only_a_server_that_came_since_is_forgiven),
	};

	unit_watchdog();
	counters_set_stripes(1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
