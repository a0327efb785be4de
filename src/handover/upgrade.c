/* SPDX-License-Identifier: MIT
 * See upgrade.h.
 */
#include "handover/upgrade.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/ensure.h"
#include "base/events.h"
#include "base/notify.h"
#include "base/text.h"
#include "base/text_out.h"
#include "handover/handed.h"
#include "handover/lineage.h"
#include "handover/session_sender.h"
#include "handover/upgrade_program.h"
#include "net/handover.h"
#include "proxy/instance.h"

/* How long the service manager may take to confirm, and the interval at which
 * that is checked. */
#define CONFIRM_WAIT_MS 5000
#define CONFIRM_LOOK_MS 2

#define UPGRADE_STOPS "lfproxy is stopping"

/* States of an upgrade.
 *
 *   SENDING --all is sent--> COMMITTED --READY--> CONFIRMING
 *      |                         |                    |
 *      |                         |                    v
 *      +--failed, or stopped-----+-----------> ENDED <-- LEFT
 *
 * SENDING     Sockets and changes of operators go to the successor.
 * COMMITTED   COMMIT, which follows them, is sent: the successor starts.
 * CONFIRMING  The successor serves, as this process does.  The service manager
 *             has still to say that it knows its new main process.
 * LEFT        This process has closed its listening sockets, and its sessions
 *             leave.  It does not go on from here.
 * ENDED       The result is known.
 */
enum upgrade_state {
	UPGRADE_SENDING,
	UPGRADE_COMMITTED,
	UPGRADE_CONFIRMING,
	UPGRADE_LEFT,
	UPGRADE_ENDED,
};

struct upgrade {
	struct lineage *lineage;
	unsigned refs;
	enum upgrade_state state;
	struct upgrade_result result;
	void (*when_done)(const struct upgrade_result *result); /* or NULL */
	struct handed handed;
	char *commands;      /* commands that restore operators' changes */
	const char *unsent;  /* the commands that are still to be sent */
	char *later;         /* what follows LEFT, in lines of later.h */
	bool takes_sessions; /* READY has said so */
	int unconfirmed;     /* see notify_successor; -1: closed */
	uint64_t confirm_by_ms;
	struct upgrade_process other;
	ev_io io;
	ev_child child;
	struct timed_task deadline, confirmation;
};

static void
enter_upgrade_state(struct upgrade *u, enum upgrade_state to)
{
	static const unsigned from[] = {
	    [UPGRADE_COMMITTED] = 1u << UPGRADE_SENDING,
	    [UPGRADE_CONFIRMING] = 1u << UPGRADE_COMMITTED,
	    [UPGRADE_LEFT] = 1u << UPGRADE_CONFIRMING,
	    [UPGRADE_ENDED] = ~(1u << UPGRADE_ENDED),
	};

	ENSURE(from[to] & 1u << u->state);
	u->state = to;
}

static bool
is_stopping(const struct lineage *lineage)
{
	return lineage->hooks.is_stopping(lineage->hooks.arg);
}

/* -- the end of an upgrade -- */

static void
stop_watching(struct upgrade *u)
{
	struct ev_loop *loop = u->lineage->instance->loop;

	ev_io_stop(loop, &u->io);
	ev_child_stop(loop, &u->child);
	timed_task_cancel(&u->deadline);
	timed_task_cancel(&u->confirmation);
	if (u->other.channel >= 0)
		close(u->other.channel);
	if (u->unconfirmed >= 0)
		close(u->unconfirmed);
	u->other.channel = u->unconfirmed = -1;
	handed_free(&u->handed);
	text_wipe(u->commands);
	u->commands = NULL;
	free(u->later);
	u->later = NULL;
	u->lineage->upgrade = NULL;
}

