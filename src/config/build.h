/* SPDX-License-Identifier: MIT
 * Builds the spec from a draft: fills in defaults, resolves references and
 * refuses contradictions.
 */
#ifndef CONFIG_BUILD_H
#define CONFIG_BUILD_H

#include "base/err.h"
#include "config/draft.h"
#include "model/spec.h"

/* Returns a spec, or NULL after at least one error was added.  Takes ownership
 * of the draft's files, for the spec's places; the caller still calls
 * draft_fini.  */
struct spec *build_spec(struct draft *draft, struct err_list *errors);

#endif
