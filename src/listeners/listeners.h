/* SPDX-License-Identifier: MIT
 * The listening sockets of all frontends, from bind to close.
 *
 * When the configuration changes, a socket stays if its address is still
 * configured, even for another frontend.  A socket that stays is never closed,
 * so no connection is refused.
 */
#ifndef LISTENERS_LISTENERS_H
#define LISTENERS_LISTENERS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "config/diff.h"
#include "model/model.h"
#include "pools/pools.h"
#include "proxy/proxy.h"

struct listener;
struct listeners;

/* Binds the addresses of the model; listeners_register and listeners_commit
 * follow.  Returns NULL with err set if one cannot be bound.  Runs on the
 * control thread, as all functions here. */
struct listeners *listeners_bind(
    struct model *model, struct proxy *proxy, struct err *err);

/* Binds the new addresses: the first half of a change to another model.
 * Returns false with err set if one cannot be bound: then nothing has changed.
 * Otherwise listeners_register or listeners_cancel follows. */
bool listeners_prepare(struct listeners *listeners, struct model *model,
    struct err *err) MUST_CHECK;
/* Makes the pools of the model, which may be new, watch the new sockets.
 * Returns false with err set if they cannot: then listeners_prepare is undone.
 * Otherwise listeners_commit or listeners_cancel follows. */
bool listeners_register(struct listeners *listeners, struct pools *pools,
    struct err *err) MUST_CHECK;
/* Undoes listeners_prepare: closes the new sockets and restores the options of
 * the others. */
void listeners_cancel(struct listeners *listeners);

/* Makes new sessions use the model: the second half of a change, and the last
 * step of the start.  New sockets accept connections.  Sockets that are not in
 * the model are closed, and unix sockets' files removed.  Adds to changes what
 * the system refuses. */
void listeners_commit(
    struct listeners *listeners, struct pools *pools, struct changes *changes);

/* Makes new sessions use a model with the same frontends.  Sockets stay as they
 * are, also paused or shut ones. */
void listeners_follow(struct listeners *listeners, const struct model *model);

/* Refuses connections on all sockets of the frontend until listeners_resume.
 * On a unix socket, and on a socket that the service manager has given a name,
 * connections wait in the backlog instead. */
void listeners_pause(
    struct listeners *listeners, const struct frontend *frontend);
/* Accepts connections again.  Returns false with err set if some address cannot
 * be listened on, for example because another program has taken it; the other
 * sockets are open then. */
bool listeners_resume(struct listeners *listeners,
    const struct frontend *frontend, struct err *err) MUST_CHECK;
/* Closes all sockets of the frontend.  A model that is committed later binds
 * its addresses again. */
void listeners_shut(
    struct listeners *listeners, const struct frontend *frontend);

/* Returns the i-th socket that is open or held, from 0, or NULL after the last
 * one.  It is valid until the next change of the sockets. */
const struct listener *listeners_at(
    const struct listeners *listeners, size_t i);

/* Adds a sample to each trend.  Called every TREND_STEP_S. */
void listeners_sample(struct listeners *listeners);

/* Frees sockets that are closed.  Called now and then. */
void listeners_tick(struct listeners *listeners);

/* Returns whether the pool accepts from a socket, or will. */
bool listeners_use(const struct listeners *listeners, struct pool *pool);

/* Gives the service manager copies of the TCP sockets that it has none of, so
 * that another process of the service gets them (notify_store).  Called now and
 * then. */
void listeners_store(struct listeners *listeners);

/* Passes each socket that accepts, and each held one whose connections wait, to
 * `add`, with the address as it is configured. */
void listeners_report(const struct listeners *listeners,
    void (*add)(void *to, const struct addr *asked, int fd), void *to);
/* Closes all sockets as listeners_stop does, but leaves unix sockets' files:
 * another process has these sockets now. */
void listeners_leave(struct listeners *listeners);

/* Closes all sockets and removes unix sockets' files.  Returns at once; a
 * connection that is being accepted still becomes a session. */
void listeners_stop(struct listeners *listeners);
/* Returns whether listeners_stop or listeners_leave was called and every socket
 * is closed. */
bool listeners_stopped(const struct listeners *listeners);

/* Frees all listeners and their acceptors.  Called after the pools have ended.
 * Accepts NULL. */
void listeners_free(struct listeners *listeners);

#endif
