/* SPDX-License-Identifier: MIT
 * The configuration as it was written: sections and their `key = value` entries
 * with their places, not interpreted.
 *
 * Readers (of files, and of the command line) append to a draft, and
 * config/build.h makes a spec of it.  All files of a configuration append to
 * the same draft, hence the list of files.
 */
#ifndef CONFIG_DRAFT_H
#define CONFIG_DRAFT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "config/keys.h"
#include "model/spec.h"

/* The longest value, in the form in which it is written in a file
 * (expand_length()), wherever it comes from: config/ini_lines.h takes the line
 * in which it is printed. */
#define DRAFT_VALUE_MAX 4096

struct draft_entry {
	struct spec_place place;
	char *label; /* `-s 10.0.0.1` when it was an option, else NULL */
	char *name;
	char *value; /* NULL: its error is reported already, or line is set */
	char *line;  /* not `key = value`; name is the first word of it */

	/* Set by config/build.c.  corrected: the key was wrong, which is
	 * reported, and name is the one that was meant, as far as that is
	 * known. */
	bool corrected;
	const struct key *key; /* of that name; NULL: none */
};

struct draft_section {
	struct spec_place place;
	char *head; /* between the brackets; empty: its error is reported
	               already */
	struct draft_entry *entries;
	size_t entries_n, entries_room;

	/* Filled in by config/build.c. */
	enum section_kind kind;
	const char *name; /* in head */
	size_t index;     /* in the spec's array of that kind */
	bool has_errors;  /* one of its values could not be read */
	bool check_wrong; /* the value of check or check_... */
	bool corrected;   /* head is wrong, kind the one that was meant */
};

/* `include = PATH`, which config/include.h follows. */
struct draft_include {
	struct spec_place place;
	char *path; /* as it was written, with its variables filled in */
};

struct draft {
	char **files; /* places point here */
	size_t files_n;
	struct draft_include *includes;
	size_t includes_n;
	struct draft_section *sections;
	size_t sections_n, sections_room;
};

/* Makes an empty draft. */
void draft_init(struct draft *draft);

/* Frees the members of the draft. */
void draft_fini(struct draft *draft);

/* The draft_add functions append copies of their arguments.  When memory is
 * short they return NULL or false, and the draft is unchanged. */

/* Appends a file.  Returns the draft's copy of path, for use in places. */
const char *draft_add_file(struct draft *draft, const char *path) MUST_CHECK;

/* Appends an include. */
bool draft_add_include(
    struct draft *draft, struct spec_place place, const char *path) MUST_CHECK;

/* Appends a section without entries. */
bool draft_add_section(
    struct draft *draft, struct spec_place place, const char *head) MUST_CHECK;

/* Appends an entry to the last section.  All texts except the name may be
 * NULL. */
bool draft_add_entry(struct draft *draft, struct spec_place place,
    const char *label, const char *name, const char *value,
    const char *line) MUST_CHECK;

/* Adds an error with the place of the entry. */
#define ENTRY_ERROR(entry, errors, ...)                                        \
	err_list_add(errors,                                                   \
	    (entry)->label ? (entry)->label : (entry)->place.file,             \
	    (entry)->place.line, __VA_ARGS__)

/* Adds an error with the place of a section, or of an object of the spec. */
#define ERROR_AT(object, errors, ...)                                          \
	err_list_add(                                                          \
	    errors, (object)->place.file, (object)->place.line, __VA_ARGS__)

#define DRAFT_FIRST_SIZE 300

/* Writes `, first in line 7`, or `, first in FILE:7` if first and here are in
 * different files, or nothing for the command line.  Returns out. */
const char *draft_first(struct spec_place first, struct spec_place here,
    char out[DRAFT_FIRST_SIZE]);

#endif