static void
finish_upgrade(struct upgrade *u, bool ok)
{
	enter_upgrade_state(u, UPGRADE_ENDED);
	u->result.ok = ok;
	event_add(ok ? EVENT_UPGRADE : EVENT_UPGRADE_FAILED,
	    ok ? LOG_LEVEL_INFO : LOG_LEVEL_ERROR, NULL, NULL, "%s",
	    u->result.text);
	if (u->when_done)
		u->when_done(&u->result);
	stop_watching(u);
	upgrade_unref(u);
}

/* Calls report for each socket that accepts, with its address and u->handed. */
static void
report_listening(struct upgrade *u,
    void (*report)(void *handed, const struct addr *asked, int fd))
{
	const struct upgrade_hooks *hooks = &u->lineage->hooks;

	hooks->report(hooks->arg, report, &u->handed);
}

static void
add_socket(void *handed, const struct addr *asked, int fd)
{
	handed_add(handed, asked, fd);
}

static void
note_open_socket(void *handed, const struct addr *asked, int fd)
{
	(void)asked;
	handed_note_open(handed, fd);
}

/* An operator may have shut some of the sockets meanwhile; threads close
 * them. */
static void
restore_sockets(struct upgrade *u)
{
	report_listening(u, note_open_socket);
	handed_restore(&u->handed);
}

static void
fail_upgrade(struct upgrade *u, const char *fmt, ...)
{
	va_list values;
	char why[640];

	va_start(values, fmt);
	vsnprintf(why, sizeof(why), fmt, values);
	va_end(values);
	snprintf(u->result.text, sizeof(u->result.text), "no upgrade%s: %s",
	    is_stopping(u->lineage) ? "" : ", this process goes on", why);
	if (u->other.pid > 0 && u->other.started) {
		kill(u->other.pid, SIGKILL);
		(void)kill(-u->other.pid, SIGKILL);
	}
	if (!is_stopping(u->lineage))
		restore_sockets(u);
	finish_upgrade(u, false);
}

/* Ends the upgrade: the sessions that could leave have left. */
static void
on_settled(void *arg, uint32_t passed, bool lost)
{
	struct upgrade *u = arg;
	const struct upgrade_hooks *hooks = &u->lineage->hooks;
	struct instance *instance = u->lineage->instance;
	uint32_t left = proxy_sessions(&instance->proxy);
	char limit[TEXT_DURATION_SIZE], rest[120] = "";

	if (left > 0)
		snprintf(rest, sizeof(rest),
		    "; %u session%s of process %d may end within %s", left,
		    text_s(left), (int)getpid(),
		    text_duration(
		        instance->model->spec->global.drain_timeout_ms, limit));
	snprintf(u->result.text, sizeof(u->result.text),
	    "process %d has %s %zu listening socket%s and %u session%s%s%s",
	    (int)u->other.pid, lost ? "ended with" : "taken over", u->handed.n,
	    text_s(u->handed.n), passed, text_s(passed),
	    lost ? ": no process accepts clients" : "", rest);
	hooks->settled(hooks->arg);
	finish_upgrade(u, !lost);
}

/* Returns a part that the layers above describe, for free(3), or NULL when
 * memory is short. */
static char *
collect_part(const struct lineage *lineage, enum handed_part part)
{
	struct text_out out;

	if (!text_out_open_secret(&out))
		return NULL;
	lineage->hooks.describe(lineage->hooks.arg, part, out.stream);
	return text_out_close(&out) ? out.text : NULL;
}

/* Adds what has happened so far to the lines of later.h.  Without memory the
 * successor goes without it. */
static void
add_past(struct upgrade *u)
{
	char *past = collect_part(u->lineage, HANDED_PAST), *both;

	if (past && asprintf(&both, "%s%s", u->later, past) >= 0) {
		free(u->later);
		u->later = both;
	}
	free(past);
}

/* Leaves the sockets to the successor, which serves, and begins to send
 * sessions.  Until the successor has been told, this process can go on. */
