/* SPDX-License-Identifier: MIT
 * `show table`: the tables of limits, or the entries of one.
 */
#include "commands/commands.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "commands/listing.h"
#include "commands/tables.h"
#include "model/limit_lookup.h"
#include "model/model.h"
#include "model/sticky.h"

struct table_listing {
	struct listing listing;
	char only[CALL_NAME_SIZE]; /* "": all tables, without entries */
	size_t next;               /* index of the next table, of all tables */
	bool begun;                /* the head of the one table is written */
	uint64_t expired;          /* entries found before its head */
	bool entries;              /* the client may see them */
	struct table_filter filter;
	uint64_t at;
};

/* expired: how many of the table's entries have expired. */
static void
put_table_head(struct report *r, const struct limit *l, uint64_t expired)
{
	struct source_totals t;
	char text[LIMIT_TEXT_SIZE];

	source_table_totals(l->table, &t);
	report_row(r);
	report_put(r, "table", "# table: %s", l->name);
	report_put(r, "type", ", type: %s",
	    l->spec->per == LIMIT_PER_SOURCE ? "ip"
	    : l->spec->per == LIMIT_PER_KEY  ? "integer"
	                                     : "all");
	report_put(r, "size", ", size:%" PRIu64, t.size);
	report_put(r, "used", ", used:%" PRIu64,
	    t.used > expired ? t.used - expired : 0);
	report_json_string(
	    r, "limit", l->backend ? NULL : limit_spec_text(l->spec, text));
	report_json(r, "refused", "%" PRIu64, t.refused);
	report_json(r, "uncounted", "%" PRIu64, t.uncounted);
	report_json(r, "evicted", "%" PRIu64, t.evicted);
	report_text(r, "\n");
}

/* Returns how long the choice is kept from now on; 0 without an expiry, as in
 * all other tables. */
static uint64_t
expires_in_ms(const struct limit *l, const struct source_facts *facts)
{
	uint64_t expire_ms =
	    l->backend ? l->backend->spec->sticky_expire_ms : 0;
	uint64_t at_ms = facts->due_ns / NS_PER_MS + expire_ms;
	uint64_t now_ms = clock_now_ns() / NS_PER_MS;

	return expire_ms > 0 && at_ms > now_ms ? at_ms - now_ms : 0;
}

/* Writes the name of the server that was chosen; NULL: it has gone. */
static void
put_server(struct report *r, const struct server *server)
{
	const char *name = server ? server->spec->name : NULL;

	report_text(r, " server_key=%s", name ? name : "-");
	report_json_string(r, "server_key", name);
}

/* Writes an entry.  Its position takes the place of HAProxy's pointer. */
static void
put_source(struct report *r, const struct limit *l,
    const struct source_facts *facts, uint64_t at)
{
	char key[INET6_ADDRSTRLEN], position[2 + 16 + 1];

	snprintf(position, sizeof(position), "0x%" PRIx64, at);
	report_object(r, NULL);
	report_text(r, "%s: ", position);
	report_put(r, "key", "key=%s", table_key_text(l, &facts->key, key));
	report_put(r, "use", " use=%u", facts->sessions);
	report_put(r, "exp", " exp=%" PRIu64, expires_in_ms(l, facts));
	report_text(r, " shard=0");
	for (enum table_value v = 0; v < TABLE_VALUES; v++)
		if (table_has(l, v)) {
			uint64_t n = table_value_of(l, facts, v);

			report_text(r, " %s=", table_value_names[v]);
			report_put(r, table_value_names[v], "%" PRIu64, n);
		}
	if (l->backend)
		put_server(r, sticky_server(l, &facts->choice));
	report_text(r, "\n");
	report_close(r);
}

/* Looks for expired entries before the head of the table is written.  Returns
 * false at the end of the table. */
static bool
step_expired(struct table_listing *x, const struct limit *l)
{
	struct source_facts facts;
	bool found;

	if (!sticky_expires(l) ||
	    !source_table_next(l->table, &x->at, &facts, &found))
		return false;
	x->expired += found && sticky_is_expired(l, &facts);
	return true;
}

/* Writes the head of the table, and begins to look at its entries, or at those
 * of the next table. */
static void
step_head(struct table_listing *x, const struct limit *l)
{
	put_table_head(&x->listing.report, l, x->expired);
	x->at = x->expired = 0;
}

static bool
step_tables(struct table_listing *x, const struct model *model)
{
	const struct limit *l = model_limit_at(model, x->next);

	if (!l)
		return false;
	if (step_expired(x, l))
		return true;
	step_head(x, l);
	report_close(&x->listing.report);
	x->next++;
	return true;
}

/* Writes the next entry if it passes the filter.  Returns false at the end of
 * the table. */
static bool
step_entries(struct table_listing *x, const struct limit *l)
{
	struct report *r = &x->listing.report;
	struct source_facts facts;
	bool found;

	if (x->filter.has_key) {
		if (source_table_find(l->table, &x->filter.key, &facts) &&
		    !sticky_is_expired(l, &facts))
			put_source(r, l, &facts, 1);
		return false;
	}
	if (!source_table_next(l->table, &x->at, &facts, &found))
		return false;
	if (found && !sticky_is_expired(l, &facts) &&
	    table_filter_passes(&x->filter, l, &facts))
		put_source(r, l, &facts, x->at);
	return true;
}

static bool
table_listing_step(void *listing, const struct command_env *env)
{
	struct table_listing *x = listing;
	const struct model *model = env->instance->model;
	struct report *r = &x->listing.report;
	const struct limit *l;

	if (!x->only[0])
		return step_tables(x, model);
	/* A reload may have removed the table meanwhile. */
	l = model_find_limit(model, x->only);
	if (l && !x->begun) {
		if (step_expired(x, l))
			return true;
		step_head(x, l);
		report_list(r, "entries");
		x->begun = true;
		if (!x->entries)
			report_text(r,
			    "# contents not dumped due to insufficient "
			    "privileges\n");
		return x->entries;
	}
	return l && step_entries(x, l);
}

bool
run_show_table(struct call *call)
{
	static const struct listing_kind kind = {
	    .size = sizeof(struct table_listing),
	    .head = "",
	    .step = table_listing_step,
	};
	bool json = call_take_json(call);
	const char *name = call_arg(call, 0);
	const struct limit *limit = NULL;
	struct table_filter filter = {.n = 0};
	struct table_listing *x;

	if (*name) {
		limit = table_named(call, name);
		if (!limit || !table_read_filter(call, limit, 1, &filter))
			return false;
	}
	x = listing_new(call, &kind, json);
	if (!x)
		return false;
	snprintf(x->only, sizeof(x->only), "%s", name);
	x->filter = filter;
	/* Addresses of clients are for operators, as in `show sess`. */
	x->entries = call->mode->level >= LEVEL_OPERATOR;
	return listing_answer(call, &x->listing, true);
}
