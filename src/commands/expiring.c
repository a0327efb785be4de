/* SPDX-License-Identifier: MIT
 * See expiring.h.
 */
#include "commands/expiring.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/clock.h"
#include "base/events.h"
#include "base/text.h"
#include "commands/commands.h"
#include "commands/expiring_internal.h"
#include "handover/later.h"
#include "orders/drains.h"

#define SETTING_COMMANDS                                                       \
	"set server, set weight, set maxconn, set bandwidth client, set "      \
	"rate-limit, set pool, add acl, and enable or disable server, "        \
	"health, agent, frontend"

/* Time until another look at a setting that cannot be changed now. */
#define BUSY_LOOK_MS 100

#define BY_FILE "the file has set it since then"
#define CHANGED "it was changed meanwhile"
#define GONE    "it no longer exists"

struct expiring_change *
expiring_at(struct list *node)
{
	return container_of(node, struct expiring_change, node);
}

void
expiring_init(struct expiring *expiring, const struct command_env *env)
{
	*expiring = (struct expiring){.env = env};
	list_init(&expiring->changes);
	for (size_t i = 0; i < EXPIRING_BUCKETS; i++)
		list_init(&expiring->buckets[i]);
}

static void
change_free(struct expiring_change *c)
{
	timed_task_cancel(&c->task);
	list_remove(&c->node);
	list_remove(&c->chain);
	c->expiring->n--;
	free(c);
}

void
expiring_fini(struct expiring *expiring)
{
	list_for_each_safe (node, &expiring->changes)
		change_free(expiring_at(node));
}

/* Entries of lists may have thousands of changes, each of which is looked up
 * for every report about the list. */
static struct list *
bucket_of(struct expiring *expiring, const char *subject)
{
	return &expiring->buckets[XXH64(subject, strlen(subject), 0) %
	                          EXPIRING_BUCKETS];
}

struct expiring_change *
expiring_find(struct expiring *expiring, const char *subject)
{
	struct list *bucket = bucket_of(expiring, subject);

	list_for_each (node, bucket) {
		struct expiring_change *c =
		    container_of(node, struct expiring_change, chain);

		if (strcmp(c->setting.subject, subject) == 0)
			return c;
	}
	return NULL;
}

void
expiring_set(struct expiring_change *change, const struct setting *setting)
{
	struct expiring_change *c = change;

	c->setting = *setting;
	c->setting.server = NULL;
	list_remove(&c->chain);
	list_append(bucket_of(c->expiring, c->setting.subject), &c->chain);
}

/* -- expiry -- */

/* Adds an event about a change that has expired.  Logs only an error: the audit
 * has logged everything else. */
static void
report_expiry(struct expiring_change *c, enum log_level level, const char *what)
{
	const struct setting *u = &c->setting;
	char after[TEXT_DURATION_SIZE], text[EVENT_TEXT_SIZE];

	snprintf(text, sizeof(text), "%s, after %s: %s", u->subject,
	    text_duration(c->for_ms, after), what);
	if (level == LOG_LEVEL_ERROR)
		log_error("%s", text);
	event_add_unlogged(EVENT_EXPIRED, level, u->proxy[0] ? u->proxy : NULL,
	    u->part[0] ? u->part : NULL, text);
}

/* Reports that the value stays, to the audit as well: the user who made the
 * change expects the former value to be back. */
static void
report_kept(struct expiring_change *c, const char *value, const char *why)
{
	char outcome[sizeof(c->setting.subject) + 160];
	char text[SETTING_VALUE_SIZE + 128];

	value = setting_shown(&c->setting, value);
	snprintf(outcome, sizeof(outcome), "it stays %.80s: %s", value, why);
	report_expiry(c, LOG_LEVEL_INFO, outcome);
	snprintf(text, sizeof(text), "expired: %s stays %.40s: %s",
	    c->setting.subject, value, why);
	audit_note(c->expiring->env->audit, &c->who, text, NULL, NULL);
}

static void
undo_change(struct expiring_change *c)
{
	const char *value = setting_shown(&c->setting, c->setting.value),
	           *former = setting_shown(&c->setting, c->former);
	char outcome[2 * SETTING_VALUE_SIZE + 600];
	struct err err;

	if (expiring_restore(c, c->former, c->expiring->env, &err)) {
		snprintf(outcome, sizeof(outcome), "%s -> %s", value, former);
		report_expiry(c, LOG_LEVEL_INFO, outcome);
		return;
	}
	snprintf(outcome, sizeof(outcome),
	    "it stays %s, because %s cannot be set again: %s", value, former,
	    err.text);
	report_expiry(c, LOG_LEVEL_ERROR, outcome);
}

