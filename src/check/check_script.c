/* SPDX-License-Identifier: MIT
 * The script check: a server is healthy if the operator's command ends with
 * status 0.
 *
 * The command runs in a process group of its own (child.h), which is killed
 * when the command has ended, the timeout has passed, or lfproxy ends.  Its
 * output is read so that it never blocks on it; the first line is kept.  The
 * loop has to be the default one: no other loop of libev has child watchers.
 */
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
#define VARIABLES_MAX 24
#define ARGUMENTS     4 /* of a script that is written for HAProxy */
#define PATH_DEFAULT                                                           \
	"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

extern char **environ;

struct script_run {
	struct check *check;
	pid_t pid; /* 0: not started, killed, or ended */
	int fd;    /* its output */
	ev_child child;
	ev_io io;
	ev_timer timeout;
	char line[LINE_SIZE]; /* the first */
	size_t n;
	bool whole; /* there is more than the first line */
};

static void
script_keep_line(struct script_run *run, const char *data, size_t n)
{
	for (size_t i = 0; i < n && !run->whole; i++) {
		if (data[i] == '\n' || run->n + 1 == sizeof(run->line))
			run->whole = true;
		else
			run->line[run->n++] = data[i] ? data[i] : '?';
	}
}

/* Reads the output, within a budget, so that a command that prints without end
 * does not hold up the loop. */
static void
script_read(struct script_run *run)
{
	char data[4096];
	ssize_t n = 1;

	for (int i = 0; i < 8 && n > 0; i++) {
		n = read(run->fd, data, sizeof(data));
		if (n > 0)
			script_keep_line(run, data, (size_t)n);
	}
	if (n == 0)
		ev_io_stop(run->check->loop, &run->io);
}

static void
script_on_output(struct ev_loop *loop, ev_io *io, int events)
{
	(void)loop;
	(void)events;
	script_read(io->data);
}

/* Kills the command and the processes that it has started. */
static void
script_kill(struct script_run *run)
{
	child_kill(run->pid);
	run->pid = 0;
	script_read(run);
}

static void
script_on_exit(struct ev_loop *loop, ev_child *child, int events)
{
	struct script_run *run = child->data;
	int status = child->rstatus;
	char text[LINE_SIZE + 40];

	(void)loop;
	(void)events;
	script_kill(run);
	if (WIFEXITED(status)) {
		check_done(run->check,
		    WEXITSTATUS(status) == 0 ? CHECK_STATUS_PROCOK
		                             : CHECK_STATUS_PROCERR,
		    (unsigned)WEXITSTATUS(status), run->line);
		return;
	}
	snprintf(text, sizeof(text), "killed by signal %d (SIG%s)%s%s",
	    WTERMSIG(status), sigabbrev_np(WTERMSIG(status)),
	    run->n > 0 ? ": " : "", run->line);
	check_done(run->check, CHECK_STATUS_PROCERR, 0, text);
}

static void
script_on_timeout(struct ev_loop *loop, ev_timer *timer, int events)
{
	struct script_run *run = timer->data;

	(void)loop;
	(void)events;
	/* libev reaps the command, whether a watcher waits for it or not. */
	script_kill(run);
	check_done(run->check, CHECK_STATUS_PROCTOUT, 0,
	    run->n > 0 ? run->line : "killed, because it did not end in time");
}

/* HAProxy's arguments: the address and the port of the proxy's first listener,
 * and those of the server, also if its checks go to another address or port.
 * NOT_USED stands for both of the former, since a backend has no listener, and
 * for the port of a unix socket; the variables of HAProxy are empty then. */
struct script_arguments {
	char *words[ARGUMENTS];
	char host[INET6_ADDRSTRLEN], port[8];
	struct addr addr;
};

static void
script_arguments_init(
    struct script_arguments *arguments, const struct addr *addr)
{
	static char not_used[] = "NOT_USED";
	struct endpoint e;

