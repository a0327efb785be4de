/* SPDX-License-Identifier: MIT
 * See view.h.
 */
#include "ctl/top/view.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "ctl/client.h"

#define NAME_WIDTH   14 /* on the narrowest terminal */
#define NAME_MAX     40
#define TOTAL_FROM   96 /* width from which TOTAL is shown */
#define HISTORY_MIN  6
#define HISTORY_MAX  (TOP_HISTORY < 60 ? TOP_HISTORY : 60)
#define HEAD_HISTORY 30
#define LEVELS       8

/* A short text, returned by value. */
struct text {
	char s[32];
};

static __attribute__((format(printf, 1, 2))) struct text
text_of(const char *fmt, ...)
{
	struct text text;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text.s, sizeof(text.s), fmt, ap);
	va_end(ap);
	return text;
}

/* Formats a number in at most five columns: `0`, `12.5`, `99999`, `123k`,
 * `1.23M`.  Units are powers of 1000. */
static struct text
number_text(double value)
{
	static const char units[] = "kMGTPE";
	const char *unit = units;

	if (value < 99999.5) {
		/* Tenths only for small fractions. */
		bool whole = value >= 99.95 || value < 0.05 ||
		             value == (double)(uint64_t)value;

		return text_of("%.*f", whole ? 0 : 1, value);
	}
	for (value /= 1000; value >= 999.5 && unit[1]; unit++)
		value /= 1000;
	return text_of("%.*f%c",
	    value < 9.995   ? 2
	    : value < 99.95 ? 1
	                    : 0,
	    value, *unit);
}

/* Formats `3d 04:05:06`, or `04:05:06` for less than a day. */
static struct text
uptime_text(uint64_t seconds)
{
	uint64_t days = seconds / 86400;
	struct text clock =
	    text_of("%02u:%02u:%02u", (unsigned)(seconds / 3600 % 24),
	        (unsigned)(seconds / 60 % 60), (unsigned)(seconds % 60));

	return days ? text_of("%" PRIu64 "d %s", days, clock.s) : clock;
}

/* Appends the last `width` values to the line, a column of up to 3 bytes each,
 * scaled to the greatest of them. */
static void
append_sparkline(
    char *line, const struct top_history *history, unsigned width, bool utf8)
{
	static const char *const blocks[LEVELS] = {"\u2581", "\u2582", "\u2583",
	    "\u2584", "\u2585", "\u2586", "\u2587", "\u2588"};
	static const char *const ascii[LEVELS] = {
	    "_", ".", ",", "-", "=", "+", "*", "#"};
	unsigned first = history->n > width ? history->n - width : 0;
	float max = 0;

	for (unsigned i = first; i < history->n; i++)
		if (history->values[i] > max)
			max = history->values[i];
	line += strlen(line);
	for (unsigned i = first; i < history->n; i++) {
		float part = max > 0 ? history->values[i] / max : 0;
		unsigned level = (unsigned)(part * (LEVELS - 1) + 0.5f);

		line = stpcpy(line, (utf8 ? blocks : ascii)[level]);
	}
}

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

static struct top_line *
append_line(struct top_lines *lines, enum top_kind kind, size_t at)
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

/* Returns the width of a history in that room: at most max, or 0 if there is no
 * room for HISTORY_MIN. */
static unsigned
history_width(int room, unsigned max)
{
	if (room < HISTORY_MIN)
		return 0;
	return (unsigned)room < max ? (unsigned)room : max;
}

/* -- head lines -- */

void
top_view_head(const struct top_data *data, const struct top_look *look,
    char ret_lines[2][TOP_LINE_SIZE])
{
	const struct top_head *head = &data->head;
	char expiring[48] = "";
	int used;

	if (head->expiring > 0)
		snprintf(expiring, sizeof(expiring),
		    "  %" PRIu64 " CERTIFICATE%s EXPIRING", head->expiring,
		    head->expiring == 1 ? "" : "S");
	snprintf(ret_lines[0], TOP_LINE_SIZE,
	    "%.20s %.20s on %.40s  up %s  %" PRIu64 " of %" PRIu64
	    " sessions  idle %" PRIu64 "%%%s%s",
	    head->program, head->version, head->node,
	    uptime_text(head->uptime_s).s, head->sessions, head->sessions_max,
	    head->idle_percent, head->stopping ? "  STOPPING" : "", expiring);
	used = snprintf(ret_lines[1], TOP_LINE_SIZE,
	    "%s sessions/s  %s B/s in  %s B/s out  %s in all  %s error%s  "
	    "%" PRIu64 " down  ",
	    number_text(head->rate).s, number_text(head->in_rate).s,
	    number_text(head->out_rate).s, number_text((double)head->total).s,
	    number_text((double)head->errors).s, text_s(head->errors),
	    head->servers_down);
	append_sparkline(ret_lines[1], &head->history,
	    history_width((int)look->width - used, HEAD_HISTORY), look->utf8);
}

