/* SPDX-License-Identifier: MIT
 * See client.h.
 */
#include "admin/client.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"

static void
wait_for(struct client *client, int events)
{
	if (client->io.events == events && ev_is_active(&client->io))
		return;
	ev_io_stop(client->loop, &client->io);
	ev_io_set(&client->io, client->fd, events);
	ev_io_start(client->loop, &client->io);
}

/* Returns the monotonic time in seconds; ev_now is the wall clock's. */
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

/* Restarts the peer's time-out, after it has sent or received something.  While
 * a line is being read, the time-out ends at the latest with the time for that
 * line, and for a client that leaves, at leaves_at. */
static void
set_timer(struct client *client)
{
	client->timer.repeat = client->mode.timeout_s;
	if (client->state == CLIENT_READING && client->leaves_at > 0.)
		shorten(&client->timer.repeat, client->leaves_at - now_s());
	if (client->state == CLIENT_READING && client->line_at > 0.)
		shorten(&client->timer.repeat,
		    client->line_at + CLIENT_LINE_S - now_s());
	ev_timer_again(client->loop, &client->timer);
}

/* Notes that the client has completed something, and so is not stalled. */
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
	ev_timer_again(client->loop, &client->timer);
}

/* Returns whether more input has arrived.  HAProxy reads on while it answers,
 * so lines that have arrived by the end of an answer are answered, too. */
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
		return client->input.n > 0 && now_s() < client->leaves_at;
	return client->mode.prompt || client->input.n > 0 || more_came(client);
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
	client_input_drop(&client->input);
	if (!may_go_on(client)) {
		linger(client);
		return;
	}
	client->state = CLIENT_READING;
	begin_line(client, client->input.n);
}

/* Handles a failed send or recv; after EAGAIN, the client waits for the events.
 * Returns, as every step does, true when the next step can follow at once, and
 * false when the peer has to do something first or the client is gone. */
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
	struct client_answer *answer = &client->answer;
	ssize_t n = send(client->fd, answer->out + answer->sent,
	    answer->size - answer->sent, MSG_NOSIGNAL | MSG_DONTWAIT);

	if (n < 0)
		return step_failed(client, EV_WRITE);
	answer->sent += (size_t)n;
	if (answer->sent < answer->size) {
		set_timer(client);
		return true;
	}
	client_answer_sent(answer);
	note_progress(client);
	return true;
}

/* Reads and writes nothing until the time is over; 0: until the next turn of
 * the loop. */
static void
pause_client(struct client *client, unsigned ms)
{
	ev_io_stop(client->loop, &client->io);
	ev_timer_set(&client->pause, ms / 1000., 0.);
	ev_timer_start(client->loop, &client->pause);
}

static bool
step_answering(struct client *client)
{
	struct client_answer *answer = &client->answer;

	if (answer->out)
		return flush_output(client);
	if (answer->rest && answer->rest->pause_ms > 0) {
		pause_client(client, answer->rest->pause_ms);
		answer->rest->pause_ms = 0;
		return false;
	}
	if (!client_answer_make(answer, client->env, &client->mode))
		line_done(client);
	return true;
}

/* Answers with an error instead of running what was read, and closes. */
static void
refuse_input(struct client *client, enum client_line found)
{
	static const char *const texts[] = {
	    [LINE_TOO_LONG] =
	        "Line too long: a line has at most 16384 bytes.\n\n",
	    [LINE_TOO_MUCH] =
	        "Payload too long: it has at most 262144 bytes.\n\n",
	    [LINE_NO_ROOM] = "Out of memory: the payload cannot be kept.\n\n",
	    [LINE_NUL] = "Closed: a line must not have NUL bytes.\n\n",
	    [LINE_HTTP] = "Closed: this is not an HTTP port.\n\n",
	};
	_Static_assert(CLIENT_LINE_MAX == 16384, "see the text");
	_Static_assert(CLIENT_PAYLOAD_MAX == 262144, "see the text");
	static struct log_limit limit;
	char who[PEER_TEXT_SIZE];

	if (found == LINE_HTTP)
		log_limited(&limit, LOG_LEVEL_WARNING,
		    "admin: %s: closed: it sent an HTTP request; a web page or "
		    "a service that fetches URLs may be trying to give "
		    "commands",
		    peer_text(&client->mode.peer, who));
	client_answer_refuse(&client->answer, &client->mode, texts[found]);
}

