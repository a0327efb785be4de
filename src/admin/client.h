/* SPDX-License-Identifier: MIT
 * One connection to an admin socket.
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
 *             and it bounds the memory to a part of an answer per connection.
 *             Without a prompt, lines are answered as long as the next one is
 *             there when the last has been answered.
 * LINGERING   has said all it has to say.  What still comes is thrown away
 *             until the peer closes, for at most a second: closing with unread
 *             input would make the peer's read fail after the answer.
 *
 * Clients that can go on take turns (client_turns.h).
 *
 * Who is told to leave goes when it has been answered: without a line that is
 * under way it has CLIENT_LINGER_S to send one, so that a command which crosses
 * with the end of the socket has its answer, too.
 */
#ifndef ADMIN_CLIENT_H
#define ADMIN_CLIENT_H

#include <ev.h>
#include <stdbool.h>
#include <stddef.h>

#include "admin/client_turns.h"
#include "commands/command.h"
#include "base/list.h"

#define CLIENT_LINE_MAX  (16 * 1024)
#define CLIENT_TIMEOUT_S 10.0 /* HAProxy's default `stats timeout` */
#define CLIENT_LINGER_S  1.0
/* A line that has begun must end within this time, whatever the time-out is. */
#define CLIENT_LINE_S 10.0

enum client_state { CLIENT_READING, CLIENT_ANSWERING, CLIENT_LINGERING };

struct client {
	struct list node; /* in the owner's list, oldest first */
	struct client_turn turn;
	struct client_turns *turns;
	void *owner;
	void (*gone)(struct client *client); /* last word before it is freed */
	const struct command_env *env;
	int fd;
	enum client_state state;
	ev_io io;
	ev_timer timer, pause; /* of the answer's rest */
	/* Seconds of clock_now_ns.  progress_at: when the client connected, or
	 * last had a command or a whole part of an answer behind it.
	 * line_at: when the line that is being read began; 0: none has begun.
	 * leaves_at: when the client stops waiting for a line; 0: it stays. */
	double progress_at, line_at, leaves_at;
	struct command_mode mode;
	bool ended;     /* the peer will not write any more */
	bool commanded; /* has sent a complete line */
	bool payload;   /* after a line that ends with `<<`: see take_line */
	char *next;     /* the rest of the line, inside in; NULL: none */
	size_t line;    /* bytes of in that the present line takes up */
	size_t in_n;
	char *out; /* an answer, from out_sent to out_n */
	size_t out_n, out_sent;
	struct answer_rest *rest; /* of the answer, NULL: out is all */
	char in[CLIENT_LINE_MAX + 1];
};

/* Control thread.  Takes the non-blocking descriptor over; NULL when memory is
 * short (the descriptor is closed).  Its level is admin and its time-out the
 * default until the owner sets others.  The client frees itself when it is
 * done, after calling gone. */
struct client *client_new(struct client_turns *turns, int fd,
    const struct command_env *env, void *owner,
    void (*gone)(struct client *client));

/* How long the peer may say nothing, from now on. */
void client_set_timeout(struct client *client, double seconds);

/* It is to end soon: see above.  It is not freed before this returns, and may
 * be the one whose command is being run. */
void client_leave(struct client *client);

/* Closes at once; gone is called. */
void client_close(struct client *client);

/* Closes after a last line, of which is sent what fits. */
void client_dismiss(struct client *client, const char *line);

/* True when nobody loses an answer if it is closed: it has not sent anything,
 * or has been answered. */
bool client_is_idle(const struct client *client);

/* Seconds since the client connected, or last completed a command or took a
 * whole part of an answer: a peer that sends or takes a byte now and then is
 * stalled all the same.  0 while the client waits for a turn. */
ev_tstamp client_stalled_for(const struct client *client);

#endif
