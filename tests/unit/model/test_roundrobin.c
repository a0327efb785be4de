/* SPDX-License-Identifier: MIT
 * Round robin with dead servers, which checks have not found yet or failures
 * eject: what the other servers get.
 */
#include <math.h>

#include "base/mix.h"
#include "rig.h"

#define SERVERS_MAX 12
#define SESSIONS    3000

static uint64_t seed;

static uint32_t
draw(uint32_t n)
{
	seed = mix64(seed);
	return (uint32_t)(seed % n);
}

/* A backend whose first dead_n servers refuse every connection. */
struct life {
	struct rig rig;
	unsigned servers_n, dead_n, weights[SERVERS_MAX];
	unsigned eject_after; /* failures; 0: dead servers are never ejected */
	unsigned out_for;     /* sessions until an ejected server is back */
	unsigned failures[SERVERS_MAX], back_at[SERVERS_MAX];
	double had[SERVERS_MAX], due[SERVERS_MAX];
	double most_off;
};

static void
note_failure(struct life *l, unsigned server, unsigned now)
{
	if (l->eject_after == 0 || l->back_at[server] > 0 ||
	    ++l->failures[server] < l->eject_after)
		return;
	l->failures[server] = 0;
	l->back_at[server] = now + l->out_for;
	rig_set_up(&l->rig, server, false);
}

/* Sends a session from server to server, until a living one takes it. */
static void
serve(struct life *l, unsigned now)
{
	uint32_t tried[SERVERS_MAX];
	struct choice choice = {.tried = tried, .random = mix64(now)};

	for (;;) {
		struct server *s = rig_pick(l->rig.backend, &choice);
		unsigned number = rig_number(s);

		backend_release(s);
		if (number >= l->dead_n) {
			l->had[number]++;
			return;
		}
		tried[choice.tried_n++] = s->serial;
		note_failure(l, number, now);
	}
}

static void
note_shares(struct life *l)
{
	unsigned weight = 0;

	for (unsigned i = l->dead_n; i < l->servers_n; i++)
		weight += l->weights[i];
	for (unsigned i = l->dead_n; i < l->servers_n; i++) {
		l->due[i] += (double)l->weights[i] / weight;
		l->most_off = fmax(l->most_off, fabs(l->due[i] - l->had[i]));
	}
}

static void
bring_back(struct life *l, unsigned now)
{
	for (unsigned i = 0; i < l->dead_n; i++)
		if (l->back_at[i] > 0 && l->back_at[i] <= now) {
			l->back_at[i] = 0;
			rig_set_up(&l->rig, i, true);
		}
}

/* Returns how many sessions a living server was off its share at most. */
static double
most_off(struct life *l)
{
	bool reversed = draw(2);

	rig_init(
	    &l->rig, &balance_roundrobin, l->servers_n, l->weights, reversed);
	for (unsigned now = 1; now <= SESSIONS; now++) {
		bring_back(l, now);
		serve(l, now);
		note_shares(l);
	}
	rig_fini(&l->rig);
	return l->most_off;
}

static double
most_off_of_many(unsigned weight_max, bool eject)
{
	double most = 0;

	seed = 1;
	for (unsigned round = 0; round < UNIT_TIMES(300); round++) {
		struct life l = {.servers_n = 3 + draw(8)};

		l.dead_n = 1 + draw(l.servers_n - 2);
		l.eject_after = eject ? 1 + draw(3) : 0;
		l.out_for = 1 + draw(60);
		for (unsigned i = 0; i < l.servers_n; i++)
			l.weights[i] = 1 + draw(weight_max);
		most = fmax(most, most_off(&l));
	}
	print_message("weights to %u, %s: %.2f off\n", weight_max,
	    eject ? "ejected" : "not ejected", most);
	return most;
}

static void
retries_leave_the_living_their_shares(void **state)
{
	(void)state;
	/* The cycle alone is as exact: test_cycle. */
	assert_true(most_off_of_many(1, true) < 1.25);
	assert_true(most_off_of_many(1, false) < 1.25);
	assert_true(most_off_of_many(10, true) < 2);
	assert_true(most_off_of_many(10, false) < 2);
	assert_true(most_off_of_many(256, true) < 2.25);
	assert_true(most_off_of_many(256, false) < 2.25);
}

/* Symptom: the retry was charged to no server, and the next turn was that of
 * the server that had got it: 16 to 14. */
static void
the_first_of_three_is_dead_and_the_others_get_as_many(void **state)
{
	struct life l = {.servers_n = 3,
	    .dead_n = 1,
	    .weights = {1, 1, 1},
	    .eject_after = 1,
	    .out_for = SESSIONS};

	(void)state;
	rig_init(&l.rig, &balance_roundrobin, 3, l.weights, false);
	for (unsigned now = 1; now <= 30; now++)
		serve(&l, now);
	assert_int_equal(l.had[1], 15);
	assert_int_equal(l.had[2], 15);
	rig_fini(&l.rig);
}

#define WORKERS 4

struct worker {
	pthread_t thread;
	struct life *life;
	unsigned had[3];
};

static void *
work(void *arg)
{
	struct worker *w = arg;
	struct server *dead = w->life->rig.backend->servers[0];

	for (unsigned i = 0; i < SESSIONS; i++) {
		struct choice choice = {.tried = &dead->serial};
		struct server *s = rig_pick(w->life->rig.backend, &choice);

		backend_release(s);
		if (s == dead) {
			choice.tried_n = 1;
			s = rig_pick(w->life->rig.backend, &choice);
			backend_release(s);
		}
		w->had[rig_number(s)]++;
	}
	return NULL;
}

/* Threads that retry at the same moment may all choose the same server; the
 * next retries make up for it. */
static void
threads_share_out_their_retries_as_one_does(void **state)
{
	struct life l = {.servers_n = 3, .weights = {4, 1, 3}};
	struct worker workers[WORKERS];
	unsigned had[3] = {0};

	(void)state;
	rig_init(&l.rig, &balance_roundrobin, 3, l.weights, false);
	for (unsigned i = 0; i < WORKERS; i++) {
		workers[i] = (struct worker){.life = &l};
		assert_int_equal(
		    pthread_create(&workers[i].thread, NULL, work, &workers[i]),
		    0);
	}
	for (unsigned i = 0; i < WORKERS; i++) {
		pthread_join(workers[i].thread, NULL);
		for (unsigned j = 0; j < 3; j++)
			had[j] += workers[i].had[j];
	}
	assert_int_equal(had[0], 0);
	assert_in_range(had[1], WORKERS * SESSIONS / 4 - WORKERS,
	    WORKERS * SESSIONS / 4 + WORKERS);
	rig_fini(&l.rig);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(
	        the_first_of_three_is_dead_and_the_others_get_as_many),
	    cmocka_unit_test(retries_leave_the_living_their_shares),
	    cmocka_unit_test(threads_share_out_their_retries_as_one_does),
	};

	unit_watchdog();
	counters_set_stripes(1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
