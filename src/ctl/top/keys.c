/* SPDX-License-Identifier: MIT
 * See top_keys.h.
 */
#include "ctl/top/keys.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "ctl/client.h"

/* -- commands -- */

static void say(struct top_keys *keys, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

static void
say(struct top_keys *keys, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(keys->message, sizeof(keys->message), fmt, ap);
	va_end(ap);
}

static void add_word(struct top_command *command, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

static void
add_word(struct top_command *command, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(
	    command->words[command->n++], sizeof(command->words[0]), fmt, ap);
	va_end(ap);
}

/* The answer's first line, or that there was none: then it has been done. */
static void
say_answer(struct top_keys *keys, const struct ctl_text *line,
    const struct ctl_text *answer)
{
	struct ctl_reader reader;
	struct ctl_reply reply;
	const char *eol;

	ctl_reader_init(&reader, answer);
	ctl_reader_rest(&reader, &reply);
	while (reply.n && isspace((unsigned char)*reply.text))
		reply.text++, reply.n--;
	eol = memchr(reply.text, '\n', reply.n);
	if (eol)
		reply.n = (size_t)(eol - reply.text);
	if (reply.n == 0)
		say(keys, "done: %.*s", (int)line->n, line->data);
	else
		say(keys, "%s: %.*s", reply.is_error ? "refused" : "answer",
		    (int)reply.n, reply.text);
}

static void
send_command(struct top_keys *keys)
{
	const struct top_command *command = &keys->command;
	const char *words[TOP_WORDS_MAX + 1] = {NULL};
	struct ctl_text line = {NULL, 0, 0}, answer = {NULL, 0, 0};
	struct err err;

	for (unsigned i = 0; i < command->n; i++)
		words[i] = command->words[i];
	keys->mode = MODE_LIST;
	if (!ctl_add_command(&line, words))
		say(keys, "this name cannot be sent: it has a line end");
	else if (!ctl_ask(keys->where, &line, keys->timeout_ms, &answer, &err))
		say(keys, "not sent: %.200s", err.text);
	else
		say_answer(keys, &line, &answer);
	keys->sent = true;
	ctl_text_fini(&line);
	ctl_text_fini(&answer);
}

static void ask(struct top_keys *keys, enum top_mode mode, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

static void
ask(struct top_keys *keys, enum top_mode mode, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(keys->question, sizeof(keys->question), fmt, ap);
	va_end(ap);
	keys->mode = mode;
}

/* -- of a pool -- */

/* The selected pool; that of the selected frontend; or the only one. */
static const struct top_pool *
pool_meant(const struct top_keys *keys, const struct top_data *data,
    const struct top_line *line)
{
	const char *name = keys->selected.proxy;

	if (line->kind == LINE_FRONTEND)
		name = data->items[line->at].pool;
	else if (line->kind != LINE_POOL)
		return data->pools_n == 1 ? &data->pools[0] : NULL;
	for (size_t i = 0; i < data->pools_n; i++)
		if (strcmp(data->pools[i].name, name) == 0)
			return &data->pools[i];
	return NULL;
}

static void
resize_pool(
    struct top_keys *keys, const struct top_pool *pool, unsigned threads)
{
	keys->command.n = 0;
	add_word(&keys->command, "set");
	add_word(&keys->command, "pool");
	add_word(&keys->command, "%s", pool->name);
	add_word(&keys->command, "threads");
	add_word(&keys->command, "%u", threads);
	if (pool->autoscaled)
		ask(keys, MODE_CONFIRM,
		    "Pool %s scales by itself; %u thread%s from now on?",
		    pool->name, threads, text_s(threads));
	else if (pool->classed)
		ask(keys, MODE_CONFIRM,
		    "Pool %s has classes; %u thread%s, all alike?", pool->name,
		    threads, text_s(threads));
	else if (threads < pool->threads)
		ask(keys, MODE_CONFIRM, "Pool %s: %u instead of %u threads?",
		    pool->name, threads, pool->threads);
	else
		send_command(keys);
}

static void
press_resize(struct top_keys *keys, int key, const struct top_data *data,
    const struct top_line *line)
{
	const struct top_pool *pool = pool_meant(keys, data, line);

	if (!pool)
		say(keys, "Select a pool, or a frontend for its pool, first.");
	else if (key == '-' && pool->threads <= 1)
		say(keys, "Pool %s keeps its last thread.", pool->name);
	else
		resize_pool(keys, pool, pool->threads + (key == '-' ? -1u : 1));
}

/* -- of a server -- */

static void
press_state(struct top_keys *keys, int key)
{
	const struct top_target *t = &keys->selected;
	const char *state = key == 'd'   ? "drain"
	                    : key == 'e' ? "ready"
	                                 : "maint";

	keys->command.n = 0;
	add_word(&keys->command, "set");
	add_word(&keys->command, "server");
	add_word(&keys->command, "%s/%s", t->proxy, t->name);
	add_word(&keys->command, "state");
	add_word(&keys->command, "%s", state);
	if (key == 'e')
		send_command(keys);
	else
		ask(keys, MODE_CONFIRM, "Server %s/%s: %s?", t->proxy, t->name,
		    key == 'd' ? "drain it, no new sessions"
		               : "maintenance, no sessions");
}

static void
ask_weight(struct top_keys *keys)
{
	keys->input[0] = '\0';
	ask(keys, MODE_WEIGHT,
	    "Weight of %s/%s, 0 to 256, or percent: ", keys->selected.proxy,
	    keys->selected.name);
}

static void
press_server(struct top_keys *keys, int key, const struct top_line *line)
{
	if (line->kind != LINE_SERVER)
		say(keys, "Select a server first (up, down).");
	else if (key == 'w')
		ask_weight(keys);
	else
		press_state(keys, key);
}

/* The selected server's; a server that is gone has none. */
static uint64_t
present_weight(const struct top_keys *keys, const struct top_data *data)
{
	const struct top_target *t = &keys->selected;

	for (size_t i = 0; i < data->items_n; i++) {
		const struct top_item *item = &data->items[i];

		if (item->kind == TOP_SERVER &&
		    strcmp(item->proxy, t->proxy) == 0 &&
		    strcmp(item->name, t->name) == 0)
			return item->weight;
	}
	return 0;
}

/* Of a percentage nobody here knows what it is a part of. */
static void
take_weight(struct top_keys *keys, const struct top_data *data)
{
	const struct top_target *t = &keys->selected;
	bool percent = strchr(keys->input, '%') != NULL;

	if (!keys->input[0]) {
		keys->mode = MODE_LIST;
		return;
	}
	keys->command.n = 0;
	add_word(&keys->command, "set");
	add_word(&keys->command, "weight");
	add_word(&keys->command, "%s/%s", t->proxy, t->name);
	add_word(&keys->command, "%s", keys->input);
	if (percent ||
	    strtoull(keys->input, NULL, 10) < present_weight(keys, data))
		ask(keys, MODE_CONFIRM,
		    "Server %s/%s: weight %s instead of %u?", t->proxy, t->name,
		    keys->input, (unsigned)present_weight(keys, data));
	else
		send_command(keys);
}

/* -- keys -- */

static void
press_weight(struct top_keys *keys, int key, const struct top_data *data)
{
	size_t n = strlen(keys->input);

	if (key == KEY_OF_ENTER)
		take_weight(keys, data);
	else if (key == KEY_OF_ESCAPE)
		keys->mode = MODE_LIST;
	else if (key == KEY_OF_BACKSPACE && n > 0)
		keys->input[n - 1] = '\0';
	else if (((key >= '0' && key <= '9') || (key == '%' && n > 0)) &&
	         n < 4) {
		keys->input[n] = (char)key;
		keys->input[n + 1] = '\0';
	}
}

static void
press_confirm(struct top_keys *keys, int key)
{
	if (key == 'y' || key == 'Y') {
		send_command(keys);
		return;
	}
	keys->mode = MODE_LIST;
	say(keys, "Nothing was changed.");
}

static void
press_sort(struct top_keys *keys)
{
	keys->sort = (keys->sort + 1) % SORTS;
	say(keys, "Frontends and servers are sorted %s.",
	    top_sort_name(keys->sort));
}

static void
press_list(struct top_keys *keys, int key, const struct top_data *data,
    const struct top_lines *lines)
{
	size_t at = top_selected(&keys->selected, data, lines);

	if (key == ' ')
		keys->paused = !keys->paused;
	else if (key == 's')
		press_sort(keys);
	else if (key == 'h' || key == '?')
		keys->mode = MODE_HELP;
	else if (at == lines->n)
		return;
	else if (key == '+' || key == '-')
		press_resize(keys, key, data, &lines->lines[at]);
	else if (key == 'd' || key == 'e' || key == 'm' || key == 'w')
		press_server(keys, key, &lines->lines[at]);
}

static long
move_of(int key, unsigned page)
{
	switch (key) {
	case KEY_OF_UP:
	case 'k':
		return -1;
	case KEY_OF_DOWN:
	case 'j':
		return 1;
	case KEY_OF_PAGE_UP:
		return -(long)page;
	case KEY_OF_PAGE_DOWN:
		return (long)page;
	case KEY_OF_FIRST:
		return -1000000;
	case KEY_OF_LAST:
		return 1000000;
	default:
		return 0;
	}
}

void
top_keys_press(struct top_keys *keys, int key, unsigned page,
    const struct top_data *data, const struct top_lines *lines)
{
	keys->message[0] = '\0';
	if (keys->mode == MODE_HELP)
		keys->mode = MODE_LIST;
	else if (keys->mode == MODE_CONFIRM)
		press_confirm(keys, key);
	else if (keys->mode == MODE_WEIGHT)
		press_weight(keys, key, data);
	else if (key == 'q')
		keys->quit = true;
	else if (move_of(key, page) != 0)
		top_select(&keys->selected, move_of(key, page), data, lines);
	else
		press_list(keys, key, data, lines);
}
