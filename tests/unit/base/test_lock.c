/* SPDX-License-Identifier: MIT
 * Locks, with their checks in every build.
 */
#undef LFPROXY_LOCK_CHECKS
#define LFPROXY_LOCK_CHECKS
#include "base/lock.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"

static struct lock one = LOCK_INITIALIZER, other;

static void
take_both(void)
{
	lock_acquire(&one);
	lock_acquire(&other);
	lock_release(&other);
	lock_release(&one);
}

/* The signal that ends a child which runs the function; 0: it returns. */
static int
signal_of(void (*function)(void))
{
	pid_t child = fork();
	int status;

	assert_true(child >= 0);
	if (child == 0) {
		close(STDERR_FILENO);
		function();
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void
take_both_as_data_thread(void)
{
	lock_mark_data_thread();
	take_both();
}

static void
take_one_after_the_other_as_data_thread(void)
{
	lock_mark_data_thread();
	for (int i = 0; i < 3; i++) {
		lock_acquire(&one);
		lock_release(&one);
		lock_acquire(&other);
		lock_release(&other);
	}
}

static void
take_a_leaf_beside_as_data_thread(void)
{
	lock_mark_data_thread();
	lock_acquire(&one);
	lock_acquire_leaf(&other);
	lock_release(&other);
	lock_release(&one);
}

static void
take_a_lock_beside_a_leaf_as_data_thread(void)
{
	lock_mark_data_thread();
	lock_acquire_leaf(&other);
	lock_acquire(&one);
}

static void
release_what_is_not_held(void)
{
	lock_release(&one);
}

static void
data_thread_aborts_when_it_takes_a_second_lock(void **state)
{
	(void)state;
	assert_int_equal(signal_of(take_both_as_data_thread), SIGABRT);
	assert_int_equal(signal_of(take_one_after_the_other_as_data_thread), 0);
}

static void
data_thread_may_take_a_leaf_beside_a_lock(void **state)
{
	(void)state;
	assert_int_equal(signal_of(take_a_leaf_beside_as_data_thread), 0);
	assert_int_equal(
	    signal_of(take_a_lock_beside_a_leaf_as_data_thread), SIGABRT);
}

static void
other_threads_may_hold_two_locks(void **state)
{
	(void)state;
	assert_int_equal(signal_of(take_both), 0);
}

static void
releasing_a_lock_that_is_not_held_aborts(void **state)
{
	(void)state;
	assert_int_equal(signal_of(release_what_is_not_held), SIGABRT);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(data_thread_aborts_when_it_takes_a_second_lock),
	    cmocka_unit_test(data_thread_may_take_a_leaf_beside_a_lock),
	    cmocka_unit_test(other_threads_may_hold_two_locks),
	    cmocka_unit_test(releasing_a_lock_that_is_not_held_aborts),
	};

	unit_watchdog();
	lock_init(&other);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
