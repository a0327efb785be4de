/* SPDX-License-Identifier: MIT
 * The listening sockets of all frontends, from bind to close, and which of them
 * stay when the configuration changes: those of the same address, also when
 * another frontend has it now.  A socket that stays is never closed, so nobody
 * is refused.
 */
#ifndef CONTROL_LISTENERS_H
#define CONTROL_LISTENERS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/memory_use.h"
#include "base/trend.h"
#include "config/diff.h"
#include "control/pools.h"
#include "model/model.h"
#include "proxy/proxy.h"

struct listeners;

/* Control thread, as all of these.  Binds the addresses of the model; NULL with
 * err set if one could not be. */
struct listeners *listeners_bind(
    struct model *model, struct proxy *proxy, struct err *err);

/* The first half of a change to another model: binds the addresses that are
 * new.  False with err set if one could not be; then nothing has changed, else
 * listeners_commit or listeners_cancel follows. */
bool listeners_prepare(struct listeners *listeners, struct model *model,
    struct err *err) MUST_CHECK;
void listeners_cancel(struct listeners *listeners);

/* The second half, and the end of the start: new sessions are those of the
 * model; new sockets accept, and those that it lacks are closed, unix sockets'
 * files included.  What the system refuses is told in changes. */
void listeners_commit(
    struct listeners *listeners, struct pools *pools, struct changes *changes);

/* To a model with the same frontends: new sessions are its.  Sockets stay as
 * they are, paused or shut. */
void listeners_follow(struct listeners *listeners, const struct model *model);

/* All sockets of the frontend: nobody can connect (on a unix socket: they wait
 * in its backlog), until listeners_resume, which may fail where another program
 * has taken the address; those that could be opened are open then. */
void listeners_pause(
    struct listeners *listeners, const struct frontend *frontend);
bool listeners_resume(struct listeners *listeners,
    const struct frontend *frontend, struct err *err) MUST_CHECK;
/* Closes them; those of a model that is committed later are bound anew. */
void listeners_shut(
    struct listeners *listeners, const struct frontend *frontend);

/* One of the sockets that are open, or held; all is borrowed until the next
 * change. */
struct listener_view {
	const char *frontend;
	const struct addr *addr; /* as the configuration has it */
	bool both_families;
	bool held; /* nobody can connect */
	int fd;
	const struct trend *trend; /* of those that wait to be accepted */
};

/* The i-th of them, from 0; false: there is none. */
bool listeners_at(const struct listeners *listeners, size_t i,
    struct listener_view *ret_view);

/* The sockets, and the acceptors that wait to be used again. */
struct memory_use listeners_memory(const struct listeners *listeners);

/* Every TREND_STEP_S: a sample for each trend. */
void listeners_sample(struct listeners *listeners);

/* Now and then: forgets sockets that are closed. */
void listeners_tick(struct listeners *listeners);

/* Whether some socket is, or is to be, accepted from by the pool. */
bool listeners_use(const struct listeners *listeners, struct pool *pool);

/* Closes them, unix sockets' files included.  Returns at once; a connection
 * that is being accepted still becomes a session. */
void listeners_stop(struct listeners *listeners);
bool listeners_stopped(const struct listeners *listeners);

/* After the pools have ended; NULL is fine. */
void listeners_free(struct listeners *listeners);

#endif