static void
commit_upgrade(struct upgrade *u)
{
	static const struct handover left = {
	    .kind = HANDOVER_LEFT, .version = HANDOVER_VERSION};
	struct lineage *l = u->lineage;
	int rc;

	if (is_stopping(l)) {
		fail_upgrade(u, UPGRADE_STOPS);
		return;
	}
	rc = handover_send(u->other.channel, &left);
	if (rc == -EAGAIN) {
		timed_task_schedule(
		    &u->confirmation, clock_now_ms() + CONFIRM_LOOK_MS);
		return;
	}
	if (rc < 0) {
		fail_upgrade(u, "process %d cannot be told to take over: %s",
		    (int)u->other.pid, strerror(-rc));
		return;
	}
	enter_upgrade_state(u, UPGRADE_LEFT);
	add_past(u);
	notify_close();
	l->hooks.leave(l->hooks.arg);
	ev_io_stop(l->instance->loop, &u->io);
	ev_child_stop(l->instance->loop, &u->child);
	timed_task_cancel(&u->deadline);
	if (u->takes_sessions) {
		l->successor = session_sender_new(
		    l->instance, l, u->other.channel, u->later, on_settled, u);
		u->later = NULL;
		u->other.channel = -1;
	}
	if (!l->successor)
		on_settled(u, 0, false);
}

/* -- the conversation -- */

/* Sends messages until the socket is full or all are sent.  Returns 0, or
 * -errno after an error. */
static int
send_handover(struct upgrade *u)
{
	static struct handover m;
	size_t commands;
	int rc = 0;

	m.version = HANDOVER_VERSION;
	while (rc == 0 && u->state == UPGRADE_SENDING) {
		m.text[0] = '\0';
		m.n = commands = 0;
		if (u->handed.sent < u->handed.n) {
			m.kind = HANDOVER_SOCKETS;
			handed_put(&u->handed, &m);
		} else if (*u->unsent) {
			m.kind = HANDOVER_COMMANDS;
			commands = handover_put_lines(&m, u->unsent);
		} else {
			m.kind = HANDOVER_COMMIT;
			snprintf(m.text, sizeof(m.text), "%" PRIu32 " %" PRIu32,
			    proxy_numbers_end(&u->lineage->instance->proxy),
			    proxy_sessions(&u->lineage->instance->proxy));
		}
		rc = handover_send(u->other.channel, &m);
		if (rc != 0)
			break;
		u->handed.sent += m.n;
		u->unsent += commands;
		if (m.kind == HANDOVER_COMMIT)
			enter_upgrade_state(u, UPGRADE_COMMITTED);
	}
	return rc == -EAGAIN ? 0 : rc;
}

/* Receives a message as handover_receive does, and closes its descriptors: no
 * message that is expected here has any. */
static int
receive_answer(const struct upgrade *u, struct handover *ret_message)
{
	int rc = handover_receive(u->other.channel, ret_message);

	if (rc == 1)
		handover_drop(ret_message);
	return rc;
}

/* Fails the upgrade, and returns true, if the result of receive_answer tells
 * why the successor has failed. */
static bool
tells_failure(struct upgrade *u, int rc, const struct handover *m)
{
	if (rc == -EBADMSG && m->version != HANDOVER_VERSION)
		fail_upgrade(u,
		    "the successor has version %u of the hand-over, this "
		    "process version %u",
		    m->version, HANDOVER_VERSION);
	else if (rc == 1 && m->kind == HANDOVER_FAILED)
		fail_upgrade(u, "%s", m->text);
	else
		return false;
	return true;
}

/* Handles the end of the channel.  If the successor is a child, on_child
 * will tell how it ended; otherwise it may have said why before. */
static void
on_closed(struct upgrade *u)
{
	static struct handover m;

	if (u->other.is_child)
		ev_io_stop(u->lineage->instance->loop, &u->io);
	else if (!tells_failure(u, receive_answer(u, &m), &m))
		fail_upgrade(u, "process %d has ended before it served",
		    (int)u->other.pid);
}

/* Returns whether the manager knows which process is the main one, or cannot be
 * told. */
