/* SPDX-License-Identifier: MIT
 * See expiring.h.
 */
#include "commands/expiring.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/events.h"
#include "base/text.h"
#include "control/drains.h"
#include "control/task_timer.h"
#include "control/reload.h"

struct waiting {
	struct list node;
	struct timed_task task;
	struct expiring *expiring;
	uint64_t id, for_ms, ends_ms;
	struct undo undo; /* as it was after the command: what is set now */
	char former[UNDO_VALUE_SIZE];
	uint64_t reloads;
	struct peer who;
	bool is_changed; /* by a command for good, of changed_by */
	struct peer changed_by;
};

static struct waiting *
waiting_at(struct list *node)
{
	return container_of(node, struct waiting, node);
}

void
expiring_init(struct expiring *expiring, const struct command_env *env)
{
	*expiring = (struct expiring){.env = env};
	list_init(&expiring->changes);
}

static void
free_waiting(struct waiting *c)
{
	control_cancel(c->expiring->env->control, &c->task);
	list_remove(&c->node);
	c->expiring->n--;
	free(c);
}

void
expiring_fini(struct expiring *expiring)
{
	list_for_each_safe (node, &expiring->changes)
		free_waiting(waiting_at(node));
}

static struct waiting *
find(struct expiring *expiring, const char *subject)
{
	list_for_each (node, &expiring->changes)
		if (strcmp(waiting_at(node)->undo.subject, subject) == 0)
			return waiting_at(node);
	return NULL;
}

/* -- when the time is over -- */

/* For `show events`.  The log has the audit's line of the same, unless there is
 * an error. */
static void
tell(struct waiting *c, enum log_level level, const char *what)
{
	const struct undo *u = &c->undo;
	char after[TEXT_DURATION_SIZE];

	if (level == LOG_LEVEL_ERROR)
		log_error("%s, after %s: %s", u->subject,
		    text_duration(c->for_ms, after), what);
	event_add_unlogged(EVENT_EXPIRED, level, u->proxy[0] ? u->proxy : NULL,
	    u->part[0] ? u->part : NULL, "%s, after %s: %s", u->subject,
	    text_duration(c->for_ms, after), what);
}

/* Audited as well, though nothing changes: who ordered it expects a change. */
static void
leave(struct waiting *c, const char *value, const char *why)
{
	char text[sizeof(c->undo.subject) + 64];
	char told[UNDO_VALUE_SIZE + 128];

	snprintf(told, sizeof(told), "it stays %s: %s", value, why);
	tell(c, LOG_LEVEL_INFO, told);
	snprintf(text, sizeof(text), "expired: %s stays %.40s: %s",
	    c->undo.subject, value, why);
	audit_note(c->expiring->env->audit, &c->who, text, NULL, NULL);
}

#define LINE_SIZE (sizeof(struct undo))

static char *
line_for(const struct waiting *c, const char *value, char out[LINE_SIZE])
{
	snprintf(
	    out, LINE_SIZE, "%s%s%s", c->undo.command, value, c->undo.tail);
	return out;
}

static void
put_back(struct waiting *c)
{
	char line[LINE_SIZE], told[2 * UNDO_VALUE_SIZE + 600];
	struct err err;
	bool ok;

	line_for(c, c->former, line);
	/* The log has the audit's line of the change, and no other. */
	events_skip_next(true);
	ok = command_put_back(c->expiring->env, &c->who, line, &err);
	events_skip_next(false);
	if (ok) {
		snprintf(
		    told, sizeof(told), "%s -> %s", c->undo.value, c->former);
		tell(c, LOG_LEVEL_INFO, told);
		return;
	}
	snprintf(told, sizeof(told),
	    "it stays %s, because %s cannot be set again: %s", c->undo.value,
	    c->former, err.text);
	tell(c, LOG_LEVEL_ERROR, told);
}

/* What there is now of that thing; false: it is there no more. */
static bool
look(const struct waiting *c, struct undo *ret_now)
{
	char line[LINE_SIZE];

	return command_undo(
	    c->expiring->env, line_for(c, c->undo.value, line), ret_now);
}

