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

/* Returns the name of the section with these lines (each `key = value` and a
 * line end; NULL for none).  If there is none, adds one, whose name is made of
 * `want`. */
const char *tls_section(struct tls_sections *sections, struct document *doc,
    const char *lines, const char *want);

/* Returns the cipher list without words for ciphers that OpenSSL no longer has,
 * which lfproxy refuses.  *ret_dropped has these words, or is NULL. */
const char *tls_ciphers(
    struct document *doc, const char *list, const char **ret_dropped);

/* Returns a list of OpenSSL's group names for a list that may have older
 * names. */
const char *tls_curves(struct document *doc, const char *list);

#endif