static bool
has_confirmed(struct upgrade *u)
{
	struct pollfd end = {.fd = u->unconfirmed};
	int rc;

	if (u->unconfirmed >= 0)
		return poll(&end, 1, 0) > 0;
	rc = notify_successor(u->other.pid);
	if (rc >= 0)
		u->unconfirmed = rc;
	return rc < 0 && rc != -EAGAIN;
}

/* Note: why the manager confirms before this process leaves.
 * The manager does not accept a dead process as its main one.  If the new
 * process died before the manager read the message, this one would still be the
 * main one; if it had left, no process would accept clients, and the manager
 * would start none while it drains.  Therefore this process leaves only after
 * the manager has read the message while the new process lived: if that dies
 * later, the manager starts the next one.  If the new process dies before, this
 * one goes on.  The manager may have accepted the other one all the same: then
 * the manager ends this process with the rest of the service, and starts
 * another one. */
static void
await_confirmation(struct timed_task *task, uint64_t now_ms)
{
	struct upgrade *u = container_of(task, struct upgrade, confirmation);

	if (!has_confirmed(u) && now_ms < u->confirm_by_ms)
		timed_task_schedule(task, now_ms + CONFIRM_LOOK_MS);
	else if (upgrade_has_ended(u->other.pid, u->other.channel))
		on_closed(u);
	else
		commit_upgrade(u);
}

static void
on_ready(struct upgrade *u, const struct handover *m)
{
	uint64_t now_ms = clock_now_ms();

	enter_upgrade_state(u, UPGRADE_CONFIRMING);
	u->takes_sessions = strcmp(m->text, HANDOVER_TAKES_SESSIONS) == 0;
	u->confirm_by_ms = now_ms + CONFIRM_WAIT_MS;
	timed_task_schedule(&u->deadline, now_ms + UPGRADE_WAIT_MS);
	await_confirmation(&u->confirmation, now_ms);
}

static void
upgrade_take_message(struct upgrade *u)
{
	static struct handover m;
	int rc = receive_answer(u, &m);

	if (rc == -EAGAIN || tells_failure(u, rc, &m))
		return;
	if (rc == 0 || rc == -ECONNRESET ||
	    (rc == 1 && m.kind == HANDOVER_READY &&
	        upgrade_has_ended(u->other.pid, u->other.channel)))
		on_closed(u);
	else if (rc < 0)
		fail_upgrade(u, "process %d does not speak as lfproxy does",
		    (int)u->other.pid);
	else if (m.kind == HANDOVER_READY && u->state == UPGRADE_COMMITTED)
		on_ready(u, &m);
	else
		fail_upgrade(
		    u, "unexpected message from process %d", (int)u->other.pid);
}

static void
upgrade_on_channel(struct ev_loop *loop, ev_io *io, int events)
{
	struct upgrade *u = io->data;
	int rc;

	if (events & EV_READ) {
		upgrade_take_message(u);
		return;
	}
	rc = send_handover(u);
	if (rc == -EPIPE || rc == -ECONNRESET) {
		on_closed(u);
	} else if (rc < 0) {
		fail_upgrade(u,
		    "the listening sockets cannot be handed over: %s",
		    strerror(-rc));
	} else if (u->state != UPGRADE_SENDING) {
		ev_io_stop(loop, io);
		ev_io_set(io, u->other.channel, EV_READ);
		ev_io_start(loop, io);
	}
}

static void
report_exit(struct upgrade *u, int pid, int status)
{
	if (WIFSIGNALED(status))
		fail_upgrade(u, "process %d was ended by signal %d (SIG%s)",
		    pid, WTERMSIG(status), sigabbrev_np(WTERMSIG(status)));
	else
		fail_upgrade(u,
		    "process %d has ended with exit status %d before it "
		    "served; see its messages in the log",
		    pid, WEXITSTATUS(status));
}

/* Handles the end of the child, which may have said why before.  Kills the
 * processes that it has left in its process group. */
