/* SPDX-License-Identifier: MIT
 * See upgrade_program.h.
 */
#include "handover/upgrade_program.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/notify.h"
#include "base/secrets.h"
#include "net/handover.h"
#include "net/inherited.h"
#include "process/root.h"
#include "process/syscall_filter.h"
#include "process/system_facts.h"

/* Marks functions that run in another process that shares the memory: a
 * sanitizer would take that process for a part of this one. */
#define NOT_SANITIZED                                                          \
	__attribute__((no_sanitize_thread, no_sanitize_address,                \
	    no_sanitize("undefined")))

/* ThreadSanitizer's clone makes a process stop looking for races, as it has to
 * in a child of fork.  Here that would be this process. */
#ifdef __SANITIZE_THREAD__
#define clone __clone
int __clone(int (*function)(void *), void *stack, int flags, void *arg, ...);
#endif

/* The stack of a new process until execve. */
#define STACK_SIZE ((size_t)64 * 1024)

static char *const *own_argv;

void
upgrade_set_arguments(char *const *argv)
{
	own_argv = argv;
}

/* Returns the environment of this process with the variables of the other one.
 * The caller frees the array, and not its strings.  Returns NULL when memory is
 * short. */
static char **
make_environment(char *variables[], size_t n)
{
	size_t old_n = 0;
	char **all;

	while (environ[old_n])
		old_n++;
	all = calloc(old_n + n + 1, sizeof(*all));
	if (!all)
		return NULL;
	memcpy(all, environ, old_n * sizeof(*all));
	memcpy(all + old_n, variables, n * sizeof(*all));
	return all;
}

/* The program, environment and channel that a new process gets. */
struct start {
	const char *path;
	char **environment;
	int channel;
	int error; /* errno of execve(2); 0: none */
};

static int
spawn_child(const struct start *start, pid_t *ret_pid)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t none;
	int rc;

	sigemptyset(&none);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setpgroup(&attributes, 0);
	posix_spawnattr_setflags(
	    &attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
	posix_spawn_file_actions_init(&actions);
	rc = posix_spawn_file_actions_adddup2(
	    &actions, start->channel, INHERITED_FIRST);
	if (rc == 0)
		rc = posix_spawn(ret_pid, start->path, &actions, &attributes,
		    own_argv, start->environment);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attributes);
	return rc;
}

/* Resets the signals that have a handler, and blocks none. */
static NOT_SANITIZED void
unhandle_signals(void)
{
	static const uint64_t
	    zeros[8]; /* a kernel's struct sigaction, or set */
	struct sigaction action;

	for (int n = 1; n < NSIG; n++)
		if (sigaction(n, NULL, &action) == 0 &&
		    action.sa_handler != SIG_IGN)
			(void)syscall(
			    SYS_rt_sigaction, n, zeros, NULL, NSIG / 8);
	(void)syscall(SYS_rt_sigprocmask, SIG_SETMASK, zeros, NULL, NSIG / 8);
}

/* Runs in the new process, which shares this one's memory until execve.  Makes
 * all changes by system calls: a sanitizer would take others for changes of
 * this process. */
static NOT_SANITIZED int
run_sibling(void *arg)
{
	struct start *start = arg;
	long rc;

	unhandle_signals();
	(void)setpgid(0, 0);
	rc = start->channel == INHERITED_FIRST
	         ? syscall(SYS_fcntl, INHERITED_FIRST, F_SETFD, 0)
	         : syscall(SYS_dup3, start->channel, INHERITED_FIRST, 0);
	if (rc >= 0)
		(void)syscall(
		    SYS_execve, start->path, own_argv, start->environment);
	start->error = errno;
	syscall(SYS_exit_group, 127);
	__builtin_unreachable();
}

/* Starts a child of this process's parent.  Returns 0 or an errno value. */
static int
spawn_sibling(struct start *start, pid_t *ret_pid)
{
	char *stack = malloc(STACK_SIZE);
	sigset_t all, former;
	int pid, error;

	if (!stack)
		return ENOMEM;
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &former);
	pid = clone(run_sibling, stack + STACK_SIZE,
	    CLONE_VM | CLONE_VFORK | CLONE_PARENT | SIGCHLD, start);
	error = pid < 0 ? errno : start->error;
	pthread_sigmask(SIG_SETMASK, &former, NULL);
	free(stack);
	if (error == 0)
		*ret_pid = pid;
	return error;
}

/* Note: whose child the successor is.
 * A service manager is told when a child of its own ends, so the main process
 * of the service has to be its child.  systemd does not notice the end of
 * another main process before all processes of the service have ended, takes
 * that for a clean end, and starts no other one.  Process 1 has no parent whose
 * child the new process could be.
 *
 * The new process has the channel as descriptor INHERITED_FIRST, and no other
 * descriptors besides the standard ones.  *ret_child: whether it is a child of
 * this process.  Returns 0 or an errno value. */
