/* SPDX-License-Identifier: MIT
 * Reads an INI file into a draft.  Only ini.c uses inih.
 *
 * inih splits names from values.  It does not say in which line a value is,
 * cuts lines that are longer than its buffer, and takes an indented line for a
 * continuation of the value before.  A reader that hands inih one line at a
 * time, without the value, avoids all three.
 *
 * The form of a file: `[section]` heads; `key = value`; comments from `;` or
 * `#` at the start of a line, or from a `;` after a blank to the end of it;
 * blank lines.  A line that ends in a backslash goes on in the next one
 * (config/ini_lines.h); indentation means nothing.  LF or CRLF, a byte-order
 * mark or none.  `include = PATH` may stand before any section and in [global].
 */
#ifndef CONFIG_INI_H
#define CONFIG_INI_H

#include "base/err.h"
#include "config/draft.h"

/* The largest file; a larger one is refused, for instance a disk or
 * /dev/zero. */
#define INI_FILE_MAX (16u << 20)

/* Appends what the file says to the draft, values with their variables filled
 * in (config/expand.h), and adds one error for each line that is not
 * understood, or one for a file that cannot be read.  The draft notes what the
 * file includes, which is not read here.  Blocks on the disk.
 *
 * The path is one that draft_add_file() returned, since the places in the draft
 * point to it. */
void ini_load(const char *file, struct draft *draft, struct err_list *errors);

#endif
