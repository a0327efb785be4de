/* SPDX-License-Identifier: MIT
 * When sessions move between shards, and which.
 */
#include "pools/shift.h"

#include <string.h>

#include "unit.h"

#define SHARDS     4
#define SHARDS_MAX (2 * SHIFT_PAIRS_MAX + 4)
#define SESSIONS   4000
#define LOOK_NS    (SHIFT_LOOK_MS * 1000000ull)

/* A pool that does as it is told.  A session asks for a share of a thread's
 * time, in millionths; a shard whose sessions ask for more than one thread
 * serves them all the slower. */
struct model {
	struct shift shift;
	struct shift_load loads[SHARDS_MAX];
	struct shift_move move;
	unsigned shards, sessions;
	uint64_t total_ns[SHARDS_MAX];
	unsigned at[SESSIONS];
	uint64_t wants[SESSIONS];
	uint64_t busy_ns[SESSIONS], marks[SESSIONS];
	unsigned looks, marked, moves, moved;
	bool steady; /* all loads are what they were when they were read */
	size_t most; /* sessions moved at once */
};

static struct model m;

static void
start_model(unsigned shards)
{
	memset(&m, 0, sizeof(m));
	m.shards = shards;
}

static unsigned
add_session(unsigned shard, uint64_t wants)
{
	m.at[m.sessions] = shard;
	m.wants[m.sessions] = wants;
	return m.sessions++;
}

static void
add_sessions(unsigned n, unsigned shard, uint64_t wants)
{
	while (n-- > 0)
		(void)add_session(shard, wants);
}

static uint64_t
asked_of(unsigned shard)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < m.sessions; i++)
		sum += m.at[i] == shard ? m.wants[i] : 0;
	return sum;
}

static void
work(uint64_t ns)
{
	uint64_t asked[SHARDS_MAX];

	for (unsigned i = 0; i < m.shards; i++)
		asked[i] = asked_of(i);
	for (unsigned i = 0; i < m.sessions; i++) {
		uint64_t all = asked[m.at[i]];
		uint64_t got_ns =
		    ns / 1000 * m.wants[i] / (all > 1000000 ? all : 1000000);

		m.busy_ns[i] += got_ns * 1000;
		m.total_ns[m.at[i]] += got_ns * 1000;
	}
}

/* A session may have waited for a saturated shard, and has more load where it
 * is now. */
static void
check_difference(uint64_t from_before, uint64_t to_before)
{
	uint64_t from = asked_of(m.move.from), to = asked_of(m.move.to);
	uint64_t gap = from > to ? from - to : to - from;

	if (!m.steady || from_before > 1000000)
		return;
	assert_true(gap <= from_before - to_before);
	assert_true(m.move.n == 0 || gap < from_before - to_before);
}

static void
move_as_told(void)
{
	uint64_t from = asked_of(m.move.from), to = asked_of(m.move.to);

	for (unsigned i = 0; i < m.sessions; i++)
		if (m.at[i] == m.move.from)
			shift_offer(
			    &m.move, &(struct shift_session){.index = i,
			                 .load_ns = m.busy_ns[i] - m.marks[i]});
	shift_choose(&m.shift, m.loads, &m.move);
	for (size_t i = 0; i < m.move.n; i++) {
		assert_int_equal(m.at[m.move.sessions[i].index], m.move.from);
		m.at[m.move.sessions[i].index] = m.move.to;
	}
	check_difference(from, to);
	m.moves++;
	m.moved += (unsigned)m.move.n;
	if (m.move.n > m.most)
		m.most = m.move.n;
}

/* A shard takes part in one move that has sessions. */
static void
move_all_pairs(void)
{
	bool taken[SHARDS_MAX] = {false};

	do {
		move_as_told();
		if (m.move.n == 0)
			continue;
		assert_false(taken[m.move.from] || taken[m.move.to]);
		taken[m.move.from] = taken[m.move.to] = true;
	} while (shift_next(&m.shift, m.loads, m.shards, &m.move));
}

