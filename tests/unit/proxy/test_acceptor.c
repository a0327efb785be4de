/* SPDX-License-Identifier: MIT
 * Two acceptors of a frontend that has a limit, step by step.
 */
#include "proxy/acceptor.h"

#include <errno.h>
#include <sys/socket.h>

#include "lf/shard.h"
#include "proxy/accept_limits.h"
#include "proxy/acceptor_internal.h"
#include "unit.h"

static struct proxy proxy;
static struct shard shard;
static struct pool_thread self;
static struct acceptor *acceptors[2];
static struct event_handler *handlers[2];
static bool other_comes, session_ends;
static uint32_t last_session;

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

/* Likewise: the message that all sessions are in use comes before the pause,
 * and meanwhile the last of them ends. */
ssize_t
write(int fd, const void *data, size_t size)
{
	(void)fd;
	(void)data;
	if (session_ends) {
		session_ends = false;
		slab_give(&proxy.sessions, last_session);
		acceptors_resume(&proxy);
	}
	return (ssize_t)size;
}

static struct listen_spec listens[2];
static struct frontend_spec spec = {
    .name = (char *)"web", .listens = listens, .listens_n = 2};
static struct frontend_state frontend_state;
static struct frontend frontend = {.spec = &spec,
    .state = &frontend_state,
    .sessions = &frontend_state.sessions};
static struct frontend_listen points[2] = {
    {.frontend = &frontend, .number = 1}, {.frontend = &frontend, .number = 2}};
static struct model model = {
    .frontends = (struct frontend *[]){&frontend, NULL}};

static void
begin(uint32_t sessions)
{
	struct handle_set *set;

	frontend.listens = points;
	frontend.model = &model;
	lock_init(&frontend_state.newcomers_lock);
	list_init(&frontend_state.newcomers);
	assert_int_equal(handle_set_epoll_new(&set), 0);
	assert_int_equal(shard_init(&shard, NULL, 0, &promotion_futex), 0);
	shard_put_set(&shard, set, false);
	shard_open_set(&shard);
	assert_int_equal(proxy_init(&proxy, sessions, 0, 0), 0);
	for (unsigned i = 0; i < 2; i++) {
		int fd = socket(AF_UNIX, SOCK_STREAM, 0);

		assert_int_equal(
		    acceptor_new(&proxy, &frontend, i + 1, fd, &acceptors[i]),
		    0);
		assert_int_equal(acceptor_register(acceptors[i], &shard), 0);
		acceptor_start(acceptors[i]);
		handlers[i] = &acceptors[i]->handler;
	}
}

static void
end(void)
{
	for (int i = 0; i < 2; i++)
		acceptor_free(acceptors[i]);
	proxy_fini(&proxy);
	shard_fini(&shard);
	lock_fini(&frontend_state.newcomers_lock);
}

/* Symptom: near the maxconn of a frontend with several addresses a connection
 * waited until the control thread came by, though there was room. */
static void
a_place_that_was_kept_for_nobody_is_the_others(void **state)
{
	(void)state;
	frontend_state =
	    (struct frontend_state){.maxconn = 2, .sessions.now = 1};
	begin(10);

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
	end();
}

/* Symptom: a connection waited for up to two seconds, or until the next session
 * ended, because the last session had ended while its acceptor was about to
 * pause. */
static void
a_session_that_ends_before_the_pause_has_made_room(void **state)
{
	(void)state;
	frontend_state = (struct frontend_state){.maxconn = FRONTEND_NO_LIMIT};
	begin(1);
	assert_non_null(slab_take(&proxy.sessions, &last_session));

	session_ends = true;
	assert_int_equal(run_turn(0), TURN_DONE);
	assert_false(session_ends);
	assert_null(proxy.paused);
	assert_ptr_equal(atomic_load_seq(&shard.mailbox), handlers[0]);
	end();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_place_that_was_kept_for_nobody_is_the_others),
	    cmocka_unit_test(
	        a_session_that_ends_before_the_pause_has_made_room),
	};

	unit_watchdog();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
