/* SPDX-License-Identifier: MIT
 * Reload: the configuration is read again and takes effect in the running
 * process.
 *
 *   read, validate --> names --> what is new is made --> publish --> what is
 *             |                        |                             old goes
 *             +--> errors: nothing has changed <--+
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

/* Control thread, as all of these.  Reads the file, which blocks on the disk,
 * and has the names of its servers looked up.  The configuration takes effect
 * when all names are answered, and after SERVER_NAMES_WAIT_MS at the latest:
 * within this call where no server is given by name, or else later on the
 * control loop.  All of it is logged, a line each.  A second reload
 * that is begun meanwhile puts the first into effect at once.
 *
 * The caller lets go of what it gets with reload_unref, at any time.  NULL when
 * memory is short. */
struct reload *control_reload(struct control *control);

/* NULL as long as the reload waits for names. */
const struct reload_result *reload_result(const struct reload *reload);

/* call gets the result when there is one, which may be at once.  One call for
 * each reload. */
void reload_when_done(struct reload *reload,
    void (*call)(bool ok, const struct reload_result *result));

void reload_unref(struct reload *reload);

/* The end of the process: a reload that waits for names comes to nothing. */
void control_reload_fini(struct control *control);

#endif
