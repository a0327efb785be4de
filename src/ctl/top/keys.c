/* SPDX-License-Identifier: MIT
 * See keys.h.
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

static void set_message(struct top_keys *keys, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

static void
set_message(struct top_keys *keys, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(keys->message, sizeof(keys->message), fmt, ap);
	va_end(ap);
}

/* Shows the first line of the answer.  Without one the command succeeded. */
static void
set_message_from_answer(
    struct top_keys *keys, const char *command, const struct ctl_reply *reply)
{
	const char *text = reply->text + strspn(reply->text, " \t\r\n");
	const char *end = reply->text + reply->n;

	if (text >= end)
		set_message(keys, "done: %s", command);
	else
		set_message(keys, "%s: %.*s",
		    reply->is_error ? "refused" : "answer",
		    (int)strcspn(text, "\n"), text);
}

static void
send_command(struct top_keys *keys)
{
	const char *words[] = {keys->command, NULL};
	struct ctl_text line = {NULL, 0, 0}, answer = {NULL, 0, 0};
	struct ctl_reply reply;
	struct err err;

	keys->mode = MODE_LIST;
	if (!ctl_add_command(&line, words))
		set_message(keys, "cannot send a name with a line end");
	else if (!ctl_ask_one(keys->where, line.data, keys->timeout_ms, &answer,
	             &reply, &err))
		set_message(keys, "not sent: %.200s", err.text);
	else
		set_message_from_answer(keys, line.data, &reply);
	keys->sent = true;
	ctl_text_fini(&line);
	ctl_text_fini(&answer);
}

static void ask_user(struct top_keys *keys, enum top_mode mode, const char *fmt,
    ...) __attribute__((format(printf, 3, 4)));

static void
ask_user(struct top_keys *keys, enum top_mode mode, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(keys->question, sizeof(keys->question), fmt, ap);
	va_end(ap);
	keys->mode = mode;
}

/* -- pools -- */

/* The selected pool, the pool of the selected frontend, or the only pool. */
static const struct top_pool *
pool_of_selection(const struct top_keys *keys, const struct top_data *data,
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
	snprintf(keys->command, sizeof(keys->command), "set pool %s threads %u",
	    pool->name, threads);
	if (pool->autoscaled)
		ask_user(keys, MODE_CONFIRM,
		    "Pool %s is autoscaled; fix it at %u thread%s?", pool->name,
		    threads, text_s(threads));
	else if (pool->classed)
		ask_user(keys, MODE_CONFIRM,
		    "Pool %s has classes; replace them by %u equal thread%s?",
		    pool->name, threads, text_s(threads));
	else if (threads < pool->threads)
		ask_user(keys, MODE_CONFIRM,
		    "Pool %s: %u instead of %u threads?", pool->name, threads,
		    pool->threads);
	else
		send_command(keys);
}

static void
press_resize(struct top_keys *keys, int key, const struct top_data *data,
    const struct top_line *line)
{
	const struct top_pool *pool = pool_of_selection(keys, data, line);

	if (!pool)
		set_message(
		    keys, "Select a pool, or a frontend for its pool, first.");
	else if (key == '-' && pool->threads <= 1)
		set_message(keys, "Pool %s keeps its last thread.", pool->name);
	else
		resize_pool(keys, pool, pool->threads + (key == '-' ? -1u : 1));
}

/* -- servers -- */

static void
press_state(struct top_keys *keys, int key)
{
	static const struct {
		int key;
		const char *state, *question;
	} states[] = {
	    {'d', "drain", "drain it, no new sessions"},
	    {'m', "maint", "maintenance, no sessions"},
	    {'e', "ready", NULL},
	};
	const struct top_target *t = &keys->selected;
	size_t i = 0;

	while (states[i].key != key)
		i++;
	snprintf(keys->command, sizeof(keys->command),
	    "set server %s/%s state %s", t->proxy, t->name, states[i].state);
	if (states[i].question)
		ask_user(keys, MODE_CONFIRM, "Server %s/%s: %s?", t->proxy,
		    t->name, states[i].question);
	else
		send_command(keys);
}

static void
ask_weight(struct top_keys *keys)
{
	keys->input[0] = '\0';
	ask_user(keys, MODE_WEIGHT,
	    "Weight of %s/%s, 0 to 256, or percent: ", keys->selected.proxy,
	    keys->selected.name);
}

static void
press_server(struct top_keys *keys, int key, const struct top_line *line)
{
	if (line->kind != LINE_SERVER)
		set_message(keys, "Select a server first (up, down).");
	else if (key == 'w')
		ask_weight(keys);
	else
		press_state(keys, key);
}

/* The weight of the selected server, 0 if the server is gone. */
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

/* A percentage always needs confirmation: the initial weight is not known here.
 */
static void
submit_weight(struct top_keys *keys, const struct top_data *data)
{
	const struct top_target *t = &keys->selected;
	bool percent = strchr(keys->input, '%') != NULL;

	if (!keys->input[0]) {
		keys->mode = MODE_LIST;
		return;
	}
	snprintf(keys->command, sizeof(keys->command), "set weight %s/%s %s",
	    t->proxy, t->name, keys->input);
	if (percent ||
	    strtoull(keys->input, NULL, 10) < present_weight(keys, data))
		ask_user(keys, MODE_CONFIRM,
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
		submit_weight(keys, data);
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
	set_message(keys, "Nothing was changed.");
}

static void
press_sort(struct top_keys *keys)
{
	keys->sort = (keys->sort + 1) % SORTS;
	set_message(keys, "Frontends and servers are sorted %s.",
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
