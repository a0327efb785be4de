/* SPDX-License-Identifier: MIT
 * `upgrade`.
 */
#include "commands/commands.h"

#include <unistd.h>

#include "commands/listing.h"
#include "handover/upgrade.h"

/* An upgrade; its answer comes when the successor serves, or has failed. */
struct upgrading {
	struct listing listing;
	struct command_mode mode; /* of the client at the time of the command */
	struct upgrade *upgrade;
};
#define UPGRADE_LOOK_MS 5

static bool
upgrade_step(void *listing, const struct command_env *env)
{
	struct upgrading *u = listing;
	const struct upgrade_result *result = upgrade_result(u->upgrade);
	const struct call call = {
	    .env = env, .mode = &u->mode, .out = u->listing.report.out};

	u->listing.rest.pause_ms = UPGRADE_LOOK_MS;
	if (!result)
		return true;
	if (!result->ok)
		call_severity(&call, SEVERITY_ERR);
	fprintf(call.out, "%s\n", result->text);
	call_audit(&call, NULL, NULL, "upgrade: %s", result->text);
	u->listing.rest.failed = u->mode.failed;
	return false;
}

static void
upgrade_fini_listing(void *listing)
{
	upgrade_unref(((struct upgrading *)listing)->upgrade);
}

/* Returns whether the peer may name a program, which runs with the rights of
 * lfproxy's user. */
static bool
may_name_program(const struct peer *peer)
{
	return peer->known && (peer->uid == 0 || peer->uid == geteuid());
}

bool
run_upgrade(struct call *call)
{
	static const struct listing_kind kind = {
	    .size = sizeof(struct upgrading),
	    .step = upgrade_step,
	    .fini = upgrade_fini_listing,
	};
	const char *path = call_arg(call, 0);
	struct upgrading *u;

	if (*path && *path != '/' && *path != '@')
		return err_set(call->err,
		    "'%.100s' is not the absolute path of a program.", path);
	if (*path && !may_name_program(&call->mode->peer))
		return err_set(call->err,
		    "Only root and lfproxy's own user may name a program, on a "
		    "unix socket; without one the present program is started.");
	u = listing_new(call, &kind, false);
	if (!u)
		return false;
	u->mode = *call->mode;
	u->upgrade =
	    upgrade_begin(call->env->lineage, *path ? path : NULL, call->err);
	return listing_answer(call, &u->listing, u->upgrade != NULL);
}
