/* SPDX-License-Identifier: MIT
 * The bandwidth of sessions: what a direction may read, its wait, and the pacer
 * that ends it, in a time of the test's own.
 */
#include "proxy/pacing.h"

#include "base/clock.h"
#include "proxy/session_deadline.h"
#include "relay_stage.h"

#define MS       UINT64_C(1000000)
#define RATE     UINT64_C(1000000) /* a portion is 10000 bytes */
#define PORTION  10000
#define START_NS ((uint64_t)NOW_MS * MS)

static uint64_t now_ns;
static unsigned calls;
static struct frontend_state frontend_state;
static struct backend_state backend_state;
static uint8_t bytes[4 * PORTION];

static uint64_t
injected_clock_ns(void)
{
	return now_ns;
}

static void
count_call(void *arg)
{
	(void)arg;
	calls++;
}

/* The session is owned, so that notes are left with it. */
static int
set_up_pacing(void **state)
{
	struct stage *st = &stage;

	if (set_up(state) != 0)
		return -1;
	now_ns = START_NS;
	clock_replace(injected_clock_ns);
	calls = 0;
	memset(&frontend_state, 0, sizeof(frontend_state));
	memset(&backend_state, 0, sizeof(backend_state));
	st->front.frontend.state = &frontend_state;
	st->backend.state = &backend_state;
	st->proxy.pacer.call = count_call;
	st->proxy.pacer.limited = true;
	claim_open(&st->session->handler.claim);
	return 0;
}

static int
tear_down_pacing(void **state)
{
	pacing_end(stage.session, &stage.self);
	clock_replace(NULL);
	return tear_down(state);
}

static void
limit_session(enum band_direction direction)
{
	frontend_state.bandwidth.session[direction] = RATE;
	assert_true(pacing_begin(stage.session, &stage.self));
	assert_true(stage.session->pacing > 0);
}

static void
client_sends(size_t n)
{
	assert_int_equal(send(stage.peer[HANDLE_CLIENT], bytes, n, 0), n);
	stage.session->side[HANDLE_CLIENT].readable = true;
}

/* Returns how many bytes the server has got since the last call. */
static size_t
server_got(void)
{
	uint8_t got[sizeof(bytes)];
	ssize_t n = recv(stage.peer[HANDLE_SERVER], got, sizeof(got), 0);

	return n > 0 ? (size_t)n : 0;
}

static void
relay(void)
{
	assert_int_equal(
	    relay_step(stage.session, &stage.self).step, STEP_WAIT);
}

/* Lets time pass and the pacer look.  Returns whether the session has a note.
 */
static bool
pass(uint64_t ns)
{
	struct claim *claim = &stage.session->handler.claim;

	now_ns += ns;
	stage.self.now_ns = now_ns;
	(void)pacer_look(&stage.proxy.pacer, now_ns);
	return claim_take(claim) & NOTE_PACE;
}

static void
session_without_a_limit_has_no_record(void **state)
{
	(void)state;
	assert_true(pacing_begin(stage.session, &stage.self));
	assert_int_equal(stage.session->pacing, 0);
	assert_int_equal(slab_used(&stage.proxy.pacer.records), 0);
}

static void
direction_reads_a_portion_and_waits(void **state)
{
	(void)state;
	limit_session(BAND_IN);
	client_sends(sizeof(bytes));
	relay();
	/* 5 ms are caught up with at first, and a portion is begun before it
	 * is paid for. */
	assert_int_equal(server_got(), PORTION);
	assert_true(pacing_waits(stage.session, &stage.proxy));
	assert_int_equal(calls, 1);
	assert_false(pass(2 * MS));
	relay();
	assert_int_equal(server_got(), 0);
	assert_true(pass(4 * MS));
	relay();
	assert_int_equal(server_got(), PORTION);
}

static void
rate_is_kept_over_a_long_time(void **state)
{
	size_t sum = 0;

	(void)state;
	limit_session(BAND_IN);
	for (unsigned i = 0; i < 3000; i++) {
		if (i % 10 == 0 && sum + 2 * PORTION > i * 1000u) {
			(void)send(stage.peer[HANDLE_CLIENT], bytes,
			    2 * PORTION, MSG_DONTWAIT);
			stage.session->side[HANDLE_CLIENT].readable = true;
		}
		(void)pass(MS + MS / 10);
		relay();
		sum += server_got();
	}
	/* 3.3 seconds. */
	assert_in_range(sum, 3300000 - 2 * PORTION, 3300000 + 2 * PORTION);
}

static void
bytes_that_were_not_read_are_given_back(void **state)
{
	(void)state;
	limit_session(BAND_IN);
	for (unsigned i = 0; i < 40; i++) {
		client_sends(100);
		relay();
		assert_int_equal(server_got(), 100);
	}
	assert_false(pacing_waits(stage.session, &stage.proxy));
}

static void
other_direction_does_not_wait(void **state)
{
	struct stage *st = &stage;

	(void)state;
	limit_session(BAND_IN);
	client_sends(sizeof(bytes));
	relay();
	assert_true(pacing_waits(st->session, &st->proxy));
	assert_int_equal(send(st->peer[HANDLE_SERVER], bytes, 30000, 0), 30000);
	st->session->side[HANDLE_SERVER].readable = true;
	relay();
	assert_int_equal(
	    recv(st->peer[HANDLE_CLIENT], bytes, sizeof(bytes), 0), 30000);
}

static void
lowest_of_several_limits_holds(void **state)
{
	(void)state;
	backend_state.bandwidth.shared[BAND_IN].rate = RATE / 2;
	stage.server_state.bandwidth.shared[BAND_IN].rate = 10 * RATE;
	limit_session(BAND_IN);
	client_sends(sizeof(bytes));
	relay();
	assert_int_equal(server_got(), PORTION / 2);
	assert_true(pass(6 * MS));
	relay();
	assert_int_equal(server_got(), PORTION / 2);
	assert_false(pass(6 * MS));
}

