/* SPDX-License-Identifier: MIT
 * Configurations from strings, for the tests of this layer.
 */
#ifndef UNIT_CONFIG_SUPPORT_H
#define UNIT_CONFIG_SUPPORT_H

#include <stddef.h>

#include "base/err.h"
#include "model/spec.h"

/* Loads the bytes as a file, which is gone afterwards.  The spec, or NULL;
 * ret_errors gets what err_list_print writes, less the file's path in front
 * of each line, so that a line starts with `7: ` or ` `; to be freed. */
struct spec *load_bytes(const void *bytes, size_t size, char **ret_errors);

/* The text must load; to be given to spec_free().  It is a copy of what was
 * read, which is gone. */
struct spec *load(const char *text);

/* The text must not load, with exactly these lines: a line of `expected`
 * stands for one error, of which it is the beginning. */
void assert_errors(const char *text, const char *expected);

/* The same for a file that is complete but for one line, which is line 2 and
 * stands in a section of that head. */
void assert_line_error(
    const char *head, const char *line, const char *expected);

/* What config_print writes; to be freed. */
char *print(const struct spec *spec);

/* What is printed of the text, which must load; printed again it is the same;
 * to be freed. */
char *round_trip(const char *text);

/* The line is in what is printed of the text. */
void assert_prints(const char *text, const char *line);

/* A smallest complete file, in lines of its own. */
#define FRONTEND "[frontend f]\nlisten = :80\nbackend = b\n"
#define BACKEND  "[backend b]\nserver = s 10.0.0.1:80\n"

#endif