/* -- columns -- */

enum cell {
	CELL_TEXT,          /* const char * */
	CELL_COUNT,         /* uint64_t */
	CELL_BACKEND_COUNT, /* uint64_t, empty for a frontend */
	CELL_RATE,          /* double */
	CELL_THREADS,       /* of a pool; `2/4` while two of four are there */
};

struct column {
	const char *title;
	int width; /* negative: flush left, and cut */
	enum cell cell;
	size_t offset; /* of the value, in the row */
	unsigned from; /* width of the look from which the column is shown */
};

#define OF_ITEM(field) offsetof(struct top_item, field)
#define OF_POOL(field) offsetof(struct top_pool, field)

/* The columns between the name and the history. */
static const struct column item_columns[] = {
    {"STATUS", -8, CELL_TEXT, OF_ITEM(status), 0},
    {"SESS", 5, CELL_COUNT, OF_ITEM(sessions), 0},
    {"PEAK", 5, CELL_COUNT, OF_ITEM(peak), 0},
    {"TOTAL", 5, CELL_COUNT, OF_ITEM(total), TOTAL_FROM},
    {"RATE", 5, CELL_RATE, OF_ITEM(rate), 0},
    {"ERR", 5, CELL_COUNT, OF_ITEM(errors), 0},
    {"IN/S", 5, CELL_RATE, OF_ITEM(in_rate), 0},
    {"OUT/S", 5, CELL_RATE, OF_ITEM(out_rate), 0},
    {"WGT", 5, CELL_BACKEND_COUNT, OF_ITEM(weight), 0},
    {"QUEUE", 5, CELL_BACKEND_COUNT, OF_ITEM(queue), 0},
    {"CHECK", -6, CELL_TEXT, OF_ITEM(check), 0},
    {.title = NULL},
};

/* The columns between the name and the roles. */
static const struct column pool_columns[] = {
    {"THREADS", 7, CELL_THREADS, OF_POOL(threads), 0},
    {"LEAD", 4, CELL_COUNT, OF_POOL(leading), 0},
    {"PROC", 4, CELL_COUNT, OF_POOL(processing), 0},
    {"FOLL", 4, CELL_COUNT, OF_POOL(following), 0},
    {"SHARDS", 6, CELL_COUNT, OF_POOL(shards), 0},
    {"SESS", 5, CELL_COUNT, OF_POOL(handlers), 0},
    {"PROM/S", 6, CELL_RATE, OF_POOL(promotion_rate), 0},
    {"WAKE/S", 6, CELL_RATE, OF_POOL(wake_rate), 0},
    {.title = NULL},
};

static struct text
cell_text(const struct column *column, const void *row)
{
	const void *value = (const char *)row + column->offset;
	const struct top_item *item = row;
	const struct top_pool *pool = row;

	switch (column->cell) {
	case CELL_TEXT:
		return text_of("%s", *(const char *const *)value);
	case CELL_RATE:
		return number_text(*(const double *)value);
	case CELL_THREADS:
		if (pool->resident == pool->threads)
			break;
		return text_of(
		    "%.5" PRIu64 "/%.5" PRIu64, pool->resident, pool->threads);
	case CELL_BACKEND_COUNT:
		if (item->kind == TOP_FRONTEND)
			return text_of("%s", "");
		break;
	case CELL_COUNT:
		break;
	}
	return number_text((double)*(const uint64_t *)value);
}

/* Appends the cells of the row, or the titles if row is NULL.  A negative
 * precision counts as none, so only text is cut. */
static void
append_cells(struct top_line *line, const struct column *column,
    const void *row, const struct top_look *look)
{
	char *at = line->text + strlen(line->text);

	for (; column->title; column++)
		if (look->width >= column->from)
			at +=
			    sprintf(at, " %*.*s", column->width, -column->width,
			        row ? cell_text(column, row).s : column->title);
}

/* Returns the width of names: a third of the columns above the minimum is
 * theirs. */
static int
name_width(const struct top_look *look)
{
	int width = NAME_WIDTH + ((int)look->width - TOP_WIDTH_MIN) / 3;

	return width < NAME_MAX ? width : NAME_MAX;
}

