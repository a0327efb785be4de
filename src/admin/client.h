/* SPDX-License-Identifier: MIT
 * A connection to an admin socket: its states, its timers, and what is sent and
 * received.  client_input.h cuts the input into lines, client_answer.h runs
 * their commands.
 *
 *             line          all answered, prompt
 *   READING -------> ANSWERING ---------------> READING
 *      |                 | all answered, no prompt
 *      | EOF, time,      v                       EOF, time
 *      | too long   LINGERING ------------------------------> gone
 *      v
 *     gone
 *
 * READING     collects a line; no answer is due.
 * ANSWERING   has commands of the line left, or output that the peer has not
 *             taken.  Nothing is read meanwhile, which is the back-pressure
 *             and bounds the memory to a part of an answer per connection.
 *             Without a prompt, lines are answered as long as the next one is
 *             there when the last has been answered.
 * LINGERING   has sent all answers.  Further input is discarded until the peer
 *             closes, for at most a second: closing with unread input would
 *             make the peer's read fail after the answer.
 *
 * A client that can go on does so for CLIENT_TURN_NS in each turn of the loop,
 * and a part of an answer takes ANSWER_PART_NS, so clients and other work of
 * the loop take turns however many commands a client sends.  A single command
 * is not interrupted.
 *
 * A client of a socket that is closed is closed when it has been answered.  If
 * no line is under way, it has CLIENT_LINGER_S to send one, so that a command
 * sent just before the socket was closed is answered, too.
 */
#ifndef ADMIN_CLIENT_H
#define ADMIN_CLIENT_H

#include <ev.h>
#include <stdbool.h>

#include "admin/client_answer.h"
#include "admin/client_input.h"
#include "base/list.h"

#define CLIENT_LINGER_S 1.0
/* A line that has begun must end within this time, whatever the time-out is. */
#define CLIENT_LINE_S 10.0

#define CLIENT_TURN_NS (100 * 1000)

enum client_state { CLIENT_READING, CLIENT_ANSWERING, CLIENT_LINGERING };

struct client {
	struct list node; /* in the owner's list, oldest first */
	struct ev_loop *loop;
	void *owner;
	void (*gone)(
	    struct client *client); /* called before the client is freed */
	const struct command_env *env;
	int fd;
	enum client_state state;
	ev_io io;
	ev_timer timer, pause; /* pause: before the next step */
	/* Seconds of clock_now_ns.  progress_at: when the client connected, or
	 * last had a command or a whole part of an answer behind it.
	 * line_at: when the line that is being read began; 0: none has begun.
	 * leaves_at: when the client stops waiting for a line; 0: it stays. */
	double progress_at, line_at, leaves_at;
	struct command_mode mode;
	bool ended;     /* the peer will not write any more */
	bool commanded; /* has sent a complete line */
	struct client_answer answer;
	struct client_input input; /* the end of it is not initialized */
};

/* Takes ownership of the non-blocking descriptor.  Returns NULL, with fd
 * closed, when memory is exhausted.  Copies the mode: peer, level and time-out.
 * The client reads in the next turn of the loop, and frees itself when it is
 * done, after calling gone.  Runs on the control thread, as all functions
 * below. */
struct client *client_new(struct ev_loop *loop, int fd,
    const struct command_env *env, const struct command_mode *mode, void *owner,
    void (*gone)(struct client *client));

/* Closes the client when it has been answered, see above; never before this
 * function returns.  May be called while a command of the client runs. */
void client_leave(struct client *client);

/* Closes and frees the client at once, after calling gone. */
void client_close(struct client *client);

/* Sends a last line, as much of it as the socket takes, and closes. */
void client_dismiss(struct client *client, const char *line);

/* Returns whether the client can be closed without losing an answer: it has
 * sent nothing, or has been answered. */
bool client_is_idle(const struct client *client);

/* Returns the seconds since the client connected, completed a command, or
 * received a whole part of an answer, whichever was last: a peer that sends or
 * receives single bytes is stalled all the same.  0 while the client
 * pauses. */
ev_tstamp client_stalled_for(const struct client *client);

#endif
