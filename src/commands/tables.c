/* SPDX-License-Identifier: MIT
 * See tables.h.
 */
#include "commands/tables.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "model/limit_lookup.h"
#include "model/model.h"
#include "model/sticky.h"

const char *const table_value_names[TABLE_VALUES] = {
#define X(id, name) [TABLE_##id] = (name),
    TABLE_VALUES_TABLE(X)
#undef X
};

static const char *const operators[TABLE_OPS] = {[OP_EQ] = "eq",
    [OP_NE] = "ne",
    [OP_LE] = "le",
    [OP_GE] = "ge",
    [OP_LT] = "lt",
    [OP_GT] = "gt"};

bool
table_has(const struct limit *limit, enum table_value value)
{
	if (value == TABLE_SERVER_ID || limit->backend)
		return value == TABLE_SERVER_ID && limit->backend;
	if (value == TABLE_TOKENS)
		return limit->bounds.share_ns > 0;
	return value < TABLE_BYTES_IN_CNT || limit->bounds.bytes > 0;
}

const struct limit *
table_named(struct call *call, const char *name)
{
	const struct model *m = call->env->instance->model;
	const struct limit *l = model_find_limit(m, name), *other;
	struct hint hint;

	if (l)
		return l;
	hint_init(&hint, name);
	for (size_t i = 0; (other = model_limit_at(m, i)); i++)
		hint_offer(&hint, other->name);
	(void)call_no_such(call, "No such table", &hint);
	return NULL;
}

/* Reads the key of a hash, as `explain` and `show table` write it. */
static bool
read_hash(struct call *call, const char *text, struct source_key *ret_key)
{
	size_t n = strspn(text, "0123456789abcdefABCDEF");

	if (n != strlen(text) || n > 16)
		return err_set(call->err,
		    "'%.64s' is not a key of this table; write the "
		    "hexadecimal number that explain or show table shows",
		    text);
	*ret_key = (struct source_key){.ip = {0, strtoull(text, NULL, 16)}};
	return true;
}

bool
table_read_key(struct call *call, const struct limit *limit, const char *text,
    struct source_key *ret_key)
{
	bool all = limit->spec->per != LIMIT_PER_SOURCE;
	struct endpoint client = {.family = AF_UNIX};
	struct addr addr;

	if (!*text)
		return err_set(call->err, "Key value expected");
	if (limit->spec->per == LIMIT_PER_KEY)
		return read_hash(call, text, ret_key);
	if (addr_parse_ip(text, &addr))
		endpoint_set(&client, &addr.sa, addr.len);
	else if (strcmp(text, all ? "all" : "unix") != 0)
		return err_set(call->err,
		    all ? "'%.64s' is not a key of this table; its only one "
		          "is all"
		        : "'%.64s' is not a key; write an IP address, or unix",
		    text);
	*ret_key = limit_key(limit, &client);
	return true;
}