static bool
is_busy(const struct expiring_change *c)
{
	struct setting now;

	return expiring_describe(c, &now) == SETTING_BUSY;
}

/* Whether the operator's value is still that of the change: an agent may have
 * set another one over it. */
static bool
is_in_force(const struct expiring_change *c, const struct setting *now)
{
	return strcmp(setting_own(now), setting_own(&c->setting)) == 0;
}

/* Sets the former value again, unless another value has been set since.  A
 * reload that has changed the file's value has ended the change. */
static void
expire_change(struct expiring_change *c)
{
	const struct setting *then = &c->setting;
	struct setting now;

	if (!expiring_read_setting(c, &now))
		report_kept(c, then->value, GONE);
	else if (c->is_changed)
		report_kept(c, now.value, CHANGED);
	else if (setting_is_replaced(&now, then->base))
		report_kept(c, now.value, BY_FILE);
	else if (!is_in_force(c, &now))
		report_kept(c, now.value, CHANGED);
	else
		undo_change(c);
}

/* Sets the change's value again, which the file's new one has replaced. */
static bool
go_on(struct expiring_change *c)
{
	struct command_env unaudited = *c->expiring->env;
	struct setting now;
	struct err err;

	unaudited.audit = NULL;
	if (!expiring_restore(c, setting_own(&c->setting), &unaudited, &err) ||
	    !expiring_read_setting(c, &now) || !is_in_force(c, &now))
		return false;
	c->setting = now;
	c->setting.server = NULL;
	return true;
}

const char *
expiring_follow(struct expiring_change *c, const struct setting *now)
{
	if (setting_is_replaced(now, c->setting.base))
		return strcmp(now->configured, c->former) == 0 && go_on(c)
		           ? NULL
		           : BY_FILE;
	/* Another server may have the name. */
	if (!is_in_force(c, now))
		return CHANGED;
	/* A number that stands for as many as there is room for may be another
	 * one now. */
	if (strcmp(c->former, c->setting.configured) == 0)
		memcpy(c->former, now->configured, sizeof(c->former));
	memcpy(c->setting.configured, now->configured,
	    sizeof(c->setting.configured));
	return NULL;
}

/* Follows the setting, which a reload may have changed.  A change of an object
 * that was removed stays: the object gets its overrides back if it returns.  A
 * list does not: its entries have gone with it. */
static void
follow_setting(struct expiring_change *c)
{
	struct setting now;
	enum setting_answer answer;
	const char *why = NULL;

	if (c->is_changed)
		return;
	answer = expiring_describe(c, &now);
	if (answer == SETTING_KNOWN) {
		why = expiring_follow(c, &now);
	} else if (answer == SETTING_INVALID &&
	           c->command->setting.describe == describe_acl_entry) {
		SETTING_PRINT(now.value, "absent");
		why = GONE;
	}
	if (!why)
		return;
	report_kept(c, now.value, why);
	change_free(c);
}

void
expiring_follow_file(struct expiring *expiring)
{
	list_for_each_safe (node, &expiring->changes)
		follow_setting(expiring_at(node));
}

static void
fill_status(const struct expiring_change *c, struct expiring_status *ret_status)
{
	uint64_t now_ms = clock_now_ms();

	*ret_status = (struct expiring_status){
	    .id = c->id,
	    .left_ms = c->ends_ms > now_ms ? c->ends_ms - now_ms : 0,
	    .setting = &c->setting,
	    .subject = c->setting.subject,
	    .value = c->setting.value,
	    .former = c->former,
	    .who = &c->who,
	    .changed_by = c->is_changed ? &c->changed_by : NULL,
	};
}

bool
expiring_of(const struct expiring *expiring, const struct setting *now,
    struct expiring_status *ret_status)
{
	const struct expiring_change *c =
	    expiring ? expiring_find(
	                   (struct expiring *)(uintptr_t)expiring, now->subject)
	             : NULL;

	if (!c || c->is_changed || setting_is_replaced(now, c->setting.base) ||
	    !is_in_force(c, now))
		return false;
	fill_status(c, ret_status);
	return true;
}

/* Returns whether the subject begins with those words. */
static bool
begins_with(const struct expiring_change *c, const char *what)
{
	const char *subject = c->setting.subject;
	size_t len = strlen(what);

	return strncmp(subject, what, len) == 0 &&
	       (subject[len] == ' ' || subject[len] == '\0');
}

