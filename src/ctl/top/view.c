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

#define NAME_WIDTH   14 /* on the narrowest terminal */
#define NAME_MAX     40
#define TOTAL_FROM   96 /* width from which TOTAL is shown */
#define HISTORY_MIN  6
#define HISTORY_MAX  (TOP_HISTORY < 60 ? TOP_HISTORY : 60)
#define HEAD_HISTORY 30
#define NUMBER_SIZE  24
#define UPTIME_SIZE  40
#define LEVELS       8

/* Formats a number in at most five columns: `0`, `12.5`, `99999`, `123k`,
 * `1.23M`.  Units are powers of 1000.  Returns out. */
static const char *
number_text(double value, char out[NUMBER_SIZE])
{
	static const char units[] = "kMGTPE";
	const char *unit = units;

	if (value < 99999.5) {
		/* Tenths only for small fractions. */
		bool whole = value >= 99.95 || value < 0.05 ||
		             value == (double)(uint64_t)value;

		snprintf(out, NUMBER_SIZE, "%.*f", whole ? 0 : 1, value);
		return out;
	}
	for (value /= 1000; value >= 999.5 && unit[1]; unit++)
		value /= 1000;
	snprintf(out, NUMBER_SIZE, "%.*f%c",
	    value < 9.995   ? 2
	    : value < 99.95 ? 1
	                    : 0,
	    value, *unit);
	return out;
}

/* Formats `3d 04:05:06`, or `04:05:06` for less than a day.  Returns out. */
static const char *
uptime_text(uint64_t seconds, char out[UPTIME_SIZE])
{
	int n = 0;

	if (seconds >= 86400)
		n = snprintf(
		    out, UPTIME_SIZE, "%" PRIu64 "d ", seconds / 86400);
	snprintf(out + n, UPTIME_SIZE - (size_t)n, "%02u:%02u:%02u",
	    (unsigned)(seconds / 3600 % 24), (unsigned)(seconds / 60 % 60),
	    (unsigned)(seconds % 60));
	return out;
}

/* Draws the last `width` values, a column each, scaled to the greatest of them.
 * out needs 3 bytes per column and one for the NUL. */
static void
sparkline(
    const struct top_history *history, unsigned width, bool utf8, char *out)
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
	*out = '\0';
	for (unsigned i = first; i < history->n; i++) {
		float part = max > 0 ? history->values[i] / max : 0;
		unsigned level = (unsigned)(part * (LEVELS - 1) + 0.5f);

		out = stpcpy(out, (utf8 ? blocks : ascii)[level]);
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

static bool
is_down(const struct top_item *item)
{
	return strncmp(item->status, "DOWN", 4) == 0 ||
	       strcmp(item->status, "STOP") == 0 ||
	       strcmp(item->status, "FULL") == 0;
}

/* -- head lines -- */

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
	char uptime[UPTIME_SIZE], rate[NUMBER_SIZE];
	char in[NUMBER_SIZE], out[NUMBER_SIZE];
	char total[NUMBER_SIZE], errors[NUMBER_SIZE];
	char line[3 * HEAD_HISTORY + 1] = "";
	int used;

	snprintf(ret_lines[0], TOP_LINE_SIZE,
	    "%.20s %.20s on %.40s  up %s  %" PRIu64 " of %" PRIu64
	    " sessions  idle %" PRIu64 "%%%s",
	    head->program, head->version, head->node,
	    uptime_text(head->uptime_s, uptime), head->sessions,
	    head->sessions_max, head->idle_percent,
	    head->stopping ? "  STOPPING" : "");
	used = snprintf(ret_lines[1], TOP_LINE_SIZE,
	    "%s sessions/s  %s B/s in  %s B/s out  %s in all  %s error%s  "
	    "%u down  ",
	    number_text(head->rate, rate), number_text(head->in_rate, in),
	    number_text(head->out_rate, out),
	    number_text((double)sums.total, total),
	    number_text((double)sums.errors, errors), text_s(sums.errors),
	    sums.servers_down);
	if (used + HISTORY_MIN <= (int)look->width) {
		unsigned rest = look->width - (unsigned)used;

		sparkline(&head->history,
		    rest < HEAD_HISTORY ? rest : HEAD_HISTORY, look->utf8,
		    line);
	}
	strcat(ret_lines[1], line);
}

/* -- columns -- */

