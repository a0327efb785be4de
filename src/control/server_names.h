/* SPDX-License-Identifier: MIT
 * Servers that are given by name: from the names in the configuration to the
 * servers' addresses.
 *
 *   spec --ask--> names --> threads (resolve/lookups.h)
 *                   |               |
 *     servers <--apply-- answers <--+
 *
 * A server whose name is not known is in maintenance and takes part in nothing;
 * everything else goes on without it.  It comes up by itself when the name is
 * answered.  A server that has an address keeps it until a look-up, which each
 * reload begins, finds another.
 *
 * Control thread; only server_names_start waits, before there is traffic.
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

/* For so long the start, or a reload's answer, waits for names.  Most name
 * servers answer a question that is new to them within that. */
#define SERVER_NAMES_WAIT_MS 250

struct control;

struct server_names {
	struct names *names;
	struct lookups *lookups;
	ev_async answered;      /* by a thread: there are answers */
	struct timed_task work; /* applies them, and asks again */
	bool changed;           /* there is something to apply */
};

/* False when memory is short. */
bool server_names_init(struct control *control);
/* Looks the names of the present model's servers up and waits until all are
 * answered, or for SERVER_NAMES_WAIT_MS.  Logs those that are not. */
void server_names_start(struct control *control);
/* Never waits. */
void server_names_fini(struct control *control);

/* Begins look-ups of all names of the spec, of those that are known as well. */
void server_names_ask(struct control *control, const struct spec *spec);
/* Whether any of them is not answered. */
bool server_names_pending(
    const struct control *control, const struct spec *spec);

/* A PREPARED model's new servers get the addresses that are known. */
void server_names_prepare(struct control *control, struct model *model);
/* The control's model is another one.  Begins look-ups of names that are new,
 * and forgets those that are gone. */
void server_names_commit(struct control *control);
/* Adds a warning for each server that lacks an address. */
void server_names_warn(const struct control *control, struct changes *changes);

/* For `lfproxy -t`: looks all names up, waits for wait_ms at most, and writes a
 * warning for each server whose name is not known then. */
void server_names_check(const struct spec *spec, unsigned wait_ms, FILE *out);

#endif
