/* SPDX-License-Identifier: MIT
 * `set table`: changes the values of one entry, or makes it.
 */
#include "commands/commands.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "commands/tables.h"
#include "handover/later.h"
#include "model/model.h"

/* Values of a sticky choice that are no numbers of an entry: the server's name,
 * and the time of the wall clock of its last use. */
#define SERVER_KEY "data.server_key"
#define LAST_USE   "data.last_use"

static void
set_tokens(const struct limit *l, uint64_t tokens, struct source_facts *facts)
{
	const struct source_bounds *b = &l->bounds;

	facts->due_ns =
	    clock_now_ns() +
	    (tokens < b->burst ? b->burst - tokens : 0) * b->share_ns;
}

static void
set_bytes_left(
    const struct limit *l, uint64_t bytes, struct source_facts *facts)
{
	const struct source_bounds *b = &l->bounds;
	double part = bytes < b->bytes
	                  ? (double)(b->bytes - bytes) / (double)b->bytes
	                  : 0;

	facts->bytes_due_ns =
	    clock_now_ns() + (uint64_t)(part * (double)b->bytes_ns);
}

/* Sets the server by its number or, behind data.server_key, by its name. */
static bool
set_choice(struct call *call, const struct limit *l, bool by_name,
    const char *text, struct source_facts *facts)
{
	char id[sizeof("4294967295")];

	backend_for_each_server (s, l->backend) {
		snprintf(id, sizeof(id), "%u", s->id);
		if (strcmp(by_name ? s->spec->name : id, text) == 0) {
			facts->choice = (struct source_choice){
			    .name = s->name_hash, .server = s->id};
			return true;
		}
	}
	return err_set(call->err, "backend %s has no server %s%.64s",
	    l->backend->spec->name, by_name ? "" : "number ", text);
}

/* Sets when the choice was used last, which its expiry counts from: a time of
 * clock_wall_us in ms. */
static bool
set_last_use(struct call *call, const char *text, struct source_facts *facts)
{
	uint64_t wall_ms, now_ns = clock_now_ns(), at_ns;

	if (!call_number(call, text, "Require a valid integer value to store",
	        UINT32_MAX * UINT64_C(1000), &wall_ms))
		return false;
	at_ns = later_from_wall_ms(wall_ms) * NS_PER_MS;
	facts->due_ns = at_ns < now_ns ? at_ns : now_ns;
	return true;
}

/* Sets a value that sticky choices alone have.  *ret_ok: whether it was set.
 * Returns false, with nothing done, for other values. */
static bool
set_of_choice(struct call *call, const struct limit *l, unsigned i,
    struct source_facts *facts, bool *ret_ok)
{
	const char *name = call_arg(call, i), *text = call_arg(call, i + 1);

	if (!l->backend)
		return false;
	if (strcmp(name, SERVER_KEY) == 0)
		*ret_ok = set_choice(call, l, true, text, facts);
	else if (strcmp(name, LAST_USE) == 0)
		*ret_ok = set_last_use(call, text, facts);
	else
		return false;
	return true;
}

static bool
set_value(struct call *call, const struct limit *l, enum table_value value,
    const char *text, struct source_facts *facts)
{
	uint64_t n;

	if (value == TABLE_SERVER_ID)
		return set_choice(call, l, false, text, facts);
	if (value == TABLE_CONN_CUR)
		return err_set(call->err,
		    "data.conn_cur is the measured number of "
		    "sessions and cannot be set");
	if (!call_number(call, text, "Require a valid integer value to store",
	        value < TABLE_BYTES_IN_CNT ? UINT32_MAX : UINT64_MAX, &n))
		return false;
	if (value == TABLE_CONN_CNT)
		facts->accepted = (uint32_t)n;
	else if (value == TABLE_REFUSED)
		facts->refused = (uint32_t)n;
	else if (value == TABLE_TOKENS)
		set_tokens(l, n, facts);
	else if (value == TABLE_BYTES_LEFT)
		set_bytes_left(l, n, facts);
	else
		facts->bytes[value == TABLE_BYTES_IN_CNT ? BAND_IN : BAND_OUT] =
		    n;
	return true;
}

bool
run_set_table(struct call *call)
{
	const char *name = call_arg(call, 0);
	struct source_facts facts = {.due_ns = clock_now_ns()};
	char key[INET6_ADDRSTRLEN];
	const struct limit *l;
	enum table_value value;

	if (!*name || strcmp(call_arg(call, 1), "key") != 0)
		return err_set(call->err,
		    "Required arguments: <table> key <key> "
		    "[data.<store_data_type> <value>]*");
	l = table_named(call, name);
	if (!l || !table_read_key(call, l, call_arg(call, 2), &facts.key))
		return false;
	(void)source_table_find(l->table, &facts.key, &facts);
	/* The expiry of a choice begins again. */
	if (l->backend)
		facts.due_ns = clock_now_ns();
	for (unsigned i = 3; *call_arg(call, i); i += 2) {
		bool ok;

		if (set_of_choice(call, l, i, &facts, &ok)) {
			if (!ok)
				return false;
			continue;
		}
		if (!table_read_value(call, l, call_arg(call, i),
		        "\"data.<type>\" followed by a value expected",
		        &value) ||
		    !set_value(call, l, value, call_arg(call, i + 1), &facts))
			return false;
	}
	if (!source_table_set(l->table, &facts))
		return err_set(call->err, "Unable to allocate a new entry");
	call_audit(call, NULL, NULL, "table %s: entry of %s set", l->name,
	    table_key_text(l, &facts.key, key));
	return true;
}