static enum shift_step
look(void)
{
	enum shift_step step;

	work(LOOK_NS);
	for (unsigned i = 0; i < m.shards; i++)
		shift_sample(&m.loads[i], m.total_ns[i]);
	step = shift_look(&m.shift, m.loads, m.shards, LOOK_NS, &m.move);
	m.looks++;
	if (step == SHIFT_MARK) {
		memcpy(m.marks, m.busy_ns, sizeof(m.marks));
		m.marked++;
	}
	if (step == SHIFT_MOVE)
		move_all_pairs();
	return step;
}

static void
looks(unsigned n)
{
	while (n-- > 0)
		(void)look();
}

static void
an_idle_pool_is_left_alone(void **state)
{
	(void)state;
	start_model(2);
	add_sessions(100, 0, 0);
	looks(1000);
	assert_int_equal(m.marked + m.moves, 0);
}

static void
a_pool_of_one_shard_is_left_alone(void **state)
{
	(void)state;
	start_model(1);
	add_sessions(10, 0, 100000);
	looks(100);
	assert_int_equal(m.marked + m.moves, 0);
}

static void
a_shard_below_half_of_a_thread_keeps_its_sessions(void **state)
{
	(void)state;
	start_model(2);
	add_sessions(49, 0, 10000);
	looks(100);
	assert_int_equal(m.marked, 0);
	(void)add_session(0, 20000);
	looks(3);
	assert_int_equal(m.moves, 1);
}

static void
less_than_twice_the_load_moves_no_session(void **state)
{
	(void)state;
	start_model(2);
	add_sessions(90, 0, 10000);
	add_sessions(46, 1, 10000);
	looks(100);
	assert_int_equal(m.marked, 0);
	m.sessions--;
	looks(3);
	assert_int_equal(m.moves, 1);
}

static void
the_third_look_in_a_row_moves_half_the_difference(void **state)
{
	(void)state;
	start_model(2);
	add_sessions(80, 0, 10000);
	add_sessions(20, 1, 10000);
	assert_int_equal(look(), SHIFT_MARK);
	assert_int_equal(look(), SHIFT_NONE);
	assert_int_equal(look(), SHIFT_MOVE);
	assert_int_equal(m.move.from, 0);
	assert_int_equal(m.move.to, 1);
	assert_int_equal(m.moved, 30);
	looks(1000);
	assert_int_equal(m.moves, 1);
}

static void
a_look_without_overload_begins_the_count_anew(void **state)
{
	(void)state;
	start_model(2);
	add_sessions(80, 0, 10000);
	for (unsigned i = 0; i < 20; i++) {
		looks(2);
		memset(m.wants, 0, sizeof(m.wants));
		looks(1);
		for (unsigned j = 0; j < m.sessions; j++)
			m.wants[j] = 10000;
	}
	assert_int_equal(m.marked, 20);
	assert_int_equal(m.moves, 0);
}

static void
the_busiest_sessions_move_so_that_few_have_to(void **state)
{
	(void)state;
	start_model(2);
	add_sessions(400, 0, 1000);
	add_sessions(4, 0, 100000);
	looks(3);
	assert_int_equal(m.moves, 1);
	assert_int_equal(m.moved, 4);
	assert_int_equal(asked_of(1), 400000);
}

static void
a_saturated_shard_gives_half_of_its_load(void **state)
{
	(void)state;
	start_model(2);
	add_sessions(8, 0, 300000);
	looks(3);
	assert_int_equal(m.moved, 4);
	looks(1000);
	assert_int_equal(m.moves, 1);
}

static void
a_session_that_is_the_whole_load_stays(void **state)
{
	unsigned attempts;

	(void)state;
	start_model(2);
	(void)add_session(0, 900000);
	add_sessions(100, 0, 0);
	add_sessions(100, 1, 0);
	looks(1000);
	assert_int_equal(m.moved, 0);
	/* The sessions are read again and again, but ever more rarely. */
	attempts = m.moves;
	assert_in_range(attempts, 5, 1000 / SHIFT_PAUSE_MAX + 6);
	/* The next attempt moves a session as soon as there are others. */
	add_sessions(5, 0, 20000);
	looks(SHIFT_PAUSE_MAX + SHIFT_STREAK);
	assert_int_equal(m.moved, 5);
	assert_int_equal(m.at[0], 0);
}

