/* SPDX-License-Identifier: MIT
 * See keys.h.
 */
#include "ctl/top/keys.h"

#include <ctype.h>
#include <curses.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "ctl/client.h"

#define ESCAPE 27
#define DELETE 127

/* -- commands -- */

static __attribute__((format(printf, 2, 3))) void
set_message(struct top_keys *keys, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(keys->message, sizeof(keys->message), fmt, ap);
	va_end(ap);
}

/* Shows the first line of the answer.  If there is none, the command
 * succeeded. */
static void
set_message_from_answer(
    struct top_keys *keys, const char *command, const struct ctl_answer *answer)
{
	const char *text = answer->text.data;

	text += strspn(text, " \t\r\n");
	if (!*text)
		set_message(keys, "done: %s", command);
	else
		set_message(keys, "%s: %.*s",
		    answer->is_error ? "refused" : "answer",
		    (int)strcspn(text, "\n"), text);
}

static void
send_command(struct top_keys *keys)
{
	const char *words[] = {keys->command, NULL};
	struct ctl_answer answer = {.text = {NULL, 0, 0}};
	struct ctl_text line = {NULL, 0, 0};
	struct err err;

	keys->mode = MODE_LIST;
	keys->sent = true;
	if (!ctl_add_command(&line, words))
		set_message(keys, "cannot send a name with a line end");
	else if (!ctl_ask_one(keys->where, line.data, TOP_SCREEN_TIMEOUT_MS,
	             &answer, &err))
		set_message(keys, "not sent: %.200s", err.text);
	else
		set_message_from_answer(keys, line.data, &answer);
	ctl_text_fini(&line);
	ctl_text_fini(&answer.text);
}

static __attribute__((format(printf, 3, 4))) void
ask_user(struct top_keys *keys, enum top_mode mode, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(keys->question, sizeof(keys->question), fmt, ap);
	va_end(ap);
	keys->mode = mode;
}

/* -- selection -- */

static bool
can_be_selected(const struct top_line *line)
{
	return line->kind != TOP_EMPTY && line->kind != TOP_TITLE;
}

static struct top_target
target_of(const struct top_data *data, const struct top_line *line)
{
	struct top_target target = {.kind = line->kind};
	const char *proxy, *name = "";

	if (line->kind == TOP_POOL) {
		proxy = data->pools[line->at].name;
	} else if (line->kind == TOP_CLIENT) {
		proxy = data->clients[line->at].name;
	} else {
		proxy = data->items[line->at].proxy;
		name = data->items[line->at].name;
	}
	snprintf(target.proxy, TOP_NAME_SIZE, "%s", proxy);
	snprintf(target.name, TOP_NAME_SIZE, "%s", name);
	return target;
}

static bool
same_target(const struct top_target *a, const struct top_target *b)
{
	return a->kind == b->kind && strcmp(a->proxy, b->proxy) == 0 &&
	       strcmp(a->name, b->name) == 0;
}

size_t
top_selected(struct top_keys *keys)
{
	struct top_target target, first = {.kind = TOP_EMPTY};
	size_t at = keys->lines->n;

	for (size_t i = at; i-- > 0;) {
		if (!can_be_selected(&keys->lines->lines[i]))
			continue;
		target = target_of(keys->data, &keys->lines->lines[i]);
		if (same_target(&target, &keys->selected))
			return i;
		first = target;
		at = i;
	}
	keys->selected = first;
	return at;
}

/* Returns the selected line, or NULL if no line can be selected. */
static const struct top_line *
selected_line(struct top_keys *keys)
{
	size_t at = top_selected(keys);

	return at < keys->lines->n ? &keys->lines->lines[at] : NULL;
}

/* Moves the selection down by that many selectable lines, up if negative, but
 * not beyond the last or first one. */
