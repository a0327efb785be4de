/* SPDX-License-Identifier: MIT
 * Newcomers: who is evicted, and when.
 */
#include "proxy/newcomers.h"

#include <sys/socket.h>

#include "proxy/inspection.h"
#include "unit.h"

#define NOW_MS   UINT64_C(100000)
#define GRACE    NEWCOMER_GRACE_MS
#define SESSIONS 4

static struct frontend_state states[2];
static struct frontend web = {.state = &states[0]};
static struct frontend other = {.state = &states[1]};
static struct frontend *frontends[] = {&web, &other, NULL};
static struct model model = {.frontends = frontends};
static const struct newcomers of_all = {.model = &model};
static const struct newcomers of_web = {.frontend = &web};
static struct proxy proxy;
static struct session *sessions[SESSIONS];
static int peers[SESSIONS];

static int
set_up(void **state)
{
	uint32_t index;

	(void)state;
	assert_int_equal(proxy_init(&proxy, SESSIONS, 0, 0), 0);
	for (int i = 0; i < 2; i++) {
		lock_init(&states[i].newcomers_lock);
		list_init(&states[i].newcomers);
	}
	for (int i = 0; i < SESSIONS; i++) {
		struct session *s = slab_take(&proxy.sessions, &index);
		int ends[2];

		assert_int_equal(
		    socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends),
		    0);
		peers[i] = ends[0];
		side_reset(&s->side[HANDLE_CLIENT], ends[1], NOW_MS);
		claim_open(&s->handler.claim);
		s->frontend = &web;
		s->handshaking = false;
		s->state = SESSION_INSPECTING;
		assert_true(inspect_begin(s, 1, INSPECT_HELLO, &proxy));
		sessions[i] = s;
	}
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	for (int i = 0; i < SESSIONS; i++) {
		newcomers_leave(sessions[i]);
		close(peers[i]);
		close(sessions[i]->side[HANDLE_CLIENT].fd);
		claim_retire(&sessions[i]->handler.claim);
		inspect_end(sessions[i], &proxy);
		slab_give(&proxy.sessions, sessions[i]->index);
	}
	for (int i = 0; i < 2; i++)
		assert_true(list_empty(&states[i].newcomers));
	proxy_fini(&proxy);
	return 0;
}

/* The session gets its bits, as at the beginning of a turn. */
static bool
is_told(int which)
{
	return claim_take(&sessions[which]->handler.claim) & NOTE_EVICT;
}

static void
the_oldest_is_evicted_once_its_grace_is_over(void **state)
{
	(void)state;
	assert_int_equal(newcomers_evict(&of_web, NOW_MS), EVICTION_NONE);
	newcomers_enter(sessions[1], NOW_MS);
	newcomers_enter(sessions[0], NOW_MS + 10);
	assert_int_equal(
	    newcomers_evict(&of_web, NOW_MS + GRACE - 1), EVICTION_LATER);
	assert_false(newcomers_is_evicted(sessions[1]));
	assert_int_equal(
	    newcomers_evict(&of_web, NOW_MS + GRACE), EVICTION_BEGUN);
	assert_true(is_told(1));
	assert_true(newcomers_is_evicted(sessions[1]));
	/* The other one has some of its grace left. */
	assert_int_equal(
	    newcomers_evict(&of_web, NOW_MS + GRACE + 9), EVICTION_LATER);
	assert_false(is_told(0));
	assert_int_equal(
	    newcomers_evict(&of_web, NOW_MS + GRACE + 10), EVICTION_BEGUN);
	assert_true(is_told(0));
	assert_int_equal(
	    newcomers_evict(&of_web, NOW_MS + 10 * GRACE), EVICTION_NONE);
}

