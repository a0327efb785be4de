/* SPDX-License-Identifier: MIT
 * The state file: what operators have changed, and the counters, over a stop, a
 * crash and a start (state_file in [global]).
 *
 *   lfproxy-state 1
 *   configuration FILE...            the configuration that it belongs to
 *   COMMAND...                       see carry_over.h
 *   later KIND ...                   see handover/later.h
 *   counter KIND NAME... COUNTER N   see handover/counters_lines.h
 *   end HASH                         XXH64 of all bytes before, hexadecimal
 *
 * The file is written every STATE_FILE_S if its contents have changed, when an
 * upgrade has passed them on, and at the end.  A new file replaces the former
 * one, so a reader finds one or the other.  The file is not synchronized with
 * the disk, as the control loop must not wait: after a crash of the machine it
 * may be an older one, or be cut off and ignored.
 *
 * All functions run on the control thread.
 */
#ifndef COMMANDS_STATE_FILE_H
#define COMMANDS_STATE_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "loop/task_timer.h"
#include "stats/answer.h"

#define STATE_FILE_S   5
#define STATE_FILE_MAX (64u << 20)

struct state_file {
	const struct command_env *env; /* borrowed */
	char *files; /* the configuration, as written; NULL: not from files */
	struct timed_task task;
	uint64_t written; /* the hash of what is in the file, 0: unknown */
	bool waits;       /* another process writes so far */
	bool stopped;     /* another process writes from now on */
	bool soon;        /* state_file_soon was called */
	bool failed;      /* the file could not be written last time */
};

/* Begins to write the file that the configuration names, if it names one.
 * files: those of the configuration, with blanks between; copied.  waits: until
 * state_file_continue, because another process writes so far. */
void state_file_start(struct state_file *state, const struct command_env *env,
    const char *files, bool waits);

/* Writes at once what was taken over, before a client can change it. */
void state_file_continue(struct state_file *state);

/* Writes in a moment, before the usual time: the configuration has changed. */
void state_file_soon(struct state_file *state);

/* Stops writing, because another process writes.  May precede
 * state_file_start. */
void state_file_stop(struct state_file *state);

/* Writes a last time, unless stopped. */
void state_file_end(struct state_file *state);

/* Reads the file that the configuration names, and returns its lines for
 * carry_over_run, for free(3).  Returns NULL if there is no such file, or if
 * the file is not used; the log says why. */
char *state_file_read(const struct command_env *env, const char *files);

/* Checks the whole text of a state file, and cuts off its last line.  Returns
 * its lines behind the first two, or NULL with err set.  files: as above. */
char *state_file_check(
    char *text, size_t size, const char *files, struct err *err);

#endif