static void
of_two_equal_sessions_one_moves(void **state)
{
	(void)state;
	start_model(2);
	(void)add_session(0, 410000);
	(void)add_session(0, 400000);
	looks(1000);
	assert_int_equal(m.moves, 1);
	assert_int_equal(m.moved, 1);
	assert_int_equal(m.at[0] + m.at[1], 1);
}

static void
a_session_may_have_a_little_more_than_is_to_move(void **state)
{
	(void)state;
	start_model(2);
	(void)add_session(0, 410000);
	(void)add_session(0, 400000);
	(void)add_session(1, 40000);
	looks(1000);
	assert_int_equal(m.moved, 1);
	assert_int_equal(asked_of(1), 450000);
}

/* Two of them would make the other shard the overloaded one. */
static void
of_three_equal_sessions_one_moves_and_none_returns(void **state)
{
	(void)state;
	start_model(2);
	add_sessions(3, 0, 300000);
	looks(1000);
	assert_int_equal(m.moved, 1);
	assert_int_equal(asked_of(1), 300000);
}

static void
all_shards_get_a_share(void **state)
{
	(void)state;
	start_model(SHARDS);
	add_sessions(64, 0, 30000);
	looks(100);
	for (unsigned i = 0; i < SHARDS; i++)
		assert_in_range(asked_of(i), 300000, 700000);
}

/* Two overloaded shards are the busiest by turns; each has its streak. */
static void
of_two_overloaded_shards_both_are_relieved(void **state)
{
	(void)state;
	start_model(SHARDS);
	add_sessions(16, 0, 60000);
	add_sessions(16, 1, 60000);
	for (unsigned i = 0; i < 40; i++) {
		m.wants[0] = 60000 + (i % 2) * 2000;
		m.wants[16] = 62000 - (i % 2) * 2000;
		(void)look();
	}
	for (unsigned i = 0; i < SHARDS; i++)
		assert_in_range(asked_of(i), 300000, 700000);
}

static void
all_overloaded_shards_are_relieved_at_once(void **state)
{
	(void)state;
	start_model(SHARDS_MAX);
	for (unsigned i = 0; i < SHIFT_PAIRS_MAX; i++)
		add_sessions(10, i, 90000);
	looks(SHIFT_STREAK);
	assert_int_equal(m.moves, SHIFT_PAIRS_MAX);
	for (unsigned i = 0; i < SHIFT_PAIRS_MAX; i++)
		assert_int_equal(asked_of(i), 450000);
	looks(1000);
	assert_int_equal(m.moves, SHIFT_PAIRS_MAX);
}

static void
the_number_of_shards_relieved_at_once_is_bounded(void **state)
{
	(void)state;
	start_model(SHARDS_MAX);
	for (unsigned i = 0; i < SHIFT_PAIRS_MAX + 2; i++)
		add_sessions(10, i, 90000);
	looks(SHIFT_STREAK);
	assert_int_equal(m.moves, SHIFT_PAIRS_MAX);
	/* The last two: after a look that is skipped. */
	looks(1 + SHIFT_STREAK);
	assert_int_equal(m.moves, SHIFT_PAIRS_MAX + 2);
}

/* The first one is busier at all times, and the third one the only target. */
static void
a_shard_whose_session_stays_does_not_keep_others_from_relief(void **state)
{
	(void)state;
	start_model(3);
	(void)add_session(0, 900000);
	add_sessions(20, 1, 40000);
	looks(SHIFT_STREAK);
	assert_int_equal(m.at[0], 0);
	assert_int_equal(m.moved, 10);
	assert_int_equal(asked_of(2), 400000);
	assert_int_equal(m.shift.pause, 0);
}

