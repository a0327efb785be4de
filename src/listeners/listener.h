/* SPDX-License-Identifier: MIT
 * A listening socket, from bind to close; see listeners.h for all of them.  All
 * functions run on the control thread.
 */
#ifndef LISTENERS_LISTENER_H
#define LISTENERS_LISTENER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/list.h"
#include "base/trend.h"
#include "config/diff.h"
#include "lf/pool.h"
#include "model/model.h"
#include "net/addr.h"

struct acceptor;

/* A listener outlives models, so it has copies of the parts it needs. */
struct listener {
	struct list node;
	struct addr addr;
	bool both_families;
	bool in_range; /* see struct listen_spec */
	bool announced;
	bool stored; /* the service manager has a copy of the socket */
	uint32_t mode;
	char *frontend;        /* name of its frontend */
	struct frontend *next; /* between prepare and commit; or NULL */
	const struct listen_spec *next_spec;
	struct listener *twin; /* see listeners_internal.h, by_addr */
	struct acceptor *acceptor;
	struct pool *pool; /* pool that accepts; valid once opened */
	bool opened;
	bool held;      /* connections are refused, see acceptor_hold */
	struct addr at; /* while held: the address it was bound to */
	struct sock_options sock; /* options of the socket, see changed */
	bool changed;             /* it has those of next_spec instead */
	struct trend trend;       /* of clients that wait in the backlog */
	bool closing;
	bool closed; /* since closed_at, a grace_stamp */
	uint64_t closed_at;
};

/* Gives the service manager a copy of the socket, if it is a TCP socket that
 * accepts and the manager has none. */
void listener_store(struct listener *l);

/* Returns a listener that is not bound and in no list, or NULL when out of
 * memory. */
struct listener *listener_new(
    struct frontend *frontend, const struct listen_spec *spec);
/* Frees the listener.  Does not close its socket. */
void listener_free(struct listener *l);

/* Binds and listens, and sets the owner of a unix socket's file.  Returns the
 * socket, which the caller owns, or -1 with err set. */
int listener_bind(const struct listener *l, struct err *err);

/* Makes the pool watch the socket of a listener that is not open yet.  Returns
 * false with err set. */
bool listener_register(
    struct listener *l, struct pool *pool, struct err *err) MUST_CHECK;

/* Gives the socket of an open listener the options of next_spec, as far as a
 * listening socket accepts them.  Returns false with err set: then nothing has
 * changed.  Otherwise listener_commit or listener_put_back follows. */
bool listener_change(struct listener *l, struct err *err) MUST_CHECK;
/* Restores the options that listener_change has changed.  Logs a failure. */
void listener_put_back(struct listener *l);

/* Logs which options of the new socket the system has cut short. */
void listener_warn_of_cut_options(struct listener *l);
/* Returns the address; if its port was 0, with the port that the kernel has
 * chosen, unless the listener is held. */
struct addr listener_bound_addr(const struct listener *l);

/* Returns the position of the listener's address among those of its next
 * frontend, from 1. */
unsigned listener_number(const struct listener *l);

/* Makes the next frontend the listener's frontend.  Opens the listener in the
 * pool, or moves an open one there.  Pauses or resumes it as the frontend is.
 * Adds to changes what the system refuses. */
void listener_commit(
    struct listener *l, struct pool *pool, struct changes *changes);

/* Refuses connections until listener_unhold. */
void listener_hold(struct listener *l);
/* Accepts connections again.  Returns false with err set if the address cannot
 * be listened on. */
bool listener_unhold(struct listener *l, struct err *err) MUST_CHECK;

/* Begins to close the socket, and removes the file of a unix socket.
 * acceptor_closed returns whether the socket is closed.  Does not log. */
void listener_stop(struct listener *l);
/* Removes the file of a unix socket. */
void listener_remove_file(const struct listener *l);

#endif
