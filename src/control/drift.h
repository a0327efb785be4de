/* SPDX-License-Identifier: MIT
 * Drift: how the files differ from what they were when they were loaded.
 */
#ifndef CONTROL_DRIFT_H
#define CONTROL_DRIFT_H

#include "config/diff.h"
#include "control/control.h"

/* Reads the files, which blocks on the disk, and adds what has changed in them
 * since they were loaded, except what changes->runs says: also of servers that
 * commands have added (key `server`, new: the whole line) or deleted (new
 * NULL), as the files have it.  *ret_file is for spec_free, or NULL if the
 * files are not read.  Returns false with errors if the files are not valid or
 * there are none. Runs on the control thread. */
bool control_drift(struct control *control, struct changes *changes,
    struct err_list *errors, struct spec **ret_file) MUST_CHECK;

#endif
