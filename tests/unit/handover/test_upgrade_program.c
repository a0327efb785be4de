/* SPDX-License-Identifier: MIT
 * Whether the other process of an upgrade has ended.
 */
#include "handover/upgrade_program.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"

static void *
last_thread(void *arg)
{
	(void)arg;
	for (;;)
		pause();
	return NULL;
}

/* A process that has this test's channel until it is killed.  leaderless: its
 * first thread ends, as the others of a process may do later when it is killed.
 */
static pid_t
start_process(int channel[2], bool leaderless)
{
	pthread_t thread;
	pid_t pid;

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, channel), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		close(channel[0]);
		if (pthread_create(&thread, NULL, last_thread, NULL) != 0)
			_exit(1);
		if (leaderless)
			pthread_exit(NULL);
		(void)last_thread(NULL);
	}
	close(channel[1]);
	return pid;
}

static void
end_process(pid_t pid, int channel)
{
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_true(upgrade_has_ended(pid, channel));
	close(channel);
}

static void
a_process_that_lives_has_not_ended(void **state)
{
	int channel[2];
	pid_t pid;

	(void)state;
	pid = start_process(channel, false);
	assert_false(upgrade_has_ended(pid, channel[0]));
	end_process(pid, channel[0]);
}

static void
a_process_without_its_first_thread_has_ended(void **state)
{
	struct pollfd end;
	int channel[2];
	pid_t pid;

	(void)state;
	pid = start_process(channel, true);
	assert_true(unit_wait(upgrade_has_ended(pid, channel[0])));
	end = (struct pollfd){.fd = channel[0], .events = POLLRDHUP};
	assert_int_equal(poll(&end, 1, 0), 0);
	end_process(pid, channel[0]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_process_that_lives_has_not_ended),
	    cmocka_unit_test(a_process_without_its_first_thread_has_ended),
	};

	unit_watchdog();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
