/* SPDX-License-Identifier: MIT
 * See parent.h.
 */
#include "lfproxy/parent.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/container.h"
#include "base/log.h"
#include "base/text.h"

#define MESSAGE_SIZE 1024
#define FDS_MAX      16

static struct {
	pid_t main;
	int signals, messages; /* a signalfd, and NOTIFY_SOCKET of the child */
	int manager;           /* a manager outside; -1: none */
} parent;

/* -- signals -- */

static void
block_signals(sigset_t *ret_former)
{
	static const int numbers[] = {
	    SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2, SIGCHLD};
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		sigaddset(&set, numbers[i]);
	(void)sigprocmask(SIG_BLOCK, &set, ret_former);
	parent.signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* Passes the signal on, unless it comes from a terminal, which has sent it to
 * the whole process group. */
static void
pass_signal(const struct signalfd_siginfo *info)
{
	int number = (int)info->ssi_signo;

	if (info->ssi_code == SI_KERNEL && getpgid(parent.main) == getpgrp())
		return;
	if (kill(parent.main, number) == 0 || errno == ESRCH)
		return;
	log_error("SIG%s cannot be passed on to process %d: %s%s",
	    sigabbrev_np(number), (int)parent.main, strerror(errno),
	    number == SIGTERM || number == SIGINT ? "; lfproxy ends" : "");
	if (number == SIGTERM || number == SIGINT)
		_exit(EXIT_FAILURE);
}

/* Reaps all children that have ended.  Exits if the main process is among
 * them. */
static void
reap_children(void)
{
	int status, main_status = -1;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		if (pid == parent.main)
			main_status = status;
	if (main_status == -1)
		return;
	_exit(WIFSIGNALED(main_status) ? 128 + WTERMSIG(main_status)
	                               : WEXITSTATUS(main_status));
}

static void
take_signals(void)
{
	struct signalfd_siginfo info;

	while (read(parent.signals, &info, sizeof(info)) == sizeof(info))
		if (info.ssi_signo == SIGCHLD)
			reap_children();
		else
			pass_signal(&info);
}

/* -- messages -- */

/* Connects to the manager that NOTIFY_SOCKET names. */
static int
open_manager(void)
{
	const char *name = getenv("NOTIFY_SOCKET");
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	size_t len = name ? strlen(name) : 0;
	int fd;

	if (len < 2 || len >= sizeof(addr.sun_path))
		return -1;
	memcpy(addr.sun_path, name, len);
	if (name[0] == '@')
		addr.sun_path[0] = '\0';
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd >= 0 && connect(fd, (const struct sockaddr *)&addr,
	                   (socklen_t)(offsetof(struct sockaddr_un, sun_path) +
	                               len)) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

/* Opens the socket for the child's messages, at an abstract address that the
 * kernel chooses, and names it in the environment. */
static bool
open_messages(void)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	socklen_t size = sizeof(addr);
	char name[sizeof(addr.sun_path) + 1];
	int on = 1, fd;

	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	parent.messages = fd;
	if (fd < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) < 0 ||
	    bind(fd, (const struct sockaddr *)&addr, sizeof(sa_family_t)) < 0 ||
	    getsockname(fd, (struct sockaddr *)&addr, &size) < 0)
		return false;
	snprintf(name, sizeof(name), "@%.*s",
	    (int)(size - offsetof(struct sockaddr_un, sun_path)) - 1,
	    addr.sun_path + 1);
	return setenv("NOTIFY_SOCKET", name, 1) == 0;
}

/* Takes the descriptors and the sender out of a message, and closes the
 * descriptors: a barrier (sd_notify_barrier(3)) waits for that. */
static struct ucred
take_control(struct msghdr *message)
{
	struct ucred sender = {.pid = 0};

	for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c;
	     c = CMSG_NXTHDR(message, c)) {
		size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		int fds[FDS_MAX];

		if (c->cmsg_type == SCM_CREDENTIALS)
			memcpy(&sender, CMSG_DATA(c), sizeof(sender));
		if (c->cmsg_type != SCM_RIGHTS || n > FDS_MAX)
			continue;
		memcpy(fds, CMSG_DATA(c), n * sizeof(int));
		for (size_t i = 0; i < n; i++)
			close(fds[i]);
	}
	return sender;
}

/* Makes the process the main one if it is a living child. */
static void
take_main(const char *text)
{
	siginfo_t info = {.si_pid = 0};
	uint64_t pid;
	struct err err;

	if (text_parse_number(text, 1, INT32_MAX, &pid, &err) &&
	    waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
	    info.si_pid == 0)
		parent.main = (pid_t)pid;
}

