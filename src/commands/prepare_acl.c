/* SPDX-License-Identifier: MIT
 * `prepare acl` and `commit acl`: all entries of a list are replaced at once.
 *
 *	prepare acl office		New version created: 1
 *	add acl @1 office 192.0.2.0/24
 *	commit acl @1 office
 */
#include "commands/add_acl.h"
#include "commands/commands.h"

bool
run_prepare_acl(struct call *call)
{
	struct acl_list *list = call_acl(call, call_arg(call, 0),
	    "Unknown ACL identifier. Please use #<id> or <name>.");

	if (!list || !call_acl_outcome(call, acl_list_prepare(list)))
		return false;
	call_say(call, SEVERITY_INFO, "New version created: %u",
	    acl_list_versions(list).next);
	return true;
}

/* -- commit acl -- */

/* A list task commits versions that have more entries. */
#define AT_ONCE_MAX 4096u

/* Commits on the control thread, before it returns. */
static bool
commit_at_once(struct call *call, struct acl_list *list, unsigned version)
{
	size_t n = acl_list_entries(list);

	if (!call_acl_outcome(call, acl_list_commit(list, version,
	                                call->env->instance->model->grace)))
		return false;
	call_audit_number(call, n, acl_list_entries(list),
	    "acl %s entries, version %u", acl_list_name(list), version);
	return true;
}

static bool
commit_by_task(struct call *call, struct acl_list *list, unsigned version,
    struct list_task **ret_task)
{
	struct acl_record *record = acl_record_new(
	    call, "acl %s entries, version %u", acl_list_name(list), version);
	enum acl_outcome outcome = ACL_SHORT;

	if (record)
		*ret_task =
		    list_task_commit(list, version, acl_record_end(record),
		        call->env->instance->model->grace, &outcome);
	if (*ret_task)
		return true;
	acl_record_free(record);
	return call_acl_outcome(call, outcome);
}

static bool
commit_acl_now(struct call *call, struct list_task **ret_task)
{
	struct acl_list *list;
	unsigned version;

	if (!call_take_version(call, &version))
		return err_set(call->err, "Missing version number.");
	list = call_acl(call, call_arg(call, 0), "Missing ACL identifier.");
	if (!list)
		return false;
	if (!(acl_list_prepared_entries(list, version) > AT_ONCE_MAX
	            ? commit_by_task(call, list, version, ret_task)
	            : commit_at_once(call, list, version)))
		return false;
	call_forget_acl_ends(call, list, NULL);
	return true;
}

bool
run_commit_acl(struct call *call)
{
	return call_change_acl(call, commit_acl_now);
}
