/* SPDX-License-Identifier: MIT
 * See child.h.
 */
#include "check/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define FILES_LIMIT 1024

struct start {
	char *const *argv;
	char *const *environment;
	int out;
	pid_t parent;
	volatile int error; /* the child's, in memory that both share */
};

/* The functions from here to "the parent" run in the child, which borrows the
 * parent's memory and stack until it has its own program: they may only make
 * system calls. */

static void
reset_signals(void)
{
	struct sigaction action;
	sigset_t none;

	memset(&action, 0, sizeof(action));
	action.sa_handler = SIG_DFL;
	for (int sig = 1; sig < NSIG; sig++)
		(void)sigaction(sig, &action, NULL);
	sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
}

static bool
set_files(const struct start *start)
{
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	if (null < 0 || dup2(null, STDIN_FILENO) < 0 ||
	    dup2(start->out, STDOUT_FILENO) < 0 ||
	    dup2(start->out, STDERR_FILENO) < 0)
		return false;
	closefrom(STDERR_FILENO + 1);
	return true;
}

static void
set_limits(void)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files) == 0 &&
	    files.rlim_cur > FILES_LIMIT) {
		files.rlim_cur = FILES_LIMIT;
		(void)setrlimit(RLIMIT_NOFILE, &files);
	}
	/* getpriority may return -1 for an error as well, which only errno
	 * would show; setting 0 does no harm then. */
	if (getpriority(PRIO_PROCESS, 0) < 0)
		(void)setpriority(PRIO_PROCESS, 0, 0);
}

static _Noreturn void
run_child(struct start *start)
{
	(void)setpgid(0, 0);
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	/* The parent may have ended before PR_SET_PDEATHSIG was set. */
	if (getppid() != start->parent)
		_exit(127);
	(void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	(void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	umask(022);
	if (set_files(start) && chdir("/") == 0) {
		set_limits();
		reset_signals();
		execve(start->argv[0], start->argv, start->environment);
	}
	start->error = errno;
	_exit(127);
}

/* -- the parent -- */

int
child_start(
    char *const *argv, char *const *environment, int out, pid_t *ret_pid)
{
	struct start start = {.argv = argv,
	    .environment = environment,
	    .out = out,
	    .parent = getpid()};
	sigset_t all, before;
	int error = 0;
	pid_t pid;

	/* Block signals: a handler that ran in the child would run in our
	 * memory. */
	sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	pid = vfork();
	if (pid == 0)
		run_child(&start);
	if (pid < 0)
		error = errno;
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (pid < 0)
		return error;
	if (start.error) {
		/* The child has exited, or is about to: reap it. */
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
		return start.error;
	}
	*ret_pid = pid;
	return 0;
}

void
child_kill(pid_t pid)
{
	(void)kill(-pid, SIGKILL);
}
