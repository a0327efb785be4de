/* SPDX-License-Identifier: MIT
 * `wait`, as in HAProxy 3.0.
 */
#include "commands/commands.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/list.h"
#include "control/drains.h"

#define DELAY_MAX_MS INT32_MAX
/* So often a condition is looked at, at least; also so that a peer that has
 * gone is noticed. */
#define LOOK_MS 500

struct waiting {
	struct answer_rest rest;
	uint64_t from_ms, until_ms;        /* clock_now_ms */
	struct command_mode mode;          /* for the severity of the answer */
	const struct condition *condition; /* NULL: none */
	char *server;                      /* that it is about */
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
	/* NEVER has an error. */
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

/* Returns whether a server that is being drained, by whatever command, has no
 * sessions.  Maintenance is as good as a drain. */
static enum met
is_drained(struct call *call, const char *name)
{
	const struct server *s = call_server(call, name);
	struct drain_status drain;

	if (!s)
		return NEVER;
	if (server_admin_of(s) == SERVER_READY) {
		if (control_drain_of(call->env->control, s, &drain))
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

#define CONDITIONS (sizeof(conditions) / sizeof(conditions[0]))

/* Returns whether the wait is over, and answers then. */
static bool
has_ended(struct waiting *w, const struct command_env *env, FILE *out)
{
	struct err err;
	struct call call = {
	    .env = env, .mode = &w->mode, .out = out, .err = &err};
	enum met met =
	    w->condition ? w->condition->is_met(&call, w->server) : NOT_YET;

	if (met == NOT_YET && clock_now_ms() < w->until_ms)
		return false;
	w->rest.failed = met == NEVER || (met == NOT_YET && w->condition);
	if (!w->rest.failed)
		call_say(&call, SEVERITY_INFO, "Done.");
	else
		call_say(&call, SEVERITY_ERR, "%s",
		    met == NEVER ? err.text : "Wait delay expired.");
	return true;
}

/* Half of the time that has passed, at first often, and later less so. */
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

static bool
wait_more(struct answer_rest *rest, const struct command_env *env, FILE *out)
{
	struct waiting *w = container_of(rest, struct waiting, rest);

	if (has_ended(w, env, out))
		return false;
	w->rest.pause_ms = next_pause_ms(w);
	return true;
}

static void
wait_free(struct answer_rest *rest)
{
	struct waiting *w = container_of(rest, struct waiting, rest);

	free(w->server);
	free(w);
}

/* Takes the condition, which may be none. */
static bool
take_condition(struct call *call, struct waiting *w)
{
	const char *condition = call_arg(call, 1);
	const char *name = call_arg(call, 2);

	if (!*condition)
		return true;
	for (size_t i = 0; i < CONDITIONS; i++)
		if (strcmp(condition, conditions[i].name) == 0)
			w->condition = &conditions[i];
	if (!w->condition) {
		call_say(call, SEVERITY_ERR, "%s", usage);
		return false;
	}
	if (!*name) {
		call_say(call, SEVERITY_ERR,
		    "Missing server name (<backend>/<server>).");
		return false;
	}
	w->server = strdup(name);
	if (!w->server)
		call_say(call, SEVERITY_ERR,
		    "Out of memory trying to clone the server name.");
	return w->server != NULL;
}

static bool
asks_for_help(const struct call *call)
{
	return strcmp(call_arg(call, 0), "-h") == 0 ||
	       strcmp(call_arg(call, 1), "-h") == 0;
}

bool
run_wait(struct call *call)
{
	struct waiting *w;
	uint64_t delay_ms;

	if (!*call_arg(call, 0))
		return err_set(
		    call->err, "Expects a duration in milliseconds.");
	if (asks_for_help(call)) {
		call_say(call, SEVERITY_INFO, "%s", usage);
		return true;
	}
	if (!call_time(call_arg(call, 0), 1, 1, DELAY_MAX_MS, &delay_ms))
		return err_set(call->err, "Invalid duration.");
	w = calloc(1, sizeof(*w));
	if (!w)
		return err_oom(call->err);
	w->rest = (struct answer_rest){.more = wait_more, .free = wait_free};
	w->mode = *call->mode;
	w->from_ms = clock_now_ms();
	w->until_ms = w->from_ms + delay_ms;
	if (take_condition(call, w))
		call->rest = &w->rest;
	else
		wait_free(&w->rest);
	return true;
}