void
expiring_each(const struct expiring *expiring, const char *what,
    void (*call)(void *arg, const struct expiring_status *status), void *arg)
{
	struct expiring_status status;

	if (!expiring)
		return;
	list_for_each (node, &expiring->changes) {
		const struct expiring_change *c = expiring_at(node);

		if (c->is_changed || !begins_with(c, what))
			continue;
		fill_status(c, &status);
		call(arg, &status);
	}
}

bool
expiring_has_server(
    const struct expiring *expiring, const char *backend, const char *server)
{
	if (!expiring)
		return false;
	list_for_each (node, &expiring->changes) {
		const struct setting *s = &expiring_at(node)->setting;

		if (strcmp(s->part, server) == 0 &&
		    strcmp(s->proxy, backend) == 0)
			return true;
	}
	return false;
}

static void
change_on_time(struct timed_task *task, uint64_t now_ms)
{
	struct expiring_change *c =
	    container_of(task, struct expiring_change, task);

	if (is_busy(c)) {
		timed_task_schedule(task, now_ms + BUSY_LOOK_MS);
		return;
	}
	expire_change(c);
	change_free(c);
}

/* -- before and after a command -- */

/* Returns the number of arguments that the usage requires. */
static size_t
required_args(const struct command *command)
{
	size_t n = 0;

	for (const char *p = command->usage; *p && *p != '['; p++)
		n += *p == '<' && (p == command->usage || p[-1] == ' ');
	return n;
}

/* Returns whether the command may change something.  Commands that only show
 * take names, and `for` may be one. */
static bool
may_change(const struct command *command)
{
	return command->level > LEVEL_USER &&
	       strncmp(command->words, "show ", 5) != 0;
}

/* Removes `for DURATION` from the arguments; *ret_ms is 0 without it. */
static bool
take_duration(
    struct call *call, const struct command *command, uint64_t *ret_ms)
{
	size_t n = words_count(call->args), own = command->setting.args_min;
	struct err why;

	*ret_ms = 0;
	if (own > 0 && n == own + 1 && strcmp(call->args[own], "for") == 0)
		return err_set(call->err,
		    "'for' needs a duration, as in 'for 10m' (units are ms, s, "
		    "m, h, d).");
	if (!may_change(command) ||
	    n < (own > 0 ? own : required_args(command)) + 2 ||
	    strcmp(call->args[n - 2], "for") != 0)
		return true;
	/* The command takes no `for`, so the duration does not matter. */
	if (own == 0)
		*ret_ms = EXPIRING_MIN_MS;
	else if (!text_parse_duration(call->args[n - 1], EXPIRING_MIN_MS,
	             EXPIRING_MAX_MS, ret_ms, &why))
		return err_set(call->err, "for: %s.", why.text);
	call->args[n - 2] = NULL;
	return n < own + 4 || strcmp(call->args[n - 4], "for") != 0 ||
	       err_set(call->err, "for: given twice; keep one.");
}

static enum setting_answer
describe_setting(struct call *call, const struct command *command,
    struct setting *ret_setting)
{
	memset(ret_setting, 0, sizeof(*ret_setting));
	if (command->setting.describe)
		return command->setting.describe(call, ret_setting);
	err_set(call->err,
	    "'%s' cannot end in 'for': it has no former value to return to. "
	    "Allowed are " SETTING_COMMANDS ".",
	    command->words);
	return SETTING_UNRESTORABLE;
}

bool
expiring_begin(struct expiring *expiring, struct call *call,
    const struct command *command, struct expiring_call *ret_begun)
{
	struct expiring_call *b = ret_begun;
	char over[TEXT_DURATION_SIZE];
	enum setting_answer answer;

	b->is_known = false;
	b->for_ms = 0;
	if (!take_duration(call, command, &b->for_ms))
		return false;
	if (b->for_ms == 0 && command->setting.args_min == 0)
		return true;
	answer = describe_setting(call, command, &b->setting);
	b->is_known = answer == SETTING_KNOWN;
	if (b->for_ms == 0)
		return true;
	if (answer == SETTING_UNRESTORABLE || answer == SETTING_BUSY)
		return false;
	if (b->is_known && expiring->n >= EXPIRING_MAX &&
	    !expiring_find(expiring, b->setting.subject))
		return err_set(call->err,
		    "%d changes are waiting to expire, which is the limit.",
		    EXPIRING_MAX);
	snprintf(b->suffix, sizeof(b->suffix), " for %s",
	    text_duration(b->for_ms, over));
	call->audit_suffix = b->suffix;
	return true;
}