static void
shared_bucket_with_others_waiting_is_not_taken_at_once(void **state)
{
	struct bucket *b = &frontend_state.bandwidth.shared[BAND_IN];

	(void)state;
	b->waiting = 1;
	b->rate = RATE;
	limit_session(BAND_IN);
	client_sends(100);
	relay();
	assert_int_equal(server_got(), 0);
	assert_int_equal(b->waiting, 2);
	assert_true(pass(2 * MS));
	relay();
	assert_int_equal(server_got(), 100);
	assert_int_equal(b->waiting, 1);
}

static void
inactivity_does_not_count_while_a_session_waits(void **state)
{
	struct session *s = stage.session;
	uint64_t before;

	(void)state;
	stage.frontend_spec.timeout_client_ms = 3;
	stage.backend_spec.timeout_server_ms = 3;
	limit_session(BAND_IN);
	client_sends(sizeof(bytes));
	relay();
	assert_false(pass(4 * MS));
	assert_int_equal(
	    session_relay_timeout(s, &stage.self).step, STEP_RELAY);
	before = stage.proxy.deadlines[s->index];
	assert_int_equal(before, now_ns / MS + 3);
	/* Then it counts from the end of the wait on. */
	client_sends(100);
	frontend_state.bandwidth.session[BAND_IN] = 0;
	assert_true(pass(4 * MS));
	relay();
	assert_false(pacing_waits(s, &stage.proxy));
	assert_int_equal(s->side[HANDLE_SERVER].active_ms, now_ns / MS);
	now_ns += 4 * MS;
	stage.self.now_ns = now_ns;
	assert_int_equal(
	    session_relay_timeout(s, &stage.self).step, STEP_CLOSE);
}

static void
session_that_ends_while_it_waits_leaves_nothing(void **state)
{
	struct bucket *b = &frontend_state.bandwidth.shared[BAND_IN];
	uint64_t due_ns;

	(void)state;
	b->rate = RATE;
	limit_session(BAND_IN);
	client_sends(sizeof(bytes));
	relay();
	assert_int_equal(b->waiting, 1);
	due_ns = b->due_ns;
	pacing_end(stage.session, &stage.self);
	assert_int_equal(b->waiting, 0);
	assert_int_equal(b->due_ns, due_ns - 10 * MS);
	/* The pacer still has the record, and leaves no note. */
	assert_int_equal(slab_used(&stage.proxy.pacer.records), 1);
	assert_false(pass(20 * MS));
	assert_int_equal(slab_used(&stage.proxy.pacer.records), 0);
}

static void
change_of_limits_wakes_those_that_wait(void **state)
{
	(void)state;
	frontend_state.bandwidth.session[BAND_IN] = BANDWIDTH_MIN;
	assert_true(pacing_begin(stage.session, &stage.self));
	client_sends(sizeof(bytes));
	relay();
	assert_int_equal(server_got(), PORTION_MIN);
	/* Long beyond the wheel's end. */
	assert_false(pass(1000 * MS));
	frontend_state.bandwidth.session[BAND_IN] = 0;
	pacer_wake_all(&stage.proxy.pacer);
	assert_true(claim_take(&stage.session->handler.claim) & NOTE_PACE);
	relay();
	assert_int_equal(server_got(), sizeof(bytes) - PORTION_MIN);
}

static void
wait_beyond_the_wheel_ends_in_time(void **state)
{
	struct bucket *b = &frontend_state.bandwidth.shared[BAND_IN];

	(void)state;
	b->rate = RATE;
	b->due_ns = START_NS + 5000 * MS;
	limit_session(BAND_IN);
	client_sends(100);
	relay();
	for (unsigned i = 0; i < 49; i++)
		assert_false(pass(100 * MS));
	assert_false(pass(98 * MS));
	assert_true(pass(2 * MS));
}

static void
pacer_rests_when_nothing_waits(void **state)
{
	(void)state;
	assert_true(pacer_look(&stage.proxy.pacer, now_ns) == UINT64_MAX);
	limit_session(BAND_IN);
	client_sends(sizeof(bytes));
	relay();
	/* It is called once, and has then found a direction for later. */
	assert_int_equal(calls, 1);
	assert_int_equal(
	    pacer_look(&stage.proxy.pacer, now_ns), now_ns + 6 * MS);
	now_ns += 6 * MS;
	/* Those it wakes come back within a tick. */
	assert_int_equal(
	    pacer_look(&stage.proxy.pacer, now_ns), now_ns + PACER_TICK_NS);
	now_ns += PACER_TICK_NS;
	assert_true(pacer_look(&stage.proxy.pacer, now_ns) == UINT64_MAX);
}

int
main(void)
{
#define T(name)                                                                \
	cmocka_unit_test_setup_teardown(name, set_up_pacing, tear_down_pacing)
	const struct CMUnitTest tests[] = {
	    T(session_without_a_limit_has_no_record),
	    T(direction_reads_a_portion_and_waits),
	    T(rate_is_kept_over_a_long_time),
	    T(bytes_that_were_not_read_are_given_back),
	    T(other_direction_does_not_wait),
	    T(lowest_of_several_limits_holds),
	    T(shared_bucket_with_others_waiting_is_not_taken_at_once),
	    T(inactivity_does_not_count_while_a_session_waits),
	    T(session_that_ends_while_it_waits_leaves_nothing),
	    T(change_of_limits_wakes_those_that_wait),
	    T(wait_beyond_the_wheel_ends_in_time),
	    T(pacer_rests_when_nothing_waits),
	};

	unit_watchdog();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
