/* SPDX-License-Identifier: MIT
 * A file of servers.  Each line has a server, as it is written behind the name
 * in `server = NAME`.
 *
 *   # the east
 *   10.0.0.1:80 weight=5 backup
 *   [2001:db8::1]:80           ; a comment
 *   unix:/run/app.sock
 *
 * Blank lines are ignored; # and ; at the beginning of a line, or behind a
 * blank, begin a comment.  A member's key is its address.
 *
 * A line that is not of this form, or whose address an earlier line has,
 * becomes an entry with `wrong` set.  A file that has such lines alone is
 * refused.
 */
#ifndef RESOLVE_FILE_MEMBERS_H
#define RESOLVE_FILE_MEMBERS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "resolve/discovery.h"

/* The most characters of a line, its comment included, and bytes of a file. */
#define FILE_MEMBERS_LINE_MAX 4096
#define FILE_MEMBERS_SIZE_MAX (16u << 20)

struct file_members {
	/* Their texts point into text, but a wrong one owns its key. */
	struct discovered *all;
	size_t n, wrong_n;
	char *text, *notes;
	/* Whether the last line has its line end.  Otherwise, and when the file
	 * is empty, a program may still be writing it. */
	bool whole;
};

/* Parses the text of the file of that name, len bytes from malloc with room for
 * a NUL, and takes ownership of it.  Does not check options.  Returns false
 * with err set, which begins with the file and the line. */
bool file_members_parse(const char *path, char *text, size_t len,
    struct file_members *ret_members, struct err *err) MUST_CHECK;

/* Reads and parses the file.  Any thread; blocks for the disk.  Returns false
 * with err set. */
bool file_members_read(const char *path, struct file_members *ret_members,
    struct err *err) MUST_CHECK;

/* Frees the members; there are none then. */
void file_members_fini(struct file_members *members);

#endif
