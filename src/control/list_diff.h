/* SPDX-License-Identifier: MIT
 * A reload takes over the lists that were read for it, and tells the changes.
 */
#ifndef CONTROL_LIST_DIFF_H
#define CONTROL_LIST_DIFF_H

#include "base/err.h"
#include "config/diff.h"
#include "control/list_load.h"
#include "model/model.h"

/* Gives the contents to the spec, which the load was made of, and adds what is
 * different to changes.  A list that could not be read stays as it is in the
 * model, which changes tell; one that is not in the model is an error.  spec
 * NULL: does nothing.  Runs on the control thread, after list_load_join. */
void list_diff(struct list_load *load, const struct model *model,
    struct spec *spec, struct err_list *errors, struct changes *changes);

#endif
