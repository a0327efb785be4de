/* SPDX-License-Identifier: MIT
 * A short conversation with a server: connect, TLS if wanted, then steps.
 *
 *   CONNECTING --> HEADER --> ANSWER --> HANDSHAKE --> STEPS --> done
 *
 * HEADER is left out if neither a header of the PROXY protocol nor a request
 * for TLS is sent, ANSWER if no request for TLS is sent, and HANDSHAKE if TLS
 * is not used.
 *
 * Any phase may fail.  All phases together take at most the timeout.  Runs on
 * the control thread.
 */
#ifndef CHECK_TALK_H
#define CHECK_TALK_H

#include <ev.h>
#include <stdbool.h>

#include "model/server.h"
#include "model/spec.h"

/* The priority of a check's timer, below that of its sockets and processes:
 * when the loop was held up for longer than the timeout, an answer that has
 * come meanwhile is handled before the timer. */
#define CHECK_TIMEOUT_PRIORITY (-1)

struct talk;

/* The plan of a talk.  Everything that it points to is borrowed until the talk
 * ends. */
struct talk_plan {
	struct addr addr;
	struct sock_way way; /* how to connect, as sessions do */
	uint64_t timeout_ms;
	enum proxy_version proxy; /* the header that comes before all else */
	bool tls;
	enum starttls starttls; /* with tls: what it is asked for with */
	/* The settings of sessions; NULL: trust and name tell how the
	 * certificate is verified. */
	struct tls_context *context;
	const char *host;  /* with context: the server's host name, or NULL */
	X509_STORE *trust; /* NULL: any certificate will do */
	const char *name;  /* with trust: asked for and verified; NULL: the
	                    * address */
	bool common_name;  /* with trust: the CN may have the name */
	const struct check_step *steps;
	size_t steps_n;
};

struct talk_result {
	int error; /* not 0: there was no connection, and this is why */
	enum check_status status; /* otherwise */
	const char *text;         /* in words, may be empty */
	const char *data;         /* the bytes since the last step that sent */
	size_t n;
	/* The connection.  A callee that sets this to -1 takes ownership of it.
	 */
	int *fd;
};

typedef void talk_done(void *arg, const struct talk_result *result);

/* Starts a talk.  Calls done once, from the loop and never from within this
 * call, unless the talk is cancelled; talk and result are freed after done has
 * returned.  Returns NULL when memory is short. */
struct talk *talk_start(struct ev_loop *loop, const struct talk_plan *plan,
    talk_done *done, void *arg);

/* Ends and frees the talk without calling done.  Accepts NULL. */
void talk_cancel(struct talk *talk);

/* Replaces the plan by an equal one, whose memory replaces what the talk has
 * borrowed. */
void talk_move(struct talk *talk, const struct talk_plan *plan);

#endif
