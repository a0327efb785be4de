/* SPDX-License-Identifier: MIT
 * What the keys of the live view mean: what is selected, and the commands that
 * are sent for it.
 *
 *              d m - w                y           sent; the answer is the
 *     LIST ------------> CONFIRM ---------> LIST  message
 *      | ^                  ^ |  any other
 *      | +----------------- | +-----------> LIST  nothing was sent
 *      |  w                 | less than before
 *      +-------> WEIGHT ----+
 *      |  h                 any
 *      +-------> HELP -------------------> LIST
 *
 * CONFIRM waits for a yes to what takes capacity away.  What adds some (e, +,
 * a greater weight) is sent at once.
 */
#ifndef CTL_TOP_KEYS_H
#define CTL_TOP_KEYS_H

#include <stdbool.h>

#include "ctl/top/data.h"
#include "ctl/top/select.h"
#include "ctl/top/view.h"

enum top_key {
	KEY_OF_UP = 256, /* below are characters as they are */
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

/* A command, as words that are sent with blanks between them. */
#define TOP_WORDS_MAX 6
struct top_command {
	char words[TOP_WORDS_MAX][2 * TOP_NAME_SIZE];
	unsigned n;
};

struct top_keys {
	const char *where; /* the socket */
	int timeout_ms;
	enum top_mode mode;
	bool quit, paused;
	bool sent; /* a command was: the figures are worth a new look */
	enum top_sort sort;
	struct top_target selected;
	struct top_command command; /* of MODE_CONFIRM and MODE_WEIGHT */
	char input[8];              /* of MODE_WEIGHT */
	char question[256];         /* of MODE_CONFIRM and MODE_WEIGHT */
	char message[256];          /* until the next key; "" for none */
};

/* Does what the key, a character or an enum top_key, means; page is the number
 * of lines that are seen at a time.  May send a command and block for its
 * answer, timeout_ms at most for each step. */
void top_keys_press(struct top_keys *keys, int key, unsigned page,
    const struct top_data *data, const struct top_lines *lines);

#endif
