/* SPDX-License-Identifier: MIT
 * See data.h.
 */
#include "ctl/top/data.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

#define COMMANDS    "show info;show stat;show pool json;show threads json"
#define CLIENTS_TOO COMMANDS ";show top clients bytes last 1m json"
#define COLUMNS_MAX 256

static void *
new_zeroed_array(size_t n, size_t size)
{
	void *array = ctl_array(NULL, n ? n : 1, size);

	memset(array, 0, (n ? n : 1) * size);
	return array;
}

/* -- show info -- */

static void
set_info(struct top_head *head, const char *name, const char *value)
{
	static const struct {
		const char *name;
		bool is_text; /* else a number */
		size_t offset;
	} fields[] = {
	    {"Name", true, offsetof(struct top_head, program)},
	    {"Version", true, offsetof(struct top_head, version)},
	    {"Lfproxy_version", true, offsetof(struct top_head, version)},
	    {"node", true, offsetof(struct top_head, node)},
	    {"Pid", false, offsetof(struct top_head, pid)},
	    {"Uptime_sec", false, offsetof(struct top_head, uptime_s)},
	    {"CurrConns", false, offsetof(struct top_head, sessions)},
	    {"Maxconn", false, offsetof(struct top_head, sessions_max)},
	    {"Idle_pct", false, offsetof(struct top_head, idle_percent)},
	    {"Stopping", false, offsetof(struct top_head, stopping)},
	    {"ExpiringCertificates", false,
	        offsetof(struct top_head, expiring)},
	};

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		void *field = (char *)head + fields[i].offset;

		if (strcmp(name, fields[i].name) != 0)
			continue;
		if (fields[i].is_text)
			*(const char **)field = value;
		else
			*(uint64_t *)field = strtoull(value, NULL, 10);
	}
	/* Lfproxy_version comes behind Name and Version, which may imitate
	 * HAProxy's. */
	if (strcmp(name, "Lfproxy_version") == 0)
		head->program = "lfproxy";
}

static void
parse_info(struct top_data *data, char *text)
{
	char *rest = NULL;

	data->head.program = "?";
	data->head.version = "?";
	data->head.node = "?";
	for (char *line = strtok_r(text, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest)) {
		char *value = strstr(line, ": ");

		if (!value)
			continue;
		*value = '\0';
		set_info(&data->head, line, value + 2);
	}
}

/* -- show stat -- */

/* Splits the line in place, with quotes as in RFC 4180.  Returns the number of
 * fields. */
static size_t
cut_fields(char *line, char *fields[COLUMNS_MAX])
{
	size_t n = 0;

	while (line && n < COLUMNS_MAX) {
		char *to = line, *from = line;
		bool quoted = *from == '"', more;

		fields[n++] = line;
		from += quoted;
		for (; *from && (quoted || *from != ','); from++) {
			if (quoted && *from == '"' && *++from != '"') {
				quoted = false;
				from--;
				continue;
			}
			*to++ = *from;
		}
		more = *from == ',';
		*to = '\0';
		line = more ? from + 1 : NULL;
	}
	return n;
}

struct columns {
	size_t n;
	char *names[COLUMNS_MAX];
	char *fields[COLUMNS_MAX];
	size_t fields_n;
};

static const char *
column_text(const struct columns *columns, const char *name)
{
	for (size_t i = 0; i < columns->fields_n && i < columns->n; i++)
		if (strcmp(columns->names[i], name) == 0)
			return columns->fields[i];
	return "";
}

static bool
is_down(const char *status)
{
	return strncmp(status, "DOWN", 4) == 0 || strcmp(status, "STOP") == 0 ||
	       strcmp(status, "FULL") == 0;
}