	arguments->addr = *addr;
	endpoint_set(&e, &addr->sa, addr->len);
	endpoint_host(&e, arguments->host);
	snprintf(arguments->port, sizeof(arguments->port), "%u", e.port);
	arguments->words[0] = arguments->words[1] = not_used;
	arguments->words[2] = arguments->host;
	arguments->words[3] = arguments->port;
	if (addr->sa.sa_family != AF_UNIX)
		return;
	arguments->words[2] = arguments->addr.un.sun_path;
	arguments->words[3] = not_used;
}

/* Makes the variables that describe the check, and sets *ret_n to their number.
 * Returns false when memory is short; the variables made so far are then the
 * caller's to free as well. */
static bool
script_describe(const struct check *check,
    const struct script_arguments *arguments, char *variables[VARIABLES_MAX],
    size_t *ret_n)
{
	const struct server *server = check->server;
	const struct addr addr = server->check.addr;
	const char *backend = server->backend->spec->name;
	const char *name = server->spec->name;
	unsigned sessions = atomic_load_relaxed(&server->sessions->now);
	bool local = arguments->addr.sa.sa_family == AF_UNIX;
	char text[ADDR_TEXT_SIZE], host[INET6_ADDRSTRLEN];
	struct endpoint e;
	size_t n = 0;
	bool ok = true;

#define ADD(...)                                                               \
	if (asprintf(&variables[n], __VA_ARGS__) >= 0)                         \
		n++;                                                           \
	else                                                                   \
		ok = false
	endpoint_set(&e, &addr.sa, addr.len);
	ADD("LFPROXY_BACKEND=%s", backend);
	ADD("LFPROXY_SERVER=%s", name);
	ADD("LFPROXY_ADDRESS=%s", addr_text(&addr, text));
	ADD("LFPROXY_HOST=%s", endpoint_host(&e, host));
	ADD("LFPROXY_PORT=%u", e.port);
	ADD("LFPROXY_STATE=%s", server_is_up(server) ? "up" : "down");
	ADD("LFPROXY_CHECK_STATUS=%s",
	    check_status_name(server->state->last.status));
	ADD("LFPROXY_WEIGHT=%u", server_weight(server));
	ADD("LFPROXY_SESSIONS=%u", sessions);
	/* Scripts written for HAProxy expect these. */
	ADD("HAPROXY_PROXY_NAME=%s", backend);
	ADD("HAPROXY_PROXY_ID=%u", server->backend->id);
	ADD("HAPROXY_PROXY_ADDR=");
	ADD("HAPROXY_PROXY_PORT=");
	ADD("HAPROXY_SERVER_NAME=%s", name);
	ADD("HAPROXY_SERVER_ID=%u", server->id);
	ADD("HAPROXY_SERVER_ADDR=%s", arguments->words[2]);
	ADD("HAPROXY_SERVER_PORT=%s", local ? "" : arguments->words[3]);
	ADD("HAPROXY_SERVER_CURCONN=%u", sessions);
	ADD("HAPROXY_SERVER_MAXCONN=%u", server->spec->maxconn);
	ADD("HAPROXY_SERVER_SSL=%d", server->tls != NULL);
	ADD("HAPROXY_SERVER_PROTO=tcp");
#undef ADD
	*ret_n = n;
	return ok;
}

/* Returns whether commands get this variable of lfproxy's environment.  Other
 * variables may hold secrets that do not concern a command. */