struct expiring_change *
expiring_add(struct expiring *expiring, const char *former)
{
	struct expiring_change *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->expiring = expiring;
	c->id = ++expiring->last_id;
	timed_task_init(
	    &c->task, &expiring->env->instance->timer, change_on_time);
	list_append(&expiring->changes, &c->node);
	list_init(&c->chain);
	expiring->n++;
	snprintf(c->former, sizeof(c->former), "%s", former);
	return c;
}

static void
join_names(struct expiring_change *c, char *const *args)
{
	size_t len = 0;

	c->names[0] = '\0';
	for (unsigned i = 0; i < c->command->setting.names; i++)
		len += (size_t)snprintf(
		    c->names + len, sizeof(c->names) - len, "%s ", args[i]);
}

/* Stores the value from before the command until the change expires; the former
 * value of an earlier pending change stays if its value was still in force. */
static void
keep_former(struct expiring *expiring, const struct call *call,
    const struct command *command, const struct setting *before,
    const struct setting *after, uint64_t for_ms)
{
	struct expiring_change *c = expiring_find(expiring, before->subject);

	bool is_same = strcmp(before->value, after->value) == 0 &&
	               strcmp(setting_own(before), setting_own(after)) == 0;

	if ((!c || c->is_changed) && is_same) {
		call_say(call, SEVERITY_NOTICE,
		    "Nothing was changed, so nothing is put back later.");
		return;
	}
	if (c && (c->is_changed || !is_in_force(c, before)))
		snprintf(
		    c->former, sizeof(c->former), "%s", setting_own(before));
	if (!c)
		c = expiring_add(expiring, setting_own(before));
	if (!c) {
		call_say(call, SEVERITY_ERR,
		    "Out of memory: the change will not expire.");
		return;
	}
	if (is_same)
		call_audit(call, NULL, NULL, "%s: still %s", after->subject,
		    setting_shown(after, after->value));
	c->command = command;
	join_names(c, call->args);
	expiring_set(c, after);
	c->for_ms = for_ms;
	c->ends_ms = clock_now_ms() + for_ms;
	c->ends_wall_ms = later_wall_ms() + for_ms;
	c->who = call->mode->peer;
	c->is_changed = false;
	timed_task_schedule(&c->task, c->ends_ms);
}

void
expiring_overrule(
    struct expiring *expiring, const struct call *call, const char *subject)
{
	struct expiring_change *c =
	    expiring ? expiring_find(expiring, subject) : NULL;

	if (!c)
		return;
	c->is_changed = true;
	c->changed_by = call->mode->peer;
}

void
expiring_forget(struct expiring *expiring, const char *what)
{
	if (!expiring)
		return;
	list_for_each_safe (node, &expiring->changes) {
		if (begins_with(expiring_at(node), what))
			change_free(expiring_at(node));
	}
}

void
expiring_end(struct expiring *expiring, struct call *call,
    const struct command *command, const struct expiring_call *begun)
{
	struct setting after;

	if (!begun->is_known)
		return;
	if (begun->setting.server) {
		drains_overrule(&expiring->env->orders->drains,
		    begun->setting.server, begun->setting.of_server);
		/* The values in the answer have to be in force. */
		model_update(expiring->env->instance->model);
	}
	if (begun->for_ms > 0) {
		if (describe_setting(call, command, &after) == SETTING_KNOWN)
			keep_former(expiring, call, command, &begun->setting,
			    &after, begun->for_ms);
		return;
	}
	if (!begun->setting.may_refuse ||
	    (describe_setting(call, command, &after) == SETTING_KNOWN &&
	        strcmp(begun->setting.value, after.value) != 0))
		expiring_overrule(expiring, call, begun->setting.subject);
}

/* -- pending changes -- */

bool
expiring_next(const struct expiring *expiring, uint64_t after,
    struct expiring_status *ret_status)
{
	list_for_each (node, &expiring->changes) {
		const struct expiring_change *c = expiring_at(node);

		if (c->id <= after)
			continue;
		fill_status(c, ret_status);
		return true;
	}
	return false;
}

bool
expiring_cancel(struct expiring *expiring, struct call *call, uint64_t id)
{
	list_for_each (node, &expiring->changes) {
		struct expiring_change *c = expiring_at(node);

		if (c->id != id)
			continue;
		call_audit(call, NULL, NULL,
		    "%s stays %.40s, and does not "
		    "expire",
		    c->setting.subject,
		    setting_shown(&c->setting, c->setting.value));
		change_free(c);
		return true;
	}
	return false;
}