static void
set_item(struct top_item *item, const struct columns *c)
{
	/* ereq is for frontends, the other errors for servers.  A failed
	 * connect is counted by econ, or by wretr or wredis if it was
	 * retried. */
	static const struct {
		const char *column;
		size_t offset;
	} numbers[] = {
	    {"scur", offsetof(struct top_item, sessions)},
	    {"smax", offsetof(struct top_item, peak)},
	    {"stot", offsetof(struct top_item, total)},
	    {"ereq", offsetof(struct top_item, errors)},
	    {"econ", offsetof(struct top_item, errors)},
	    {"wretr", offsetof(struct top_item, errors)},
	    {"wredis", offsetof(struct top_item, errors)},
	    {"eresp", offsetof(struct top_item, errors)},
	    {"qcur", offsetof(struct top_item, queue)},
	    {"weight", offsetof(struct top_item, weight)},
	    {"bin", offsetof(struct top_item, bytes_in)},
	    {"bout", offsetof(struct top_item, bytes_out)},
	};
	const char *name = column_text(c, "svname");

	item->kind = strcmp(name, "FRONTEND") == 0  ? TOP_FRONTEND
	             : strcmp(name, "BACKEND") == 0 ? TOP_BACKEND
	                                            : TOP_SERVER;
	item->proxy = column_text(c, "pxname");
	item->name = item->kind == TOP_SERVER ? name : "";
	item->status = column_text(c, "status");
	item->down = is_down(item->status);
	item->check = column_text(c, "check_status");
	item->pool = column_text(c, "lf_pool");
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		*(uint64_t *)(void *)((char *)item + numbers[i].offset) +=
		    strtoull(column_text(c, numbers[i].column), NULL, 10);
	item->rate = strtod(column_text(c, "rate"), NULL);
}

static void
parse_stat(struct top_data *data, char *text)
{
	struct columns columns = {.n = 0};
	size_t room = 0;
	char *rest = NULL;

	for (char *line = strtok_r(text, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest)) {
		if (columns.n == 0) {
			line += strspn(line, "# ");
			columns.n = cut_fields(line, columns.names);
			continue;
		}
		if (data->items_n == room) {
			room = room ? 2 * room : 64;
			data->items =
			    ctl_array(data->items, room, sizeof(*data->items));
		}
		columns.fields_n = cut_fields(line, columns.fields);
		memset(&data->items[data->items_n], 0, sizeof(*data->items));
		set_item(&data->items[data->items_n++], &columns);
	}
}

/* -- show pool, show threads -- */

static uint64_t
json_number(const json_t *object, const char *name)
{
	return (uint64_t)json_integer_value(json_object_get(object, name));
}

static const char *
json_text(const json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));

	return text ? text : "";
}

static void
set_pool(struct top_pool *pool, const json_t *o)
{
	const json_t *classes = json_object_get(o, "classes");

	pool->name = json_text(o, "name");
	pool->threads = json_number(o, "threads");
	pool->resident = json_number(o, "resident");
	pool->shards = json_number(o, "shards");
	pool->handlers = json_number(o, "handlers");
	pool->promotions = json_number(o, "promotions");
	pool->wakes = json_number(o, "wakes");
	pool->autoscaled = json_is_object(json_object_get(o, "autoscale"));
	pool->classed = json_array_size(classes) > 1 ||
	                json_number(json_array_get(classes, 0), "nice") != 0;
}

/* Counts the threads in each role here, since show pool has counted them at
 * another moment. */
static void
set_roles(struct top_pool *pool, const json_t *threads)
{
	size_t n = json_array_size(threads), at = 0;

	pool->roles = new_zeroed_array(n + 1, 1);
	for (size_t i = 0; i < n; i++) {
		const json_t *thread = json_array_get(threads, i);
		const char *role = json_text(thread, "role");
		bool leads = strcmp(role, "leading") == 0;
		bool processes = strcmp(role, "processing") == 0;

		if (strcmp(json_text(thread, "pool"), pool->name) != 0)
			continue;
		pool->roles[at++] = leads ? 'L' : processes ? 'P' : '.';
		pool->leading += leads;
		pool->processing += processes;
		pool->following += !leads && !processes;
	}
}

/* Parses the answer.  A server that does not know the command answers with
 * text; there are no pools then. */
static json_t *
parse_json(const struct ctl_reply *reply)
{
	if (reply->is_error || reply->n == 0 || *reply->text != '[')
		return json_array();
	return json_loadb(reply->text, reply->n, 0, NULL);
}

