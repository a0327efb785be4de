/* SPDX-License-Identifier: MIT
 * See view.h.
 */
#include "ctl/top/view.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "ctl/client.h"
#include "ctl/top/text.h"

#define NAME_WIDTH   14 /* on the narrowest terminal */
#define NAME_MAX     40
#define ITEM_COLUMNS 65 /* all but the name, TOTAL and the history */
#define TOTAL_WIDTH  6  /* with the blank before it */
#define TOTAL_FROM   96 /* width from which TOTAL is shown */
#define HISTORY_MIN  6
#define POOL_COLUMNS 51 /* all but the name and the roles */
#define HISTORY_MAX  (TOP_HISTORY < 60 ? TOP_HISTORY : 60)
#define HEAD_HISTORY 30

static const char *const sort_names[] = {
    [SORT_FILE] = "as configured",
    [SORT_SESSIONS] = "by sessions",
    [SORT_RATE] = "by rate",
    [SORT_BYTES] = "by bytes",
};
_Static_assert(
    sizeof(sort_names) / sizeof(sort_names[0]) == SORTS, "a name each");

const char *
top_sort_name(enum top_sort sort)
{
	return sort_names[sort];
}

/* A third of the columns above the minimum goes to the name. */
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

/* The column TOTAL with the blank before it; "" on a narrow terminal. */
static const char *
total_column(const struct top_look *look, const char *text,
    char out[TOP_NUMBER_SIZE + 2])
{
	out[0] = '\0';
	if (look->width >= TOTAL_FROM)
		snprintf(out, TOP_NUMBER_SIZE + 2, " %5s", text);
	return out;
}

/* The width of the history; 0 if that would be less than HISTORY_MIN. */
static unsigned
history_width(const struct top_look *look)
{
	int used = name_width(look) + ITEM_COLUMNS +
	           (look->width >= TOTAL_FROM ? TOTAL_WIDTH : 0);
	unsigned rest =
	    (int)look->width > used ? look->width - (unsigned)used : 0;

	if (rest < HISTORY_MIN)
		return 0;
	return rest < HISTORY_MAX ? rest : HISTORY_MAX;
}

static struct top_line *
append_line(struct top_lines *lines, enum top_line_kind kind, size_t at)
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
	line->down = false;
	line->text[0] = '\0';
	return line;
}

void
top_lines_fini(struct top_lines *lines)
{
	free(lines->lines);
	memset(lines, 0, sizeof(*lines));
}

static bool
is_down(const struct top_item *item)
{
	return strncmp(item->status, "DOWN", 4) == 0 ||
	       strcmp(item->status, "STOP") == 0 ||
	       strcmp(item->status, "FULL") == 0;
}

struct sums {
	uint64_t total;  /* sessions of frontends */
	uint64_t errors; /* of frontends and backends */
	unsigned servers_down;
};

static struct sums
sum_items(const struct top_data *data)
{
	struct sums sums = {.total = 0};

	for (size_t i = 0; i < data->items_n; i++) {
		const struct top_item *item = &data->items[i];

		if (item->kind == TOP_SERVER) {
			sums.servers_down += is_down(item);
			continue;
		}
		sums.errors += item->errors;
		if (item->kind == TOP_FRONTEND)
			sums.total += item->total;
	}
	return sums;
}

void
top_view_head(const struct top_data *data, const struct top_look *look,
    char ret_lines[2][TOP_LINE_SIZE])
{
	const struct top_head *head = &data->head;
	struct sums sums = sum_items(data);
	char uptime[TOP_UPTIME_SIZE], rate[TOP_NUMBER_SIZE];
	char in[TOP_NUMBER_SIZE], out[TOP_NUMBER_SIZE];
	char total[TOP_NUMBER_SIZE], errors[TOP_NUMBER_SIZE];
	char line[3 * HEAD_HISTORY + 1] = "";
	int used;

	snprintf(ret_lines[0], TOP_LINE_SIZE,
	    "%.20s %.20s on %.40s  up %s  %" PRIu64 " of %" PRIu64
	    " sessions  idle %" PRIu64 "%%%s",
	    head->program, head->version, head->node,
	    top_uptime(head->uptime_s, uptime), head->sessions,
	    head->sessions_max, head->idle_percent,
	    head->stopping ? "  STOPPING" : "");
	used = snprintf(ret_lines[1], TOP_LINE_SIZE,
	    "%s sessions/s  %s B/s in  %s B/s out  %s in all  %s error%s  "
	    "%u down  ",
	    top_number(head->rate, rate), top_number(head->in_rate, in),
	    top_number(head->out_rate, out),
	    top_number((double)sums.total, total),
	    top_number((double)sums.errors, errors), text_s(sums.errors),
	    sums.servers_down);
	if (used + HISTORY_MIN <= (int)look->width) {
		unsigned rest = look->width - (unsigned)used;

		top_sparkline(&head->history,
		    rest < HEAD_HISTORY ? rest : HEAD_HISTORY, look->utf8,
		    line);
	}
	strcat(ret_lines[1], line);
}

/* The number of threads, or `2/4` while two of four are there. */
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
append_pools(const struct top_data *data, const struct top_look *look,
    struct top_lines *lines)
{
	int name = name_width(look);

