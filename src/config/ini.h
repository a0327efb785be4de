/* SPDX-License-Identifier: MIT
 * Reads an INI file into a draft.  The only file that knows inih.
 *
 * inih splits names from values.  Three things that inih does not do are done
 * here, by a reader that hands it one line at a time: inih does not say in
 * which line a value stood, cuts what is longer than its buffers, and takes an
 * indented line for a continuation of the value before.
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

/* Larger files are refused: someone named a disk, or /dev/zero. */
#define INI_FILE_MAX (16u << 20)

/* Appends what the file says to the draft, values with their variables filled
 * in (config/expand.h), and one error for each line that is not understood.  A
 * file that cannot be read is one error.  What the file includes is noted in
 * the draft, and not read.  Blocks on the disk.
 *
 * The path is one of draft_add_file(), to which the places in the draft
 * point. */
void ini_load(const char *file, struct draft *draft, struct err_list *errors);

#endif
