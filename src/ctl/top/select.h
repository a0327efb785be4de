/* SPDX-License-Identifier: MIT
 * The selected line of the live view.  The selection is kept by name, so it
 * stays when lines move.
 */
#ifndef CTL_TOP_SELECT_H
#define CTL_TOP_SELECT_H

#include <stddef.h>

#include "ctl/top/data.h"
#include "ctl/top/view.h"

#define TOP_NAME_SIZE 128

struct top_target {
	enum top_line_kind kind; /* LINE_EMPTY: nothing */
	char proxy[TOP_NAME_SIZE], name[TOP_NAME_SIZE];
};

/* Returns the index of the selected line.  If nothing is selected, or the line
 * is gone, selects the first line that can be selected.  Returns lines->n if
 * there is none. */
size_t top_selected(struct top_target *target, const struct top_data *data,
    const struct top_lines *lines);

/* Moves the selection down by that many selectable lines, up if negative, but
 * not beyond the last or first one. */
void top_select(struct top_target *target, long by, const struct top_data *data,
    const struct top_lines *lines);

#endif