static void
on_child(struct ev_loop *loop, ev_child *child, int events)
{
	struct upgrade *u = child->data;
	static struct handover m;

	(void)loop;
	(void)events;
	u->other.pid = 0;
	(void)kill(-child->rpid, SIGKILL);
	if (!tells_failure(u, receive_answer(u, &m), &m))
		report_exit(u, child->rpid, child->rstatus);
}

static void
on_upgrade_deadline(struct timed_task *task, uint64_t now_ms)
{
	struct upgrade *u = container_of(task, struct upgrade, deadline);

	(void)now_ms;
	fail_upgrade(u, "process %d did not serve within %d s",
	    (int)u->other.pid, UPGRADE_WAIT_MS / 1000);
}

/* -- the beginning -- */

static bool
collect_changes(struct upgrade *u)
{
	u->unsent = u->commands = collect_part(u->lineage, HANDED_COMMANDS);
	u->later = collect_part(u->lineage, HANDED_LATER);
	return u->commands && u->later;
}

/* Collects all that is to be handed over.  Returns false with err set. */
static bool
collect_all(struct upgrade *u, struct err *err)
{
	report_listening(u, add_socket);
	return (!u->handed.short_of_memory && collect_changes(u)) ||
	       err_oom(err);
}

/* Returns why no upgrade can begin now, or NULL. */
static const char *
refusal_of(const struct lineage *lineage)
{
	const struct upgrade_hooks *hooks = &lineage->hooks;

	return lineage->upgrade                  ? "an upgrade is under way"
	       : hooks->is_reloading(hooks->arg) ? "a reload is under way"
	       : is_stopping(lineage)            ? UPGRADE_STOPS
	                                         : NULL;
}

struct upgrade *
upgrade_begin(struct lineage *lineage, const char *path, struct err *err)
{
	struct instance *instance = lineage->instance;
	const char *refusal = refusal_of(lineage);
	struct upgrade *u;

	if (refusal) {
		err_set(err, "%s; try again later", refusal);
		return NULL;
	}
	u = calloc(1, sizeof(*u));
	if (!u) {
		err_oom(err);
		return NULL;
	}
	u->lineage = lineage;
	u->refs = 2; /* one is the control thread's, until done */
	u->other.channel = u->unconfirmed = -1;
	ev_init(&u->io, upgrade_on_channel);
	ev_init(&u->child, on_child);
	timed_task_init(&u->deadline, &instance->timer, on_upgrade_deadline);
	timed_task_init(&u->confirmation, &instance->timer, await_confirmation);
	if (!collect_all(u, err) || !upgrade_reach(&u->other, path, err)) {
		stop_watching(u);
		free(u);
		return NULL;
	}
	lineage->upgrade = u;
	u->io.data = u->child.data = u;
	ev_io_set(&u->io, u->other.channel, EV_READ | EV_WRITE);
	ev_io_start(instance->loop, &u->io);
	if (u->other.is_child) {
		ev_child_set(&u->child, u->other.pid, 0);
		ev_child_start(instance->loop, &u->child);
	}
	timed_task_schedule(&u->deadline, clock_now_ms() + UPGRADE_WAIT_MS);
	return u;
}

void
upgrade_when_done(
    struct upgrade *upgrade, void (*done)(const struct upgrade_result *result))
{
	upgrade->when_done = done;
}

const struct upgrade_result *
upgrade_result(const struct upgrade *upgrade)
{
	return upgrade->state == UPGRADE_ENDED ? &upgrade->result : NULL;
}

void
upgrade_unref(struct upgrade *upgrade)
{
	if (upgrade && --upgrade->refs == 0)
		free(upgrade);
}

void
upgrade_stop(struct lineage *lineage)
{
	struct upgrade *u = lineage->upgrade;

	if (u && u->state != UPGRADE_LEFT)
		fail_upgrade(u, UPGRADE_STOPS);
}

void
upgrade_fini(struct lineage *lineage)
{
	if (lineage->upgrade && lineage->upgrade->state == UPGRADE_LEFT)
		finish_upgrade(lineage->upgrade, true);
	upgrade_stop(lineage);
}
