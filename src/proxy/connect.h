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

/* The owner, in CONNECTING: the server's side has events. */
enum turn connect_step(struct session *session, struct pool_thread *self);

/* The owner, in CONNECTING or PAUSING: the deadline has passed. */
enum turn connect_timeout(struct session *session, struct pool_thread *self);

#endif
