/* SPDX-License-Identifier: MIT
 * See takeover.h.
 */
#include "control/takeover.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/notify.h"
#include "base/text.h"
#include "control/control_internal.h"
#include "control/session_receiver.h"
#include "net/handover.h"
#include "net/inherited.h"

static struct {
	int channel; /* 0: there is no other process */
	char *commands;
	size_t commands_n;
	ev_io left;
} takeover;

/* Returns the channel, which the caller closes. */
static int
end_takeover(void)
{
	int channel = takeover.channel;

	takeover.channel = 0;
	free(takeover.commands);
	takeover.commands = NULL;
	return channel;
}

static bool
keep_commands(const char *text, struct err *err)
{
	size_t n = strlen(text);
	char *grown = realloc(takeover.commands, takeover.commands_n + n + 1);

	if (!grown)
		return err_oom(err);
	memcpy(grown + takeover.commands_n, text, n + 1);
	takeover.commands = grown;
	takeover.commands_n += n;
	return true;
}

/* Takes all that comes before the other process waits. */
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
		if (m.kind == HANDOVER_COMMIT)
			return true;
		if (m.kind == HANDOVER_COMMANDS && !keep_commands(m.text, err))
			return false;
		for (size_t i = 0; i < m.n; i++)
			if (!inherited_add(m.fds[i], &m.asked[i], err))
				return false;
	}
}

bool
takeover_begin(struct err *err)
{
	const char *text = getenv(HANDOVER_ENV);
	uint64_t fd;

	if (!text)
		return true;
	if (!text_parse_number(text, INHERITED_FIRST, INT32_MAX, &fd, err) ||
	    fcntl((int)fd, F_SETFD, FD_CLOEXEC) < 0)
		return err_set(err,
		    HANDOVER_ENV "=%s is not a socket; lfproxy sets it itself "
		                 "during an upgrade",
		    text);
	unsetenv(HANDOVER_ENV);
	takeover.channel = (int)fd;
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

bool
takeover_under_way(void)
{
	return takeover.channel != 0;
}

static void
send_handover_text(enum handover_kind kind, const char *text)
{
	static struct handover m;

	m = (struct handover){.kind = kind, .version = HANDOVER_VERSION};
	snprintf(m.text, sizeof(m.text), "%s", text);
	(void)handover_send(takeover.channel, &m);
}

void
takeover_failed(const char *why)
{
	if (takeover.channel == 0)
		return;
	send_handover_text(HANDOVER_FAILED, why);
	close(end_takeover());
}

/* The other process has left, by its word or for good. */
static void
on_left(struct ev_loop *loop, ev_io *io, int events)
{
	struct control *c = io->data;
	static struct handover m;
	int rc = handover_receive(takeover.channel, &m);
	int channel;

	(void)events;
	if (rc == -EAGAIN)
		return;
	ev_ref(loop);
	ev_io_stop(loop, io);
	channel = end_takeover();
	inherited_share_files(false);
	notify_ready("Ready");
	if (rc == 1 && m.kind == HANDOVER_LEFT)
		c->receiver = session_receiver_new(c, channel);
	else
		close(channel);
}

void
takeover_ready(struct control *control)
{
	struct ev_loop *loop = control->loop;

	if (takeover.channel == 0)
		return;
	(void)fcntl(takeover.channel, F_SETFL, O_NONBLOCK);
	send_handover_text(HANDOVER_READY, HANDOVER_TAKES_SESSIONS);
	ev_io_init(&takeover.left, on_left, takeover.channel, EV_READ);
	takeover.left.data = control;
	ev_io_start(loop, &takeover.left);
	ev_unref(loop);
}
