/* SPDX-License-Identifier: MIT
 * Reload: the configuration is read again and takes effect in the running
 * process.
 *
 *   read, validate --> names, lists --> what is new is made --> publish -->
 * what is |                               |                     old goes
 *             +--> errors: nothing has changed <-----+
 *
 * Everything that can fail comes first: the file, sockets, threads, memory.
 * Then new sessions find the new model, server by server through the lineups
 * and frontend by frontend through the acceptors; sessions that are there go on
 * under the model they were born under.
 */
#ifndef CONTROL_RELOAD_H
#define CONTROL_RELOAD_H

#include <stdbool.h>

#include "base/err.h"
#include "config/diff.h"
#include "control/control.h"

/* A reload that was begun. */
struct reload;

struct reload_result {
	struct err_list errors;   /* any: nothing was changed */
	struct err_list warnings; /* of the new configuration */
	struct changes changes;
};

/* Reads the files, which blocks on the disk, and begins look-ups of the
 * servers' names.  A thread reads the files of lists.  The configuration takes
 * effect when these are read and all names are answered, or after
 * SERVER_NAMES_WAIT_MS without the names: within this call without lists
 * and servers that are given by name, or else later on the control loop.  Logs
 * each change and each error.  A second reload waits for the lists of the first
 * one, and puts it into effect at once.
 *
 * Passes the result to when_done, unless that is NULL, once, within this call
 * if the reload is complete.  Returns NULL when out of memory.  Caller calls
 * reload_unref, at any time.  Runs on the control thread, as all of these. */
struct reload *control_reload(struct control *control,
    void (*when_done)(bool ok, const struct reload_result *result));

/* Returns NULL while the reload waits for names or lists. */
const struct reload_result *reload_result(const struct reload *reload);

/* Gives up the caller's reference.  Accepts NULL. */
void reload_unref(struct reload *reload);

/* Refuses a reload that waits, at the end of the process. */
void control_reload_fini(struct control *control);

#endif