static int
spawn_program(const char *path, int channel, pid_t *ret_pid, bool *ret_child)
{
	char handover[40], notify[160], watchdog[48];
	char filter[SYSCALL_FILTER_VARIABLE_SIZE];
	char root[ROOT_VARIABLE_SIZE];
	char *variables[6] = {handover};
	struct start start = {.path = path, .channel = channel};
	size_t n = 2;
	int rc;

	if (!secrets_variable(&variables[1]))
		return ENOMEM;
	snprintf(
	    handover, sizeof(handover), HANDOVER_ENV "=%d", INHERITED_FIRST);
	*ret_child = !notify_is_open() || getpid() == 1;
	if (notify_variables(
	        notify, sizeof(notify), watchdog, sizeof(watchdog))) {
		variables[n++] = notify;
		if (*watchdog)
			variables[n++] = watchdog;
	}
	if (syscall_filter_variable(filter))
		variables[n++] = filter;
	if (root_variable(root))
		variables[n++] = root;
	start.environment = make_environment(variables, n);
	rc = !start.environment ? ENOMEM
	     : *ret_child       ? spawn_child(&start, ret_pid)
	                        : spawn_sibling(&start, ret_pid);
	free(start.environment);
	free(variables[1]);
	return rc;
}

/* Writes the path that this process was started from, also if the file there
 * has been replaced since.  Without /proc, as in a chroot, only an absolute
 * path is known.  Returns false with err set. */
static bool
own_path(char *out, size_t size, struct err *err)
{
	static const char gone[] = " (deleted)";
	const char *at_exec = (const char *)getauxval(AT_EXECFN);
	ssize_t n = readlink("/proc/self/exe", out, size - 1);
	size_t tail = sizeof(gone) - 1;

	if (n < 0 && at_exec && at_exec[0] == '/' && strlen(at_exec) < size) {
		strcpy(out, at_exec);
		return true;
	}
	if (n < 0)
		return err_set(err,
		    "the path of this program cannot be read: %s; name one",
		    strerror(errno));
	out[n] = '\0';
	if ((size_t)n > tail && strcmp(out + n - tail, gone) == 0)
		out[n - (ssize_t)tail] = '\0';
	return true;
}

bool
upgrade_is_due(void)
{
	struct stat runs, there;
	char path[4096];
	struct err err;

	return own_path(path, sizeof(path), &err) &&
	       stat("/proc/self/exe", &runs) == 0 && stat(path, &there) == 0 &&
	       (runs.st_dev != there.st_dev || runs.st_ino != there.st_ino);
}

bool
upgrade_has_ended(pid_t pid, int channel)
{
	struct pollfd end = {.fd = channel, .events = POLLRDHUP};

	return (poll(&end, 1, 0) > 0 &&
	           end.revents & (POLLRDHUP | POLLHUP | POLLERR)) ||
	       system_is_zombie(pid);
}

static bool
start_program(
    struct upgrade_process *process, const char *path, struct err *err)
{
	int ends[2], rc;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return err_set(
		    err, "no socket for the hand-over: %s", strerror(errno));
	process->channel = ends[0];
	rc = fcntl(ends[0], F_SETFL, O_NONBLOCK) < 0
	         ? errno
	         : spawn_program(
	               path, ends[1], &process->pid, &process->is_child);
	process->started = rc == 0;
	close(ends[1]);
	return rc == 0 ||
	       err_set(err, "'%s' cannot be started: %s", path, strerror(rc));
}

/* Connects to a process that waits at the abstract address `@NAME`. */
static bool
connect_to_process(
    struct upgrade_process *process, const char *name, struct err *err)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	struct ucred peer;
	socklen_t size = sizeof(peer);
	size_t n = strnlen(name, sizeof(addr.sun_path));
	int fd =
	    socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	process->channel = fd;
	if (n == sizeof(addr.sun_path))
		return err_set(err, "'%.60s...' is too long a name", name);
	memcpy(addr.sun_path + 1, name + 1, n - 1);
	if (fd < 0 ||
	    connect(fd, (const struct sockaddr *)&addr,
	        (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n)) < 0 ||
	    getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0)
		return err_set(
		    err, "no process waits at '%s': %s", name, strerror(errno));
	if (peer.uid != 0 && peer.uid != geteuid())
		return err_set(err,
		    "the process at '%s' is another user's (uid %u)", name,
		    (unsigned)peer.uid);
	process->pid = peer.pid;
	return true;
}

bool
upgrade_reach(
    struct upgrade_process *process, const char *path, struct err *err)
{
	char own[4096];

	if (path && *path == '@')
		return connect_to_process(process, path, err);
	if (*root_text() && !notify_can_be_reached())
		return err_set(err,
		    "the successor could not tell the service manager that it "
		    "serves: its socket (NOTIFY_SOCKET) is outside of chroot = "
		    "%.200s; bind-mount it there, or use RootDirectory= of the "
		    "unit instead",
		    root_text());
	return (path || own_path(own, sizeof(own), err)) &&
	       start_program(process, path ? path : own, err);
}