static void
move_selection(struct top_keys *keys, long by)
{
	size_t n = keys->lines->n, at = top_selected(keys), to = at;
	size_t step = by < 0 ? (size_t)-1 : 1;

	/* Above the first line, the index wraps around and is beyond the
	 * last. */
	for (long left = labs(by); left > 0 && at + step < n;) {
		at += step;
		if (can_be_selected(&keys->lines->lines[at])) {
			to = at;
			left--;
		}
	}
	if (to < n)
		keys->selected = target_of(keys->data, &keys->lines->lines[to]);
}

/* -- pools -- */

/* Returns the selected pool, the pool of the selected frontend, or the only
 * pool; NULL if there is none of these. */
static const struct top_pool *
pool_of_selection(const struct top_keys *keys, const struct top_line *line)
{
	const struct top_data *data = keys->data;
	const char *name = keys->selected.proxy;

	if (line->kind == TOP_FRONTEND)
		name = data->items[line->at].pool;
	else if (line->kind != TOP_POOL)
		return data->pools_n == 1 ? &data->pools[0] : NULL;
	for (size_t i = 0; i < data->pools_n; i++)
		if (strcmp(data->pools[i].name, name) == 0)
			return &data->pools[i];
	return NULL;
}

static void
resize_pool(struct top_keys *keys, const struct top_pool *pool, uint64_t to)
{
	unsigned threads = (unsigned)to, now = (unsigned)pool->threads;

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
	else if (threads < now)
		ask_user(keys, MODE_CONFIRM,
		    "Pool %s: %u instead of %u threads?", pool->name, threads,
		    now);
	else
		send_command(keys);
}