/* The first move of the decision has the effect that was expected. */
static void
a_move_that_is_not_the_first_is_not_judged(void **state)
{
	(void)state;
	start_model(4);
	add_sessions(10, 0, 90000);
	add_sessions(10, 1, 80000);
	looks(SHIFT_STREAK);
	assert_int_equal(m.moves, 2);
	for (unsigned i = 10; i < 20; i++)
		m.at[i] = 1;
	looks(1 + SHIFT_STREAK);
	assert_int_equal(m.shift.pause, 0);
	assert_int_equal(m.moves, 3);
}

static void
at_most_a_thousand_sessions_move_at_once(void **state)
{
	(void)state;
	start_model(2);
	add_sessions(4000, 0, 200);
	looks(3);
	assert_int_equal(m.most, SHIFT_MOVES_MAX);
	looks(100);
	assert_int_equal(m.most, SHIFT_MOVES_MAX);
	assert_in_range(asked_of(1), 250000, 400000);
	assert_int_equal(m.shift.pause, 0);
}

static void
of_too_many_sessions_the_most_loaded_are_kept(void **state)
{
	(void)state;
	start_model(2);
	for (unsigned i = 0; i < SESSIONS; i++)
		(void)add_session(0, 1 + i * 7 % SESSIONS);
	looks(3);
	assert_int_equal(m.moved, SHIFT_MOVES_MAX);
	for (unsigned i = 0; i < SESSIONS; i++)
		assert_int_equal(
		    m.at[i], m.wants[i] > SESSIONS - SHIFT_MOVES_MAX);
}

/* The load grows by as much as has moved: that says nothing about the move. */
static void
a_move_of_the_first_thousand_is_not_judged(void **state)
{
	(void)state;
	start_model(2);
	add_sessions(4000, 0, 200);
	looks(3);
	assert_int_equal(m.moves, 1);
	for (unsigned i = 0; i < m.sessions; i++)
		m.wants[i] += m.at[i] == 0 ? 140 : 0;
	looks(1 + SHIFT_STREAK);
	assert_int_equal(m.moves, 2);
	assert_int_equal(m.shift.pause, 0);
}

/* Sessions move in their next turn. */
static void
the_period_in_which_sessions_move_is_not_judged(void **state)
{
	unsigned at[10];

	(void)state;
	start_model(2);
	add_sessions(10, 0, 80000);
	looks(3);
	assert_int_equal(m.moved, 5);
	memcpy(at, m.at, sizeof(at));
	memset(m.at, 0, sizeof(m.at));
	looks(1);
	memcpy(m.at, at, sizeof(at));
	looks(1);
	assert_false(m.shift.judging);
	assert_int_equal(m.shift.pause, 0);
}

/* The load stays where it was, as if it were not the sessions' own. */
static void
moves_without_effect_become_rare(void **state)
{
	unsigned early;

	(void)state;
	start_model(2);
	add_sessions(1000, 0, 700);
	for (unsigned i = 0; i < 1000; i++) {
		(void)look();
		for (unsigned j = 0; j < m.sessions; j++)
			m.at[j] = 0;
		if (i == 99)
			early = m.moves;
	}
	assert_in_range(early, 4, 10);
	assert_in_range(m.moves, 20, 1000 / SHIFT_PAUSE_MAX + 10);
	/* With effect they become more frequent again. */
	looks(2 * SHIFT_PAUSE_MAX);
	assert_int_equal(m.shift.pause, SHIFT_PAUSE_MAX / 2);
}

/* The sessions of one shard, then those of the other one, work for a while:
 * they mix, and then no more of them move. */
static void
load_that_comes_and_goes_does_not_keep_sessions_moving(void **state)
{
	unsigned first;

	(void)state;
	for (unsigned period = 3; period < 12; period++) {
		start_model(2);
		add_sessions(40, 0, 0);
		add_sessions(40, 1, 0);
		for (unsigned i = 0; i < 2000; i++) {
			unsigned on = i / period % 2;

			for (unsigned j = 0; j < m.sessions; j++)
				m.wants[j] = j / 40 == on ? 20000 : 0;
			(void)look();
			if (i == 199)
				first = m.moved;
		}
		assert_true(first > 0);
		assert_int_equal(m.moved, first);
	}
}

