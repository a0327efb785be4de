/* SPDX-License-Identifier: MIT
 * The keys of the live view: selection, modes, and the commands that are sent.
 *
 *              d m -                  y           command sent; its answer
 *     LIST ------------> CONFIRM ---------> LIST  is the message
 *      |                    ^ |  other key
 *      |                    | +-----------> LIST  nothing sent
 *      |  w                 | lower weight
 *      +-------> WEIGHT ----+-------------> LIST  command sent
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
#include "ctl/top/select.h"
#include "ctl/top/view.h"

enum top_key {
	KEY_OF_UP = 256, /* smaller values are characters */
	KEY_OF_DOWN,
	KEY_OF_PAGE_UP,
	KEY_OF_PAGE_DOWN,
	KEY_OF_FIRST,
	KEY_OF_LAST,
	KEY_OF_ENTER,
	KEY_OF_BACKSPACE,
	KEY_OF_ESCAPE,
};

enum top_mode { MODE_LIST, MODE_CONFIRM, MODE_WEIGHT, MODE_HELP };

struct top_keys {
	const char *where; /* the socket */
	int timeout_ms;
	enum top_mode mode;
	bool quit, paused;
	bool sent; /* a command was sent: read new figures at once */
	enum top_sort sort;
	struct top_target selected;
	char command[3 * TOP_NAME_SIZE]; /* of MODE_CONFIRM */
	char input[8];                   /* of MODE_WEIGHT */
	char question[256];              /* of MODE_CONFIRM and MODE_WEIGHT */
	char message[256]; /* shown until the next key; "": none */
};

/* Handles a key, a character or an enum top_key.  page is the number of visible
 * lines.  May send a command and block for its answer, at most timeout_ms for
 * each step. */
void top_keys_press(struct top_keys *keys, int key, unsigned page,
    const struct top_data *data, const struct top_lines *lines);

#endif
