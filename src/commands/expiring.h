/* SPDX-License-Identifier: MIT
 * Changes that last for a time: `set weight app/a 50 for 10m`.
 *
 * Every command goes through here, around its run.  What a change has replaced
 * is put back when its time is over, by the same command (setting.h):
 *
 *   begin: takes `for DURATION` off, and notes the present value
 *     run: the command, which knows nothing of it
 *     end: remembers the former value until then
 *
 * - A second `for` of the same thing, by whichever command, sets a new end and
 *   keeps the first one's former value.
 * - What somebody else has set meanwhile, with a command, or an agent, or the
 *   file, stays, and the log says so.  Where the file has another value than
 *   when the time began, that is the one that is put back.
 * - Nothing is remembered over the end of lfproxy; a reload changes nothing
 *   here, for all is by name.
 *
 * Control thread, as all of these.
 */
#ifndef COMMANDS_EXPIRING_H
#define COMMANDS_EXPIRING_H

#include <stdio.h>

#include "commands/command.h"
#include "base/list.h"

#define EXPIRING_MIN_MS 100
#define EXPIRING_MAX_MS (365ull * 86400 * 1000)
/* Changes that wait at a time. */
#define EXPIRING_MAX 4096

/* All changes that wait, the oldest first. */
struct expiring {
	const struct command_env *env; /* borrowed */
	struct list changes;
	size_t n;
	uint64_t last_id;
};

void expiring_init(struct expiring *expiring, const struct command_env *env);
void expiring_fini(struct expiring *expiring);

/* What begin has found, for end. */
struct expiring_call {
	uint64_t for_ms;        /* 0: for good */
	bool is_known;          /* setting is valid */
	struct setting setting; /* before the change */
	char suffix[40];        /* of the audit's line */
};

/* False with an error, and the command must not be run. */
bool expiring_begin(struct expiring *expiring, struct call *call,
    const struct command *command, struct expiring_call *ret_begun);

/* After it was run, with success. */
void expiring_end(struct expiring *expiring, struct call *call,
    const struct command *command, const struct expiring_call *begun);

/* The subject, as setting.h has it, was set for good: what waits for it will be
 * left alone.  lasting may be NULL. */
void expiring_overrule(
    struct expiring *expiring, const struct call *call, const char *subject);

/* What the subjects begin with, as in `server app/a`, is there no more, and
 * another one of its name is none of theirs.  lasting may be NULL. */
void expiring_forget(struct expiring *expiring, const char *what);

/* One that waits, for `show expiring`. */
struct expiring_status {
	uint64_t id, left_ms;
	const char *subject, *value, *former; /* until the next call */
	const struct peer *who;
	const struct peer *changed_by; /* it will be left alone; or NULL */
};

/* The one after that id, 0 for the first; false: there is none. */
bool expiring_next(const struct expiring *expiring, uint64_t after,
    struct expiring_status *ret_status);

/* It stays as it was set.  False: there is none of that id. */
bool expiring_cancel(struct expiring *expiring, struct call *call, uint64_t id);

#endif
