/* SPDX-License-Identifier: MIT
 * `clear table`: removes entries without sessions.
 */
#include "commands/commands.h"

#include <stdio.h>

#include "commands/listing.h"
#include "commands/tables.h"
#include "model/limit_lookup.h"

struct clear_listing {
	struct listing listing;
	char name[CALL_NAME_SIZE];
	struct table_filter filter;
	uint64_t at;
};

/* Removes the next entry if it passes the filter.  Writes nothing. */
static bool
clear_step(void *listing, const struct command_env *env)
{
	struct clear_listing *x = listing;
	const struct limit *l = model_find_limit(env->instance->model, x->name);
	struct source_facts facts;
	bool found;

	if (!l || !source_table_next(l->table, &x->at, &facts, &found))
		return false;
	if (found && table_filter_passes(&x->filter, l, &facts))
		(void)source_table_remove(l->table, &facts.key);
	return true;
}

static bool
clear_key(
    struct call *call, const struct limit *l, const struct source_key *key)
{
	char text[INET6_ADDRSTRLEN];

	if (!source_table_remove(l->table, key))
		return err_set(
		    call->err, "Entry currently in use, cannot remove");
	call_audit(call, NULL, NULL, "table %s: entry of %s removed", l->name,
	    table_key_text(l, key, text));
	return true;
}

bool
run_clear_table(struct call *call)
{
	static const struct listing_kind kind = {
	    .size = sizeof(struct clear_listing),
	    .step = clear_step,
	};
	const char *name = call_arg(call, 0);
	const struct limit *limit;
	struct table_filter filter;
	struct clear_listing *x;

	if (!*name)
		return err_set(call->err,
		    "Required arguments: <table> "
		    "\"data.<store_data_type>\" <operator> <value> or <table> "
		    "key <key>");
	limit = table_named(call, name);
	if (!limit || !table_read_filter(call, limit, 1, &filter))
		return false;
	if (filter.has_key)
		return clear_key(call, limit, &filter.key);
	x = listing_new(call, &kind, false);
	if (!x)
		return false;
	snprintf(x->name, sizeof(x->name), "%s", name);
	x->filter = filter;
	call_audit(call, NULL, NULL, "table %s cleared%s", limit->name,
	    filter.n > 0 ? " where the filter passes" : "");
	return listing_answer(call, &x->listing, true);
}
