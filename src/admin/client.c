/* SPDX-License-Identifier: MIT
 * See client.h.
 */
#include "admin/client.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "admin/client_line.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/text_out.h"

#define LINE_LATE "Closed: a line must end within 10 s of its first byte.\n\n"
#define LINE_LONG "Line too long: a line has at most 16384 bytes.\n\n"
_Static_assert(CLIENT_LINE_MAX == 16384, "see LINE_LONG");

static void
wait_for(struct client *client, int events)
{
	if (client->io.events == events && ev_is_active(&client->io))
		return;
	ev_io_stop(client->slices->loop, &client->io);
	ev_io_set(&client->io, client->fd, events);
	ev_io_start(client->slices->loop, &client->io);
}

/* Returns the monotonic time; libev's own is the wall clock's. */
static double
now_s(void)
{
	return (double)clock_now_ns() / NS_PER_S;
}

static void
shorten(ev_tstamp *repeat, ev_tstamp left)
{
	if (*repeat > left)
		*repeat = left > 0. ? left : 1e-3;
}

/* Restarts the peer's time-out: it has sent or received something.  While a
 * line is being read, it ends with the time for that line, and for a client
 * that leaves, with leaves_at. */
static void
set_timer(struct client *client)
{
	client->timer.repeat = client->mode.timeout_s;
	if (client->state == CLIENT_READING && client->leaves_at > 0.)
		shorten(&client->timer.repeat, client->leaves_at - now_s());
	if (client->state == CLIENT_READING && client->line_at > 0.)
		shorten(&client->timer.repeat,
		    client->line_at + CLIENT_LINE_S - now_s());
	ev_timer_again(client->slices->loop, &client->timer);
}

/* The client has completed something, so it is not stalled. */
static void
note_progress(struct client *client)
{
	client->progress_at = now_s();
	set_timer(client);
}

