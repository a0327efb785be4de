/* SPDX-License-Identifier: MIT
 * Errors for people: one sentence, or a list of sentences with their places.
 *
 * A sentence says what was found and what is allowed or what to do; it starts
 * in lower case and has no full stop, so that it can follow a place.
 */
#ifndef BASE_ERR_H
#define BASE_ERR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* For functions whose failure the caller must not ignore. */
#define MUST_CHECK __attribute__((warn_unused_result))

struct err {
	char text[512];
};

/* Sets the sentence, cut to fit; does nothing if err is NULL.  Always returns
 * false, for `return err_set(err, ...);`. */
bool err_set(struct err *err, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Sets the sentence to "out of memory".  Always returns false. */
bool err_oom(struct err *err);

/* An entry of a list; line 0 means that the whole file is meant. */
struct err_entry {
	char *file;
	unsigned line;
	char *text;
};

/* Errors by file, in the order in which files first appear, then by line. */
struct err_list {
	struct err_entry *entries;
	size_t n;
};

/* Returns `FILE:LINE: TEXT`, without what the entry does not have, for free(3),
 * or NULL when memory is short. */
char *err_entry_text(const struct err_entry *entry);

/* Initializes an empty list. */
void err_list_init(struct err_list *list);
/* Frees the entries; the list is then empty. */
void err_list_fini(struct err_list *list);

/* Adds an entry with copies of file and text, in which secrets are masked
 * (base/secrets.h).  file NULL: the sentence stands alone.  When memory is
 * short the entry is lost, but n still grows, so that an error never turns into
 * success.  Runs on any thread that has the list to itself. */
void err_list_add(struct err_list *list, const char *file, unsigned line,
    const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* Prints `FILE:LINE: text` for each entry, in a line that starts with `before`:
 * a severity (log_severity), or "". */
void err_list_print(const struct err_list *list, const char *before, FILE *out);

#endif
