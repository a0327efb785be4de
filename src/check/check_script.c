/* SPDX-License-Identifier: MIT
 * The script check: a command of the operator's ends with status 0.
 *
 * It runs in a process group of its own (child.h), which is killed when the
 * command has ended, the timeout has passed, or lfproxy ends.  What it prints
 * is read so that it never blocks; the first line is kept.  The loop is the
 * default one: libev has child watchers nowhere else.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/ensure.h"
#include "check/check.h"
#include "check/child.h"

#define LINE_SIZE     160
#define VARIABLES_MAX 16
#define PATH_DEFAULT                                                           \
	"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

extern char **environ;

struct script_run {
	struct check *check;
	pid_t pid;
	int fd; /* what it prints */
	ev_child child;
	ev_io io;
	ev_timer timeout;
	char line[LINE_SIZE]; /* the first */
	size_t n;
	bool whole; /* there is more than the first line */
};

static void
run_free(struct check *check)
{
	struct script_run *run = check->run;

	ev_child_stop(check->loop, &run->child);
	ev_io_stop(check->loop, &run->io);
	ev_timer_stop(check->loop, &run->timeout);
	if (run->fd >= 0)
		close(run->fd);
	free(run);
	check->run = NULL;
}

static void
keep(struct script_run *run, const char *data, size_t n)
{
	for (size_t i = 0; i < n && !run->whole; i++) {
		if (data[i] == '\n' || run->n + 1 == sizeof(run->line))
			run->whole = true;
		else
			run->line[run->n++] = data[i] ? data[i] : '?';
	}
}

/* A budget, so that one that prints without end does not hold up the loop. */
static void
read_output(struct script_run *run)
{
	char data[4096];
	ssize_t n = 1;

	for (int i = 0; i < 8 && n > 0; i++) {
		n = read(run->fd, data, sizeof(data));
		if (n > 0)
			keep(run, data, (size_t)n);
	}
	if (n == 0)
		ev_io_stop(run->check->loop, &run->io);
}

static void
on_output(struct ev_loop *loop, ev_io *io, int events)
{
	(void)loop;
	(void)events;
	read_output(io->data);
}

static void
on_exit_of(struct ev_loop *loop, ev_child *child, int events)
{
	struct script_run *run = child->data;
	struct check *check = run->check;
	int status = child->rstatus;
	char text[LINE_SIZE + 40];
	bool exited = WIFEXITED(status);

	(void)loop;
	(void)events;
	child_kill(run->pid);
	read_output(run);
	if (exited)
		snprintf(text, sizeof(text), "%s", run->line);
	else
		snprintf(text, sizeof(text), "killed by signal %d (SIG%s)%s%s",
		    WTERMSIG(status), sigabbrev_np(WTERMSIG(status)),
		    run->n > 0 ? ": " : "", run->line);
	run_free(check);
	check_done(check,
	    exited && WEXITSTATUS(status) == 0 ? CHECK_STATUS_PROCOK
	                                       : CHECK_STATUS_PROCERR,
	    exited ? (unsigned)WEXITSTATUS(status) : 0, text);
}

static void
on_timeout(struct ev_loop *loop, ev_timer *timer, int events)
{
	struct script_run *run = timer->data;
	struct check *check = run->check;
	char text[LINE_SIZE];

	(void)loop;
	(void)events;
	/* libev reaps it, watched or not. */
	child_kill(run->pid);
	read_output(run);
	snprintf(text, sizeof(text), "%s", run->line);
	run_free(check);
	check_done(check, CHECK_STATUS_PROCTOUT, 0,
	    text[0] ? text : "killed, because it did not end in time");
}

/* Fills variables, which the caller frees, in any case; false when memory is
 * short. */
static bool
describe(const struct check *check, char *variables[VARIABLES_MAX])
{
	const struct server *server = check->server;
	struct addr at = server->check.addr;
	const struct addr *addr = &at;
	const char *backend = server->backend->spec->name;
	const char *name = server->spec->name;
	unsigned sessions = atomic_load_relaxed(&server->sessions->now);
	struct endpoint e;
	char text[ADDR_TEXT_SIZE], host[INET6_ADDRSTRLEN];
	unsigned n = 0;
	bool ok = true;

	endpoint_set(&e, &addr->sa, addr->len);
	endpoint_host(&e, host);
#define ADD(...)                                                               \
	if (asprintf(&variables[n], __VA_ARGS__) >= 0)                         \
		n++;                                                           \
	else                                                                   \
		ok = false
	ADD("LFPROXY_BACKEND=%s", backend);
	ADD("LFPROXY_SERVER=%s", name);
	ADD("LFPROXY_ADDRESS=%s", addr_text(addr, text));
	ADD("LFPROXY_HOST=%s", host);
	ADD("LFPROXY_PORT=%u", e.port);
	ADD("LFPROXY_STATE=%s", server_is_up(server) ? "up" : "down");
	ADD("LFPROXY_CHECK_STATUS=%s",
	    check_status_name(server->state->last.status));
	ADD("LFPROXY_WEIGHT=%u", server_weight(server));
	ADD("LFPROXY_SESSIONS=%u", sessions);
	/* So that scripts written for HAProxy find what they know. */
	ADD("HAPROXY_PROXY_NAME=%s", backend);
	ADD("HAPROXY_SERVER_NAME=%s", name);
	ADD("HAPROXY_SERVER_ADDR=%s",
	    addr->sa.sa_family == AF_UNIX ? addr->un.sun_path : host);
	ADD("HAPROXY_SERVER_PORT=%u", e.port);
	ADD("HAPROXY_SERVER_CURCONN=%u", sessions);
	ADD("HAPROXY_SERVER_MAXCONN=%u", server->spec->maxconn);
#undef ADD
	variables[n] = NULL; /* what asprintf(3) leaves there is undefined */
	return ok;
}

