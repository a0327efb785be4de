/* SPDX-License-Identifier: MIT
 * `show acl` and `get acl`.
 */
#include "commands/commands.h"

#include <inttypes.h>
#include <string.h>

#include "commands/add_acl.h"
#include "commands/expiring.h"
#include "commands/listing.h"
#include "watch/section_watch.h"

/* -- the lists -- */

static void
put_list(
    struct report *r, const struct call *call, size_t i, struct acl_list *list)
{
	const struct model *m = call->env->instance->model;
	const struct spec_place *place = &m->spec->lists[i].place;
	struct acl_changes changes = acl_list_changes(list);
	struct acl_versions versions = acl_list_versions(list);
	const char *failure =
	    section_watch_failure(call->env->list_watch, acl_list_name(list));

	report_row(r);
	report_put(r, "id", "%zu", i);
	report_put(r, "name", " (%s)", acl_list_name(list));
	report_text(r, " [list] at %s:%u,", place->file ? place->file : "-",
	    place->line);
	report_put(r, "curr_ver", " curr_ver=%u", versions.current);
	report_put(r, "next_ver", " next_ver=%u", versions.next);
	report_json_string(r, "file", place->file);
	report_json(r, "line", "%u", place->line);
	report_put(r, "entries", " entry_cnt=%zu", acl_list_entries(list));
	report_put(r, "matches", " matches=%" PRIu64, acl_list_matches(list));
	report_put(r, "added", " added=%zu", changes.added);
	report_put(r, "deleted", " deleted=%zu", changes.deleted);
	report_put(r, "covered", " covered=%zu", acl_list_covered(list));
	report_json_bool(r, "committing", acl_list_is_committing(list));
	if (acl_list_is_committing(list))
		report_text(r, ", a version is being committed");
	report_json_string(r, "failure", failure);
	if (failure)
		report_text(r, ", not read: %s", failure);
	report_row_end(r);
}

static void
show_lists(const struct call *call, bool json)
{
	const struct model *m = call->env->instance->model;
	struct report r;

	report_begin(&r, json, call->out);
	report_head(&r, "# id (name) description\n");
	for (size_t i = 0; i < m->spec->lists_n; i++)
		put_list(&r, call, i, m->lists[i]);
	report_end(&r);
}

/* -- the entries of one -- */

struct acl_listing {
	struct listing listing;
	char name[CALL_NAME_SIZE];
	size_t next;
	bool present;     /* the version in force */
	unsigned version; /* otherwise */
};

static void
put_list_entry(struct report *r, const struct acl_listed *entry,
    const struct expiring_status *end)
{
	char place[ACL_PLACE_SIZE], range[CIDR_TEXT_SIZE], left[SPAN_TEXT_SIZE];

	report_row(r);
	report_text(
	    r, "%s ", entry->source ? acl_place_text(entry, place) : "-");
	report_put(r, "pattern", "%s", cidr_text(&entry->range, range));
	report_json_string(r, "file", entry->source);
	report_json_known(r, "line", entry->line > 0, entry->line);
	report_json_bool(r, "added", !entry->source);
	report_json_known(r, "left_ms", end, end ? end->left_ms : 0);
	if (end)
		report_text(r, " for %s", left_text(end->left_ms, left));
	report_row_end(r);
}

/* Writes the next entry.  Entries of a list that changes meanwhile may be left
 * out or shown twice. */
static bool
acl_listing_step(void *listing, const struct command_env *env)
{
	struct acl_listing *l = listing;
	const struct acl_list *list =
	    model_find_list(env->instance->model, l->name);
	struct acl_listed entry = {.source = NULL};
	struct expiring_status end;
	bool ends;

	if (!list || !(l->present ? acl_list_at(list, l->next, &entry)
	                          : acl_list_prepared_at(list, l->version,
	                                l->next, &entry.range)))
		return false;
	l->next++;
	ends = l->present &&
	       acl_entry_end(env->expiring, list, &entry.range, &end);
	put_list_entry(&l->listing.report, &entry, ends ? &end : NULL);
	return true;
}

bool
run_show_acl(struct call *call)
{
	static const struct listing_kind kind = {
	    .size = sizeof(struct acl_listing),
	    .head = "",
	    .step = acl_listing_step,
	};
	bool json = call_take_json(call);
	struct acl_listing *l;
	struct acl_list *list;
	unsigned version;
	bool has_version = call_take_version(call, &version);

	if (!*call_arg(call, 0) && !has_version) {
		show_lists(call, json);
		return true;
	}
	list = call_acl(call, call_arg(call, 0),
	    "Unknown ACL identifier. Please use #<id> or <name>.");
	if (!list)
		return false;
	l = listing_new(call, &kind, json);
	if (!l)
		return false;
	snprintf(l->name, sizeof(l->name), "%s", acl_list_name(list));
	l->version = version;
	l->present = !has_version || version == acl_list_versions(list).current;
	return listing_answer(call, &l->listing, true);
}

/* -- whether a list has an address -- */

static bool
take_tested_client(
    struct call *call, const char *text, struct endpoint *ret_client)
{
	struct addr addr;

	*ret_client = (struct endpoint){.family = AF_UNIX};
	if (strcmp(text, "unix") == 0)
		return true;
	if (!addr_parse_ip(text, &addr))
		return err_set(call->err,
		    "'%.60s' is not an address; allowed are 10.0.0.1, ::1, "
		    "unix.",
		    text);
	endpoint_set(ret_client, &addr.sa, addr.len);
	return true;
}

bool
run_get_acl(struct call *call)
{
	bool json = call_take_json(call);
	const char *text = call_arg(call, 1);
	struct acl_list *list = call_acl(call, *text ? call_arg(call, 0) : "",
	    "'get acl' expects two parameters: ACL identifier and address.");
	char place[ACL_PLACE_SIZE], range[CIDR_TEXT_SIZE];
	struct acl_listed entry;
	struct endpoint client;
	struct report r;
	bool has;

	if (!list || !take_tested_client(call, text, &client))
		return false;
	has = acl_list_find(list, &client, &entry);
	report_begin(&r, json, call->out);
	report_row(&r);
	report_text(
	    &r, "type=ip, case=sensitive, match=%s", has ? "yes" : "no");
	report_json_bool(&r, "match", has);
	if (has) {
		report_text(&r, ", idx=tree");
		report_put(&r, "pattern", ", pattern=\"%s\"",
		    cidr_text(&entry.range, range));
		report_put(
		    &r, "place", ", at %s", acl_place_text(&entry, place));
	}
	report_row_end(&r);
	report_end(&r);
	return true;
}
