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

bool
run_commit_acl(struct call *call)
{
	struct acl_list *list;
	unsigned version;
	size_t n;

	if (!call_take_version(call, &version))
		return err_set(call->err, "Missing version number.");
	list = call_acl(call, call_arg(call, 0), "Missing ACL identifier.");
	if (!list)
		return false;
	n = acl_list_entries(list);
	if (!call_acl_outcome(
	        call, acl_list_commit(list, version,
	                  control_model(call->env->control)->grace)))
		return false;
	call_audit_number(call, n, acl_list_entries(list),
	    "acl %s entries, version %u", acl_list_name(list), version);
	return true;
}
