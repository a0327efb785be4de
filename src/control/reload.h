/* SPDX-License-Identifier: MIT
 * Reload: the configuration is read again and takes effect in the running
 * process.
 *
 *   read, validate --> what is new is made --> publish --> what is old goes
 *                |                     |
 *                +--> errors: nothing has changed <--+
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

struct reload_result {
	struct err_list errors;   /* any: nothing was changed */
	struct err_list warnings; /* of the new configuration */
	struct changes changes;
};

void reload_result_init(struct reload_result *result);
void reload_result_fini(struct reload_result *result);

/* Control thread; blocks on the disk, and on the resolver where a server is
 * given by name.  False with errors in the result when nothing was changed.
 * All of it is logged, a line each. */
bool control_reload(struct control *control, struct reload_result *result);

#endif
