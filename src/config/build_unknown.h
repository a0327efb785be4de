/* SPDX-License-Identifier: MIT
 * Explains lines that are not `key = value` or whose key the section does not
 * know, and suggests what to write instead.
 */
#ifndef CONFIG_BUILD_UNKNOWN_H
#define CONFIG_BUILD_UNKNOWN_H

#include "base/err.h"
#include "config/draft.h"

/* Adds one error for the entry, which either has a line (config/draft.h) or a
 * name that is not a key of the section. */
void build_unknown(const struct draft_section *section,
    const struct draft_entry *entry, struct err_list *errors);

#endif
