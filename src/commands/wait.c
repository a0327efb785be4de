/* SPDX-License-Identifier: MIT
 * `wait`, as in HAProxy 3.0.
 */
#include "commands/commands.h"

#include <string.h>

#include "base/clock.h"
#include "commands/listing.h"
#include "config/hint.h"
#include "orders/drains.h"

#define DELAY_MAX_MS INT32_MAX
/* The longest pause between two looks at a condition.  A peer that has gone is
 * noticed after a pause. */
#define LOOK_MS 500

struct waiting {
	struct listing listing;
	uint64_t from_ms, until_ms;        /* clock_now_ms */
	struct command_mode mode;          /* for the severity of the answer */
	const struct condition *condition; /* NULL: none */
	char server[2 * CALL_NAME_SIZE];   /* that it is about */
};

static const char usage[] =
    "Usage: wait {-h|<duration>} [condition [args...]]\n"
    "  - '-h' displays this help\n"
    "  - <duration> is the maximum wait time, optionally suffixed by the unit "
    "among\n"
    "    'ms', 's', 'm', 'h', and 'd'. ; the default unit is "
    "milliseconds.\n"
    "  - <condition> indicates what to wait for, no longer than the specified\n"
    "    duration. Supported conditions are:\n"
    "    - <none> : by default, just sleep for the specified duration.\n"
    "    - srv-removable <px>/<sv> : wait for this server to become "
    "removable.\n"
    "    - drained <px>/<sv> : wait for this server to have no session left.";

enum met { NEVER, NOT_YET, NOW };

struct condition {
	const char *name;
	/* Sets call->err if it returns NEVER. */
	enum met (*is_met)(struct call *call, const char *server);
};

static enum met
is_removable(struct call *call, const char *name)
{
	const struct server *s = call_server(call, name);
	enum server_removable removable;

	if (!s)
		return NEVER;
	removable = control_server_removable(s);
	if (removable == SERVER_REMOVABLE)
		return NOW;
	if (removable == SERVER_CONNECTED)
		return NOT_YET;
	err_set(call->err, "%s", server_unremovable_text(removable));
	return NEVER;
}

/* Returns whether a server that is being drained, by any command, has no
 * sessions left.  Maintenance counts as a drain. */
static enum met
is_drained(struct call *call, const char *name)
{
	const struct server *s = call_server(call, name);
	struct drain_status drain;

	if (!s)
		return NEVER;
	if (server_admin_of(s) == SERVER_READY) {
		if (drains_of(&call->env->orders->drains, s, &drain))
			return NOT_YET;
		err_set(call->err, "Server takes new sessions: it is not being "
		                   "drained.");
		return NEVER;
	}
	return atomic_load_relaxed(&s->sessions->now) > 0 ? NOT_YET : NOW;
}

static const struct condition conditions[] = {
    {"srv-removable", is_removable},
    {"drained", is_drained},
};

/* Returns half of the time that has passed, so that looks are frequent at
 * first, but at most LOOK_MS and the time that is left. */
static unsigned
next_pause_ms(const struct waiting *w)
{
	uint64_t now_ms = clock_now_ms();
	uint64_t left_ms = w->until_ms - now_ms;
	uint64_t pause_ms = (now_ms - w->from_ms) / 2 + 1;

	if (pause_ms > LOOK_MS)
		pause_ms = LOOK_MS;
	return (unsigned)(pause_ms < left_ms ? pause_ms : left_ms);
}

/* Answers when the wait is over. */
static bool
wait_step(void *listing, const struct command_env *env)
{
	struct waiting *w = listing;
	struct err err;
	struct call call = {.env = env,
	    .mode = &w->mode,
	    .out = w->listing.report.out,
	    .err = &err};
	enum met met =
	    w->condition ? w->condition->is_met(&call, w->server) : NOT_YET;

	if (met == NOT_YET && clock_now_ms() < w->until_ms) {
		w->listing.rest.pause_ms = next_pause_ms(w);
		return true;
	}
	if (met == NOW || (met == NOT_YET && !w->condition))
		call_say(&call, SEVERITY_INFO, "Done.");
	else
		call_say(&call, SEVERITY_ERR, "%s",
		    met == NEVER ? err.text : "Wait delay expired.");
	w->listing.rest.failed = w->mode.failed;
	return false;
}

bool
run_wait(struct call *call)
{
	static const struct listing_kind kind = {
	    .size = sizeof(struct waiting),
	    .step = wait_step,
	};
	const struct name_table *names =
	    NAME_TABLE(conditions, sizeof(conditions) / sizeof(conditions[0]));
	struct waiting *w;
	uint64_t delay_ms;
	size_t i;

	if (!*call_arg(call, 0))
		return err_set(
		    call->err, "Expects a duration in milliseconds.");
	if (strcmp(call_arg(call, 0), "-h") == 0 ||
	    strcmp(call_arg(call, 1), "-h") == 0) {
		call_say(call, SEVERITY_INFO, "%s", usage);
		return true;
	}
	if (!call_time(call_arg(call, 0), 1, 1, DELAY_MAX_MS, &delay_ms))
		return err_set(call->err, "Invalid duration.");
	if (call->args[1] && !name_table_find(names, call->args[1], &i)) {
		call_say(call, SEVERITY_ERR, "%s", usage);
		return true;
	}
	if (call->args[1] && !*call_arg(call, 2))
		return err_set(
		    call->err, "Missing server name (<backend>/<server>).");
	w = listing_new(call, &kind, false);
	if (!w)
		return false;
	w->mode = *call->mode;
	w->from_ms = clock_now_ms();
	w->until_ms = w->from_ms + delay_ms;
	w->condition = call->args[1] ? &conditions[i] : NULL;
	snprintf(w->server, sizeof(w->server), "%s", call_arg(call, 2));
	return listing_answer(call, &w->listing, true);
}
