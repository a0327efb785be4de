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
 * nothing. Any thread. */
enum accept_block acceptor_block(
    const struct proxy *proxy, const struct frontend *frontend);

/* Any thread: resumes the acceptors that have paused because of a limit, or
 * because descriptors or memory ran out.  Costs one load when there are none.
 */
void acceptors_resume(struct proxy *proxy);

/* Control thread, before any acceptor is opened: all leave connections in their
 * backlogs until acceptors_begin. */
void acceptors_wait(struct proxy *proxy);
/* Control thread: ends acceptors_wait, for those that do not wait for what
 * follows.  May be called more than once. */
void acceptors_begin(struct proxy *proxy, enum takeover then);

#endif
