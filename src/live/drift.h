/* SPDX-License-Identifier: MIT
 * Drift: how the files differ from what they were when they were loaded.
 */
#ifndef LIVE_DRIFT_H
#define LIVE_DRIFT_H

#include "config/diff.h"
#include "live/control.h"

/* Reads the files, which blocks on the disk, and adds what has changed in them
 * since they were loaded.  *ret_file, for spec_free, is what they have now;
 * NULL: they cannot be read.  Returns false with errors if the files are not
 * valid or there are none.  Runs on the control thread. */
bool control_drift(struct control *control, struct changes *changes,
    struct err_list *errors, struct spec **ret_file) MUST_CHECK;

#endif
