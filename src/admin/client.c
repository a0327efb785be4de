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

static void
wait_for(struct client *client, int events)
{
	if (client->io.events == events && ev_is_active(&client->io))
		return;
	ev_io_stop(client->loop, &client->io);
	ev_io_set(&client->io, client->fd, events);
	ev_io_start(client->loop, &client->io);
}

/* The peer gave or took something: it has its whole time again. */
static void
progress(struct client *client)
{
	if (client->state == CLIENT_LINGERING)
		return;
	client->timer.repeat = client->mode.timeout_s;
	ev_timer_again(client->loop, &client->timer);
}

static void
linger(struct client *client)
{
	client->state = CLIENT_LINGERING;
	shutdown(client->fd, SHUT_WR);
	client->timer.repeat = CLIENT_LINGER_S;
	ev_timer_again(client->loop, &client->timer);
}

/* Runs the line's next command into out. */
static void
answer_next(struct client *client)
{
	char *command = client->next;
	size_t size = 0;
	FILE *out;

	client->out_n = client->out_sent = 0;
	client->next = command_split(command);
	out = open_memstream(&client->out, &size);
	if (!out) {
		client->out = NULL;
		client->mode.quit = true;
		return;
	}
	command_run(client->env, &client->mode, command, out);
	if (!client->mode.quit)
		fputs(client->mode.prompt ? "\n> " : "\n", out);
	if (fclose(out) != 0) {
		free(client->out);
		client->out = NULL;
		client->mode.quit = true;
		return;
	}
	client->out_n = size;
}

static void
line_done(struct client *client)
{
	client->in_n -= client->line;
	memmove(client->in, client->in + client->line, client->in_n);
	client->line = 0;
	client->next = NULL;
	if (client->mode.prompt && !client->mode.quit)
		client->state = CLIENT_READING;
	else
		linger(client);
}

/* A step returns true when the next one can follow at once, and false when
 * the peer has to do something first or the client is gone. */
static bool
flush(struct client *client)
{
	ssize_t n = send(client->fd, client->out + client->out_sent,
	    client->out_n - client->out_sent, MSG_NOSIGNAL | MSG_DONTWAIT);

	if (n < 0 && errno == EINTR)
		return true;
	if (n < 0 && errno == EAGAIN) {
		wait_for(client, EV_WRITE);
		return false;
	}
	if (n < 0) {
		client_close(client);
		return false;
	}
	progress(client);
	client->out_sent += (size_t)n;
	if (client->out_sent == client->out_n) {
		free(client->out);
		client->out = NULL;
	}
	return true;
}

static bool
step_answering(struct client *client)
{
	if (client->out)
		return flush(client);
	if (client->next && !client->mode.quit)
		answer_next(client);
	else
		line_done(client);
	return true;
}

/* False when there is no whole line. */
static bool
take_line(struct client *client)
{
	char *end = memchr(client->in, '\n', client->in_n);

	if (!end)
		return false;
	client->line = (size_t)(end - client->in) + 1;
	*end = '\0';
	if (end > client->in && end[-1] == '\r')
		end[-1] = '\0';
	client->next = client->in;
	client->commanded = true;
	client->state = CLIENT_ANSWERING;
	return true;
}

static void
refuse_long_line(struct client *client)
{
	client->out_sent = 0;
	client->out_n = 0;
	if (asprintf(&client->out,
	        "Line too long: a line has at most %d bytes.\n\n",
	        CLIENT_LINE_MAX) < 0)
		client->out = NULL;
	else
		client->out_n = strlen(client->out);
	client->line = client->in_n;
	client->mode.quit = true;
	client->state = CLIENT_ANSWERING;
}

/* Reads up to size bytes; *ret_n says how many. */
static bool
receive(struct client *client, char *into, size_t size, size_t *ret_n)
{
	ssize_t n = recv(client->fd, into, size, MSG_DONTWAIT);

	*ret_n = 0;
	if (n < 0 && errno == EINTR)
		return true;
	if (n < 0 && errno == EAGAIN) {
		wait_for(client, EV_READ);
		return false;
	}
	if (n < 0) {
		client_close(client);
		return false;
	}
	if (n == 0)
		client->ended = true;
	*ret_n = (size_t)n;
	return true;
}

/* A line that the end of input cuts short is not run: nobody knows what it
 * would have become. */
static bool
step_reading(struct client *client)
{
	size_t n;

	if (take_line(client))
		return true;
	if (client->in_n == CLIENT_LINE_MAX) {
		refuse_long_line(client);
		return true;
	}
	if (client->ended) {
		client_close(client);
		return false;
	}
	if (!receive(client, client->in + client->in_n,
	        CLIENT_LINE_MAX - client->in_n, &n))
		return false;
	client->in_n += n;
	progress(client);
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
	return receive(client, client->in, CLIENT_LINE_MAX, &n);
}

static bool
step(struct client *client)
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

/* A turn is bounded: a client that sends commands without end shares the loop
 * with the others.  A writable socket brings the next turn. */
static void
on_ready(struct ev_loop *loop, ev_io *io, int events)
{
	struct client *client = io->data;

	(void)loop;
	(void)events;
	for (int i = 0; i < 4 * CLIENT_COMMANDS_A_TURN; i++) {
		if (!step(client))
			return;
	}
	wait_for(client, EV_READ | EV_WRITE);
}

static void
on_timeout(struct ev_loop *loop, ev_timer *timer, int events)
{
	(void)loop;
	(void)events;
	client_close(timer->data);
}

struct client *
client_new(struct ev_loop *loop, int fd, const struct command_env *env,
    void *owner, void (*gone)(struct client *client))
{
	struct client *client = malloc(sizeof(*client));

	if (!client) {
		close(fd);
		return NULL;
	}
	memset(client, 0, offsetof(struct client, in));
	list_init(&client->node);
	client->loop = loop;
	client->fd = fd;
	client->env = env;
	client->owner = owner;
	client->gone = gone;
	client->mode.level = LEVEL_ADMIN;
	client->mode.timeout_s = CLIENT_TIMEOUT_S;
	client->io.data = client->timer.data = client;
	ev_init(&client->timer, on_timeout);
	ev_io_init(&client->io, on_ready, fd, EV_READ);
	ev_io_start(loop, &client->io);
	progress(client);
	return client;
}

void
client_close(struct client *client)
{
	ev_io_stop(client->loop, &client->io);
	ev_timer_stop(client->loop, &client->timer);
	close(client->fd);
	free(client->out);
	client->gone(client);
	free(client);
}

void
client_dismiss(struct client *client, const char *line)
{
	(void)send(client->fd, line, strlen(line), MSG_NOSIGNAL | MSG_DONTWAIT);
	client_close(client);
}

bool
client_is_idle(const struct client *client)
{
	return client->state == CLIENT_LINGERING ||
	       (client->state == CLIENT_READING && !client->commanded);
}
