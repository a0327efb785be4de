/* SPDX-License-Identifier: MIT
 * The stream of the status page: a snapshot a second to every viewer, as
 * Server-Sent Events (HTML Living Standard, 9.2).
 *
 *   no viewer --the first comes--> a snapshot each LIVE_PERIOD_S, in parts
 *   (stats/answer.h) --> viewers that have read the former one get it, the
 *   others go on reading theirs, and get the newest then
 *
 * A snapshot that memory is too short for is given up: the former one stays the
 * newest, and the next period tries again.
 *
 * A snapshot is made once, however many viewers there are, and its memory is
 * shared.  A viewer that waits is suspended in libmicrohttpd, and costs
 * nothing.
 *
 * All functions run on the control thread.
 */
#ifndef HTTP_LIVE_H
#define HTTP_LIVE_H

#include <ev.h>
#include <microhttpd.h>

#include "base/list.h"
#include "http/connections.h"
#include "http/history.h"

#define LIVE_PERIOD_S 1.0
/* For each LIVE_BYTES of a snapshot the period is LIVE_PERIOD_S longer. */
#define LIVE_BYTES (1024 * 1024)
/* Viewers at a time; a further one takes the place of the oldest. */
#define LIVE_VIEWERS_MAX 64

struct live_snapshot;

struct live {
	const struct command_env *env;
	struct ev_loop *loop;
	ev_timer period;     /* while there are viewers */
	ev_timer sample;     /* of the history */
	ev_timer turn;       /* while a snapshot is being made */
	struct list viewers; /* oldest first */
	unsigned viewers_n;
	struct live_snapshot *newest; /* NULL: none so far */
	struct answer_rest *making;   /* NULL: none */
	struct text_out *text;        /* of what is being made */
	uint64_t number;              /* of the newest */
	/* Has libmicrohttpd run, after viewers were resumed. */
	void (*run)(void *arg);
	void *run_arg;
	struct history history;
};

/* Begins to sample the history. */
void live_start(struct live *live, const struct command_env *env,
    void (*run)(void *arg), void *run_arg);

/* Stops, and resumes the viewers, so that libmicrohttpd can end them. */
void live_stop(struct live *live);

/* Returns a response that streams to the connection, or NULL if memory is
 * short.  The response ends when the connection is drained.  Ends the oldest
 * viewer if there are LIVE_VIEWERS_MAX. */
struct MHD_Response *live_response(struct live *live,
    struct MHD_Connection *mhd, struct http_connections *connections,
    struct http_connection *connection);

#endif
