/* SPDX-License-Identifier: MIT
 * Servers given by host name: from the names in the configuration to the
 * servers' addresses.
 *
 *   spec --ask--> names --> threads (resolve/lookups.h)
 *                   |               |
 *     servers <--apply-- answers <--+
 *
 * A server whose name is not resolved is in maintenance, and leaves it when the
 * name is resolved.  A server that has an address keeps it until a look-up,
 * which each reload begins, finds another one.
 *
 * All functions run on the control thread.  Only server_names_start and
 * server_names_check block.
 */
#ifndef CONTROL_SERVER_NAMES_H
#define CONTROL_SERVER_NAMES_H

#include <ev.h>
#include <stdbool.h>
#include <stdio.h>

#include "config/diff.h"
#include "control/task_timer.h"
#include "model/model.h"
#include "resolve/lookups.h"

/* The time that the start and a reload wait for names.  Most name servers
 * answer a question that is new to them within it. */
#define SERVER_NAMES_WAIT_MS 250

struct control;

struct server_names {
	struct names *names;
	struct lookups *lookups;
	ev_async answered; /* sent by a look-up thread: there are answers */
	struct timed_task
	    work;     /* applies answers and repeats failed look-ups */
	bool changed; /* there are answers to apply */
};

/* Returns false when out of memory. */
bool server_names_init(struct control *control) MUST_CHECK;
/* Looks up the names of the present model's servers, and waits until all are
 * answered, for SERVER_NAMES_WAIT_MS at most.  Logs the unresolved ones. */
void server_names_start(struct control *control);
/* Never blocks. */
void server_names_fini(struct control *control);

/* Begins look-ups of all names of the spec, also of resolved ones. */
void server_names_ask(struct control *control, const struct spec *spec);
/* Whether a look-up of one of the spec's names is under way. */
bool server_names_pending(
    const struct control *control, const struct spec *spec);

/* Gives new servers of a PREPARED model their addresses, where the names are
 * resolved. */
void server_names_prepare(struct control *control, struct model *model);
/* Follows a change of the control's model: begins look-ups of new names, and
 * drops names that no server has. */
void server_names_commit(struct control *control);
/* Adds a warning for each server without an address. */
void server_names_warn(const struct control *control, struct changes *changes);

/* For `lfproxy -t`: looks up all names, waits for wait_ms at most, and writes a
 * warning for each server whose name is not resolved. */
void server_names_check(const struct spec *spec, unsigned wait_ms, FILE *out);

#endif