static void
press_resize(struct top_keys *keys, int key, const struct top_line *line)
{
	const struct top_pool *pool = pool_of_selection(keys, line);

	if (!pool)
		set_message(
		    keys, "Select a pool, or a frontend for its pool, first.");
	else if (key == '-' && pool->threads <= 1)
		set_message(keys, "Pool %s keeps its last thread.", pool->name);
	else
		resize_pool(
		    keys, pool, pool->threads + (key == '-' ? UINT64_MAX : 1));
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
press_server(struct top_keys *keys, int key)
{
	if (keys->selected.kind != TOP_SERVER) {
		set_message(keys, "Select a server first (up, down).");
	} else if (key != 'w') {
		press_state(keys, key);
	} else {
		keys->input[0] = '\0';
		ask_user(keys, MODE_WEIGHT,
		    "Weight of %s/%s, 0 to 256, or percent: ",
		    keys->selected.proxy, keys->selected.name);
	}
}

/* Sends the weight, or asks first if it reduces capacity.  A percentage always
 * needs confirmation: the initial weight is not known here. */
static void
submit_weight(struct top_keys *keys)
{
	const struct top_line *line = selected_line(keys);
	const struct top_target *t = &keys->selected;
	unsigned weight;

	keys->mode = MODE_LIST;
	if (!keys->input[0])
		return;
	if (!line || line->kind != TOP_SERVER) {
		set_message(keys, "The server is gone.");
		return;
	}
	weight = (unsigned)keys->data->items[line->at].weight;
	snprintf(keys->command, sizeof(keys->command), "set weight %s/%s %s",
	    t->proxy, t->name, keys->input);
	if (strchr(keys->input, '%') || strtoul(keys->input, NULL, 10) < weight)
		ask_user(keys, MODE_CONFIRM,
		    "Server %s/%s: weight %s instead of %u?", t->proxy, t->name,
		    keys->input, weight);
	else
		send_command(keys);
}

/* -- clients -- */

static void
press_client(struct top_keys *keys, int key)
{
	const char *client = keys->selected.proxy;

	if (keys->selected.kind != TOP_CLIENT) {
		set_message(keys, "Select a client first (c shows them).");
	} else if (key == 'l') {
		keys->input[0] = '\0';
		ask_user(keys, MODE_RATE,
		    "Bandwidth of %s for 10m, each way: ", client);
	} else {
		snprintf(keys->command, sizeof(keys->command),
		    "add acl banned %s for 1h", client);
		ask_user(keys, MODE_CONFIRM,
		    "Ban %s for 1h (list banned; its sessions go on)?", client);
	}
}

static void
submit_rate(struct top_keys *keys)
{
	const char *rate = keys->input;

	keys->mode = MODE_LIST;
	if (!*rate)
		return;
	snprintf(keys->command, sizeof(keys->command),
	    "set bandwidth client %s in=%s out=%s for 10m",
	    keys->selected.proxy, rate, rate);
	send_command(keys);
}

/* -- keys -- */

/* Returns whether the key may be the next one of what is typed in. */
static bool
is_input(const struct top_keys *keys, int key)
{
	size_t n = strlen(keys->input);

	if (keys->mode == MODE_RATE)
		return n + 1 < sizeof(keys->input) && key < DELETE &&
		       (isalnum(key) || key == '/' || key == '.');
	return n < 4 && ((key >= '0' && key <= '9') || (key == '%' && n > 0));
}

static void
press_input(struct top_keys *keys, int key)
{
	size_t n = strlen(keys->input);

	switch (key) {
	case KEY_ENTER:
	case '\n':
	case '\r':
		if (keys->mode == MODE_RATE)
			submit_rate(keys);
		else
			submit_weight(keys);
		break;
	case ESCAPE:
		keys->mode = MODE_LIST;
		break;
	case KEY_BACKSPACE:
	case '\b':
	case DELETE:
		keys->input[n > 0 ? n - 1 : 0] = '\0';
		break;
	default:
		if (is_input(keys, key)) {
			keys->input[n] = (char)key;
			keys->input[n + 1] = '\0';
		}
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

/* Moves the selection.  Returns false for other keys. */
static bool
press_move(struct top_keys *keys, int key, unsigned page)
{
	switch (key) {
	case KEY_UP:
	case 'k':
		move_selection(keys, -1);
		break;
	case KEY_DOWN:
	case 'j':
		move_selection(keys, 1);
		break;
	case KEY_PPAGE:
		move_selection(keys, -(long)page);
		break;
	case KEY_NPAGE:
		move_selection(keys, (long)page);
		break;
	case KEY_HOME:
		move_selection(keys, LONG_MIN + 1);
		break;
	case KEY_END:
		move_selection(keys, LONG_MAX);
		break;
	default:
		return false;
	}
	return true;
}

static void
press_list(struct top_keys *keys, int key, unsigned page)
{
	const struct top_line *line = selected_line(keys);

	if (press_move(keys, key, page))
		return;
	switch (key) {
	case 'q':
		keys->quit = true;
		break;
	case ' ':
		keys->paused = !keys->paused;
		break;
	case 's':
		keys->look.sort = (keys->look.sort + 1) % SORTS;
		set_message(keys, "Frontends and servers are sorted %s.",
		    top_sort_name(keys->look.sort));
		break;
	case 'h':
	case '?':
		keys->mode = MODE_HELP;
		break;
	case '+':
	case '-':
		if (line)
			press_resize(keys, key, line);
		break;
	case 'b':
	case 'l':
		press_client(keys, key);
		break;
	case 'c':
		keys->look.clients = !keys->look.clients;
		keys->sent = true;
		break;
	case 'd':
	case 'e':
	case 'm':
	case 'w':
		if (line)
			press_server(keys, key);
		break;
	}
}

void
top_keys_press(struct top_keys *keys, int key, unsigned page)
{
	keys->message[0] = '\0';
	switch (keys->mode) {
	case MODE_LIST:
		press_list(keys, key, page);
		break;
	case MODE_CONFIRM:
		press_confirm(keys, key);
		break;
	case MODE_WEIGHT:
	case MODE_RATE:
		press_input(keys, key);
		break;
	case MODE_HELP:
		keys->mode = MODE_LIST;
		break;
	}
}
