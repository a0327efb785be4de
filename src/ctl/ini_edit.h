/* SPDX-License-Identifier: MIT
 * Edits a configuration file and leaves everything else in it as it is:
 * comments, blank lines, indentation, lines that a backslash continues.
 *
 * Lines keep their numbers, from 1, until the file is written, whatever is
 * inserted or removed.
 */
#ifndef CTL_INI_EDIT_H
#define CTL_INI_EDIT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/list.h"
#include "net/cidr.h"

struct ini_file {
	struct list node; /* for the owner's list */
	char *path;
	char **lines;    /* from lines[1]; NULL: removed */
	char **inserted; /* behind each of them, whole lines; NULL: nothing */
	size_t n;        /* of both */
	char *before;    /* the file as it was read */
	size_t before_size;
	bool changed;
	bool written; /* for the owner: the file has the edits now */
};

/* Reads the file.  Returns NULL with err set. */
struct ini_file *ini_file_read(const char *path, struct err *err) MUST_CHECK;

/* Frees the file.  Accepts NULL. */
void ini_file_free(struct ini_file *file);

/* Writes the file: a new file that replaces it, with its mode and owner.
 * former: writes what was read, without the edits.  Returns false with err set
 * and the file unchanged. */
bool ini_file_write(
    const struct ini_file *file, bool former, struct err *err) MUST_CHECK;

/* Returns the line of the head of that section, as in `backend app`; 0 if there
 * is none. */
size_t ini_find_section(const struct ini_file *file, const char *section);

/* Appends an empty section to the file.  Returns its line, or 0 when memory is
 * short. */
size_t ini_add_section(struct ini_file *file, const char *section);

/* The following functions return false with err set if the line is not what it
 * was, or if memory is short. */

/* Sets an option, as in `weight=50`, of the entry `server = NAME ...` that
 * begins in the line. */
bool ini_set_option(struct ini_file *file, size_t line, const char *name,
    const char *option, const char *value, struct err *err) MUST_CHECK;

/* Replaces the address of the server in such an entry. */
bool ini_set_address(struct ini_file *file, size_t line, const char *name,
    const char *address, struct err *err) MUST_CHECK;

/* Sets a key of the section that has its head in the line: adds it, or replaces
 * its value. */
bool ini_set_key(struct ini_file *file, size_t head, const char *key,
    const char *value, struct err *err) MUST_CHECK;

/* Adds a key to the section, behind the last key of that name. */
bool ini_add_key(struct ini_file *file, size_t head, const char *key,
    const char *value, struct err *err) MUST_CHECK;

/* Removes the entry `key = NAME ...` of the section. */
bool ini_remove(struct ini_file *file, size_t head, const char *key,
    const char *name, struct err *err) MUST_CHECK;

/* Removes the range, however it is written, from all entries `key = RANGE ...`
 * of the section. */
bool ini_remove_range(struct ini_file *file, size_t head, const char *key,
    const struct cidr *range, struct err *err) MUST_CHECK;

/* Returns the line of the entry `key = NAME ...` of the section; 0 if there is
 * none. */
size_t ini_find_entry(const struct ini_file *file, size_t head, const char *key,
    const char *name);

#endif