/* Becomes the user that the main process has become, and so may send signals to
 * it, also without CAP_KILL. */
static void
become(const struct ucred *user)
{
	if (geteuid() != 0 || user->uid == 0)
		return;
	if (setgroups(0, NULL) < 0 ||
	    setresgid(user->gid, user->gid, user->gid) < 0 ||
	    setresuid(user->uid, user->uid, user->uid) < 0)
		log_warning(
		    "the parent process stays root: %s", strerror(errno));
}

static void
take_message(const char *text, size_t n, const struct ucred *sender)
{
	static const char main_pid[] = "MAINPID=", ready[] = "READY=1";
	static const char *const own[] = {main_pid, "BARRIER=", "FDSTORE"};

	if (sender->pid != parent.main)
		return;
	if (strncmp(text, ready, sizeof(ready) - 1) == 0)
		become(sender);
	if (strncmp(text, main_pid, sizeof(main_pid) - 1) == 0)
		take_main(text + sizeof(main_pid) - 1);
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		if (strncmp(text, own[i], strlen(own[i])) == 0)
			return;
	if (parent.manager >= 0)
		(void)send(parent.manager, text, n, MSG_NOSIGNAL);
}

static void
take_messages(void)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(struct ucred)) +
		           CMSG_SPACE(FDS_MAX * sizeof(int))];
	} control;
	char text[MESSAGE_SIZE];
	struct ucred sender;
	ssize_t n;

	for (;;) {
		struct iovec part = {text, sizeof(text) - 1};
		struct msghdr message = {.msg_iov = &part,
		    .msg_iovlen = 1,
		    .msg_control = &control,
		    .msg_controllen = sizeof(control)};

		n = recvmsg(parent.messages, &message, MSG_CMSG_CLOEXEC);
		if (n < 0)
			return;
		text[n] = '\0';
		sender = take_control(&message);
		take_message(text, (size_t)n, &sender);
	}
}

/* -- both processes -- */

static void
close_own_descriptors(void)
{
	close(parent.signals);
	close(parent.messages);
	if (parent.manager >= 0)
		close(parent.manager);
}

/* A pid in the environment that names this process names the child. */
static void
rename_pid(const char *variable, pid_t former)
{
	const char *value = getenv(variable);
	char text[24];

	if (!value || atoi(value) != (int)former)
		return;
	snprintf(text, sizeof(text), "%d", (int)getpid());
	(void)setenv(variable, text, 1);
}

/* Closes what only the child is to have: sockets that a manager has passed, and
 * the standard descriptors but for standard error. */
static void
keep_own_descriptors(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), last = null;
	const int own[] = {parent.signals, parent.messages, parent.manager};

	if (null >= 0) {
		(void)dup2(null, STDIN_FILENO);
		(void)dup2(null, STDOUT_FILENO);
	}
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		last = own[i] > last ? own[i] : last;
	for (int fd = STDERR_FILENO + 1; fd <= last; fd++)
		if (fd != own[0] && fd != own[1] && fd != own[2])
			close(fd);
	closefrom(last + 1);
}

static _Noreturn void
wait_for_main(void)
{
	struct pollfd fds[2];

	keep_own_descriptors();
	fds[0] = (struct pollfd){.fd = parent.signals, .events = POLLIN};
	fds[1] = (struct pollfd){.fd = parent.messages, .events = POLLIN};
	for (;;) {
		/* Messages first: the main process may have named its
		 * successor before it ended. */
		take_messages();
		take_signals();
		(void)poll(fds, 2, -1);
	}
}

void
parent_stay(void)
{
	pid_t self = getpid();
	sigset_t former;

	if (!container_ends_with_this())
		return;
	parent.manager = open_manager();
	if (!open_messages()) {
		log_warning("an upgrade would end the container: there is no "
		            "socket for messages to the parent process: %s",
		    strerror(errno));
		if (parent.messages >= 0)
			close(parent.messages);
		return;
	}
	block_signals(&former);
	parent.main = parent.signals < 0 ? -1 : fork();
	if (parent.main > 0)
		wait_for_main();
	if (parent.main < 0) {
		log_error("no child process: %s", strerror(errno));
		_exit(EXIT_FAILURE);
	}
	(void)sigprocmask(SIG_SETMASK, &former, NULL);
	close_own_descriptors();
	rename_pid("LISTEN_PID", self);
	rename_pid("WATCHDOG_PID", self);
}
