/* SPDX-License-Identifier: MIT
 * `prepare acl` and `commit acl`: all entries of a list are replaced at once.
 *
 *	prepare acl office		New version created: 1
 *	add acl @1 office 192.0.2.0/24
 *	commit acl @1 office
 */
#include <stdlib.h>

#include "commands/add_acl.h"
#include "commands/commands.h"
#include "commands/listing.h"
#include "control/list_commit.h"

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

/* A thread commits a version with more entries. */
#define AT_ONCE_MAX 4096u

static void
audit_commit(const struct call *call, const char *list, unsigned version,
    size_t before, size_t after)
{
	call_audit_number(
	    call, before, after, "acl %s entries, version %u", list, version);
}

/* Commits here and now. */
static bool
commit_at_once(struct call *call, struct acl_list *list, unsigned version)
{
	size_t n = acl_list_entries(list);

	if (!call_acl_outcome(
	        call, acl_list_commit(list, version,
	                  control_model(call->env->control)->grace)))
		return false;
	audit_commit(
	    call, acl_list_name(list), version, n, acl_list_entries(list));
	return true;
}

/* The answer comes when the version is in force. */
struct committing {
	struct listing listing;
	struct command_mode mode; /* of the client at the time of the command */
	char list[CALL_NAME_SIZE];
	unsigned version;
	struct list_commit *commit; /* NULL: not begun */
};
#define COMMIT_LOOK_MS 5

/* The record of a commit is written when the version is in force, whether the
 * client is still there or not. */
struct commit_record {
	const struct command_env *env;
	struct command_mode mode; /* of the client at the time of the command */
	char list[CALL_NAME_SIZE];
	unsigned version;
};

static void
record_commit(void *arg, const struct list_committed *result)
{
	struct commit_record *r = arg;
	const struct call call = {.env = r->env, .mode = &r->mode};

	if (result && result->outcome == ACL_DONE)
		audit_commit(
		    &call, r->list, r->version, result->before, result->after);
	free(r);
}

static enum acl_outcome
begin_recorded(
    struct committing *c, const struct call *call, struct acl_list *list)
{
	struct commit_record *r = malloc(sizeof(*r));
	enum acl_outcome outcome;

	if (!r)
		return ACL_SHORT;
	*r = (struct commit_record){
	    .env = call->env, .mode = c->mode, .version = c->version};
	snprintf(r->list, sizeof(r->list), "%s", c->list);
	c->commit = list_commit_begin(control_list_commits(call->env->control),
	    list, c->version, (struct list_commit_end){record_commit, r},
	    &outcome);
	if (!c->commit)
		free(r);
	return outcome;
}

/* Begins the commit, unless another one keeps the list busy. */
static bool
begin_commit(struct committing *c, struct call *call)
{
	struct acl_list *list = call_acl(call, c->list, "");

	if (!list)
		return false;
	if (acl_list_is_busy(list))
		return true;
	return call_acl_outcome(call, begin_recorded(c, call, list));
}

/* Returns false with call->err set, if the commit fails. */
static bool
look_at_commit(struct committing *c, struct call *call, bool *ret_more)
{
	const struct list_committed *result;

	*ret_more = true;
	if (!c->commit)
		return begin_commit(c, call);
	result = list_commit_result(c->commit);
	if (!result)
		return true;
	*ret_more = false;
	return call_acl_outcome(call, result->outcome);
}

static bool
commit_step(void *listing, const struct command_env *env)
{
	struct committing *c = listing;
	struct err err;
	struct call call = {.env = env,
	    .mode = &c->mode,
	    .out = c->listing.report.out,
	    .err = &err};
	bool more;

	c->listing.rest.pause_ms = COMMIT_LOOK_MS;
	if (look_at_commit(c, &call, &more))
		return more;
	call_severity(&call, SEVERITY_ERR);
	fprintf(call.out, "%s\n", err.text);
	c->listing.rest.failed = c->mode.failed;
	return false;
}

static void
commit_fini(void *listing)
{
	list_commit_unref(((struct committing *)listing)->commit);
}

static bool
commit_by_thread(struct call *call, struct acl_list *list, unsigned version)
{
	static const struct listing_kind kind = {
	    .size = sizeof(struct committing),
	    .step = commit_step,
	    .fini = commit_fini,
	    .steps_max = 1,
	};
	struct committing *c = listing_new(call, &kind, false);

	if (!c)
		return false;
	c->mode = *call->mode;
	c->version = version;
	snprintf(c->list, sizeof(c->list), "%s", acl_list_name(list));
	return listing_answer(call, &c->listing, begin_commit(c, call));
}

bool
run_commit_acl(struct call *call)
{
	struct acl_list *list;
	unsigned version;

	if (!call_take_version(call, &version))
		return err_set(call->err, "Missing version number.");
	list = call_acl(call, call_arg(call, 0), "Missing ACL identifier.");
	if (!list)
		return false;
	return acl_list_is_busy(list) ||
	               acl_list_prepared_entries(list, version) > AT_ONCE_MAX
	           ? commit_by_thread(call, list, version)
	           : commit_at_once(call, list, version);
}
