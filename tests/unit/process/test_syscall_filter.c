/* SPDX-License-Identifier: MIT
 * The lists of system calls, and the filter that is made of them.  A filter
 * stays as long as its process, so each test of it has a process of its own.
 */
#include "process/syscall_filter.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "process/syscalls.h"
#include "unit.h"

/* The last number that is the same on all architectures and that the lists
 * decide about: cachestat. */
#define NUMBER_MAX 451

/* Names that libseccomp 2.5.4 does not know. */
static const char *const new_names[] = {"cachestat", "fchmodat2",
    "file_getattr", "file_setattr", "futex_requeue", "futex_wait", "futex_wake",
    "getxattrat", "listxattrat", "map_shadow_stack", "mseal", "open_tree_attr",
    "removexattrat", "riscv_hwprobe", "set_mempolicy_home_node", "setxattrat",
    "uprobe", "uretprobe", NULL};

static size_t
count(const char *const *list, const char *name)
{
	size_t n = 0;

	for (; *list; list++)
		n += strcmp(*list, name) == 0;
	return n;
}

static size_t
count_in_all(const char *name)
{
	return count(syscalls_allowed, name) + count(syscalls_refused, name) +
	       count(syscalls_conditional, name);
}

static void
check_numbers(uint32_t machine)
{
	for (int number = 0; number <= NUMBER_MAX; number++) {
		char *name = seccomp_syscall_resolve_num_arch(machine, number);

		if (name && count_in_all(name) != 1)
			fail_msg("%s (%d) is in %zu lists", name, number,
			    count_in_all(name));
		free(name);
	}
}

static void
each_system_call_is_in_one_list(void **state)
{
	check_numbers(SCMP_ARCH_NATIVE);
	check_numbers(SCMP_ARCH_X86_64);
	check_numbers(SCMP_ARCH_AARCH64);
}

static void
check_names(const char *const *list)
{
	for (; *list; list++) {
		if (count_in_all(*list) != 1)
			fail_msg("%s is in several lists", *list);
		if (seccomp_syscall_resolve_name(*list) == __NR_SCMP_ERROR &&
		    count(new_names, *list) == 0)
			fail_msg("%s is not a system call", *list);
	}
}

static void
each_name_is_one_of_libseccomp(void **state)
{
	check_names(syscalls_allowed);
	check_names(syscalls_refused);
	check_names(syscalls_conditional);
	for (const char *const *name = syscalls_of_sanitizers; *name; name++)
		assert_int_equal(count(syscalls_refused, *name), 1);
}

/* -- in a process of its own -- */

enum { PASSED, FAILED, SKIPPED };

#define CHECK(condition)                                                       \
	do {                                                                   \
		if (!(condition)) {                                            \
			fprintf(stderr, "# line %d: %s: %s\n", __LINE__,       \
			    #condition, strerror(errno));                      \
			_exit(FAILED);                                         \
		}                                                              \
	} while (0)

static void
set_filter(enum seccomp_mode mode)
{
	struct err err;

	CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
	if (!syscall_filter_set(mode, &err)) {
		fprintf(stderr, "# %s\n", err.text);
		_exit(SKIPPED);
	}
}

static void
in_child(void (*body)(void))
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0) {
		body();
		_exit(PASSED);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == SKIPPED) {
		print_message("skipped: this needs a filter of system calls, "
		              "or a right, that is not permitted here\n");
		skip();
	}
	assert_int_equal(WEXITSTATUS(status), PASSED);
}

static bool
fails(long result, int error)
{
	return result == -1 && errno == error;
}

static bool
is_refused(int number)
{
	return fails(syscall(number, -1L, -1L, -1L, -1L, -1L, -1L), EPERM);
}

static void
try_refused(void)
{
	set_filter(SECCOMP_ON);
	for (const char *const *name = syscalls_refused; *name; name++) {
		int number = seccomp_syscall_resolve_name(*name);

		if (number < 0 || count(syscalls_of_sanitizers, *name) > 0 ||
		    is_refused(number))
			continue;
		fprintf(stderr, "# %s is not refused\n", *name);
		_exit(FAILED);
	}
}

static void
what_is_refused_fails_with_EPERM(void **state)
{
	in_child(try_refused);
}

static void
try_unknown(void)
{
	set_filter(SECCOMP_ON);
	CHECK(fails(syscall(100000), ENOSYS));
	CHECK(fails(syscall(SYS_clone3, NULL, 0), ENOSYS));
}

static void
what_the_lists_do_not_know_fails_with_ENOSYS(void **state)
{
	in_child(try_unknown);
}