static bool
parse_pools(struct top_data *data, const struct ctl_reply *pools,
    const struct ctl_reply *threads)
{
	json_t *threads_json = parse_json(threads);

	data->pools_json = parse_json(pools);
	if (!json_is_array(data->pools_json) || !json_is_array(threads_json)) {
		json_decref(threads_json);
		return false;
	}
	data->pools_n = json_array_size(data->pools_json);
	data->pools = new_zeroed_array(data->pools_n, sizeof(*data->pools));
	for (size_t i = 0; i < data->pools_n; i++) {
		set_pool(&data->pools[i], json_array_get(data->pools_json, i));
		set_roles(&data->pools[i], threads_json);
	}
	json_decref(threads_json);
	return true;
}

/* -- show top clients -- */

static void
set_client(struct top_client *client, const json_t *o, uint64_t span_ms)
{
	client->name = json_text(o, "client");
	client->bytes = json_number(o, "bytes");
	client->sessions = json_number(o, "sessions");
	client->errors = json_number(o, "errors");
	if (span_ms > 0)
		client->byte_rate =
		    (double)client->bytes * 1000 / (double)span_ms;
}

/* Parses the clients; an answer without them becomes the note. */
static void
parse_clients(struct top_data *data, const struct ctl_reply *reply)
{
	const json_t *all;
	uint64_t span_ms;

	if (!reply->is_error && reply->n > 0)
		data->clients_json = json_loadb(reply->text, reply->n, 0, NULL);
	all = json_object_get(data->clients_json, "clients");
	if (!json_is_array(all)) {
		snprintf(data->clients_note, sizeof(data->clients_note), "%.*s",
		    (int)strcspn(reply->text, "\n"), reply->text);
		return;
	}
	span_ms = json_number(data->clients_json, "span_ms");
	data->clients_s = span_ms / 1000;
	data->clients_n = json_array_size(all);
	data->clients =
	    new_zeroed_array(data->clients_n, sizeof(*data->clients));
	for (size_t i = 0; i < data->clients_n; i++)
		set_client(&data->clients[i], json_array_get(all, i), span_ms);
}

/* -- a round -- */

/* Returns the text of the reply as a string that can be split. */
static char *
own_text(struct top_data *data, const struct ctl_reply *reply)
{
	char *text = data->answer.data + (reply->text - data->answer.data);

	text[reply->n] = '\0';
	return text;
}

static bool
parse_answer(struct top_data *data, struct err *err)
{
	enum { INFO, STAT, POOLS, THREADS, CLIENTS, REPLIES };
	struct ctl_reply replies[REPLIES];
	struct ctl_reader reader;
	size_t n = 0;

	ctl_reader_init(&reader, &data->answer);
	while (n < REPLIES && ctl_reader_next(&reader, &replies[n]))
		n++;
	for (size_t i = 0; i < n && i < POOLS; i++)
		if (replies[i].is_error)
			return err_set(err, "%.*s",
			    (int)strcspn(replies[i].text, "\n"),
			    replies[i].text);
	if (n < CLIENTS)
		return err_set(err, "the answer is incomplete");
	parse_info(data, own_text(data, &replies[INFO]));
	parse_stat(data, own_text(data, &replies[STAT]));
	if (!parse_pools(data, &replies[POOLS], &replies[THREADS]))
		return err_set(err, "the answer to `show pool` is not JSON");
	if (n > CLIENTS)
		parse_clients(data, &replies[CLIENTS]);
	return true;
}

bool
top_data_read(const char *where, int timeout_ms, bool clients,
    struct top_data *ret_data, struct err *err)
{
	struct top_data data = {.at_ns = clock_now_ns()};
	struct err why;

	if (!ctl_ask(where, clients ? CLIENTS_TOO : COMMANDS, timeout_ms,
	        &data.answer, err))
		return false;
	if (!parse_answer(&data, &why)) {
		top_data_fini(&data);
		return err_set(err, "%s: %s", where, why.text);
	}
	*ret_data = data;
	return true;
}

void
top_data_fini(struct top_data *data)
{
	for (size_t i = 0; i < data->pools_n; i++)
		free(data->pools[i].roles);
	free(data->pools);
	free(data->items);
	free(data->clients);
	ctl_text_fini(&data->answer);
	json_decref(data->pools_json);
	json_decref(data->clients_json);
	memset(data, 0, sizeof(*data));
}

/* -- rates and histories -- */