enum cell {
	CELL_TEXT,          /* const char * */
	CELL_COUNT,         /* uint64_t */
	CELL_BACKEND_COUNT, /* uint64_t, empty for a frontend */
	CELL_RATE,          /* double */
	CELL_THREADS,       /* of a pool */
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

/* Between the name and the history. */
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

/* Between the name and the roles. */
static const struct column pool_columns[] = {
    {"THREADS", 7, CELL_THREADS, 0, 0},
    {"LEAD", 4, CELL_COUNT, OF_POOL(leading), 0},
    {"PROC", 4, CELL_COUNT, OF_POOL(processing), 0},
    {"FOLL", 4, CELL_COUNT, OF_POOL(following), 0},
    {"SHARDS", 6, CELL_COUNT, OF_POOL(shards), 0},
    {"SESS", 5, CELL_COUNT, OF_POOL(handlers), 0},
    {"PROM/S", 6, CELL_RATE, OF_POOL(promotion_rate), 0},
    {"WAKE/S", 6, CELL_RATE, OF_POOL(wake_rate), 0},
    {.title = NULL},
};

/* Returns the number of threads, or `2/4` while two of four are there. */
static const char *
threads_text(const struct top_pool *pool, char out[NUMBER_SIZE])
{
	if (pool->resident == pool->threads)
		return number_text((double)pool->threads, out);
	snprintf(out, NUMBER_SIZE, "%.5u/%.5u", (unsigned)pool->resident,
	    (unsigned)pool->threads);
	return out;
}

static const char *
cell_text(const struct column *column, const void *row, char out[NUMBER_SIZE])
{
	const void *value = (const char *)row + column->offset;
	const struct top_item *item = row;

	switch (column->cell) {
	case CELL_TEXT:
		return *(const char *const *)value;
	case CELL_RATE:
		return number_text(*(const double *)value, out);
	case CELL_THREADS:
		return threads_text(row, out);
	case CELL_BACKEND_COUNT:
		if (item->kind == TOP_FRONTEND)
			return "";
		break;
	case CELL_COUNT:
		break;
	}
	return number_text((double)*(const uint64_t *)value, out);
}

/* Appends the cells of the row, or the titles if row is NULL.  A negative
 * precision counts as none, so only text is cut. */
static void
append_cells(struct top_line *line, const struct column *column,
    const void *row, const struct top_look *look)
{
	char *at = line->text + strlen(line->text), number[NUMBER_SIZE];

	for (; column->title; column++)
		if (look->width >= column->from)
			at +=
			    sprintf(at, " %*.*s", column->width, -column->width,
			        row ? cell_text(column, row, number)
			            : column->title);
}

/* A third of the columns above the minimum goes to the name. */
static int
name_width(const struct top_look *look)
{
	int width = NAME_WIDTH + ((int)look->width - TOP_WIDTH_MIN) / 3;

	return width < NAME_MAX ? width : NAME_MAX;
}

/* Returns the width that is left behind the columns and a blank. */
static unsigned
rest_width(const struct top_look *look, const struct column *column)
{
	int rest = (int)look->width - name_width(look) - 1;

	for (; column->title; column++)
		if (look->width >= column->from)
			rest -= abs(column->width) + 1;
	return rest > 0 ? (unsigned)rest : 0;
}

/* Returns 0 if it would be less than HISTORY_MIN. */
static unsigned
history_width(const struct top_look *look)
{
	unsigned rest = rest_width(look, item_columns);

	if (rest < HISTORY_MIN)
		return 0;
	return rest < HISTORY_MAX ? rest : HISTORY_MAX;
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
		    (int)rest_width(look, pool_columns), pool->roles);
	}
}

static void
append_item(const struct top_data *data, size_t at, const struct top_look *look,
    struct top_lines *lines)
{
	const struct top_item *item = &data->items[at];
	struct top_line *line = append_line(lines, item->kind, at);
	char history[3 * TOP_HISTORY + 1];
	bool server = item->kind == TOP_SERVER;
	int name = name_width(look) - 1 - server;

	line->down = is_down(item);
	sprintf(line->text, "%s%s%-*.*s", line->down ? "!" : " ",
	    server ? " " : "", name, name, server ? item->name : item->proxy);
	append_cells(line, item_columns, item, look);
	sparkline(&item->history, history_width(look), look->utf8, history);
	sprintf(line->text + strlen(line->text), " %s", history);
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
	const char *history = history_width(look) > 0 ? " HISTORY" : "";

	lines->n = 0;
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
