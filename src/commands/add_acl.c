/* SPDX-License-Identifier: MIT
 * `add acl`, `del acl`, `clear acl`.
 */
#include "commands/add_acl.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "commands/commands.h"
#include "commands/expiring.h"

/* Returns the list that has the file, or NULL after an error if several have
 * it; *ret_none: no list has the file. */
static struct acl_list *
find_by_file(
    struct call *call, const struct model *m, const char *path, bool *ret_none)
{
	const struct list_spec *found = NULL, *l = m->spec->lists;

	for (; l < m->spec->lists + m->spec->lists_n; l++)
		for (size_t i = 0; i < l->files_n; i++) {
			if (strcmp(l->files[i].path, path) != 0 || l == found)
				continue;
			if (found) {
				*ret_none = false;
				(void)err_set(call->err,
				    "The lists %.40s and %.40s have this file. "
				    "Please use #<id> or <name>.",
				    found->name, l->name);
				return NULL;
			}
			found = l;
		}
	*ret_none = !found;
	return found ? model_find_list(m, found->name) : NULL;
}

struct acl_list *
call_acl(struct call *call, const char *text, const char *missing)
{
	const struct model *m = call->env->instance->model;
	struct acl_list *list = NULL;
	bool none = true;
	uint64_t n;

	if (!*text) {
		err_set(call->err, "%s", missing);
		return NULL;
	}
	if (*text != '#')
		list = model_find_list(m, text);
	else if (text_parse_number(text + 1, 0, UINT32_MAX, &n, NULL) &&
	         n < m->spec->lists_n)
		list = m->lists[n];
	if (!list && *text != '#')
		list = find_by_file(call, m, text, &none);
	if (!list && none)
		call_no_such_of(call,
		    "Unknown ACL identifier. Please use #<id> or <name>.", text,
		    NAME_TABLE(m->spec->lists, m->spec->lists_n));
	return list;
}

bool
call_take_version(struct call *call, unsigned *ret_version)
{
	const char *text = call_arg(call, 0);
	uint64_t n;

	*ret_version = 0;
	if (*text != '@')
		return false;
	if (text_parse_number(text + 1, 0, UINT32_MAX, &n, NULL))
		*ret_version = (unsigned)n;
	call->args++;
	return true;
}

bool
call_acl_outcome(struct call *call, enum acl_outcome outcome)
{
	switch (outcome) {
	case ACL_DONE:
		return true;
	case ACL_NO_ENTRY:
		return err_set(call->err, "Key not found.");
	case ACL_NO_VERSION:
		err_set(call->err, "Version number out of range.");
		return call_ended_before(call, "prepare acl");
	case ACL_TOO_MANY:
		return err_set(call->err,
		    "Too many versions are prepared; commit the last one.");
	case ACL_SHORT:
		return err_oom(call->err) || err_as_sentence(call->err);
	}
	return false;
}

const char *
acl_place_text(const struct acl_listed *entry, char out[ACL_PLACE_SIZE])
{
	if (!entry->source)
		snprintf(out, ACL_PLACE_SIZE, "add acl");
	else if (entry->line == 0)
		snprintf(out, ACL_PLACE_SIZE, "%s", entry->source);
	else
		snprintf(
		    out, ACL_PLACE_SIZE, "%s:%u", entry->source, entry->line);
	return out;
}

/* Reads the arguments of `add acl` and `del acl`.  Returns NULL with call->err
 * set. */
static struct acl_list *
take_range(struct call *call, const char *missing, struct cidr *ret_range)
{
	const char *text = call_arg(call, 1);
	struct acl_list *list =
	    call_acl(call, *text ? call_arg(call, 0) : "", missing);

	if (!list)
		return NULL;
	if (cidr_parse(text, ret_range, call->err))
		return list;
	(void)err_as_sentence(call->err);
	return NULL;
}

static struct grace *
grace_of(const struct call *call)
{
	return call->env->instance->model->grace;
}

/* Adds an entry to a version that is not in force. */
static bool
add_to_version(struct call *call, struct acl_list *list, unsigned version,
    const struct cidr *range)
{
	if (version > acl_list_versions(list).next)
		return err_set(call->err,
		    "Version number in the future, please use 'prepare acl' "
		    "before.");
	return call_acl_outcome(
	    call, acl_list_prepare_entry(list, version, range));
}

/* Records a change of one entry.  done: `added` or `deleted`.  Returns false
 * with call->err set if the change has failed. */
static bool
end_entry_change(struct call *call, enum acl_outcome outcome,
    const struct acl_list *list, const struct cidr *range, const char *done)
{
	char text[CIDR_TEXT_SIZE];

	if (!call_acl_outcome(call, outcome))
		return false;
	call_audit(call, NULL, NULL, "acl %s: %s is %s", acl_list_name(list),
	    cidr_text(range, text), done);
	return true;
}

/* Adds an entry.  Adding one that is there already succeeds, as in HAProxy. */
static bool
add_acl_now(struct call *call, struct list_task **ret_task)
{
	struct expiring_status end;
	struct cidr range;
	unsigned version;
	bool has_version = call_take_version(call, &version);
	struct acl_list *list = take_range(call,
	    "'add acl' expects two parameters: ACL identifier and pattern.",
	    &range);

	(void)ret_task;
	if (!list)
		return false;
	if (has_version && version != acl_list_versions(list).current)
		return add_to_version(call, list, version, &range);
	/* Without an effect there is nothing to record. */
	if (acl_list_presence(list, &range).present &&
	    (call->audit_suffix ||
	        !acl_entry_end(call->env->expiring, list, &range, &end)))
		return true;
	return end_entry_change(call,
	    acl_list_add(list, &range, grace_of(call)), list, &range, "added");
}

