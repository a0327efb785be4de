/* SPDX-License-Identifier: MIT
 * Reload: the configuration is read again and takes effect in the running
 * process.
 *
 *   read, validate --> names, lists --> make what is new --> publish
 *         |                                    |                |
 *         +--> errors: nothing has changed <---+         retire the old
 *
 * Everything that can fail comes first: the file, sockets, threads, memory.
 * Then new sessions find the new model: its servers through the lineups, and
 * its frontends through the acceptors.  Present sessions keep the model under
 * which they began.
 */
#ifndef LIVE_RELOAD_H
#define LIVE_RELOAD_H

#include <stdbool.h>

#include "base/err.h"
#include "config/diff.h"
#include "live/control.h"

/* A reload that was begun. */
struct reload;

struct reload_result {
	struct err_list errors;   /* any: nothing was changed */
	struct err_list warnings; /* of the new configuration */
	struct changes changes;
};

/* Begins a reload: reads the files, which blocks on the disk, and begins
 * look-ups of the servers' names; the worker reads the files of lists.  Without
 * lists and names the configuration takes effect within this call.  Otherwise
 * it takes effect on the control loop, when the lists are read and the names
 * are answered; names are waited for SERVER_NAMES_WAIT_MS at most.  Logs each
 * change and each error.
 *
 * A reload that waits for names ends when another one is ordered.  One that
 * waits for lists goes first, and the other one reads its files after it; after
 * a minute the first one is refused then.
 *
 * Calls when_done, unless it is NULL, once with the result, within this call if
 * the reload is complete.  Returns NULL when out of memory.  Caller calls
 * reload_unref, at any time.  Runs on the control thread, as all functions
 * here. */
struct reload *control_reload(struct control *control,
    void (*when_done)(bool ok, const struct reload_result *result));

/* Returns the result, or NULL while the reload waits for names or lists. */
const struct reload_result *reload_result(const struct reload *reload);

/* Gives up the caller's reference.  Accepts NULL. */
void reload_unref(struct reload *reload);

/* Refuses a reload that waits.  Called at the end of the process. */
void control_reload_fini(struct control *control);

#endif