/* The file's value is in force since it has changed; and what a reload sets may
 * be what was set here. */
static void
expire(struct waiting *c)
{
	const struct undo *then = &c->undo;
	struct undo now;

	if (!look(c, &now))
		leave(c, then->value, "it no longer exists");
	else if (c->is_changed)
		leave(c, now.value, "it was changed meanwhile");
	else if (then->reload_resets &&
	         c->reloads != control_reloads(c->expiring->env->control))
		leave(c, now.value, "a reload has set what the file says");
	else if (strcmp(now.file, then->file) != 0 &&
	         strcmp(now.value, now.file) == 0)
		leave(c, now.value, "the file says so since then");
	else if (strcmp(now.value, then->value) != 0)
		leave(c, now.value, "it was changed meanwhile");
	else
		put_back(c);
}

static void
on_task(struct timed_task *task, uint64_t now_ms)
{
	struct waiting *c = container_of(task, struct waiting, task);

	(void)now_ms;
	expire(c);
	free_waiting(c);
}

/* -- around a command -- */

static size_t
words_in(char **words)
{
	size_t n = 0;

	while (words[n])
		n++;
	return n;
}

/* Of one that cannot end so: those that it cannot do without. */
static size_t
usage_args(const struct command *command)
{
	size_t n = 0;

	for (const char *p = command->usage; *p && *p != '['; p++)
		n += *p == '<' && (p == command->usage || p[-1] == ' ');
	return n;
}

/* Those that look have options of their own, and may have such a name. */
static bool
may_change(const struct command *command)
{
	return command->level > LEVEL_USER &&
	       strncmp(command->words, "show ", 5) != 0;
}

/* Takes it off the arguments; without it *ret_ms is 0. */
static bool
take_duration(
    struct call *call, const struct command *command, uint64_t *ret_ms)
{
	size_t n = words_in(call->args), own = undo_args(command);
	struct err why;

	*ret_ms = 0;
	if (own > 0 && n == own + 1 && strcmp(call->args[own], "for") == 0)
		return err_set(call->err,
		    "'for' needs a duration, as in 'for 10m' (units are ms, s, "
		    "m, h, d).");
	if (!may_change(command) ||
	    n < (own > 0 ? own : usage_args(command)) + 2 ||
	    strcmp(call->args[n - 2], "for") != 0)
		return true;
	/* It is refused for itself, whatever the duration. */
	if (own == 0)
		*ret_ms = EXPIRING_MIN_MS;
	else if (!text_parse_duration(call->args[n - 1], EXPIRING_MIN_MS,
	             EXPIRING_MAX_MS, ret_ms, &why))
		return err_set(call->err, "for: %s.", why.text);
	call->args[n - 2] = NULL;
	return true;
}

bool
expiring_begin(struct expiring *expiring, struct call *call,
    const struct command *command, struct expiring_call *ret_begun)
{
	struct expiring_call *b = ret_begun;
	char over[TEXT_DURATION_SIZE];
	enum undo_answer answer;

	b->is_known = false;
	b->for_ms = 0;
	if (!take_duration(call, command, &b->for_ms))
		return false;
	if (b->for_ms == 0 && undo_args(command) == 0)
		return true;
	answer = undo_of(call, command, &b->undo);
	b->is_known = answer == UNDO_IS_KNOWN;
	if (b->for_ms == 0)
		return true;
	if (answer == UNDO_IS_IMPOSSIBLE)
		return false;
	if (b->is_known && expiring->n >= EXPIRING_MAX &&
	    !find(expiring, b->undo.subject))
		return err_set(call->err,
		    "%d changes wait to expire; no more are remembered.",
		    EXPIRING_MAX);
	snprintf(b->suffix, sizeof(b->suffix), " for %s",
	    text_duration(b->for_ms, over));
	call->audit_suffix = b->suffix;
	return true;
}

