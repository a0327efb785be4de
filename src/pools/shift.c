/* SPDX-License-Identifier: MIT
 * See shift.h.
 */
#include "pools/shift.h"

#include <stdlib.h>

void
shift_sample(struct shift_load *load, uint64_t total_ns)
{
	load->busy_ns = total_ns - load->total_ns;
	load->total_ns = total_ns;
}

static uint64_t
least_busy_ns(const struct shift_load *loads, unsigned n)
{
	uint64_t least_ns = UINT64_MAX;

	for (unsigned i = 0; i < n; i++)
		if (loads[i].busy_ns < least_ns)
			least_ns = loads[i].busy_ns;
	return least_ns;
}

static unsigned
find_busiest(const struct shift_load *loads, unsigned n)
{
	unsigned busiest = 0;

	for (unsigned i = 1; i < n; i++)
		if (loads[i].busy_ns > loads[busiest].busy_ns)
			busiest = i;
	return busiest;
}

static uint64_t
since_mark_ns(const struct shift_load *load)
{
	return load->total_ns - load->marked_ns;
}

/* Returns the shard with the least load since the mark among those without a
 * pair, or n if there is none. */
static unsigned
find_least_since_mark(const struct shift_load *loads, unsigned n)
{
	unsigned least = n;

	for (unsigned i = 0; i < n; i++)
		if (!loads[i].paired &&
		    (least == n || since_mark_ns(&loads[i]) <
		                       since_mark_ns(&loads[least])))
			least = i;
	return least;
}

static unsigned
find_busiest_since_mark(const struct shift_load *loads, unsigned n)
{
	unsigned busiest = n;

	for (unsigned i = 0; i < n; i++)
		if (!loads[i].paired &&
		    (busiest == n || since_mark_ns(&loads[i]) >
		                         since_mark_ns(&loads[busiest])))
			busiest = i;
	return busiest;
}

static bool
is_overload(uint64_t busy_ns, uint64_t least_ns, uint64_t elapsed_ns)
{
	return busy_ns >= elapsed_ns / 2 && busy_ns >= 2 * least_ns;
}

static void
pause_longer(struct shift *shift)
{
	shift->pause = shift->pause == 0 ? 1 : 2 * shift->pause;
	if (shift->pause > SHIFT_PAUSE_MAX)
		shift->pause = SHIFT_PAUSE_MAX;
	shift->wait = shift->pause;
}

/* Judges the last move by the present difference of its two shards: it has to
 * be at most what the move should have left with half of its effect. */
static void
judge_move(
    struct shift *shift, const struct shift_load *loads, uint64_t elapsed_ns)
{
	uint64_t from_ns = loads[shift->judged_from].busy_ns;
	uint64_t to_ns = loads[shift->judged_to].busy_ns;
	uint64_t gap_ns = from_ns > to_ns ? from_ns - to_ns : to_ns - from_ns;

	shift->judging = false;
	if (gap_ns * 1000 / elapsed_ns <= shift->gap_permille)
		shift->pause /= 2;
	else
		pause_longer(shift);
}

/* Returns whether this look is skipped. */
static bool
skips_look(
    struct shift *shift, const struct shift_load *loads, uint64_t elapsed_ns)
{
	if (shift->wait == 0 && shift->judging)
		judge_move(shift, loads, elapsed_ns);
	if (shift->wait == 0)
		return false;
	shift->wait--;
	return true;
}

/* Returns whether a shard is overloaded, which becomes shift->from.  A shard
 * that was found overloaded before stays chosen while it is overloaded, even if
 * another one is busier by now. */
static bool
goes_on(struct shift *shift, const struct shift_load *loads, unsigned n,
    uint64_t elapsed_ns)
{
	uint64_t least_ns = least_busy_ns(loads, n);

	if (shift->streak > 0 &&
	    is_overload(loads[shift->from].busy_ns, least_ns, elapsed_ns))
		return true;
	shift->streak = 0;
	shift->from = find_busiest(loads, n);
	return is_overload(loads[shift->from].busy_ns, least_ns, elapsed_ns);
}

static enum shift_step
begin_streak(struct shift *shift, struct shift_load *loads, unsigned n)
{
	shift->streak = 1;
	shift->window_ns = 0;
	for (unsigned i = 0; i < n; i++)
		loads[i].marked_ns = loads[i].total_ns;
	return SHIFT_MARK;
}

/* Pairs the shard with the least loaded one, and begins a move.  Returns false
 * if there is no other shard, or if the shard is not overloaded compared with
 * it. */
