/* SPDX-License-Identifier: MIT
 * The line of the live view that is selected, by what it is about: it stays
 * selected when lines move.
 */
#ifndef CTL_TOP_SELECT_H
#define CTL_TOP_SELECT_H

#include <stddef.h>

#include "ctl/top/data.h"
#include "ctl/top/view.h"

#define TOP_NAME_SIZE 128

struct top_target {
	enum top_line_kind kind; /* LINE_EMPTY: none */
	char proxy[TOP_NAME_SIZE], name[TOP_NAME_SIZE];
};

/* The number of the selected line.  If it is gone, or nothing was selected,
 * the first line that can be is selected; lines->n when there is none. */
size_t top_selected(struct top_target *target, const struct top_data *data,
    const struct top_lines *lines);

/* Moves down by so many lines that can be selected, up if less than 0, or as
 * far as there are any. */
void top_select(struct top_target *target, long by, const struct top_data *data,
    const struct top_lines *lines);

#endif
