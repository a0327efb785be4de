/* SPDX-License-Identifier: MIT
 * See top_view.h.
 */
#include "main/top_view.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "main/ctl_client.h"
#include "main/top_text.h"

#define NAME_WIDTH   14 /* on the narrowest terminal */
#define NAME_MAX     40
#define ITEM_COLUMNS 53 /* all but the name and the history */
#define POOL_COLUMNS 51 /* all but the name and the roles */
#define HISTORY_MAX  (TOP_HISTORY < 60 ? TOP_HISTORY : 60)
#define HEAD_HISTORY 30

const char *
top_sort_name(enum top_sort sort)
{
	static const char *const names[SORTS] = {
	    [SORT_FILE] = "as configured",
	    [SORT_SESSIONS] = "by sessions",
	    [SORT_RATE] = "by rate",
	    [SORT_BYTES] = "by bytes",
	};

	return names[sort];
}

/* A third of what is left over goes to the name. */
static int
name_width(const struct top_look *look)
{
	int width = NAME_WIDTH + ((int)look->width - TOP_WIDTH_MIN) / 3;

	return width < NAME_MAX ? width : NAME_MAX;
}

static unsigned
rest_width(const struct top_look *look, int columns)
{
	return look->width - (unsigned)(name_width(look) + columns);
}

static struct top_line *
add_line(struct top_lines *lines, enum top_line_kind kind, size_t at)
{
	struct top_line *line;

	if (lines->n == lines->room) {
		lines->room = lines->room ? 2 * lines->room : 32;
		lines->lines =
		    ctl_array(lines->lines, lines->room, sizeof(*lines->lines));
	}
	line = &lines->lines[lines->n++];
	line->kind = kind;
	line->at = at;
	line->trouble = false;
	line->text[0] = '\0';
	return line;
}

void
top_lines_fini(struct top_lines *lines)
{
	free(lines->lines);
	memset(lines, 0, sizeof(*lines));
}

void
top_view_head(const struct top_data *data, const struct top_look *look,
    char ret_lines[2][TOP_LINE_SIZE])
{
	const struct top_head *head = &data->head;
	char uptime[TOP_UPTIME_SIZE], rate[TOP_NUMBER_SIZE];
	char in[TOP_NUMBER_SIZE], out[TOP_NUMBER_SIZE];
	char line[3 * HEAD_HISTORY + 1];

	snprintf(ret_lines[0], TOP_LINE_SIZE,
	    "%.20s %.20s on %.40s  up %s  %" PRIu64 " of %" PRIu64
	    " sessions  idle %" PRIu64 "%%%s",
	    head->program, head->version, head->node,
	    top_uptime(head->uptime_s, uptime), head->sessions,
	    head->sessions_max, head->idle_percent,
	    head->stopping ? "  STOPPING" : "");
	top_sparkline(&head->history, HEAD_HISTORY, look->utf8, line);
	snprintf(ret_lines[1], TOP_LINE_SIZE,
	    "%s sessions/s  %s B/s in  %s B/s out  %s",
	    top_number(head->rate, rate), top_number(head->in_rate, in),
	    top_number(head->out_rate, out), line);
}

/* A count, or what it is on the way to: `2/4`. */
static const char *
threads_text(const struct top_pool *pool, char out[TOP_NUMBER_SIZE])
{
	if (pool->resident == pool->threads)
		snprintf(out, TOP_NUMBER_SIZE, "%u", pool->threads);
	else
		snprintf(out, TOP_NUMBER_SIZE, "%.5u/%.5u", pool->resident,
		    pool->threads);
	return out;
}

static void
add_pools(const struct top_data *data, const struct top_look *look,
    struct top_lines *lines)
{
	int name = name_width(look);

	if (data->pools_n == 0)
		return;
	snprintf(add_line(lines, LINE_TITLE, 0)->text, TOP_LINE_SIZE,
	    "%-*s %7s %4s %4s %4s %6s %5s %6s %6s %s", name, "POOL", "THREADS",
	    "LEAD", "PROC", "FOLL", "SHARDS", "SESS", "PROM/S", "WAKE/S",
	    "ROLES");
	for (size_t i = 0; i < data->pools_n; i++) {
		const struct top_pool *pool = &data->pools[i];
		char promotions[TOP_NUMBER_SIZE], wakes[TOP_NUMBER_SIZE];
		char threads[TOP_NUMBER_SIZE];

		snprintf(add_line(lines, LINE_POOL, i)->text, TOP_LINE_SIZE,
		    "%-*.*s %7s %4u %4u %4u %6u %5u %6s %6s %.*s", name, name,
		    pool->name, threads_text(pool, threads), pool->leading,
		    pool->processing, pool->following, pool->shards,
		    pool->handlers,
		    top_number(pool->promotion_rate, promotions),
		    top_number(pool->wake_rate, wakes),
		    (int)rest_width(look, POOL_COLUMNS), pool->roles);
	}
	add_line(lines, LINE_EMPTY, 0);
}

