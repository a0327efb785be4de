/* SPDX-License-Identifier: MIT
 * Checks a frontend's complete set of rules on TLS server names, and compares
 * two such sets.
 */
#ifndef CONFIG_BUILD_SNI_H
#define CONFIG_BUILD_SNI_H

#include "base/err.h"
#include "config/diff.h"
#include "model/spec.h"

/* Adds an error for each name that is listed twice, and one if there are too
 * many backends. */
void build_check_sni(const struct spec *spec,
    const struct frontend_spec *frontend, struct err_list *errors);

/* Adds a change for each name that is new, was removed, or has another backend,
 * wherever its line is.  Returns false when memory is short. */
bool build_diff_sni(const struct spec *old_spec,
    const struct frontend_spec *old, const struct spec *new_spec,
    const struct frontend_spec *new, const char *label,
    struct changes *changes);

#endif
