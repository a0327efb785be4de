/* SPDX-License-Identifier: MIT
 * How long a session is held, and what ends it.
 */
#include "proxy/held.h"

#include "proxy/inspection.h"
#include "proxy/session_deadline.h"
#include "unit.h"

#define NOW_MS  UINT64_C(100000)
#define HOLD_MS 500u

static struct frontend_spec spec = {
    .timeout_hello_ms = 1000, .timeout_first_byte_ms = 2000};
static struct frontend_state frontend_state;
static struct frontend frontend = {
    .spec = &spec, .state = &frontend_state, .backends = {NULL}};
static struct proxy proxy;
static struct proxy_thread local = {.proxy = &proxy};
static struct pool_thread self = {.local = &local};
static struct inspection inspection;
static struct session *s;
static uint32_t slot;

static int
set_up(void **state)
{
	(void)state;
	assert_int_equal(proxy_init(&proxy, 1, 0, 0), 0);
	s = slab_take(&proxy.sessions, &slot);
	memset(&inspection, 0, sizeof(inspection));
	lock_init(&frontend_state.newcomers_lock);
	list_init(&frontend_state.newcomers);
	s->frontend = &frontend;
	s->inspection = NULL;
	s->state = SESSION_ACCEPTED;
	s->accepted_ms = NOW_MS;
	side_reset(&s->side[HANDLE_CLIENT], -1, NOW_MS);
	s->side[HANDLE_CLIENT].tcp = true;
	side_reset(&s->side[HANDLE_SERVER], -1, NOW_MS);
	self.now_ns = NOW_MS * 1000000;
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	session_set_state(s, SESSION_FREE, &self);
	slab_give(&proxy.sessions, slot);
	proxy_fini(&proxy);
	return 0;
}

static enum step
begin(enum gate_action action)
{
	struct gate_answer answer = {
	    .action = action, .hold_ms = HOLD_MS, .cause = CAUSE_ACCESS_TARPIT};

	session_note_gate(s, &answer);
	return held_begin(s, &self).step;
}

static struct verdict
step_after(uint64_t ms, uint32_t pending)
{
	self.now_ns = (NOW_MS + ms) * 1000000;
	return held_step(s, pending, &self);
}

static void
a_tarpit_waits_and_then_closes(void **state)
{
	struct verdict v;

	(void)state;
	assert_int_equal(begin(GATE_TARPIT), STEP_WAIT);
	assert_int_equal(s->state, SESSION_HELD);
	assert_int_equal(proxy.deadlines[slot], NOW_MS + HOLD_MS);
	assert_int_equal(
	    step_after(HOLD_MS - 1, HANDLE_READABLE).step, STEP_WAIT);
	v = step_after(HOLD_MS, 0);
	assert_int_equal(v.step, STEP_CLOSE);
	assert_int_equal(v.cause, CAUSE_ACCESS_TARPIT);
}

static void
a_tarpit_ends_with_its_client(void **state)
{
	static const uint32_t ends[] = {
	    HANDLE_READ_CLOSED, HANDLE_HUNG_UP, HANDLE_ERROR};

	(void)state;
	assert_int_equal(begin(GATE_TARPIT), STEP_WAIT);
	for (size_t i = 0; i < UNIT_N(ends); i++)
		assert_int_equal(step_after(1, ends[i]).step, STEP_CLOSE);
}

static void
a_client_that_has_ended_before_is_not_held(void **state)
{
	(void)state;
	s->side[HANDLE_CLIENT].fin_queued = true;
	assert_int_equal(begin(GATE_TARPIT), STEP_CLOSE);
}

static void
a_tarpit_ends_when_lfproxy_stops_and_a_delay_does_not(void **state)
{
	(void)state;
	assert_int_equal(begin(GATE_TARPIT), STEP_WAIT);
	atomic_store_relaxed(&proxy.idle_ms, UINT64_C(60000));
	assert_int_equal(step_after(1, 0).step, STEP_CLOSE);
	s->gate = GATE_DELAY;
	assert_int_equal(step_after(1, 0).step, STEP_WAIT);
}

static void
a_delay_goes_on_after_its_time(void **state)
{
	(void)state;
	assert_int_equal(begin(GATE_DELAY), STEP_WAIT);
	assert_int_equal(proxy.deadlines[slot], NOW_MS + HOLD_MS);
	/* Its client may have sent all that it wants to. */
	assert_int_equal(
	    step_after(HOLD_MS - 1, HANDLE_READ_CLOSED).step, STEP_WAIT);
	assert_int_equal(step_after(HOLD_MS, 0).step, STEP_RESUME);
}

static void
a_delay_ends_with_a_reset(void **state)
{
	struct verdict v;

	(void)state;
	assert_int_equal(begin(GATE_DELAY), STEP_WAIT);
	s->side[HANDLE_CLIENT].error = true;
	v = step_after(1, HANDLE_ERROR);
	assert_int_equal(v.step, STEP_CLOSE);
	assert_int_equal(v.cause, CAUSE_CLIENT_GONE);
}

static void
a_delay_takes_nothing_off_a_clients_time(void **state)
{
	(void)state;
	s->inspection = &inspection;
	assert_int_equal(begin(GATE_DELAY), STEP_WAIT);
	assert_int_equal(session_first_byte_ends_ms(s), UINT64_MAX);
	/* An end that comes meanwhile is known to the inspection. */
	assert_int_equal(step_after(1, HANDLE_READ_CLOSED).step, STEP_WAIT);
	assert_true(inspection.ended);
	session_set_state(s, SESSION_INSPECTING, &self);
	assert_int_equal(proxy.deadlines[slot], NOW_MS + HOLD_MS + 1000);
	assert_int_equal(
	    session_first_byte_ends_ms(s), NOW_MS + HOLD_MS + 2000);
	assert_int_equal(session_handshake_ends_ms(s), NOW_MS + HOLD_MS);
}

int
main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	const struct CMUnitTest tests[] = {
	    TEST(a_tarpit_waits_and_then_closes),
	    TEST(a_tarpit_ends_with_its_client),
	    TEST(a_client_that_has_ended_before_is_not_held),
	    TEST(a_tarpit_ends_when_lfproxy_stops_and_a_delay_does_not),
	    TEST(a_delay_goes_on_after_its_time),
	    TEST(a_delay_ends_with_a_reset),
	    TEST(a_delay_takes_nothing_off_a_clients_time),
	};

	unit_watchdog();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