#define PAST_INTERVAL_NS (NS_PER_S * 9 / 10)

static double
per_second(uint64_t now, uint64_t before, double seconds)
{
	return (double)(now >= before ? now - before : now) / seconds;
}

static void
history_append(struct top_history *history, double value)
{
	if (history->n == TOP_HISTORY) {
		memmove(history->values, history->values + 1,
		    sizeof(history->values) - sizeof(history->values[0]));
		history->n--;
	}
	history->values[history->n++] = (float)value;
}

static bool
same_item(const struct top_item *a, const struct top_item *b)
{
	return a->kind == b->kind && strcmp(a->proxy, b->proxy) == 0 &&
	       strcmp(a->name, b->name) == 0;
}

/* Finds the item in data.  Except after a reload, its index (hint) is the
 * same. */
static const struct top_item *
find_item(const struct top_data *data, const struct top_item *item, size_t hint)
{
	if (hint < data->items_n && same_item(&data->items[hint], item))
		return &data->items[hint];
	for (size_t i = 0; i < data->items_n; i++)
		if (same_item(&data->items[i], item))
			return &data->items[i];
	return NULL;
}

static void
rate_bytes(struct top_item *item, uint64_t now_ns)
{
	const struct top_bytes now = {now_ns, item->bytes_in, item->bytes_out};
	const struct top_bytes *first = &item->past[0];
	const struct top_bytes *last =
	    first + (item->past_n ? item->past_n - 1 : 0);

	if (item->past_n > 0 && now_ns > first->at_ns) {
		double seconds = (double)(now_ns - first->at_ns) / NS_PER_S;

		item->in_rate = per_second(now.in, first->in, seconds);
		item->out_rate = per_second(now.out, first->out, seconds);
		if (now.in < last->in || now.out < last->out)
			item->past_n = 0;
	}
	if (item->past_n > 0 && now_ns - last->at_ns < PAST_INTERVAL_NS)
		return;
	if (item->past_n == TOP_PAST) {
		memmove(item->past, item->past + 1,
		    sizeof(item->past) - sizeof(item->past[0]));
		item->past_n--;
	}
	item->past[item->past_n++] = now;
}

static void
rate_item(struct top_item *item, const struct top_item *old, double seconds,
    uint64_t now_ns)
{
	if (old) {
		item->rate = per_second(item->total, old->total, seconds);
		item->history = old->history;
		memcpy(item->past, old->past, sizeof(item->past));
		item->past_n = old->past_n;
	}
	rate_bytes(item, now_ns);
	history_append(&item->history, item->rate);
}

static void
rate_pool(struct top_pool *pool, const struct top_pool *old, double seconds)
{
	pool->promotion_rate =
	    per_second(pool->promotions, old->promotions, seconds);
	pool->wake_rate = per_second(pool->wakes, old->wakes, seconds);
}

static void
rate_head(struct top_data *data, const struct top_data *before)
{
	struct top_head *head = &data->head;

	for (size_t i = 0; i < data->items_n; i++) {
		const struct top_item *item = &data->items[i];

		if (item->kind == TOP_SERVER)
			head->servers_down += item->down;
		else
			head->errors += item->errors;
		if (item->kind != TOP_FRONTEND)
			continue;
		head->total += item->total;
		head->rate += item->rate;
		head->in_rate += item->in_rate;
		head->out_rate += item->out_rate;
	}
	if (before)
		head->history = before->head.history;
	history_append(&head->history, head->rate);
}

void
top_rates(struct top_data *data, const struct top_data *before)
{
	double seconds = 1;

	if (before && data->at_ns > before->at_ns)
		seconds = (double)(data->at_ns - before->at_ns) / NS_PER_S;
	for (size_t i = 0; i < data->items_n; i++)
		rate_item(&data->items[i],
		    before ? find_item(before, &data->items[i], i) : NULL,
		    seconds, data->at_ns);
	for (size_t i = 0; before && i < data->pools_n; i++)
		for (size_t j = 0; j < before->pools_n; j++)
			if (strcmp(data->pools[i].name,
			        before->pools[j].name) == 0)
				rate_pool(&data->pools[i], &before->pools[j],
				    seconds);
	rate_head(data, before);
}
