/* SPDX-License-Identifier: MIT
 * The keys of the live view: selection, modes, and the commands that are sent.
 *
 *              d m - b                y           command sent; its answer
 *     LIST ------------> CONFIRM ---------> LIST  is the message
 *      |                    ^ |  other key
 *      |                    | +-----------> LIST  nothing sent
 *      |  w                 | lower weight
 *      +-------> WEIGHT ----+-------------> LIST  command sent
 *      |  l
 *      +-------> RATE --------------------> LIST  command sent
 *      |  h                 any key
 *      +-------> HELP -------------------> LIST
 *
 * CONFIRM asks before commands that reduce capacity.  Commands that add
 * capacity (e, +, a greater weight) are sent at once.
 */
#ifndef CTL_TOP_KEYS_H
#define CTL_TOP_KEYS_H

#include <stdbool.h>

#include "ctl/top/data.h"
#include "ctl/top/view.h"

enum top_mode { MODE_LIST, MODE_CONFIRM, MODE_WEIGHT, MODE_RATE, MODE_HELP };

#define TOP_SCREEN_TIMEOUT_MS 2000 /* of a command: keys wait for it */

/* The selected line, by name, so that it stays selected when lines move. */
#define TOP_NAME_SIZE 128
struct top_target {
	enum top_kind kind; /* TOP_EMPTY: nothing */
	char proxy[TOP_NAME_SIZE], name[TOP_NAME_SIZE];
};

struct top_keys {
	const char *where;             /* the socket */
	const struct top_data *data;   /* shown at present, as */
	const struct top_lines *lines; /* these lines */
	enum top_mode mode;
	bool quit, paused;
	bool sent; /* a command was sent: read new figures at once */
	struct top_look look;
	struct top_target selected;
	char command[3 * TOP_NAME_SIZE]; /* of MODE_CONFIRM */
	char input[16];                  /* of MODE_WEIGHT and MODE_RATE */
	char question[256];              /* of all three */
	char message[256]; /* shown until the next key; "": none */
};

/* Handles a key as getch(3) returns it.  page is the number of visible lines.
 * May send a command and block for its answer, at most
 * TOP_SCREEN_TIMEOUT_MS for each step. */
void top_keys_press(struct top_keys *keys, int key, unsigned page);

/* Returns the index of the selected line.  If nothing is selected, or the line
 * is gone, selects the first line that can be selected.  Returns lines->n if
 * there is none. */
size_t top_selected(struct top_keys *keys);

#endif
