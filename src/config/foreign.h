/* SPDX-License-Identifier: MIT
 * Recognizes configuration files of other programs, to report one error instead
 * of one for each line.
 */
#ifndef CONFIG_FOREIGN_H
#define CONFIG_FOREIGN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/* Returns whether the text is a configuration of HAProxy or of nginx, or is not
 * UTF-8, with err set.  Returns false for a text with a [section]. */
bool foreign_detect(const char *text, size_t len, struct err *err);

#endif
