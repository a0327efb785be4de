/* SPDX-License-Identifier: MIT
 * Files that are somebody else's: told in one line, not by an error for each
 * of theirs.
 */
#ifndef CONFIG_FOREIGN_H
#define CONFIG_FOREIGN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/* Whether the text is a configuration of HAProxy or of nginx, or is not UTF-8.
 * Then err says so.  A text with a [section] is none of these. */
bool foreign_detect(const char *text, size_t len, struct err *err);

#endif