static bool
is_down(const struct top_item *item)
{
	return strncmp(item->status, "DOWN", 4) == 0 ||
	       strcmp(item->status, "STOP") == 0 ||
	       strcmp(item->status, "FULL") == 0;
}

static void
add_item(const struct top_data *data, size_t at, const struct top_look *look,
    struct top_lines *lines)
{
	static const enum top_line_kind kinds[] = {
	    [TOP_FRONTEND] = LINE_FRONTEND,
	    [TOP_BACKEND] = LINE_BACKEND,
	    [TOP_SERVER] = LINE_SERVER,
	};
	const struct top_item *item = &data->items[at];
	struct top_line *line = add_line(lines, kinds[item->kind], at);
	unsigned rest = rest_width(look, ITEM_COLUMNS);
	char sessions[TOP_NUMBER_SIZE], rate[TOP_NUMBER_SIZE];
	char in[TOP_NUMBER_SIZE], out[TOP_NUMBER_SIZE];
	char weight[TOP_NUMBER_SIZE] = "", queue[TOP_NUMBER_SIZE] = "";
	char history[3 * TOP_HISTORY + 1];
	bool server = item->kind == TOP_SERVER;
	int name = name_width(look) - 1 - server;

	line->trouble = is_down(item);
	if (item->kind != TOP_FRONTEND) {
		top_number((double)item->weight, weight);
		top_number((double)item->queue, queue);
	}
	top_sparkline(&item->history, rest < HISTORY_MAX ? rest : HISTORY_MAX,
	    look->utf8, history);
	snprintf(line->text, TOP_LINE_SIZE,
	    "%s%s%-*.*s %-8.8s %5s %5s %5s %5s %5s %5s %-6.6s %s",
	    line->trouble ? "!" : " ", server ? " " : "", name, name,
	    server ? item->name : item->proxy, item->status,
	    top_number((double)item->sessions, sessions),
	    top_number(item->rate, rate), top_number(item->in_rate, in),
	    top_number(item->out_rate, out), weight, queue, item->check,
	    history);
}

static void
add_title(
    const char *what, const struct top_look *look, struct top_lines *lines)
{
	snprintf(add_line(lines, LINE_TITLE, 0)->text, TOP_LINE_SIZE,
	    "%-*s %-8s %5s %5s %5s %5s %5s %5s %-6s %s", name_width(look), what,
	    "STATUS", "SESS", "RATE", "IN/S", "OUT/S", "WGT", "QUEUE", "CHECK",
	    "HISTORY");
}

/* -- order -- */

struct order {
	const struct top_data *data;
	enum top_sort sort;
};

static double
worth(const struct top_item *item, enum top_sort sort)
{
	switch (sort) {
	case SORT_SESSIONS:
		return (double)item->sessions;
	case SORT_RATE:
		return item->rate;
	case SORT_BYTES:
		return item->in_rate + item->out_rate;
	default:
		return 0;
	}
}

/* The greatest first; equals as they are in the file. */
static int
compare(const void *a, const void *b, void *context)
{
	const struct order *order = context;
	size_t i = *(const size_t *)a, j = *(const size_t *)b;
	double x = worth(&order->data->items[i], order->sort);
	double y = worth(&order->data->items[j], order->sort);

	if (x != y)
		return x > y ? -1 : 1;
	return i < j ? -1 : i > j;
}

/* The items of that kind, of all proxies or of one, in order. */
static void
add_sorted(const struct top_data *data, enum top_kind kind, const char *proxy,
    const struct top_look *look, struct top_lines *lines)
{
	struct order order = {data, look->sort};
	size_t *at = ctl_array(NULL, data->items_n + 1, sizeof(*at)), n = 0;

	for (size_t i = 0; i < data->items_n; i++) {
		const struct top_item *item = &data->items[i];

		if (item->kind == kind &&
		    (!proxy || strcmp(item->proxy, proxy) == 0))
			at[n++] = i;
	}
	qsort_r(at, n, sizeof(*at), compare, &order);
	for (size_t i = 0; i < n; i++)
		add_item(data, at[i], look, lines);
	free(at);
}

void
top_view_make(const struct top_data *data, const struct top_look *look,
    struct top_lines *lines)
{
	lines->n = 0;
	add_pools(data, look, lines);
	add_title("FRONTEND", look, lines);
	add_sorted(data, TOP_FRONTEND, NULL, look, lines);
	add_line(lines, LINE_EMPTY, 0);
	add_title("BACKEND/SERVER", look, lines);
	for (size_t i = 0; i < data->items_n; i++) {
		if (data->items[i].kind != TOP_BACKEND)
			continue;
		add_item(data, i, look, lines);
		add_sorted(data, TOP_SERVER, data->items[i].proxy, look, lines);
	}
}
