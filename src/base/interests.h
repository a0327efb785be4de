/* SPDX-License-Identifier: MIT
 * The directories in which a change may change the contents that are read from
 * files.
 *
 * A file can be replaced by a rename, so its directory is watched.  If the
 * file, or a directory on the way to it, is a symbolic link, the directory of
 * the link's target is watched as well: live/www/cert.pem ->
 * ../../archive/www/cert3.pem, or ..data -> ..2026_01_31.
 */
#ifndef BASE_INTERESTS_H
#define BASE_INTERESTS_H

#include <stdbool.h>
#include <stddef.h>

/* A name in a directory; NULL: every name. */
struct interest {
	int wd; /* the directory's watch, as from inotify_add_watch */
	char *name;
};

struct interests {
	struct interest *all; /* sorted */
	size_t n, room;
	int error;          /* errno of the first watch that failed; 0: none */
	char *error_path;   /* its directory */
	bool out_of_memory; /* some are missing */
};

/* A search for interests in progress. */
struct interests_search;

/* Begins a search, which adds a watch to the inotify descriptor for each
 * directory that it finds.  Any thread; the functions of a search block for the
 * directories.  The caller ends it with interests_end, and later calls
 * interests_fini.  Returns NULL when memory is short, with out_of_memory set in
 * *ret_interests. */
struct interests_search *interests_begin(
    int inotify, struct interests *ret_interests);

/* Adds the file, and the links on the way to it. */
void interests_add_file(struct interests_search *search, const char *path);

/* Adds all names of the directory, and the targets of links in it. */
void interests_add_directory(struct interests_search *search, const char *path);

/* Ends the search, and sorts what it has found.  Accepts NULL. */
void interests_end(struct interests_search *search);

/* Frees the names; the watches stay. */
void interests_fini(struct interests *interests);

/* Returns whether a change of the name in the watched directory is of interest.
 * name NULL: a change of the directory itself. */
bool interests_have(
    const struct interests *interests, int wd, const char *name);

/* Returns whether both have the same names of the same watches. */
bool interests_equal(const struct interests *a, const struct interests *b);

#endif