static bool
begin_move(struct shift *shift, struct shift_load *loads, unsigned n,
    unsigned from, struct shift_move *ret_move)
{
	uint64_t from_ns, to_ns;
	unsigned to;

	loads[from].paired = true;
	to = find_least_since_mark(loads, n);
	if (to == n)
		return false;
	from_ns = since_mark_ns(&loads[from]);
	to_ns = since_mark_ns(&loads[to]);
	if (!is_overload(from_ns, to_ns, shift->window_ns))
		return false;
	shift->pairs++;
	ret_move->from = from;
	ret_move->to = to;
	ret_move->window_ns = shift->window_ns;
	ret_move->from_ns = from_ns;
	ret_move->to_ns = to_ns;
	ret_move->n = 0;
	ret_move->above_ns = ret_move->moved_ns = 0;
	ret_move->more = false;
	return true;
}

/* Decides after the last look of a streak.  The least loaded shard is
 * determined over the whole window: each look may have found another one. */
static enum shift_step
end_streak(struct shift *shift, struct shift_load *loads, unsigned n,
    struct shift_move *ret_move)
{
	shift->streak = 0;
	shift->pairs = 0;
	shift->moved = false;
	for (unsigned i = 0; i < n; i++)
		loads[i].paired = false;
	return begin_move(shift, loads, n, shift->from, ret_move) ? SHIFT_MOVE
	                                                          : SHIFT_NONE;
}

enum shift_step
shift_look(struct shift *shift, struct shift_load *loads, unsigned n,
    uint64_t elapsed_ns, struct shift_move *ret_move)
{
	if (n < 2 || elapsed_ns == 0 || skips_look(shift, loads, elapsed_ns) ||
	    !goes_on(shift, loads, n, elapsed_ns))
		return SHIFT_NONE;
	if (shift->streak == 0)
		return begin_streak(shift, loads, n);
	shift->window_ns += elapsed_ns;
	if (++shift->streak < SHIFT_STREAK)
		return SHIFT_NONE;
	return end_streak(shift, loads, n, ret_move);
}

/* Returns whether a session may move when left_ns are to move.  Its load may be
 * a quarter larger: of two sessions with the same load, one is measured to have
 * more than half of it. */
static bool
fits(uint64_t load_ns, uint64_t left_ns)
{
	return load_ns <= left_ns + left_ns / 4;
}

static uint64_t
half_gap_ns(const struct shift_move *move)
{
	return (move->from_ns - move->to_ns) / 2;
}

static int
compare_loads(const void *a, const void *b)
{
	const struct shift_session *x = a, *y = b;

	return (x->load_ns < y->load_ns) - (x->load_ns > y->load_ns);
}

static void
keep_most_loaded(struct shift_move *move)
{
	if (move->n > 0)
		qsort(move->sessions, move->n, sizeof(move->sessions[0]),
		    compare_loads);
	if (move->n <= SHIFT_MOVES_MAX)
		return;
	move->more = true;
	move->n = SHIFT_MOVES_MAX;
	move->above_ns = move->sessions[move->n - 1].load_ns;
}

void
shift_offer(struct shift_move *move, const struct shift_session *session)
{
	if (session->load_ns <= move->above_ns ||
	    !fits(session->load_ns, half_gap_ns(move)))
		return;
	move->sessions[move->n++] = *session;
	if (move->n == 2 * SHIFT_MOVES_MAX)
		keep_most_loaded(move);
}

/* Keeps the sessions that fit, the most loaded first, so that few have to move.
 * Returns the load that is still to move. */
static uint64_t
take_those_that_fit(struct shift_move *move)
{
	uint64_t left_ns = half_gap_ns(move);
	size_t taken = 0;

	for (size_t i = 0; i < move->n; i++) {
		uint64_t load_ns = move->sessions[i].load_ns;

		if (!fits(load_ns, left_ns))
			continue;
		move->sessions[taken++] = move->sessions[i];
		move->moved_ns += load_ns;
		left_ns -= load_ns < left_ns ? load_ns : left_ns;
	}
	move->n = taken;
	return left_ns;
}

/* The first move of a decision is judged, unless it moves many small sessions:
 * its effect would be lost in changes of the load itself.  Then another move
 * may follow at once. */
void
shift_choose(
    struct shift *shift, struct shift_load *loads, struct shift_move *move)
{
	uint64_t left_ns;

	keep_most_loaded(move);
	left_ns = take_those_that_fit(move);
	if (move->n == 0)
		return;
	shift->moved = true;
	loads[move->to].paired = true;
	if (shift->judging || (move->more && left_ns > 0))
		return;
	shift->judging = true;
	shift->judged_from = move->from;
	shift->judged_to = move->to;
	shift->gap_permille = (move->from_ns - move->to_ns - move->moved_ns) *
	                      1000 / move->window_ns;
}

bool
shift_next(struct shift *shift, struct shift_load *loads, unsigned n,
    struct shift_move *ret_move)
{
	unsigned from = find_busiest_since_mark(loads, n);

	if (shift->pairs < SHIFT_PAIRS_MAX && from < n &&
	    begin_move(shift, loads, n, from, ret_move))
		return true;
	if (shift->moved)
		shift->wait = 1;
	else
		pause_longer(shift);
	return false;
}
