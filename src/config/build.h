/* SPDX-License-Identifier: MIT
 * From what was written to what was meant: fills in defaults, resolves
 * references and refuses what makes no sense.
 */
#ifndef CONFIG_BUILD_H
#define CONFIG_BUILD_H

#include "base/err.h"
#include "config/draft.h"
#include "model/spec.h"

/* A spec, or NULL after at least one error was added.  Takes the draft's
 * files over, for the spec's places; the caller still finishes the draft. */
struct spec *build_spec(struct draft *draft, struct err_list *errors);

#endif
