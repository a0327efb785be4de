/* SPDX-License-Identifier: MIT
 * A listening socket, from bind to close; see listeners.h for all of them.  All
 * functions run on the control thread.
 */
#ifndef CONTROL_LISTENER_H
#define CONTROL_LISTENER_H

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
	char *frontend;        /* its name */
	struct frontend *next; /* between prepare and commit, or NULL: none */
	const struct listen_spec *next_spec;
	struct acceptor *acceptor;
	struct pool *pool; /* that accepts, or is to; once opened */
	bool opened;
	bool held;      /* connections are refused, see acceptor_hold */
	struct addr at; /* while held: where it was */
	struct sock_options sock; /* that it has */
	bool changed;             /* to those of next_spec, which may fail */
	struct trend trend;       /* of who waits in the backlog */
	bool closing;
	bool closed; /* since closed_at, grace_stamp */
	uint64_t closed_at;
};

/* Gives the service manager a copy of the socket, if it is a TCP socket that
 * accepts and the manager has none. */
void listener_store(struct listener *l);

/* Creates a listener that is not bound and in no list.  Returns NULL when out
 * of memory. */
struct listener *listener_new(
    struct frontend *frontend, const struct listen_spec *spec);
/* Frees the listener.  Does not close its socket. */
void listener_free(struct listener *l);

/* Binds and listens, and sets the owner of a unix socket's file.  Returns the
 * socket, which the caller owns, or -1 with err set. */
int listener_bind(const struct listener *l, struct err *err);

/* Gives the socket of an open listener the options of next_spec, as far as a
 * listening socket accepts them.  Returns false with err set: then nothing has
 * changed.  Else listener_commit or listener_put_back follows. */
bool listener_change(struct listener *l, struct err *err) MUST_CHECK;
/* Restores the options that listener_change has changed.  Logs a failure. */
void listener_put_back(struct listener *l);

/* Logs which options of the new socket the system has cut short. */
void listener_warn_of_cut_options(struct listener *l);
/* Returns the address, with the port that the kernel chose if it was 0, unless
 * the listener is held. */
struct addr listener_bound_addr(const struct listener *l);

/* Returns which of its next frontend's addresses the listener gets, from 1. */
unsigned listener_number(const struct listener *l);

/* Makes the next frontend the listener's frontend.  Opens the listener in the
 * pool, or keeps it and moves it there.  Adds what the system refuses to
 * changes. */
void listener_commit(
    struct listener *l, struct pool *pool, struct changes *changes);

/* Refuses connections until listener_unhold. */
void listener_hold(struct listener *l);
/* Accepts connections again.  Returns false with err set if the address cannot
 * be listened on. */
bool listener_unhold(struct listener *l, struct err *err) MUST_CHECK;

/* Begins to close the socket.  acceptor_closed returns whether it is closed.
 * Does not log. */
void listener_stop(struct listener *l);
/* Removes the file of a unix socket. */
void listener_remove_file(const struct listener *l);

#endif
