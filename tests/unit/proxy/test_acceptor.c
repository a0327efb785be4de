/* SPDX-License-Identifier: MIT
 * Two acceptors of a frontend that has a limit, step by step.
 */
#include "proxy/acceptor.h"

#include <errno.h>
#include <sys/socket.h>

#include "base/grace.h"
#include "lf/shard.h"
#include "unit.h"

static struct proxy proxy;
static struct shard shard;
static struct pool_thread self;
static struct acceptor *acceptors[2];
static struct event_handler *handlers[2];
static bool other_comes;

static enum turn
run_turn(int which)
{
	return handlers[which]->ops->turn(handlers[which], 0, &self);
}

/* In the place of the C library's: nobody has connected, and meanwhile the
 * other one has its turn on another thread. */
int
accept4(int fd, struct sockaddr *addr, socklen_t *len, int flags)
{
	(void)fd;
	(void)addr;
	(void)len;
	(void)flags;
	if (other_comes) {
		other_comes = false;
		assert_int_equal(run_turn(1), TURN_DONE);
	}
	errno = EAGAIN;
	return -1;
}

/* Symptom: near the maxconn of a frontend with several addresses a connection
 * waited until the control thread came by, though there was room. */
static void
a_place_that_was_kept_for_nobody_is_the_others(void **state)
{
	static struct listen_spec listens[2];
	static struct frontend_spec spec = {
	    .name = (char *)"web", .listens = listens, .listens_n = 2};
	static struct frontend_state frontend_state = {
	    .maxconn = 2, .sessions.now = 1};
	static struct frontend frontend = {.spec = &spec,
	    .state = &frontend_state,
	    .sessions = &frontend_state.sessions};
	struct frontend_listen points[2] = {
	    {.frontend = &frontend, .number = 1},
	    {.frontend = &frontend, .number = 2}};
	struct grace *grace = grace_new();
	struct handle_set *set;

	(void)state;
	frontend.listens = points;
	assert_int_equal(handle_set_epoll_new(&set), 0);
	assert_int_equal(
	    shard_init(&shard, NULL, 0, &promotion_futex, false), 0);
	shard_put_set(&shard, set);
	shard_open_set(&shard);
	assert_int_equal(proxy_init(&proxy, 10, 0, 0), 0);
	for (unsigned i = 0; i < 2; i++) {
		int fd = socket(AF_UNIX, SOCK_STREAM, 0);

		assert_int_equal(
		    acceptor_new(&proxy, &frontend, i + 1, fd, &acceptors[i]),
		    0);
		assert_int_equal(acceptor_open(acceptors[i], &shard), 0);
		handlers[i] = event_handler_at(i);
	}

	other_comes = true;
	assert_int_equal(run_turn(0), TURN_DONE);
	assert_false(other_comes);
	assert_int_equal(frontend_state.sessions.now, 1);
	/* It goes on. */
	assert_null(proxy.paused);
	assert_ptr_equal(atomic_load_seq(&shard.mailbox), handlers[1]);

	/* And nobody calls anybody for ever. */
	assert_int_equal(run_turn(1), TURN_DONE);
	assert_null(proxy.paused);
	for (int i = 0; i < 2; i++)
		acceptor_free(acceptors[i]);
	proxy_fini(&proxy);
	shard_fini(&shard);
	grace_free(grace);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_place_that_was_kept_for_nobody_is_the_others),
	};

	unit_watchdog();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