/* Returns whether a line is there to be answered, or was refused. */
static bool
take_client_line(struct client *client)
{
	struct client_input *input = &client->input;
	enum client_line found;

	while ((found = client_input_take(input)) == LINE_PAYLOAD ||
	       found == LINE_BEGUN) {
		if (found == LINE_BEGUN)
			input->keeps =
			    command_takes_payload(&client->mode, input->bytes);
		begin_line(client, input->n - input->line);
		if (client->mode.prompt)
			send_now(client, "+ ");
	}
	if (found == LINE_PARTIAL)
		return false;
	if (found == LINE_WHOLE) {
		client->answer.next = input->bytes;
		client->answer.payload = input->kept;
		client->commanded = true;
	} else {
		refuse_input(client, found);
	}
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

/* Takes a line, or receives more.  A line that the end of input cuts short is
 * not run. */
static bool
step_reading(struct client *client)
{
	struct client_input *input = &client->input;
	size_t n;

	if (take_client_line(client))
		return true;
	if (client->ended) {
		client_close(client);
		return false;
	}
	if (!receive_input(client, input->bytes + input->n,
	        CLIENT_LINE_MAX - input->n, &n))
		return false;
	input->n += n;
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
	return receive_input(client, client->input.bytes, CLIENT_LINE_MAX, &n);
}

static bool
take_step(struct client *client)
{
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

/* Takes steps until the peer has to do something, or for CLIENT_TURN_NS.  May
 * free the client. */
static void
serve_client(struct client *client)
{
	uint64_t end = clock_now_ns() + CLIENT_TURN_NS;

	do
		if (!take_step(client))
			return;
	while (clock_now_ns() < end);
	pause_client(client, 0);
}

static void
on_client_ready(struct ev_loop *loop, ev_io *io, int events)
{
	(void)loop;
	(void)events;
	serve_client(io->data);
}

/* Goes on after a pause.  The peer's time-out does not count while the peer
 * waits for an answer. */
static void
on_pause_over(struct ev_loop *loop, ev_timer *timer, int events)
{
	struct client *client = timer->data;

	(void)loop;
	(void)events;
	if (client->state == CLIENT_ANSWERING && !client->answer.out)
		note_progress(client);
	serve_client(client);
}

static void
on_client_timeout(struct ev_loop *loop, ev_timer *timer, int events)
{
	struct client *client = timer->data;

	(void)loop;
	(void)events;
	if (client->state == CLIENT_READING && client->leaves_at <= 0. &&
	    client->line_at > 0. && now_s() >= client->line_at + CLIENT_LINE_S)
		client_dismiss(client, "Closed: a line must end within 10 s of "
		                       "its first byte.\n\n");
	else
		client_close(client);
}

struct client *
client_new(struct ev_loop *loop, int fd, const struct command_env *env,
    const struct command_mode *mode, void *owner,
    void (*gone)(struct client *client))
{
	struct client *client = malloc(sizeof(*client));

	if (!client) {
		close(fd);
		return NULL;
	}
	memset(client, 0, offsetof(struct client, input.bytes));
	list_init(&client->node);
	client->loop = loop;
	client->fd = fd;
	client->env = env;
	client->owner = owner;
	client->gone = gone;
	client->mode = *mode;
	client->io.data = client->timer.data = client->pause.data = client;
	ev_init(&client->timer, on_client_timeout);
	ev_init(&client->pause, on_pause_over);
	ev_io_init(&client->io, on_client_ready, fd, EV_READ);
	note_progress(client);
	pause_client(client, 0);
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
	ev_io_stop(client->loop, &client->io);
	ev_timer_stop(client->loop, &client->timer);
	ev_timer_stop(client->loop, &client->pause);
	close(client->fd);
	client_answer_fini(&client->answer);
	client_input_fini(&client->input);
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
	if (ev_is_active(&client->pause))
		return false;
	return client->state == CLIENT_LINGERING ||
	       (client->state == CLIENT_READING && !client->commanded);
}

ev_tstamp
client_stalled_for(const struct client *client)
{
	return ev_is_active(&client->pause) ? 0.
	                                    : now_s() - client->progress_at;
}
