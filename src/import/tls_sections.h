/* SPDX-License-Identifier: MIT
 * The [tls NAME] sections of a document: equal settings share a section.
 */
#ifndef IMPORT_TLS_SECTIONS_H
#define IMPORT_TLS_SECTIONS_H

#include "import/document.h"

struct tls_entry;

/* All zero is empty. */
struct tls_sections {
	struct tls_entry *first;
};

/* Returns the name of the section with these lines (`key = value` and a line
 * end each; NULL for none), which is added, and called like `want`, if there is
 * none. */
const char *tls_section(struct tls_sections *sections, struct document *doc,
    const char *lines, const char *want);

/* Returns the cipher list without words that today's OpenSSL has no more, which
 * lfproxy refuses; ret_dropped has them, or NULL. */
const char *tls_ciphers(
    struct document *doc, const char *list, const char **ret_dropped);

/* Returns the OpenSSL group names of a list in which older names may stand. */
const char *tls_curves(struct document *doc, const char *list);

#endif
