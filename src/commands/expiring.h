/* SPDX-License-Identifier: MIT
 * Changes that expire: `set weight app/a 50 for 10m`.
 *
 * Dispatch calls expiring_begin before each command and expiring_end after it.
 * When the time is over, the former value is set again, by the functions in the
 * command's table row (setting_access.h):
 *
 *   begin: removes `for DURATION` from the arguments, reads the present value
 *     run: the command, without `for`
 *     end: stores the former value until the change expires
 *
 * - A second `for` for the same setting, by whichever command, sets a new end
 *   and keeps the first former value.
 * - A value that a command or the file has set in the meantime stays, and that
 *   is logged.  An agent's value in between is no order: the former value is
 *   set again under it.
 * - Changes are kept by name, so reloads do not matter as long as the file's
 *   value does not change, or changes to the former value.  An upgrade and the
 *   state file take them along (handover/later.h).
 *
 * All functions run on the control thread.
 */
#ifndef COMMANDS_EXPIRING_H
#define COMMANDS_EXPIRING_H

#include "base/list.h"
#include "commands/command.h"
#include "handover/later.h"

/* The beginning of each line. */
#define EXPIRING_LINE LATER "expires\t"

#define EXPIRING_MIN_MS 100
#define EXPIRING_MAX_MS (365ull * 86400 * 1000)
/* Changes pending at a time. */
#define EXPIRING_MAX     4096
#define EXPIRING_BUCKETS 256

/* All pending changes, the oldest first. */
struct expiring {
	const struct command_env *env; /* borrowed */
	struct list changes;
	struct list buckets[EXPIRING_BUCKETS]; /* by a hash of the subject */
	size_t n;
	uint64_t last_id;
};

/* Begins without changes.  Borrows env. */
void expiring_init(struct expiring *expiring, const struct command_env *env);

/* Forgets all changes, which stay in force. */
void expiring_fini(struct expiring *expiring);

/* State from begin to end. */
struct expiring_call {
	uint64_t for_ms;        /* 0: no `for` */
	bool is_known;          /* setting is valid */
	struct setting setting; /* before the change */
	char suffix[40];        /* of the audit's line */
};

/* Removes `for DURATION` from the arguments and reads the present value.
 * Returns false with call->err set; then the command must not run. */
bool expiring_begin(struct expiring *expiring, struct call *call,
    const struct command *command, struct expiring_call *ret_begun) MUST_CHECK;

/* Stores the former value until the change expires.  The caller calls this
 * after each command that has succeeded. */
void expiring_end(struct expiring *expiring, struct call *call,
    const struct command *command, const struct expiring_call *begun);

/* Notes that the setting with that subject was changed without `for`: a pending
 * change of it will not be undone.  expiring may be NULL. */
void expiring_overrule(
    struct expiring *expiring, const struct call *call, const char *subject);

/* Lets changes go on after a reload whose files have another value for the
 * setting than before, if that is the one which will be set again: as after a
 * save of the permanent value.  Other changes end with the file's new value. */
void expiring_follow_file(struct expiring *expiring);

/* Drops the pending changes whose subjects begin with what was removed, as in
 * `server app/a`: a new object of that name must not get old values.  expiring
 * may be NULL. */
void expiring_forget(struct expiring *expiring, const char *what);

/* A pending change, for `show expiring`. */
struct expiring_status {
	uint64_t id, left_ms;
	const struct setting *setting; /* for setting_shown, as long as these */
	const char *subject, *value, *former; /* until the next call */
	const struct peer *who;
	const struct peer *changed_by; /* overruled by this peer; or NULL */
};

/* Reads the change that follows that id; 0: the first one.  Returns false if
 * there is none. */
bool expiring_next(const struct expiring *expiring, uint64_t after,
    struct expiring_status *ret_status);

/* Reads the pending change that has the present value of the setting.  Returns
 * false if there is none, or if it was overruled.  expiring may be NULL. */
bool expiring_of(const struct expiring *expiring, const struct setting *now,
    struct expiring_status *ret_status);

/* Calls call for each pending change that was not overruled and whose subject
 * begins with that word or those words, as in `acl banned`.  expiring may be
 * NULL. */
void expiring_each(const struct expiring *expiring, const char *what,
    void (*call)(void *arg, const struct expiring_status *status), void *arg);

/* Returns whether a pending change is one of a setting of the server.  expiring
 * may be NULL. */
bool expiring_has_server(
    const struct expiring *expiring, const char *backend, const char *server);

/* Drops the pending change, so that its value stays.  Returns false if there is
 * none with that id. */
bool expiring_cancel(struct expiring *expiring, struct call *call, uint64_t id);

/* Writes a line for each pending change that was not overruled
 * (handover/later.h). */
void expiring_write(const struct expiring *expiring, FILE *out);

/* Reads a line of expiring_write, after the change was made again.  command:
 * the command with those words, or NULL.  A change whose end has passed expires
 * in the next turn of the loop.  Returns false with err set if it will not
 * expire. */
bool expiring_read(struct expiring *expiring, const struct command *command,
    const char *line, struct err *err) MUST_CHECK;

#endif
