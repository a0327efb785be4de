/* SPDX-License-Identifier: MIT
 * See takeover.h.
 */
#include "handover/takeover.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/notify.h"
#include "base/text.h"
#include "base/text_out.h"
#include "handover/takeover_ask.h"
#include "net/handover.h"
#include "net/inherited.h"
#include "proxy/instance.h"

/* The interval between looks whether sets of servers are known. */
#define TAKEOVER_LOOK_MS 10

static struct {
	int channel;  /* 0: there is no other process */
	bool started; /* by the predecessor */
	char *commands;
	size_t commands_n;
	uint32_t first_number; /* see takeover_first_number */
	uint32_t sessions;     /* see takeover_sessions */
	ev_io left;
	uint64_t wait_by_ms;    /* see takeover_wait_by_ms; 0: not asked yet */
	struct timed_task wait; /* until READY */
	struct takeover_hooks hooks;
	bool is_ready; /* READY is sent, or needs not be */
} takeover;

/* Returns the channel, which the caller closes. */
static int
end_takeover(void)
{
	int channel = takeover.channel;

	takeover.channel = 0;
	text_wipe(takeover.commands);
	takeover.commands = NULL;
	return channel;
}

static bool
keep_commands(const char *text, struct err *err)
{
	size_t n = strlen(text);
	char *grown = malloc(takeover.commands_n + n + 1);

	if (!grown)
		return err_oom(err);
	if (takeover.commands_n > 0)
		memcpy(grown, takeover.commands, takeover.commands_n);
	text_wipe(takeover.commands);
	memcpy(grown + takeover.commands_n, text, n + 1);
	takeover.commands = grown;
	takeover.commands_n += n;
	return true;
}

/* Takes all that comes before the predecessor waits. */
static bool
receive_handover(struct err *err)
{
	static struct handover m;
	struct pollfd readable = {.fd = takeover.channel, .events = POLLIN};

	for (;;) {
		int rc = poll(&readable, 1, TAKEOVER_WAIT_MS);

		if (rc > 0)
			rc = handover_receive(takeover.channel, &m);
		if (rc <= 0)
			return err_set(err, "the process to take over from %s",
			    rc == -EBADMSG
			        ? "speaks another version of the hand-over"
			        : "has gone, or says nothing");
		if (m.kind == HANDOVER_COMMIT) {
			(void)sscanf(m.text, "%" SCNu32 " %" SCNu32,
			    &takeover.first_number, &takeover.sessions);
			return true;
		}
		if (m.kind == HANDOVER_COMMANDS && !keep_commands(m.text, err))
			return false;
		for (size_t i = 0; i < m.n; i++)
			if (!inherited_add(m.fds[i], &m.asked[i], err))
				return false;
	}
}

/* -- the process that has started this one -- */

static bool
begin_with_parent(const char *text, struct err *err)
{
	uint64_t fd;

	if (!text_parse_number(text, INHERITED_FIRST, INT32_MAX, &fd, err) ||
	    fcntl((int)fd, F_SETFD, FD_CLOEXEC) < 0)
		return err_set(err,
		    HANDOVER_ENV "=%s is not a socket; lfproxy sets it itself "
		                 "during an upgrade",
		    text);
	unsetenv(HANDOVER_ENV);
	takeover.channel = (int)fd;
	takeover.started = true;
	return true;
}

static bool
begin_with_asked(const char *admin, struct err *err)
{
	int channel = takeover_ask(admin, err);

	if (channel < 0)
		return false;
	takeover.channel = channel;
	return true;
}

bool
takeover_begin(const char *admin, struct err *err)
{
	const char *text = getenv(HANDOVER_ENV);

	if (text ? !begin_with_parent(text, err)
	         : admin && !begin_with_asked(admin, err))
		return false;
	if (takeover.channel == 0)
		return true;
	inherited_share_files(true);
	if (receive_handover(err))
		return true;
	takeover_failed(err->text);
	return false;
}

