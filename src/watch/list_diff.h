/* SPDX-License-Identifier: MIT
 * How a reload takes over the lists that were read for it.
 */
#ifndef WATCH_LIST_DIFF_H
#define WATCH_LIST_DIFF_H

#include "base/err.h"
#include "config/diff.h"
#include "model/model.h"
#include "watch/list_load.h"

/* Gives the contents that were read to the spec that the load was made of, and
 * adds the differences to changes.  A list that could not be read keeps its
 * contents in the model, which is added to changes; if it is not in the model,
 * adds errors.  spec NULL: does nothing.  Runs on the control thread, when the
 * load has ended. */
void list_diff(struct list_load *load, const struct model *model,
    struct spec *spec, struct err_list *errors, struct changes *changes);

#endif