static void
try_conditions(void)
{
	static const int families[] = {AF_UNIX, AF_INET, AF_INET6, AF_NETLINK};
	static const unsigned long namespaces[] = {CLONE_NEWNS, CLONE_NEWCGROUP,
	    CLONE_NEWUTS, CLONE_NEWIPC, CLONE_NEWUSER, CLONE_NEWPID,
	    CLONE_NEWNET, CLONE_NEWUSER | CLONE_NEWNET};
	pid_t pid;

	set_filter(SECCOMP_ON);
	for (size_t i = 0; i < sizeof(namespaces) / sizeof(*namespaces); i++)
		CHECK(fails(
		    syscall(SYS_clone, namespaces[i] | SIGCHLD, 0, 0, 0, 0),
		    EPERM));
	pid = fork();
	CHECK(pid >= 0);
	if (pid == 0)
		_exit(0);
	CHECK(waitpid(pid, NULL, 0) == pid);
	for (int family = 0; family < 100; family++) {
		bool allowed = false;
		int fd = socket(family, SOCK_RAW | SOCK_CLOEXEC, 255);

		for (size_t i = 0; i < sizeof(families) / sizeof(int); i++)
			allowed |= families[i] == family;
		CHECK(allowed || fails(fd, EAFNOSUPPORT));
		if (fd >= 0)
			close(fd);
	}
	for (size_t i = 0; i + 1 < sizeof(families) / sizeof(int); i++) {
		int fd = socket(families[i], SOCK_STREAM | SOCK_CLOEXEC, 0);

		CHECK(fd >= 0 || errno == EAFNOSUPPORT);
		close(fd);
	}
}

static void
namespaces_and_other_families_are_refused(void **state)
{
	in_child(try_conditions);
}

static pthread_barrier_t barrier;

static void *
wait_and_try(void *arg)
{
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	*(bool *)arg = is_refused(SYS_mount);
	return NULL;
}

static void
try_threads(void)
{
	bool refused = false;
	pthread_t thread;

	CHECK(pthread_barrier_init(&barrier, NULL, 2) == 0);
	CHECK(pthread_create(&thread, NULL, wait_and_try, &refused) == 0);
	pthread_barrier_wait(&barrier);
	set_filter(SECCOMP_ON);
	pthread_barrier_wait(&barrier);
	CHECK(pthread_join(thread, NULL) == 0);
	CHECK(refused);
}

static void
threads_that_run_already_are_filtered(void **state)
{
	in_child(try_threads);
}

static void
try_stricter(void)
{
	CHECK(strcmp(syscall_filter_text(), "on") != 0);
	set_filter(SECCOMP_OFF);
	CHECK(strcmp(syscall_filter_text(), "log") != 0);
	set_filter(SECCOMP_LOG);
	CHECK(strcmp(syscall_filter_text(), "log") == 0);
	CHECK(unshare(0) == 0);
	set_filter(SECCOMP_AUTO);
	CHECK(fails(unshare(0), EPERM));
	set_filter(SECCOMP_OFF);
	CHECK(strcmp(syscall_filter_text(), "on") == 0);
	CHECK(fails(unshare(0), EPERM));
}

static void
a_filter_becomes_stricter_only(void **state)
{
	in_child(try_stricter);
}

static void
try_inherited(void)
{
	char variable[SYSCALL_FILTER_VARIABLE_SIZE];

	CHECK(!syscall_filter_variable(variable));
	set_filter(SECCOMP_ON);
	CHECK(syscall_filter_variable(variable));
	CHECK(putenv(variable) == 0);
	syscall_filter_inherit();
	CHECK(!getenv("LFPROXY_FILTER"));
}

static void
the_variable_is_taken_out_of_the_environment(void **state)
{
	in_child(try_inherited);
}

/* The variable alone sets no filter. */
static void
try_pretended(void)
{
	static char variable[SYSCALL_FILTER_VARIABLE_SIZE];
	int ends[2];
	pid_t pid;

	CHECK(pipe(ends) == 0 && (pid = fork()) >= 0);
	if (pid == 0) {
		set_filter(SECCOMP_ON);
		CHECK(syscall_filter_variable(variable));
		CHECK(write(ends[1], variable, sizeof(variable)) > 0);
		_exit(PASSED);
	}
	close(ends[1]);
	if (read(ends[0], variable, sizeof(variable)) <= 0)
		_exit(SKIPPED);
	CHECK(waitpid(pid, NULL, 0) == pid);
	CHECK(putenv(variable) == 0);
	syscall_filter_inherit();
	set_filter(SECCOMP_ON);
	CHECK(is_refused(SYS_mount));
}

static void
a_filter_that_is_only_pretended_is_set(void **state)
{
	in_child(try_pretended);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(each_system_call_is_in_one_list),
	    cmocka_unit_test(each_name_is_one_of_libseccomp),
	    cmocka_unit_test(what_is_refused_fails_with_EPERM),
	    cmocka_unit_test(what_the_lists_do_not_know_fails_with_ENOSYS),
	    cmocka_unit_test(namespaces_and_other_families_are_refused),
	    cmocka_unit_test(threads_that_run_already_are_filtered),
	    cmocka_unit_test(a_filter_becomes_stricter_only),
	    cmocka_unit_test(the_variable_is_taken_out_of_the_environment),
	    cmocka_unit_test(a_filter_that_is_only_pretended_is_set),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
