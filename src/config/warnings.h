/* SPDX-License-Identifier: MIT
 * Warnings about valid configurations that are risky or of no use.
 */
#ifndef CONFIG_WARNINGS_H
#define CONFIG_WARNINGS_H

#include "base/err.h"
#include "model/spec.h"

/* Adds a sentence that begins with `warning: ` for each doubtful setting, with
 * its place. */
void config_warnings(const struct spec *spec, struct err_list *warnings);

#endif
