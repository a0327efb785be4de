/* SPDX-License-Identifier: MIT
 * One listening socket, from bind to close; listeners.h has them all.  Control
 * thread, as all of these.
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

/* It outlasts models, so it has copies of what it needs. */
struct listener {
	struct list node;
	struct addr addr;
	bool both_families;
	uint32_t mode;
	char *frontend;        /* its name */
	struct frontend *next; /* between prepare and commit, or NULL: none */
	const struct listen_spec *next_spec;
	struct acceptor *acceptor;
	struct pool *pool; /* that accepts, or is to; once opened */
	bool opened;
	bool held;                /* nobody can connect, see acceptor_hold */
	struct addr at;           /* while held: where it was */
	struct sock_options sock; /* that it has */
	bool changed;             /* to those of next_spec, which may fail */
	struct trend trend;       /* of who waits in the backlog */
	bool closing;
	bool closed; /* since closed_at, grace_stamp */
	uint64_t closed_at;
};

/* Not bound yet, and in no list; NULL: out of memory. */
struct listener *listener_new(
    struct frontend *frontend, const struct listen_spec *spec);
void listener_free(struct listener *l);

/* Binds and listens, and gives a unix socket's file to whom it is to belong;
 * -1 with err set, or the socket, which is the caller's. */
int listener_bind(const struct listener *l, struct err *err);

/* One that is open: its socket gets the options of next_spec, as far as a
 * listening socket can.  False with err set, and nothing has changed; else
 * listener_commit or listener_put_back follows. */
bool listener_change(struct listener *l, struct err *err) MUST_CHECK;
void listener_put_back(struct listener *l);

/* Logs where it listens, with the port that the kernel chose if it was 0, and
 * which options of the socket the system has cut short. */
void listener_announce(struct listener *l, int fd);

/* Which of its next frontend's addresses it is to be, from 1. */
unsigned listener_number(const struct listener *l);

/* The next frontend is its frontend now: opens it in the pool, or keeps it, and
 * moves it there.  What the system refuses is told in changes. */
void listener_commit(
    struct listener *l, struct pool *pool, struct changes *changes);

/* Nobody can connect, until listener_unhold, which may fail. */
void listener_hold(struct listener *l);
bool listener_unhold(struct listener *l, struct err *err) MUST_CHECK;

/* Begins to close it; acceptor_closed tells when it is. */
void listener_stop(struct listener *l);
void listener_remove_file(const struct listener *l);

#endif