static void
a_part_that_is_done_begins_another_grace(void **state)
{
	(void)state;
	newcomers_enter(sessions[0], NOW_MS);
	newcomers_enter(sessions[1], NOW_MS + 10);
	newcomers_enter(sessions[0], NOW_MS + 20);
	assert_int_equal(
	    newcomers_evict(&of_web, NOW_MS + GRACE + 15), EVICTION_BEGUN);
	assert_true(is_told(1));
	assert_false(is_told(0));
	assert_int_equal(
	    newcomers_evict(&of_web, NOW_MS + GRACE + 19), EVICTION_LATER);
	/* Also for one that was told to end meanwhile. */
	newcomers_enter(sessions[1], NOW_MS + 30);
	assert_false(newcomers_is_evicted(sessions[1]));
}

static void
who_was_let_in_is_not_evicted(void **state)
{
	(void)state;
	newcomers_enter(sessions[0], NOW_MS);
	newcomers_leave(sessions[0]);
	assert_int_equal(
	    newcomers_evict(&of_all, NOW_MS + 10 * GRACE), EVICTION_NONE);
	/* Nor one that goes on in the turn in which it is told. */
	newcomers_enter(sessions[1], NOW_MS);
	assert_int_equal(
	    newcomers_evict(&of_all, NOW_MS + GRACE), EVICTION_BEGUN);
	newcomers_leave(sessions[1]);
	sessions[1]->state = SESSION_CONNECTING;
	assert_false(newcomers_is_evicted(sessions[1]));
}

static void
a_message_that_waits_for_lfproxy_keeps_its_client(void **state)
{
	(void)state;
	sessions[0]->state = SESSION_HANDSHAKE;
	newcomers_enter(sessions[0], NOW_MS);
	assert_int_equal(
	    newcomers_evict(&of_web, NOW_MS + GRACE), EVICTION_BEGUN);
	assert_true(newcomers_is_evicted(sessions[0]));
	assert_int_equal(write(peers[0], "x", 1), 1);
	assert_false(newcomers_is_evicted(sessions[0]));
	/* The inspection leaves the bytes of an incomplete hello unread. */
	sessions[0]->state = SESSION_INSPECTING;
	assert_true(newcomers_is_evicted(sessions[0]));
}

static void
a_frontend_evicts_its_own_and_the_process_the_oldest_of_all(void **state)
{
	(void)state;
	sessions[0]->frontend = &other;
	newcomers_enter(sessions[0], NOW_MS);
	newcomers_enter(sessions[1], NOW_MS + 10);
	newcomers_enter(sessions[2], NOW_MS + 20);
	assert_int_equal(
	    newcomers_evict(&of_web, NOW_MS + 2 * GRACE), EVICTION_BEGUN);
	assert_true(is_told(1));
	assert_int_equal(
	    newcomers_evict(&of_all, NOW_MS + 2 * GRACE), EVICTION_BEGUN);
	assert_true(is_told(0));
	assert_int_equal(
	    newcomers_evict(&of_all, NOW_MS + 2 * GRACE), EVICTION_BEGUN);
	assert_true(is_told(2));
	assert_int_equal(
	    newcomers_evict(&of_all, NOW_MS + 2 * GRACE), EVICTION_NONE);
}

static void
a_place_among_handshakes_comes_from_a_handshake(void **state)
{
	const struct newcomers handshakes = {
	    .frontend = &web, .handshakes = true};

	(void)state;
	newcomers_enter(sessions[0], NOW_MS);
	assert_int_equal(
	    newcomers_evict(&handshakes, NOW_MS + GRACE), EVICTION_NONE);
	sessions[1]->handshaking = true;
	newcomers_enter(sessions[1], NOW_MS + 10);
	assert_int_equal(
	    newcomers_evict(&handshakes, NOW_MS + GRACE + 10), EVICTION_BEGUN);
	assert_true(is_told(1));
	assert_false(is_told(0));
}

int
main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	const struct CMUnitTest tests[] = {
	    TEST(the_oldest_is_evicted_once_its_grace_is_over),
	    TEST(a_part_that_is_done_begins_another_grace),
	    TEST(who_was_let_in_is_not_evicted),
	    TEST(a_message_that_waits_for_lfproxy_keeps_its_client),
	    TEST(a_frontend_evicts_its_own_and_the_process_the_oldest_of_all),
	    TEST(a_place_among_handshakes_comes_from_a_handshake),
	};

	unit_watchdog();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
