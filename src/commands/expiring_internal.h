/* SPDX-License-Identifier: MIT
 * Shared by the changes that expire (expiring.c) and the lines by which another
 * process goes on with them (expiring_later.c).
 */
#ifndef COMMANDS_EXPIRING_INTERNAL_H
#define COMMANDS_EXPIRING_INTERNAL_H

#include "commands/expiring.h"
#include "loop/task_timer.h"

#define EXPIRING_NAMES_SIZE 320 /* of arguments, each followed by a blank */

struct expiring_change {
	struct list node;
	struct list chain; /* in its bucket */
	struct timed_task task;
	struct expiring *expiring;
	uint64_t id, for_ms, ends_ms;
	uint64_t ends_wall_ms; /* the same time, by the wall clock */
	const struct command *command;
	char names[EXPIRING_NAMES_SIZE]; /* the arguments that name the setting
	                                  */
	struct setting setting;          /* after the change */
	char former[SETTING_VALUE_SIZE];
	struct peer who;
	bool is_changed; /* overruled by a command of changed_by */
	struct peer changed_by;
};

/* Returns the change of a node of expiring->changes. */
struct expiring_change *expiring_at(struct list *node);

/* Returns the pending change of the setting with that subject, or NULL. */
struct expiring_change *expiring_find(
    struct expiring *expiring, const char *subject);

/* Sets the setting of the change, and finds its bucket. */
void expiring_set(
    struct expiring_change *change, const struct setting *setting);

/* Adds a pending change, whose task the caller schedules.  Returns NULL when
 * memory is short. */
struct expiring_change *expiring_add(
    struct expiring *expiring, const char *former);

/* Follows the file's value, which may be another one than that of the change,
 * which was made with c->setting.  If the file has the former value by now, the
 * change's value is set again.  Returns NULL if the change goes on, else why it
 * ends. */
const char *expiring_follow(
    struct expiring_change *c, const struct setting *now);

/* Sets the value of the change's setting, as the user who made the change.
 * Returns false with err set. */
bool expiring_restore(const struct expiring_change *c, const char *value,
    const struct command_env *env, struct err *err);

/* Describes the change's setting as it is now. */
enum setting_answer expiring_describe(
    const struct expiring_change *c, struct setting *ret_now);

/* Reads the present value of the change's setting.  Returns false when the
 * setting does not exist any more. */
bool expiring_read_setting(
    const struct expiring_change *c, struct setting *ret_now);

#endif
