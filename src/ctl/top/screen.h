/* SPDX-License-Identifier: MIT
 * The terminal (ncurses): two lines of head, the list, a line at the bottom.
 * It is put back as it was when the program ends, in whatever way but SIGKILL.
 */
#ifndef CTL_TOP_SCREEN_H
#define CTL_TOP_SCREEN_H

#include <stdbool.h>

#include "base/err.h"
#include "ctl/top/keys.h"
#include "ctl/top/view.h"

/* Standard input and output are a terminal that can be drawn on. */
bool top_screen_possible(void);

bool top_screen_begin(struct err *err);
void top_screen_end(void);

/* Columns for top_look. */
unsigned top_screen_width(void);

/* Lines of the list that are seen at a time. */
unsigned top_screen_page(void);

/* trouble: why there are no new figures, NULL if there are. */
void top_screen_draw(struct top_keys *keys, const struct top_data *data,
    const struct top_look *look, const struct top_lines *lines,
    const char *trouble);

/* Waits for a key (top_keys.h) for that long; 0 when none was pressed or the
 * size of the terminal has changed, -1 when the terminal is gone. */
int top_screen_key(int timeout_ms);

#endif