/* Returns the width that is left after the columns and a blank. */
static int
rest_width(const struct top_look *look, const struct column *column)
{
	int rest = (int)look->width - name_width(look) - 1;

	for (; column->title; column++)
		if (look->width >= column->from)
			rest -= abs(column->width) + 1;
	return rest;
}

static void
append_title(struct top_lines *lines, const char *name,
    const struct column *columns, const char *last, const struct top_look *look)
{
	struct top_line *line = append_line(lines, TOP_TITLE, 0);

	sprintf(line->text, "%-*s", name_width(look), name);
	append_cells(line, columns, NULL, look);
	strcat(line->text, last);
}

static void
append_pools(const struct top_data *data, const struct top_look *look,
    struct top_lines *lines)
{
	int name = name_width(look);

	if (data->pools_n == 0)
		return;
	append_line(lines, TOP_EMPTY, 0);
	append_title(lines, "POOL", pool_columns, " ROLES", look);
	for (size_t i = 0; i < data->pools_n; i++) {
		const struct top_pool *pool = &data->pools[i];
		struct top_line *line = append_line(lines, TOP_POOL, i);

		sprintf(line->text, "%-*.*s", name, name, pool->name);
		append_cells(line, pool_columns, pool, look);
		sprintf(line->text + strlen(line->text), " %.*s",
		    rest_width(look, pool_columns), pool->roles);
	}
}

static void
append_item(const struct top_data *data, size_t at, const struct top_look *look,
    struct top_lines *lines)
{
	const struct top_item *item = &data->items[at];
	struct top_line *line = append_line(lines, item->kind, at);
	bool server = item->kind == TOP_SERVER;
	int name = name_width(look) - 1 - server;

	line->down = item->down;
	sprintf(line->text, "%s%s%-*.*s", line->down ? "!" : " ",
	    server ? " " : "", name, name, server ? item->name : item->proxy);
	append_cells(line, item_columns, item, look);
	strcat(line->text, " ");
	append_sparkline(line->text, &item->history,
	    history_width(rest_width(look, item_columns), HISTORY_MAX),
	    look->utf8);
}

static const struct column client_columns[] = {
    {"BYTES", 6, CELL_COUNT, offsetof(struct top_client, bytes), 0},
    {"B/S", 6, CELL_RATE, offsetof(struct top_client, byte_rate), 0},
    {"SESSIONS", 8, CELL_COUNT, offsetof(struct top_client, sessions), 0},
    {"ERRORS", 6, CELL_COUNT, offsetof(struct top_client, errors), 0},
    {.title = NULL},
};

/* The width of a client, an IPv6 network at most. */
#define CLIENT_WIDTH 43

static void
append_clients(const struct top_data *data, const struct top_look *look,
    struct top_lines *lines)
{
	struct top_line *line = append_line(lines, TOP_TITLE, 0);

	sprintf(line->text, "%-*s", CLIENT_WIDTH, "CLIENT");
	append_cells(line, client_columns, NULL, look);
	for (size_t i = 0; i < data->clients_n; i++) {
		line = append_line(lines, TOP_CLIENT, i);
		sprintf(line->text, "%-*.*s", CLIENT_WIDTH, CLIENT_WIDTH,
		    data->clients[i].name);
		append_cells(line, client_columns, &data->clients[i], look);
	}
	line = append_line(lines, TOP_EMPTY, 0);
	if (data->clients_note[0])
		sprintf(line->text, "no clients: %s", data->clients_note);
	else if (data->clients)
		sprintf(line->text,
		    "clients with the most bytes in %" PRIu64 " s",
		    data->clients_s);
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

/* Orders the greatest first, and equal items as in the configuration. */
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
	const char *history =
	    rest_width(look, item_columns) < HISTORY_MIN ? "" : " HISTORY";

	lines->n = 0;
	if (look->clients) {
		append_clients(data, look, lines);
		return;
	}
	append_title(lines, "FRONTEND", item_columns, history, look);
	append_sorted(data, TOP_FRONTEND, NULL, look, lines);
	append_line(lines, TOP_EMPTY, 0);
	append_title(lines, "BACKEND/SERVER", item_columns, history, look);
	for (size_t i = 0; i < data->items_n; i++) {
		if (data->items[i].kind != TOP_BACKEND)
			continue;
		append_item(data, i, look, lines);
		append_sorted(
		    data, TOP_SERVER, data->items[i].proxy, look, lines);
	}
	append_pools(data, look, lines);
}