static uint32_t random_state;

static uint32_t
random_below(uint32_t n)
{
	random_state = random_state * 1103515245u + 12345u;
	return (random_state >> 8) % n;
}

/* Single sessions whose load changes all the time, at times all of it at one
 * shard by chance. */
static void
changing_loads_move_few_sessions(void **state)
{
	unsigned moved = 0;

	(void)state;
	for (uint32_t seed = 1; seed <= 50; seed++) {
		random_state = seed;
		start_model(2 + seed % 3);
		for (unsigned i = 0; i < 12; i++)
			(void)add_session(i % m.shards, 0);
		for (unsigned i = 0; i < 1000; i++) {
			for (unsigned j = 0; j < m.sessions; j++)
				if (random_below(5) == 0)
					m.wants[j] = random_below(2) *
					             random_below(300000);
			(void)look();
		}
		/* Not more than one in thirty looks, each of 2 s. */
		assert_in_range(m.moves, 0, 100);
		moved += m.moved;
	}
	assert_in_range(moved, 1, 50 * 150);
}

/* Whatever the loads are: a move makes the difference of the two shards
 * smaller, by the loads that led to it. */
static void
no_move_makes_the_difference_larger(void **state)
{
	unsigned moves = 0;

	(void)state;
	for (uint32_t seed = 1; seed <= 500; seed++) {
		random_state = seed;
		start_model(2 + seed % (SHARDS_MAX - 1));
		m.steady = true;
		for (unsigned i = 0; i < 1 + seed % 40; i++)
			(void)add_session(random_below(m.shards),
			    random_below(1 + random_below(900000)));
		looks(50);
		moves += m.moves;
	}
	assert_true(moves > 100);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(an_idle_pool_is_left_alone),
	    cmocka_unit_test(a_pool_of_one_shard_is_left_alone),
	    cmocka_unit_test(a_shard_below_half_of_a_thread_keeps_its_sessions),
	    cmocka_unit_test(less_than_twice_the_load_moves_no_session),
	    cmocka_unit_test(the_third_look_in_a_row_moves_half_the_difference),
	    cmocka_unit_test(a_look_without_overload_begins_the_count_anew),
	    cmocka_unit_test(the_busiest_sessions_move_so_that_few_have_to),
	    cmocka_unit_test(a_saturated_shard_gives_half_of_its_load),
	    cmocka_unit_test(a_session_that_is_the_whole_load_stays),
	    cmocka_unit_test(of_two_equal_sessions_one_moves),
	    cmocka_unit_test(a_session_may_have_a_little_more_than_is_to_move),
	    cmocka_unit_test(
	        of_three_equal_sessions_one_moves_and_none_returns),
	    cmocka_unit_test(all_shards_get_a_share),
	    cmocka_unit_test(of_two_overloaded_shards_both_are_relieved),
	    cmocka_unit_test(all_overloaded_shards_are_relieved_at_once),
	    cmocka_unit_test(the_number_of_shards_relieved_at_once_is_bounded),
	    cmocka_unit_test(
	        a_shard_whose_session_stays_does_not_keep_others_from_relief),
	    cmocka_unit_test(a_move_that_is_not_the_first_is_not_judged),
	    cmocka_unit_test(at_most_a_thousand_sessions_move_at_once),
	    cmocka_unit_test(of_too_many_sessions_the_most_loaded_are_kept),
	    cmocka_unit_test(a_move_of_the_first_thousand_is_not_judged),
	    cmocka_unit_test(the_period_in_which_sessions_move_is_not_judged),
	    cmocka_unit_test(moves_without_effect_become_rare),
	    cmocka_unit_test(
	        load_that_comes_and_goes_does_not_keep_sessions_moving),
	    cmocka_unit_test(changing_loads_move_few_sessions),
	    cmocka_unit_test(no_move_makes_the_difference_larger),
	};

	unit_watchdog();
	return cmocka_run_group_tests_name("shift", tests, NULL, NULL);
}
