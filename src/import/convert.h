/* SPDX-License-Identifier: MIT
 * The two conversions, by which import.c fills a document.
 */
#ifndef IMPORT_CONVERT_H
#define IMPORT_CONVERT_H

#include <stdbool.h>
#include <stdio.h>

#include "import/document.h"
#include "import/import.h"

/* Converts a configuration of HAProxy: adds its contents to the document.
 * Returns false, with a message to errors, if it cannot be parsed or has
 * nothing to convert. */
bool haproxy_convert(
    struct document *doc, const struct import_source *source, FILE *errors);
/* Does the same for nginx. */
bool nginx_convert(
    struct document *doc, const struct import_source *source, FILE *errors);

#endif