/* Sends as much of the text as the socket takes. */
static void
send_now(const struct client *client, const char *text)
{
	(void)send(client->fd, text, strlen(text), MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void
linger(struct client *client)
{
	client->state = CLIENT_LINGERING;
	shutdown(client->fd, SHUT_WR);
	client->timer.repeat = CLIENT_LINGER_S;
	ev_timer_again(client->slices->loop, &client->timer);
}

static void
free_rest(struct client *client)
{
	if (client->rest)
		client->rest->free(client->rest);
	client->rest = NULL;
}

/* Reports exhausted memory in place of an answer or of its rest, and ends the
 * connection.  Allocates nothing.  All former output has been sent. */
static void
fail_answer(struct client *client, bool begun)
{
	send_now(client,
	    begun ? "\nOut of memory: the answer ends here, before its end.\n"
	          : "Out of memory: no answer can be given.\n\n");
	free_rest(client);
	client->mode.quit = true;
}

/* Ends an answer with an empty line, and with the prompt if it is on. */
static void
end_answer(const struct client *client, FILE *out)
{
	if (client->mode.severity == SEVERITY_STATUS)
		fprintf(out, COMMAND_STATUS, client->mode.failed);
	fputs(client->mode.prompt ? "\n> " : "\n", out);
}

/* Makes the next part of the answer, or runs the next command of the line,
 * unless memory is exhausted.  All former output has been taken. */
static void
make_part(struct client *client)
{
	struct answer_rest *rest = client->rest;
	char *command = client->next;
	struct text_out out;

	if (!text_out_open(&out)) {
		fail_answer(client, rest != NULL);
		return;
	}
	if (!rest) {
		client->next = command_split(command);
		client->rest = command_run(
		    client->env, &client->mode, command, out.stream);
	} else if (!rest->more(rest, client->env, out.stream)) {
		client->mode.failed |= rest->failed;
		free_rest(client);
	}
	if (!client->rest && !client->mode.quit)
		end_answer(client, out.stream);
	if (!text_out_close(&out)) {
		fail_answer(client, rest != NULL);
		return;
	}
	client->out = out.text;
	client->out_n = out.size;
	client->out_sent = 0;
}

/* HAProxy reads on while it answers, so lines that have arrived by then are
 * answered, too. */
static bool
more_came(const struct client *client)
{
	char byte;

	return recv(client->fd, &byte, 1, MSG_DONTWAIT | MSG_PEEK) == 1;
}

static bool
may_go_on(const struct client *client)
{
	if (client->mode.quit)
		return false;
	if (client->leaves_at > 0.)
		return client->in_n > 0 && now_s() < client->leaves_at;
	return client->mode.prompt || client->in_n > 0 || more_came(client);
}

/* Begins a line, or the next line of a payload, of which n bytes are there. */
static void
begin_line(struct client *client, size_t n)
{
	client->line_at = n > 0 ? now_s() : 0.;
	set_timer(client);
}

static void
line_done(struct client *client)
{
	client->in_n -= client->line;
	memmove(client->in, client->in + client->line, client->in_n);
	client->line = 0;
	client->next = NULL;
	if (!may_go_on(client)) {
		linger(client);
		return;
	}
	client->state = CLIENT_READING;
	begin_line(client, client->in_n);
}

/* A step returns true when the next one can follow at once, and false when
 * the peer has to do something first or the client is gone.  This one follows
 * a failed send or recv, which has to wait for the events after EAGAIN. */
static bool
step_failed(struct client *client, int events)
{
	if (errno == EINTR)
		return true;
	if (errno == EAGAIN)
		wait_for(client, events);
	else
		client_close(client);
	return false;
}

static bool
flush_output(struct client *client)
{
	ssize_t n = send(client->fd, client->out + client->out_sent,
	    client->out_n - client->out_sent, MSG_NOSIGNAL | MSG_DONTWAIT);

	if (n < 0)
		return step_failed(client, EV_WRITE);
	client->out_sent += (size_t)n;
	if (client->out_sent < client->out_n) {
		set_timer(client);
		return true;
	}
	free(client->out);
	client->out = NULL;
	note_progress(client);
	return true;
}

/* Reads and writes nothing until the next part of the answer is due. */
static void
pause_answer(struct client *client)
{
	struct ev_loop *loop = client->slices->loop;

	ev_io_stop(loop, &client->io);
	ev_timer_set(&client->pause, client->rest->pause_ms / 1000., 0.);
	ev_timer_start(loop, &client->pause);
	client->rest->pause_ms = 0;
}

/* The peer's time-out does not run during the pause. */
static void
on_answer_due(struct ev_loop *loop, ev_timer *timer, int events)
{
	struct client *client = timer->data;

	(void)loop;
	(void)events;
	note_progress(client);
	client_slice_request(client->slices, &client->slice);
}

static bool
step_answering(struct client *client)
{
	if (client->out)
		return flush_output(client);
	if (client->rest && client->rest->pause_ms > 0) {
		pause_answer(client);
		return false;
	}
	if (client->rest || (client->next && !client->mode.quit))
		make_part(client);
	else
		line_done(client);
	return true;
}

/* Answers with the text instead of running what was read, and closes. */
static void
refuse_input(struct client *client, const char *text)
{
	client->out_sent = 0;
	client->out = strdup(text);
	client->out_n = client->out ? strlen(text) : 0;
	client->line = client->in_n;
	client->next = NULL;
	client->mode.quit = true;
	client->state = CLIENT_ANSWERING;
}

/* Returns whether the line may be run, or dropped in a payload.  Refuses the
 * client otherwise. */
static bool
accept_line(struct client *client, const struct client_line *line)
{
	static struct log_limit limit;
	char who[PEER_TEXT_SIZE];

	if (client_line_has_nul(line->text, line->len)) {
		refuse_input(
		    client, "Closed: a line must not have NUL bytes.\n\n");
		return false;
	}
	if (client->payload || !client_line_is_http(line->text, line->len))
		return true;
	log_limited(&limit, LOG_LEVEL_WARNING,
	    "admin: %s: closed: it sent an HTTP request; a web page or a "
	    "service that fetches URLs may be trying to give commands",
	    peer_text(&client->mode.peer, who));
	refuse_input(client, "Closed: this is not an HTTP port.\n\n");
	return false;
}

/* The line with the commands stays at the start of the input.  The lines of a
 * payload behind it are dropped: no command takes a payload, but its lines must
 * not be run as commands. */
static void
keep_line(struct client *client, struct client_line *line)
{
	if (client->line == 0) {
		client->line = line->size;
		client->payload = client_line_begins_payload(line);
		return;
	}
	client->payload = line->len > 0;
	client->in_n -= line->size;
	memmove(
	    line->text, line->text + line->size, client->in_n - client->line);
}

static void
await_payload(struct client *client)
{
	begin_line(client, client->in_n - client->line);
	if (client->mode.prompt)
		send_now(client, "+ ");
}

/* Returns whether a line is there to be answered, or was refused. */
static bool
take_client_line(struct client *client)
{
	struct client_line line;

	do {
		if (!client_line_cut(client->in + client->line,
		        client->in_n - client->line, &line))
			return false;
		if (!accept_line(client, &line))
			return true;
		keep_line(client, &line);
		if (client->payload)
			await_payload(client);
	} while (client->payload);
	client->next = client->in;
	client->commanded = true;
	client->state = CLIENT_ANSWERING;
	return true;
}

/* Reads up to size bytes.  Returns whether the client can go on. */
static bool
receive_input(struct client *client, char *into, size_t size, size_t *ret_n)
{
	ssize_t n = recv(client->fd, into, size, MSG_DONTWAIT);

	*ret_n = 0;
	if (n < 0)
		return step_failed(client, EV_READ);
	if (n == 0)
		client->ended = true;
	*ret_n = (size_t)n;
	return true;
}

/* A line that the end of input cuts short is not run. */
static bool
step_reading(struct client *client)
{
	size_t n;

	if (take_client_line(client))
		return true;
	if (client->in_n == CLIENT_LINE_MAX) {
		refuse_input(client, LINE_LONG);
		return true;
	}
	if (client->ended) {
		client_close(client);
		return false;
	}
	if (!receive_input(client, client->in + client->in_n,
	        CLIENT_LINE_MAX - client->in_n, &n))
		return false;
	client->in_n += n;
	if (n > 0 && client->line_at <= 0.)
		begin_line(client, n);
	else
		set_timer(client);
	return true;
}

static bool
step_lingering(struct client *client)
{
	size_t n;

	if (client->ended) {
		client_close(client);
		return false;
	}
	return receive_input(client, client->in, CLIENT_LINE_MAX, &n);
}

static bool
on_slice(struct client_slice *slice)
{
	struct client *client = container_of(slice, struct client, slice);

	switch (client->state) {
	case CLIENT_READING:
		return step_reading(client);
	case CLIENT_ANSWERING:
		return step_answering(client);
	case CLIENT_LINGERING:
		return step_lingering(client);
	}
	return false;
}

static void
on_client_ready(struct ev_loop *loop, ev_io *io, int events)
{
	struct client *client = io->data;

	(void)loop;
	(void)events;
	client_slice_request(client->slices, &client->slice);
}

static void
on_client_timeout(struct ev_loop *loop, ev_timer *timer, int events)
{
	struct client *client = timer->data;

	(void)loop;
	(void)events;
	if (client->state == CLIENT_READING && client->leaves_at <= 0. &&
	    client->line_at > 0. && now_s() >= client->line_at + CLIENT_LINE_S)
		client_dismiss(client, LINE_LATE);
	else
		client_close(client);
}

struct client *
client_new(struct client_slices *slices, int fd, const struct command_env *env,
    const struct command_mode *mode, void *owner,
    void (*gone)(struct client *client))
{
	struct client *client = malloc(sizeof(*client));

	if (!client) {
		close(fd);
		return NULL;
	}
	memset(client, 0, offsetof(struct client, in));
	list_init(&client->node);
	client->slices = slices;
	list_init(&client->slice.node);
	client->slice.step = on_slice;
	client->fd = fd;
	client->env = env;
	client->owner = owner;
	client->gone = gone;
	client->mode = *mode;
	client->io.data = client->timer.data = client->pause.data = client;
	ev_init(&client->timer, on_client_timeout);
	ev_init(&client->pause, on_answer_due);
	ev_io_init(&client->io, on_client_ready, fd, EV_READ);
	ev_io_start(slices->loop, &client->io);
	note_progress(client);
	return client;
}

void
client_leave(struct client *client)
{
	if (client->leaves_at > 0.)
		return;
	client->leaves_at = now_s() + CLIENT_LINGER_S;
	if (client->state == CLIENT_READING)
		set_timer(client);
}

void
client_close(struct client *client)
{
	list_remove(&client->slice.node);
	ev_io_stop(client->slices->loop, &client->io);
	ev_timer_stop(client->slices->loop, &client->timer);
	ev_timer_stop(client->slices->loop, &client->pause);
	close(client->fd);
	free_rest(client);
	free(client->out);
	client->gone(client);
	free(client);
}

void
client_dismiss(struct client *client, const char *line)
{
	send_now(client, line);
	client_close(client);
}

bool
client_is_idle(const struct client *client)
{
	if (!list_empty(&client->slice.node))
		return false;
	return client->state == CLIENT_LINGERING ||
	       (client->state == CLIENT_READING && !client->commanded);
}

ev_tstamp
client_stalled_for(const struct client *client)
{
	return list_empty(&client->slice.node) ? now_s() - client->progress_at
	                                       : 0.;
}