	if (data->pools_n == 0)
		return;
	append_line(lines, LINE_EMPTY, 0);
	snprintf(append_line(lines, LINE_TITLE, 0)->text, TOP_LINE_SIZE,
	    "%-*s %7s %4s %4s %4s %6s %5s %6s %6s %s", name, "POOL", "THREADS",
	    "LEAD", "PROC", "FOLL", "SHARDS", "SESS", "PROM/S", "WAKE/S",
	    "ROLES");
	for (size_t i = 0; i < data->pools_n; i++) {
		const struct top_pool *pool = &data->pools[i];
		char promotions[TOP_NUMBER_SIZE], wakes[TOP_NUMBER_SIZE];
		char threads[TOP_NUMBER_SIZE];

		snprintf(append_line(lines, LINE_POOL, i)->text, TOP_LINE_SIZE,
		    "%-*.*s %7s %4u %4u %4u %6u %5u %6s %6s %.*s", name, name,
		    pool->name, threads_text(pool, threads), pool->leading,
		    pool->processing, pool->following, pool->shards,
		    pool->handlers,
		    top_number(pool->promotion_rate, promotions),
		    top_number(pool->wake_rate, wakes),
		    (int)rest_width(look, POOL_COLUMNS), pool->roles);
	}
}

static void
append_item(const struct top_data *data, size_t at, const struct top_look *look,
    struct top_lines *lines)
{
	static const enum top_line_kind kinds[] = {
	    [TOP_FRONTEND] = LINE_FRONTEND,
	    [TOP_BACKEND] = LINE_BACKEND,
	    [TOP_SERVER] = LINE_SERVER,
	};
	const struct top_item *item = &data->items[at];
	struct top_line *line = append_line(lines, kinds[item->kind], at);
	char sessions[TOP_NUMBER_SIZE], rate[TOP_NUMBER_SIZE];
	char peak[TOP_NUMBER_SIZE], errors[TOP_NUMBER_SIZE];
	char number[TOP_NUMBER_SIZE], total[TOP_NUMBER_SIZE + 2];
	char in[TOP_NUMBER_SIZE], out[TOP_NUMBER_SIZE];
	char weight[TOP_NUMBER_SIZE] = "", queue[TOP_NUMBER_SIZE] = "";
	char history[3 * TOP_HISTORY + 1];
	bool server = item->kind == TOP_SERVER;
	int name = name_width(look) - 1 - server;

	line->down = is_down(item);
	if (item->kind != TOP_FRONTEND) {
		top_number((double)item->weight, weight);
		top_number((double)item->queue, queue);
	}
	top_sparkline(&item->history, history_width(look), look->utf8, history);
	snprintf(line->text, TOP_LINE_SIZE,
	    "%s%s%-*.*s %-8.8s %5s %5s%s %5s %5s %5s %5s %5s %5s %-6.6s%s%s",
	    line->down ? "!" : " ", server ? " " : "", name, name,
	    server ? item->name : item->proxy, item->status,
	    top_number((double)item->sessions, sessions),
	    top_number((double)item->peak, peak),
	    total_column(look, top_number((double)item->total, number), total),
	    top_number(item->rate, rate),
	    top_number((double)item->errors, errors),
	    top_number(item->in_rate, in), top_number(item->out_rate, out),
	    weight, queue, item->check, *history ? " " : "", history);
}

static void
append_title(
    const char *what, const struct top_look *look, struct top_lines *lines)
{
	char total[TOP_NUMBER_SIZE + 2];

	snprintf(append_line(lines, LINE_TITLE, 0)->text, TOP_LINE_SIZE,
	    "%-*s %-8s %5s %5s%s %5s %5s %5s %5s %5s %5s %-6s%s",
	    name_width(look), what, "STATUS", "SESS", "PEAK",
	    total_column(look, "TOTAL", total), "RATE", "ERR", "IN/S", "OUT/S",
	    "WGT", "QUEUE", "CHECK", history_width(look) > 0 ? " HISTORY" : "");
}

/* -- order -- */

struct order {
	const struct top_data *data;
	enum top_sort sort;
};

static double
sort_value(const struct top_item *item, enum top_sort sort)
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

/* The greatest first; equal items in the order of the configuration. */
static int
compare_items(const void *a, const void *b, void *context)
{
	const struct order *order = context;
	size_t i = *(const size_t *)a, j = *(const size_t *)b;
	double x = sort_value(&order->data->items[i], order->sort);
	double y = sort_value(&order->data->items[j], order->sort);

	if (x != y)
		return x > y ? -1 : 1;
	return i < j ? -1 : i > j;
}

/* Adds the items of that kind, of all proxies or of one, in order. */
static void
append_sorted(const struct top_data *data, enum top_kind kind,
    const char *proxy, const struct top_look *look, struct top_lines *lines)
{
	struct order order = {data, look->sort};
	size_t *at = ctl_array(NULL, data->items_n + 1, sizeof(*at)), n = 0;

	for (size_t i = 0; i < data->items_n; i++) {
		const struct top_item *item = &data->items[i];

		if (item->kind == kind &&
		    (!proxy || strcmp(item->proxy, proxy) == 0))
			at[n++] = i;
	}
	qsort_r(at, n, sizeof(*at), compare_items, &order);
	for (size_t i = 0; i < n; i++)
		append_item(data, at[i], look, lines);
	free(at);
}

void
top_view_make(const struct top_data *data, const struct top_look *look,
    struct top_lines *lines)
{
	lines->n = 0;
	append_title("FRONTEND", look, lines);
	append_sorted(data, TOP_FRONTEND, NULL, look, lines);
	append_line(lines, LINE_EMPTY, 0);
	append_title("BACKEND/SERVER", look, lines);
	for (size_t i = 0; i < data->items_n; i++) {
		if (data->items[i].kind != TOP_BACKEND)
			continue;
		append_item(data, i, look, lines);
		append_sorted(
		    data, TOP_SERVER, data->items[i].proxy, look, lines);
	}
	append_pools(data, look, lines);
}
