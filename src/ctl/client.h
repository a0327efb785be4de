/* SPDX-License-Identifier: MIT
 * The client's side of an admin socket: one connection, one line of commands,
 * and all answers.
 *
 * lfproxy ends each answer with a status line (`set severity-output status`),
 * so errors are not guessed from their wording.  HAProxy has no status lines;
 * the client asks it for severities instead.
 */
#ifndef CTL_CLIENT_H
#define CTL_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sysexits.h>

#include "base/err.h"

/* Returns how long lfproxyctl waits to connect and for each further step: 10 s,
 * or the time of ctl_set_timeout. */
int ctl_timeout_ms(void);

/* Sets that time to the duration, as `30s`.  Returns false with err set if the
 * text is none. */
bool ctl_set_timeout(const char *text, struct err *err) MUST_CHECK;

/* The additional time for the answer to `upgrade`: UPGRADE_WAIT_MS of
 * handover/upgrade.h. */
#define CTL_UPGRADE_MS 30000

/* Exit statuses of lfproxyctl. */
enum ctl_exit {
	CTL_OK = EX_OK,
	CTL_ANSWER_IS_ERROR = 1,
	CTL_USAGE = EX_USAGE,
	CTL_NO_ANSWER = EX_UNAVAILABLE,
};

/* Does what reallocarray(3) does, for n > 0, but ends the program with
 * CTL_NO_ANSWER if memory is short. */
void *ctl_array(void *old, size_t n, size_t size);

/* A growing string; all zero is empty, with data NULL. */
struct ctl_text {
	char *data; /* n bytes and a NUL */
	size_t n, room;
};

/* Appends n bytes. */
void ctl_text_add(struct ctl_text *text, const char *data, size_t n);
/* Frees the text and makes it empty. */
void ctl_text_fini(struct ctl_text *text);

/* Appends the NULL-terminated words as one command, with `;` and backslashes
 * escaped, but not blanks.  Returns false if a word has a line end: a command
 * is one line. */
bool ctl_add_command(
    struct ctl_text *line, const char *const *words) MUST_CHECK;

/* Appends the payload of the command: the lines of in, up to its end, without
 * empty ones, since an empty line ends a payload.  Blocks.  Returns false with
 * err set if in cannot be read, or has bytes that are not text. */
bool ctl_add_payload(
    struct ctl_text *line, FILE *in, struct err *err) MUST_CHECK;

/* Sends a line of one or more commands, separated by `;` and without a line
 * end, or with a payload, and receives all answers.  where is a path,
 * unix:PATH, or HOST:PORT for TCP.  Blocks for at most ctl_timeout_ms() to
 * connect and timeout_ms for each further step.  Returns false with err set
 * without an answer. */
bool ctl_ask(const char *where, const char *line, int timeout_ms,
    struct ctl_text *ret_answer, struct err *err) MUST_CHECK;

/* The answer to one command; text points into the text it was read from. */
struct ctl_reply {
	const char *text;
	size_t n;
	bool is_error;
};

/* The answer to a single command. */
struct ctl_answer {
	struct ctl_text text; /* without the status */
	bool is_error;
	bool is_whole; /* false: the connection was closed before its end */
};

/* Does what ctl_ask does for a single command, whose answer may contain empty
 * lines. */
bool ctl_ask_one(const char *where, const char *command, int timeout_ms,
    struct ctl_answer *ret_answer, struct err *err) MUST_CHECK;

/* Splits the received text into answers, in the order of the commands. */
struct ctl_reader {
	const char *at, *end;
	bool accepted;   /* false: refused before any command was read */
	bool has_status; /* each answer ends with a status line */
};

/* Begins after the answers to the commands that ctl_ask itself sent. */
void ctl_reader_init(struct ctl_reader *reader, const struct ctl_text *answer);

/* Reads the answer up to the next empty line.  Returns false if there is none
 * left.  If lfproxy refused the connection, its message is the only answer, an
 * error. */
bool ctl_reader_next(struct ctl_reader *reader, struct ctl_reply *ret_reply);

#endif