static bool
del_acl_now(struct call *call, struct list_task **ret_task)
{
	struct cidr range;
	struct acl_list *list = take_range(call,
	    "This command expects two parameters: ACL identifier and key.",
	    &range);

	(void)ret_task;
	if (!list || !end_entry_change(call,
	                 acl_list_delete(list, &range, grace_of(call)), list,
	                 &range, "deleted"))
		return false;
	call_forget_acl_ends(call, list, &range);
	return true;
}

/* Clears a version.  Clearing one that is not prepared succeeds, as in HAProxy:
 * it has no entries. */
static bool
clear_version(struct call *call, struct acl_list *list, unsigned version)
{
	enum acl_outcome outcome = acl_list_prepare_again(list, version);

	return outcome == ACL_NO_VERSION || call_acl_outcome(call, outcome);
}

static bool
clear_acl_now(struct call *call, struct list_task **ret_task)
{
	unsigned version;
	bool has_version = call_take_version(call, &version);
	struct acl_list *list = call_acl(call, call_arg(call, 0),
	    "Missing ACL identifier: 'clear acl' expects the name of a list.");
	size_t n;

	(void)ret_task;
	if (!list)
		return false;
	if (has_version && version != acl_list_versions(list).current)
		return clear_version(call, list, version);
	n = acl_list_entries(list);
	if (!acl_list_clear(list, grace_of(call)))
		return err_oom(call->err) || err_as_sentence(call->err);
	call_audit_number(call, n, 0, "acl %s entries", acl_list_name(list));
	call_forget_acl_ends(call, list, NULL);
	return true;
}

/* -- entries for a time -- */

/* Writes the subject of the entry's setting; range NULL: the beginning that the
 * subjects of the list's entries have in common. */
static void
subject_of(const struct acl_list *list, const struct cidr *range, char *out,
    size_t size)
{
	char text[CIDR_TEXT_SIZE];

	setting_print(out, size, "acl %s%s%s", acl_list_name(list),
	    range ? " " : "", range ? cidr_text(range, text) : "");
}

void
call_forget_acl_ends(const struct call *call, const struct acl_list *list,
    const struct cidr *range)
{
	char subject[sizeof(((struct setting *)NULL)->subject)];

	subject_of(list, range, subject, sizeof(subject));
	expiring_forget(call->env->expiring, subject);
}

/* Fills the setting of the entry: its value is "added" or "absent". */
static void
read_entry(
    const struct acl_list *list, const struct cidr *range, struct setting *ret)
{
	struct acl_presence at = acl_list_presence(list, range);

	subject_of(list, range, ret->subject, sizeof(ret->subject));
	ret->ordered[0] = ret->base[0] = '\0';
	SETTING_PRINT(ret->value, "%s", at.present ? "added" : "absent");
	SETTING_PRINT(ret->configured, "%s", at.was_read ? "added" : "absent");
	/* Former versions have none for an entry that the file lacks. */
	if (at.was_read)
		SETTING_PRINT(ret->base, "added");
}

bool
acl_entry_end(const struct expiring *expiring, const struct acl_list *list,
    const struct cidr *range, struct expiring_status *ret_status)
{
	struct setting now;

	if (!expiring || expiring->n == 0)
		return false;
	read_entry(list, range, &now);
	return expiring_of(expiring, &now, ret_status);
}

enum setting_answer
describe_acl_entry(struct call *call, struct setting *ret)
{
	struct cidr range;
	struct acl_list *list;

	if (*call_arg(call, 0) == '@' || *call_arg(call, 0) == '#') {
		err_set(call->err,
		    "An entry for a time goes into the list in force, by the "
		    "list's name, as in 'add acl banned 10.0.0.1 for 1h'.");
		return SETTING_UNRESTORABLE;
	}
	list = take_range(call,
	    "'add acl' expects two parameters: ACL identifier and pattern.",
	    &range);
	if (!list)
		return SETTING_INVALID;
	read_entry(list, &range, ret);
	if (!acl_list_is_committing(list))
		return SETTING_KNOWN;
	err_set(call->err,
	    "A version of the list is being committed, which replaces all "
	    "entries; repeat the command afterwards.");
	return SETTING_BUSY;
}

bool
restore_acl_entry(struct call *call)
{
	bool adds = strcmp(call_arg(call, 2), "added") == 0;
	struct cidr range;
	struct acl_list *list = take_range(call, "no such entry", &range);

	if (!list)
		return false;
	return end_entry_change(call,
	    adds ? acl_list_add(list, &range, grace_of(call))
	         : acl_list_delete(list, &range, grace_of(call)),
	    list, &range, adds ? "added" : "deleted");
}

bool
run_add_acl(struct call *call)
{
	return call_change_acl(call, add_acl_now);
}

bool
run_del_acl(struct call *call)
{
	return call_change_acl(call, del_acl_now);
}

bool
run_clear_acl(struct call *call)
{
	return call_change_acl(call, clear_acl_now);
}
