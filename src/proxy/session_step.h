/* SPDX-License-Identifier: MIT
 * The verdict of a session's step.
 *
 * The steps (held.h, inspect.h, handshake.h, linger.h, choose.h, connect.h,
 * relay.h) never call each other.  Each returns a verdict, and the dispatcher
 * (session_turn.c) runs the step that the verdict names, or closes the session.
 */
#ifndef PROXY_SESSION_STEP_H
#define PROXY_SESSION_STEP_H

#include "proxy/session.h"

enum step {
	/* Wait for the next event or deadline. */
	STEP_WAIT,
	/* The turn's budget is used up: go on in another turn. */
	STEP_MORE,
	/* Leave the server, if there is one, and choose another.  cause: why
	 * the session closes when it gets none and may not wait. */
	STEP_CHOOSE,
	/* Hold the client for s->hold_ms. */
	STEP_HOLD,
	/* A delay is over: go on as if just accepted. */
	STEP_RESUME,
	/* Make the TLS handshake with the client. */
	STEP_HANDSHAKE,
	/* The handshake has failed: let the client read the alert, then close
	 * for this cause. */
	STEP_LINGER,
	/* Connect to s->server. */
	STEP_CONNECT,
	/* Move bytes. */
	STEP_RELAY,
	/* The server ended before a byte went either way: go on with another
	 * server if one may be tried now, else STEP_KEEP. */
	STEP_REPLACE,
	/* Treat the end of this server as the end of the session. */
	STEP_KEEP,
	/* Close the session for this cause. */
	STEP_CLOSE,
	/* The session has left for another process: forget it. */
	STEP_LEFT,
};

struct verdict {
	enum step step;
	enum close_cause cause; /* for STEP_CHOOSE, STEP_LINGER, STEP_CLOSE */
};

static inline struct verdict
verdict(enum step step)
{
	return (struct verdict){.step = step};
}

static inline struct verdict
verdict_choose(enum close_cause otherwise)
{
	return (struct verdict){.step = STEP_CHOOSE, .cause = otherwise};
}

static inline struct verdict
verdict_close(enum close_cause cause)
{
	return (struct verdict){.step = STEP_CLOSE, .cause = cause};
}

/* Returns STEP_WAIT, or closes the session if the client is gone. */
static inline struct verdict
verdict_wait(bool client_gone)
{
	return client_gone ? verdict_close(CAUSE_CLIENT_GONE)
	                   : verdict(STEP_WAIT);
}

#endif
