/* SPDX-License-Identifier: MIT
 * The limits at accept.  While one is reached, an acceptor pauses and leaves
 * connections in the kernel's backlog.
 */
#ifndef PROXY_ACCEPT_LIMITS_H
#define PROXY_ACCEPT_LIMITS_H

#include "model/model.h"
#include "proxy/proxy.h"

/* The limit that keeps connections in the backlog. */
enum accept_block {
	ACCEPT_BLOCK_NONE,
	ACCEPT_BLOCK_RATE,          /* the process's connections per second */
	ACCEPT_BLOCK_FRONTEND_RATE, /* the frontend's */
	ACCEPT_BLOCK_FRONTEND,      /* the frontend's maxconn */
	ACCEPT_BLOCK_HANDSHAKES,    /* the frontend's handshakes */
	ACCEPT_BLOCK_SESSIONS,      /* maxconn of the process */
};

/* Returns what would keep the next connection in the backlog.  Reserves
 * nothing.  Any thread. */
enum accept_block acceptor_block(
    const struct proxy *proxy, const struct frontend *frontend);

/* Resumes the acceptors that have paused because of a limit, or because
 * descriptors or memory ran out.  Costs one load when none has paused.  Any
 * thread. */
void acceptors_resume(struct proxy *proxy);

/* Makes all acceptors leave connections in their backlogs until
 * acceptors_begin.  Runs on the control thread, before any acceptor is opened.
 */
void acceptors_wait(struct proxy *proxy);
/* Ends acceptors_wait, except for the acceptors that also wait in the state
 * `then`.  May be called more than once.  Runs on the control thread. */
void acceptors_begin(struct proxy *proxy, enum takeover then);

#endif