/* Returns whether commands get this variable of lfproxy's environment. Others
 * may hold secrets that do not concern a command. */
static bool
is_passed_on(const char *variable)
{
	static const char *const names[] = {"PATH=", "HOME=", "USER=",
	    "LOGNAME=", "LANG=", "LANGUAGE=", "LC_", "TZ=", "TMPDIR="};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strncmp(variable, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

/* Returns the variables and those that are passed on, or NULL when memory is
 * short. */
static char **
make_environment(char *variables[VARIABLES_MAX])
{
	static char path[] = PATH_DEFAULT;
	size_t n = 0, room = 0;
	char **all;

	while (environ[room])
		room++;
	all = calloc(VARIABLES_MAX + room + 2, sizeof(*all));
	if (!all)
		return NULL;
	while (variables[n]) {
		all[n] = variables[n];
		n++;
	}
	for (char **at = environ; *at; at++)
		if (is_passed_on(*at))
			all[n++] = *at;
	if (!getenv("PATH"))
		all[n] = path;
	return all;
}

/* The command's words, in place. */
static size_t
split(char *command, char **words)
{
	size_t n = 0;
	char *word;

	while ((word = strsep(&command, " \t")))
		if (*word)
			words[n++] = word;
	words[n] = NULL;
	return n;
}

static int
run_command(struct script_run *run)
{
	const struct backend_spec *spec = run->check->server->backend->spec;
	char *command = strdup(spec->check_command);
	char *variables[VARIABLES_MAX] = {NULL};
	char **words = NULL, **env = NULL;
	int ends[2] = {-1, -1}, rc = ENOMEM;

	if (command)
		words = calloc(strlen(command) / 2 + 2, sizeof(*words));
	if (!words || !describe(run->check, variables) ||
	    !(env = make_environment(variables)))
		goto out;
	if (pipe2(ends, O_CLOEXEC) < 0) {
		rc = errno;
		goto out;
	}
	(void)fcntl(ends[0], F_SETFL, O_NONBLOCK);
	split(command, words);
	rc = child_start(words, env, ends[1], &run->pid);
	close(ends[1]);
	run->fd = ends[0];
out:
	for (size_t i = 0; i < VARIABLES_MAX; i++)
		free(variables[i]);
	free(env);
	free(words);
	free(command);
	return rc;
}

static void
could_not_run(struct check *check, int error)
{
	run_free(check);
	switch (error) {
	case EAGAIN:
	case EMFILE:
	case ENFILE:
	case ENOMEM:
		check_skip(check, error);
		return;
	default:
		check_done(check, CHECK_STATUS_PROCERR, 0, strerror(error));
	}
}

static void
script_start(struct check *check)
{
	struct script_run *run = calloc(1, sizeof(*run));
	int error;

	ENSURE(ev_is_default_loop(check->loop));
	if (!run) {
		check_skip(check, ENOMEM);
		return;
	}
	check->run = run;
	run->check = check;
	run->fd = -1;
	run->child.data = run->io.data = run->timeout.data = run;
	ev_init(&run->child, on_exit_of);
	ev_init(&run->io, on_output);
	ev_init(&run->timeout, on_timeout);
	error = run_command(run);
	if (error) {
		could_not_run(check, error);
		return;
	}
	ev_child_set(&run->child, run->pid, 0);
	ev_child_start(check->loop, &run->child);
	ev_io_set(&run->io, run->fd, EV_READ);
	ev_io_start(check->loop, &run->io);
	ev_now_update(check->loop);
	ev_timer_set(
	    &run->timeout, (double)check->server->check.timeout_ms / 1e3, 0.);
	ev_timer_start(check->loop, &run->timeout);
}

/* Killed, a process ends within a moment, unless it hangs in the kernel: then
 * libev reaps it later, or, when lfproxy ends, init. */
static void
script_cancel(struct check *check)
{
	const struct timespec moment = {.tv_nsec = 1000000};
	pid_t pid = ((struct script_run *)check->run)->pid;

	run_free(check);
	child_kill(pid);
	for (int i = 0; i < 20 && waitpid(pid, NULL, WNOHANG) == 0; i++)
		nanosleep(&moment, NULL);
}

const struct check_ops check_script_ops = {
    .start = script_start,
    .cancel = script_cancel,
};