/* Returns whether HAProxy's tables can have a value of that name. */
static bool
is_foreign_value(const char *name)
{
	static const char *const names[] = {"gpt0", "gpc0", "gpc0_rate", "gpc1",
	    "gpc1_rate", "gpt", "gpc", "gpc_rate", "conn_rate", "sess_cnt",
	    "sess_rate", "http_req_cnt", "http_req_rate", "http_err_cnt",
	    "http_err_rate", "http_fail_cnt", "http_fail_rate", "bytes_in_rate",
	    "bytes_out_rate", "server_key", "last_use"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

bool
table_read_value(struct call *call, const struct limit *limit, const char *text,
    const char *otherwise, enum table_value *ret_value)
{
	enum table_value v = 0;

	if (strncmp(text, "data.", 5) != 0)
		return err_set(call->err, "%s", otherwise);
	while (v < TABLE_VALUES && strcmp(text + 5, table_value_names[v]) != 0)
		v++;
	if (v == TABLE_VALUES && !is_foreign_value(text + 5))
		return err_set(call->err, "Unknown data type");
	if (v == TABLE_VALUES || !table_has(limit, v))
		return err_set(call->err, "Data type not stored in this table");
	*ret_value = v;
	return true;
}

static bool
read_table_operator(
    struct call *call, const char *text, enum table_operator *ret_op)
{
	for (enum table_operator op = 0; op < TABLE_OPS; op++)
		if (strcmp(text, operators[op]) == 0) {
			*ret_op = op;
			return true;
		}
	return err_set(call->err,
	    "Require and operator among \"eq\", \"ne\", \"le\", \"ge\", "
	    "\"lt\", \"gt\"");
}

/* Reads `data.NAME OPERATOR NUMBER`, from argument number `at` on, as the next
 * comparison of the filter.  The errors are worded as HAProxy's are. */
static bool
read_comparison(struct call *call, const struct limit *limit, unsigned at,
    struct table_filter *filter)
{
	const char *name = call_arg(call, at);
	unsigned n = filter->n;
	struct err err;

	if (table_read_value(call, limit, name,
	        "Optional argument only supports \"data.<store_data_type>\" "
	        "<operator> <value> and key <key>",
	        &filter->all[n].value) &&
	    read_table_operator(
	        call, call_arg(call, at + 1), &filter->all[n].op) &&
	    call_number(call, call_arg(call, at + 2),
	        "Require a valid integer value to compare against", UINT64_MAX,
	        &filter->all[n].than))
		return true;
	if (strncmp(name, "data.", 5) != 0)
		return false;
	err = *call->err;
	return err_set(call->err, "Filter entry #%u: %s", n + 1, err.text);
}

bool
table_read_filter(struct call *call, const struct limit *limit, unsigned from,
    struct table_filter *ret_filter)
{
	struct table_filter f = {.n = 0};
	unsigned i = from;

	if (strcmp(call_arg(call, i), "key") == 0) {
		if (!table_read_key(call, limit, call_arg(call, i + 1), &f.key))
			return false;
		f.has_key = true;
		i += 2;
	}
	for (; *call_arg(call, i) && !f.has_key; i += 3, f.n++) {
		if (f.n == TABLE_FILTERS_MAX)
			return err_set(call->err,
			    "Detected extra data in filter, %uth word of "
			    "input, after '%.64s'",
			    i + 3, call_arg(call, i - 1));
		if (!read_comparison(call, limit, i, &f))
			return false;
	}
	if (*call_arg(call, i))
		return err_set(call->err, "'%.64s': nothing goes behind a key",
		    call_arg(call, i));
	*ret_filter = f;
	return true;
}

uint64_t
table_value_of(const struct limit *limit, const struct source_facts *facts,
    enum table_value value)
{
	switch (value) {
	case TABLE_CONN_CNT:
		return facts->accepted;
	case TABLE_CONN_CUR:
		return facts->sessions;
	case TABLE_REFUSED:
		return facts->refused;
	case TABLE_TOKENS:
		return source_tokens(facts, &limit->bounds, clock_now_ns());
	case TABLE_BYTES_IN_CNT:
		return facts->bytes[BAND_IN];
	case TABLE_BYTES_OUT_CNT:
		return facts->bytes[BAND_OUT];
	case TABLE_BYTES_LEFT:
		return source_bytes_left(facts, &limit->bounds, clock_now_ns());
	case TABLE_SERVER_ID: {
		const struct server *s = sticky_server(limit, &facts->choice);

		return s ? s->id : 0;
	}
	case TABLE_VALUES:
		break;
	}
	return 0;
}

static bool
compare(uint64_t a, enum table_operator op, uint64_t b)
{
	switch (op) {
	case OP_EQ:
		return a == b;
	case OP_NE:
		return a != b;
	case OP_LE:
		return a <= b;
	case OP_GE:
		return a >= b;
	case OP_LT:
		return a < b;
	case OP_GT:
		return a > b;
	case TABLE_OPS:
		break;
	}
	return false;
}

bool
table_filter_passes(const struct table_filter *filter,
    const struct limit *limit, const struct source_facts *facts)
{
	for (unsigned i = 0; i < filter->n; i++)
		if (!compare(table_value_of(limit, facts, filter->all[i].value),
		        filter->all[i].op, filter->all[i].than))
			return false;
	return true;
}

const char *
table_key_text(const struct limit *limit, const struct source_key *key,
    char out[INET6_ADDRSTRLEN])
{
	struct endpoint e;

	if (limit->spec->per == LIMIT_PER_KEY) {
		snprintf(out, INET6_ADDRSTRLEN, "%016" PRIx64, key->ip[1]);
		return out;
	}
	source_key_endpoint(key, &e);
	if (e.family != AF_UNIX)
		return endpoint_host(&e, out);
	return strcpy(
	    out, limit->spec->per == LIMIT_PER_SOURCE ? "unix" : "all");
}
