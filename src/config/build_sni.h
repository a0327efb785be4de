/* SPDX-License-Identifier: MIT
 * What can only be said of a frontend's rules on TLS server names when all are
 * known, and what has changed between two sets of them.
 */
#ifndef CONFIG_BUILD_SNI_H
#define CONFIG_BUILD_SNI_H

#include "base/err.h"
#include "config/diff.h"
#include "model/spec.h"

/* One error for each name that stands twice, and one if there are too many
 * backends. */
void build_check_sni(const struct spec *spec,
    const struct frontend_spec *frontend, struct err_list *errors);

/* Adds a change for each name that is new, is gone, or has another backend;
 * which line it stands in, and with which others, is no matter.  False when
 * memory is short. */
bool build_diff_sni(const struct spec *old_spec,
    const struct frontend_spec *old, const struct spec *new_spec,
    const struct frontend_spec *new, const char *label,
    struct changes *changes);

#endif