static struct waiting *
new_waiting(struct expiring *expiring, const char *former)
{
	struct waiting *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->expiring = expiring;
	c->id = ++expiring->last_id;
	timed_task_init(&c->task, on_task);
	list_append(&expiring->changes, &c->node);
	expiring->n++;
	snprintf(c->former, sizeof(c->former), "%s", former);
	return c;
}

/* The former value is that of the one before, if what that had set was still
 * there. */
static void
remember(struct expiring *expiring, const struct call *call,
    const struct undo *before, const struct undo *after, uint64_t for_ms)
{
	struct waiting *c = find(expiring, before->subject);

	if (!c && strcmp(before->value, after->value) == 0) {
		call_say(call, SEVERITY_NOTICE,
		    "Nothing was changed, so nothing is put back later.");
		return;
	}
	if (c && (c->is_changed || strcmp(c->undo.value, before->value) != 0))
		snprintf(c->former, sizeof(c->former), "%s", before->value);
	if (!c)
		c = new_waiting(expiring, before->value);
	if (!c) {
		call_say(call, SEVERITY_ERR,
		    "Out of memory: the change will last for good.");
		return;
	}
	if (strcmp(before->value, after->value) == 0)
		call_audit(call, NULL, NULL, "%s: still %s", after->subject,
		    after->value);
	c->undo = *after;
	c->undo.server = NULL;
	c->for_ms = for_ms;
	c->ends_ms = clock_now_ms() + for_ms;
	c->who = call->mode->peer;
	c->is_changed = false;
	c->reloads = control_reloads(expiring->env->control);
	control_schedule(expiring->env->control, &c->task, c->ends_ms);
}

void
expiring_overrule(
    struct expiring *expiring, const struct call *call, const char *subject)
{
	struct waiting *c = expiring ? find(expiring, subject) : NULL;

	if (!c)
		return;
	c->is_changed = true;
	c->changed_by = call->mode->peer;
}

void
expiring_forget(struct expiring *expiring, const char *what)
{
	size_t len = strlen(what);

	if (!expiring)
		return;
	list_for_each_safe (node, &expiring->changes) {
		struct waiting *c = waiting_at(node);
		const char *subject = c->undo.subject;

		if (strncmp(subject, what, len) == 0 && subject[len] == ' ')
			free_waiting(c);
	}
}

void
expiring_end(struct expiring *expiring, struct call *call,
    const struct command *command, const struct expiring_call *begun)
{
	struct undo after;

	if (!begun->is_known)
		return;
	if (begun->undo.server)
		control_overrule_drain(expiring->env->control,
		    begun->undo.server, begun->undo.of_server);
	if (begun->for_ms > 0) {
		if (undo_of(call, command, &after) == UNDO_IS_KNOWN)
			remember(expiring, call, &begun->undo, &after,
			    begun->for_ms);
		return;
	}
	if (!begun->undo.may_refuse)
		expiring_overrule(expiring, call, begun->undo.subject);
}

/* -- what waits -- */

bool
expiring_next(const struct expiring *expiring, uint64_t after,
    struct expiring_status *ret_status)
{
	uint64_t now_ms = clock_now_ms();

	list_for_each (node, &expiring->changes) {
		const struct waiting *c = waiting_at(node);

		if (c->id <= after)
			continue;
		*ret_status = (struct expiring_status){
		    .id = c->id,
		    .left_ms = c->ends_ms > now_ms ? c->ends_ms - now_ms : 0,
		    .subject = c->undo.subject,
		    .value = c->undo.value,
		    .former = c->former,
		    .who = &c->who,
		    .changed_by = c->is_changed ? &c->changed_by : NULL,
		};
		return true;
	}
	return false;
}

bool
expiring_cancel(struct expiring *expiring, struct call *call, uint64_t id)
{
	list_for_each (node, &expiring->changes) {
		struct waiting *c = waiting_at(node);

		if (c->id != id)
			continue;
		call_audit(call, NULL, NULL,
		    "%s stays %.40s, and does not "
		    "expire",
		    c->undo.subject, c->undo.value);
		free_waiting(c);
		return true;
	}
	return false;
}
