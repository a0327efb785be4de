/* SPDX-License-Identifier: MIT
 * Servers given by host name: from the names in the configuration to the
 * servers' addresses.
 *
 *   spec --ask--> names --> resolve/dns.h, on the control loop
 *                   |                |
 *     servers <--apply-- answers <---+
 *
 * A server whose name is not resolved is in maintenance until the name is
 * resolved.  A server that has an address keeps it while its name has that
 * address, and while the name cannot be looked up; with resolve = ttl, for the
 * time of `hold` from the first failure.
 *
 * If many servers change at the same time, the first are logged one by one, and
 * the others are counted.
 *
 * All functions run on the control thread.  Only server_names_start and
 * server_names_check block.
 */
#ifndef SERVERS_SERVER_NAMES_H
#define SERVERS_SERVER_NAMES_H

#include <stdbool.h>
#include <stdio.h>

#include "config/diff.h"
#include "loop/task_timer.h"
#include "model/model.h"
#include "resolve/dns.h"
#include "resolve/names.h"

/* The time for which the start waits for names, before listeners accept.  A
 * name server nearby answers within it. */
#define SERVER_NAMES_START_MS 20
/* The time for which a reload waits for names.  Traffic goes on meanwhile. */
#define SERVER_NAMES_WAIT_MS 250

struct instance;

/* Counts log lines of one kind within a second. */
struct names_burst {
	uint64_t since_ms;
	unsigned n;
};

struct server_names {
	struct instance *instance; /* borrowed; NULL: for a check alone */
	struct dns *dns;
	struct names *names;
	struct timed_task
	    work; /* applies answers, and asks for names that are due */
	struct names_burst errors, resolved;
};

/* Initializes the state, without names.  Returns false when out of memory. */
bool server_names_init(
    struct server_names *sn, struct instance *instance) MUST_CHECK;
/* Looks up the names of the present model's servers, and waits until all are
 * answered, for SERVER_NAMES_START_MS at most, or TAKEOVER_SERVERS_MS in a
 * takeover. Logs the unresolved ones. */
void server_names_start(struct server_names *sn);
/* Frees the state.  Never blocks. */
void server_names_fini(struct server_names *sn);

/* Begins look-ups of those names of the spec that a reload looks up again. */
void server_names_ask(struct server_names *sn, const struct spec *spec);
/* Returns whether a look-up of one of the spec's names is under way. */
bool server_names_pending(
    const struct server_names *sn, const struct spec *spec);

/* Begins look-ups of the names of the backend's servers; NULL: of all backends.
 * Returns how many of these servers have a name. */
size_t server_names_refresh(
    struct server_names *sn, const struct backend *backend);

/* Gives the new servers of a PREPARED model their addresses, if their names are
 * resolved. */
void server_names_prepare(struct server_names *sn, struct model *model);
/* Follows a change of the model in force: takes its [resolver], begins
 * look-ups of new names, and drops names that no server has. */
void server_names_commit(struct server_names *sn);
/* Gives a server that is to come its address, if its name is resolved. */
void server_names_prepare_server(
    struct server_names *sn, struct server *server);
/* Follows a server that has come to the present model, or has gone from it. */
void server_names_add(struct server_names *sn, struct server *server);
void server_names_drop(struct server_names *sn, const struct server *server);
/* Adds a warning for each server without an address.  If there are many, the
 * first ones are named and the others are counted. */
void server_names_warn(const struct server_names *sn, struct changes *changes);

/* Looks up all names of the spec, for `lfproxy -t`, waits for wait_ms at most,
 * and writes a warning for each server whose name is not resolved. */
void server_names_check(const struct spec *spec, unsigned wait_ms, FILE *out);

#endif
