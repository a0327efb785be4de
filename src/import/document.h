/* SPDX-License-Identifier: MIT
 * The lfproxy.ini that a conversion writes: sections with their lines, comments
 * of the source in their place, and comments about lines without a counterpart.
 */
#ifndef IMPORT_DOCUMENT_H
#define IMPORT_DOCUMENT_H

#include <stdbool.h>
#include <stdio.h>

#include "import/ledger.h"

struct ini_section {
	struct ini_section *next;
	const char *head;         /* `frontend web`, or NULL for a remark */
	struct arena_text before; /* comments before the head */
	struct arena_text lines;
	size_t n_keys;
	bool left_out; /* head and lines are written as comments */
};

/* A document, with the arena that everything else of the conversion may use. */
struct document {
	struct arena arena;
	struct ini_section *first, *last;
	struct arena_text pending; /* comments that await the next line */
	const char *remark;        /* comment behind the next line, or NULL */
	struct ledger ledger;
	const char *reject; /* the backend that closes, or NULL */
	/* Names that were given, by which they are made unique. */
	struct doc_name *names;
};

/* Frees the document and its arena. */
void doc_fini(struct document *doc);

/* Adds a section at the end; comments that wait for a line precede it. */
struct ini_section *doc_section(struct document *doc, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Returns the section with that head, and adds it if there is none. */
struct ini_section *doc_find_section(struct document *doc, const char *head);

/* Returns the name of the backend that closes sessions at once, and adds it if
 * there is none yet. */
const char *doc_reject_backend(struct document *doc);

/* Adds a comment line of the source, without its mark. */
void doc_comment(struct document *doc, const char *text);

/* Moves the comments that wait for a line to the section. */
void doc_flush(struct document *doc, struct ini_section *section);

/* Returns the comments that wait for a line, or NULL, and forgets them. */
const char *doc_take_pending(struct document *doc);

/* Adds the line `key = value`. */
void doc_key(struct document *doc, struct ini_section *section, const char *key,
    const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* Adds a comment about the conversion: `; text`. */
void doc_note(struct document *doc, struct ini_section *section,
    const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Adds a comment about a line, or words of one, without an exact counterpart,
 * with the reason and the nearest replacement, and notes it in the line's row
 * of the ledger. */
void doc_lost(struct document *doc, struct ini_section *section,
    struct origin at, enum loss loss, const char *words, const char *fmt, ...)
    __attribute__((format(printf, 6, 7)));

/* Does the same for something that the original does without being told; name
 * is what its manual calls it. */
void doc_default(struct document *doc, struct ini_section *section,
    enum loss loss, const char *name, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));

/* Reports the words that nothing has looked at, in a remark at the end. */
void doc_report_unread(struct document *doc);

/* Returns a name that lfproxy accepts and that nothing else of the kind has:
 * `want`, changed if necessary. */
const char *doc_name(struct document *doc, const char *kind, const char *want);

/* Returns s with control characters, which no value may have, replaced. */
const char *doc_clean(struct document *doc, const char *s);

/* Returns s as a word of a value, in which `${` does not begin a variable.
 * Returns NULL if s cannot be written: it has blanks, a leading semicolon, or
 * control characters. */
const char *doc_word(struct document *doc, const char *s);

/* Writes everything. */
void doc_write(const struct document *doc, FILE *out);

#endif