const char *
takeover_commands(void)
{
	return takeover.commands ? takeover.commands : "";
}

uint32_t
takeover_first_number(void)
{
	return takeover.first_number;
}

uint32_t
takeover_sessions(void)
{
	return takeover.sessions;
}

bool
takeover_under_way(void)
{
	return takeover.channel != 0;
}

/* Returns what handover_send returns. */
static int
send_handover_text(enum handover_kind kind, const char *text)
{
	static struct handover m;

	m = (struct handover){.kind = kind, .version = HANDOVER_VERSION};
	snprintf(m.text, sizeof(m.text), "%s", text);
	return handover_send(takeover.channel, &m);
}

void
takeover_failed(const char *why)
{
	if (takeover.channel == 0)
		return;
	/* Before the message: the predecessor ends this one when it gets it.
	 */
	inherited_put_back_files();
	(void)send_handover_text(HANDOVER_FAILED, why);
	close(end_takeover());
}

uint64_t
takeover_wait_by_ms(void)
{
	if (takeover.wait_by_ms == 0)
		takeover.wait_by_ms = clock_now_ms() + TAKEOVER_SERVERS_MS;
	return takeover.wait_by_ms;
}

/* The servers are known now, or not within the time. */
static void
stop_waiting(void)
{
	timed_task_cancel(&takeover.wait);
	takeover.is_ready = true;
	takeover.hooks.take_rest(takeover.hooks.arg);
}

/* The terminal's signals concern the group of the former process, where this
 * one belongs from now on. */
static void
join_group(int channel)
{
	struct ucred former;
	socklen_t size = sizeof(former);

	if (getsockopt(channel, SOL_SOCKET, SO_PEERCRED, &former, &size) == 0)
		(void)setpgid(0, getpgid(former.pid));
}

/* The predecessor has left, by its word or for good. */
static void
on_left(struct ev_loop *loop, ev_io *io, int events)
{
	static struct handover m;
	int rc = handover_receive(takeover.channel, &m);
	int channel;

	(void)events;
	if (rc == -EAGAIN)
		return;
	if (!takeover.is_ready)
		stop_waiting();
	ev_ref(loop);
	ev_io_stop(loop, io);
	channel = end_takeover();
	inherited_share_files(false);
	notify_ready("Ready");
	if (takeover.started)
		join_group(channel);
	if (rc == 1)
		handover_drop(&m);
	if (rc != 1 || m.kind != HANDOVER_LEFT) {
		close(channel);
		channel = -1;
	}
	takeover.hooks.left(takeover.hooks.arg, channel);
}

/* Sends READY, unless servers are still to be reported.  If it cannot be sent
 * at all, the predecessor goes on and ends this process. */
static void
send_ready(struct timed_task *task, uint64_t now_ms)
{
	if (!takeover.hooks.is_known(takeover.hooks.arg) &&
	    now_ms < takeover_wait_by_ms()) {
		timed_task_schedule(task, now_ms + TAKEOVER_LOOK_MS);
		return;
	}
	if (!takeover.is_ready)
		stop_waiting();
	if (send_handover_text(HANDOVER_READY, HANDOVER_TAKES_SESSIONS) ==
	    -EAGAIN)
		timed_task_schedule(task, now_ms + TAKEOVER_LOOK_MS);
}

void
takeover_ready(struct instance *instance, const struct takeover_hooks *hooks)
{
	struct ev_loop *loop = instance->loop;

	if (takeover.channel == 0)
		return;
	(void)fcntl(takeover.channel, F_SETFL, O_NONBLOCK);
	takeover.hooks = *hooks;
	timed_task_init(&takeover.wait, &instance->timer, send_ready);
	send_ready(&takeover.wait, clock_now_ms());
	ev_io_init(&takeover.left, on_left, takeover.channel, EV_READ);
	ev_io_start(loop, &takeover.left);
	ev_unref(loop);
}
