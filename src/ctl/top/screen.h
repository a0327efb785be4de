/* SPDX-License-Identifier: MIT
 * The terminal (ncurses): two head lines, the list, and a line at the bottom.
 * The terminal is restored when the program ends, except by SIGKILL.
 */
#ifndef CTL_TOP_SCREEN_H
#define CTL_TOP_SCREEN_H

#include <stdbool.h>

#include "base/err.h"
#include "ctl/top/keys.h"
#include "ctl/top/view.h"

/* Returns whether standard input and output are terminals. */
bool top_screen_possible(void);

/* Opens the screen.  Returns false with err set if the terminal is not known.
 */
bool top_screen_begin(struct err *err) MUST_CHECK;
/* Restores the terminal.  Does nothing without a screen. */
void top_screen_end(void);

/* Returns the number of columns, within the limits of struct top_look. */
unsigned top_screen_width(void);

/* Returns the number of visible lines of the list. */
unsigned top_screen_page(void);

/* Draws everything.  trouble is the reason why the figures are old, or
 * NULL. */
void top_screen_draw(struct top_keys *keys, const char *trouble);

/* Waits at most timeout_ms for a key.  Returns 0 if none was pressed
 * or the terminal was resized, -1 if the terminal is gone. */
int top_screen_key(int timeout_ms);

#endif
