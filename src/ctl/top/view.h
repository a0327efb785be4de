/* SPDX-License-Identifier: MIT
 * Formats the figures of a round as lines of text, the same with and without a
 * terminal.  Colours carry no meaning: the name of what is down begins with
 * `!`.
 */
#ifndef CTL_TOP_VIEW_H
#define CTL_TOP_VIEW_H

#include <stdbool.h>
#include <stddef.h>

#include "ctl/top/data.h"

#define TOP_WIDTH_MIN 80
#define TOP_WIDTH_MAX 240
#define TOP_LINE_SIZE (4 * TOP_WIDTH_MAX) /* columns of up to 4 bytes */

enum top_sort { SORT_FILE, SORT_SESSIONS, SORT_RATE, SORT_BYTES, SORTS };

/* How to format the lines. */
struct top_look {
	unsigned width; /* columns, TOP_WIDTH_MIN to TOP_WIDTH_MAX */
	bool utf8;      /* sparklines of blocks instead of ASCII */
	enum top_sort sort;
	bool clients; /* instead of frontends, servers and pools */
};

struct top_line {
	enum top_kind kind;
	size_t at; /* index of items, of pools, or of clients */
	bool down;
	char text[TOP_LINE_SIZE];
};

struct top_lines {
	struct top_line *lines;
	size_t n, room;
};

/* Returns the order in words, for instance `by rate`. */
const char *top_sort_name(enum top_sort sort);

/* Formats the two head lines about lfproxy as a whole. */
void top_view_head(const struct top_data *data, const struct top_look *look,
    char ret_lines[2][TOP_LINE_SIZE]);

/* Formats all other lines; replaces the content of lines. */
void top_view_make(const struct top_data *data, const struct top_look *look,
    struct top_lines *lines);

/* Frees the lines. */
void top_lines_fini(struct top_lines *lines);

#endif
