/* SPDX-License-Identifier: MIT
 * From an accepted client to a connected server: choice, connect, retry.
 */
#ifndef PROXY_CONNECT_H
#define PROXY_CONNECT_H

#include "proxy/session.h"

/* The owner: chooses a server and starts a connect, or the next one when one
 * fails at once.  TURN_DONE: under way, connected, or pausing; TURN_RETIRED:
 * the session was closed with its reason. */
enum turn connect_start(struct session *session, struct pool_thread *self);

/* The owner, in QUEUED or CONNECTING: a server was granted, or a side has
 * events. */
enum turn connect_step(struct session *session, struct pool_thread *self);

/* The owner, in RELAYING or half-closed: the server has broken off, or closed,
 * before a byte went either way.  True when the session goes on with another
 * one, or has ended in the attempt, see *ret_turn; false when it may not
 * (retry_on, retries, the budget) or there is no other: then a reset has been
 * counted against the server, and nothing else has changed.  When that reset
 * gets the server ejected and a backup will replace it, the session pauses
 * until the backup is there. */
bool connect_again(
    struct session *session, struct pool_thread *self, enum turn *ret_turn);

/* The owner, in QUEUED, CONNECTING or PAUSING: the deadline has passed. */
enum turn connect_timeout(struct session *session, struct pool_thread *self);

/* The owner, in CONNECTING or PAUSING, with a server that it is to leave: goes
 * on with another one or, when it may not try again, closes the session for
 * this reason. */
enum turn connect_elsewhere(struct session *session, enum close_reason reason,
    struct pool_thread *self);

#endif