static bool
script_passes_on(const char *variable)
{
	static const char *const names[] = {"PATH=", "HOME=", "USER=",
	    "LOGNAME=", "LANG=", "LANGUAGE=", "LC_", "TZ=", "TMPDIR="};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strncmp(variable, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

/* Splits the command into words, in place, and ends the list with NULL.  A
 * command without arguments of its own gets HAProxy's. */
static void
script_split(
    char *command, const struct script_arguments *arguments, char **words)
{
	size_t n = 0;
	char *word;

	while ((word = strsep(&command, " \t")))
		if (*word)
			words[n++] = word;
	for (size_t i = 0; n == i + 1 && i < ARGUMENTS; i++)
		words[n++] = arguments->words[i];
	words[n] = NULL;
}

/* Starts the command.  Returns 0 or an errno. */
static int
script_run(struct script_run *run)
{
	static char path[] = PATH_DEFAULT;
	const struct backend_spec *spec = run->check->server->backend->spec;
	char *command = strdup(spec->check_command);
	struct script_arguments arguments;
	char **words = NULL, **env;
	int ends[2] = {-1, -1}, rc = ENOMEM;
	size_t own = 0, n = 0;

	while (environ[n])
		n++;
	env = calloc(VARIABLES_MAX + n + 2, sizeof(*env));
	if (command)
		words =
		    calloc(strlen(command) / 2 + ARGUMENTS + 2, sizeof(*words));
	script_arguments_init(&arguments, server_addr(run->check->server));
	if (!words || !env ||
	    !script_describe(run->check, &arguments, env, &own))
		goto out;
	n = own;
	for (char **at = environ; *at; at++)
		if (script_passes_on(*at))
			env[n++] = *at;
	env[n++] = getenv("PATH") ? NULL : path;
	env[n] = NULL;
	if (pipe2(ends, O_CLOEXEC) < 0) {
		rc = errno;
		goto out;
	}
	(void)fcntl(ends[0], F_SETFL, O_NONBLOCK);
	script_split(command, &arguments, words);
	rc = child_start(words, env, ends[1], &run->pid);
	close(ends[1]);
	run->fd = ends[0];
out:
	while (own > 0)
		free(env[--own]);
	free(env);
	free(words);
	free(command);
	return rc;
}

static bool
script_start(struct check *check)
{
	struct script_run *run = check->run;
	int error;

	ENSURE(ev_is_default_loop(check->loop));
	run->check = check;
	run->fd = -1;
	run->child.data = run->io.data = run->timeout.data = run;
	ev_init(&run->child, script_on_exit);
	ev_init(&run->io, script_on_output);
	ev_init(&run->timeout, script_on_timeout);
	ev_set_priority(&run->timeout, CHECK_TIMEOUT_PRIORITY);
	error = script_run(run);
	switch (error) {
	case 0:
		break;
	case EAGAIN:
	case EMFILE:
	case ENFILE:
	case ENOMEM:
		check_skip(check, error);
		return true;
	default:
		check_done(check, CHECK_STATUS_PROCERR, 0, strerror(error));
		return true;
	}
	ev_child_set(&run->child, run->pid, 0);
	ev_child_start(check->loop, &run->child);
	ev_io_set(&run->io, run->fd, EV_READ);
	ev_io_start(check->loop, &run->io);
	ev_now_update(check->loop);
	ev_timer_set(
	    &run->timeout, (double)check->server->check.timeout_ms / 1e3, 0.);
	ev_timer_start(check->loop, &run->timeout);
	return true;
}

/* Ends the run.  A process that is killed ends within a moment, unless it hangs
 * in the kernel: then libev reaps it later, or init, when lfproxy has ended. */
static void
script_end(struct check *check)
{
	const struct timespec moment = {.tv_nsec = 1000000};
	struct script_run *run = check->run;

	ev_child_stop(check->loop, &run->child);
	ev_io_stop(check->loop, &run->io);
	ev_timer_stop(check->loop, &run->timeout);
	if (run->fd >= 0)
		close(run->fd);
	if (run->pid == 0)
		return;
	child_kill(run->pid);
	for (int i = 0; i < 20 && waitpid(run->pid, NULL, WNOHANG) == 0; i++)
		nanosleep(&moment, NULL);
}

const struct check_ops check_script_ops = {
    .run_size = sizeof(struct script_run),
    .start = script_start,
    .end = script_end,
};
