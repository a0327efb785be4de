/* SPDX-License-Identifier: MIT
 * One connection to the admin socket.
 *
 *             line          all answered, prompt
 *   READING -------> ANSWERING ---------------> READING
 *      |                 | all answered, no prompt
 *      | EOF, time,      v                       EOF, time
 *      | too long   LINGERING ------------------------------> gone
 *      v
 *     gone
 *
 * READING     collects a line; nothing is owed.
 * ANSWERING   has commands of the line left, or output that the peer has not
 *             taken.  Nothing is read meanwhile: that is the back-pressure,
 *             and it bounds the memory to one answer per connection.
 * LINGERING   has said all it has to say.  What still comes is thrown away
 *             until the peer closes, for at most a second: closing with unread
 *             input would make the peer's read fail after the answer.
 */
#ifndef ADMIN_CLIENT_H
#define ADMIN_CLIENT_H

#include <ev.h>
#include <stdbool.h>
#include <stddef.h>

#include "admin/command.h"
#include "base/list.h"

#define CLIENT_LINE_MAX        (16 * 1024)
#define CLIENT_TIMEOUT_S       10.0 /* HAProxy's default `stats timeout` */
#define CLIENT_LINGER_S        1.0
#define CLIENT_COMMANDS_A_TURN 16

enum client_state { CLIENT_READING, CLIENT_ANSWERING, CLIENT_LINGERING };

struct client {
	struct list node; /* in the owner's list, oldest first */
	struct ev_loop *loop;
	void *owner;
	void (*gone)(struct client *client); /* last word before it is freed */
	const struct command_env *env;
	int fd;
	enum client_state state;
	ev_io io;
	ev_timer timer;
	struct command_mode mode;
	bool ended;     /* the peer will not write any more */
	bool commanded; /* has sent a complete line */
	char *next;     /* the rest of the line, inside in; NULL: none */
	size_t line;    /* bytes of in that the present line takes up */
	size_t in_n;
	char *out; /* an answer, from out_sent to out_n */
	size_t out_n, out_sent;
	char in[CLIENT_LINE_MAX + 1];
};

/* Control thread.  Takes the non-blocking descriptor over; NULL when memory is
 * short (the descriptor is closed).  The client frees itself when it is done,
 * after calling gone. */
struct client *client_new(struct ev_loop *loop, int fd,
    const struct command_env *env, void *owner,
    void (*gone)(struct client *client));

/* Closes at once; gone is called. */
void client_close(struct client *client);

/* Closes after a last line, of which is sent what fits. */
void client_dismiss(struct client *client, const char *line);

/* True when nobody loses an answer if it is closed. */
bool client_is_idle(const struct client *client);

#endif
