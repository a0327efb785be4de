/* SPDX-License-Identifier: MIT
 * The conversation with an admin socket, from the client's side: one
 * connection, one line of commands, all of the answers.
 *
 * lfproxy ends each answer with a line that has a status (`set severity-output
 * status`), so no error is guessed from the wording.  HAProxy, which has no
 * such thing, is asked for severities.
 */
#ifndef CTL_CLIENT_H
#define CTL_CLIENT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

#define CTL_TIMEOUT_MS 10000

enum ctl_exit {
	CTL_FINE = 0,
	CTL_ANSWER_IS_ERROR = 1,
	CTL_USAGE = 2,
	CTL_NO_ANSWER = 3,
};

/* As reallocarray(3), for n > 0; but short memory ends the program, with
 * CTL_NO_ANSWER. */
void *ctl_array(void *old, size_t n, size_t size);

/* Bytes that grow (by ctl_array); all zero is empty. */
struct ctl_text {
	char *data;
	size_t n, room;
};

void ctl_text_add(struct ctl_text *text, const char *data, size_t n);
void ctl_text_fini(struct ctl_text *text);

/* A `;` or a backslash in the word is meant as it stands; a blank separates
 * words.  False when it has a line end: a command is one line. */
bool ctl_add_word(struct ctl_text *line, const char *word);

/* Words until NULL as one command, without the end of the line. */
bool ctl_add_command(struct ctl_text *line, const char *const *words);

/* Sends the line, which is one command or several with `;` between them and
 * has no line end, to the socket `where`: a path (also as `unix:PATH`), or
 * HOST:PORT for TCP.  Blocks until everything was answered, timeout_ms for
 * each step at most, and CTL_TIMEOUT_MS to connect.  False when there is no
 * answer; err then names the socket and says what to do. */
bool ctl_ask(const char *where, const struct ctl_text *line, int timeout_ms,
    struct ctl_text *ret_answer, struct err *err);

/* One command's answer, a part of the text it was read from. */
struct ctl_reply {
	const char *text;
	size_t n;
	bool is_error;
};

/* Reads answers in the order of their commands; `at` is the reader's. */
struct ctl_reader {
	const char *at, *end;
	bool heard;      /* false: lfproxy refused before it read any command */
	bool has_status; /* each reply ends with a status */
};

void ctl_reader_init(struct ctl_reader *reader, const struct ctl_text *answer);

/* The answer up to the next empty line; false when there is none left.  When
 * lfproxy refused, its words are the only answer, and an error. */
bool ctl_reader_next(struct ctl_reader *reader, struct ctl_reply *ret_reply);

/* All that is left as one answer: a single command's, which may have empty
 * lines in it. */
void ctl_reader_rest(struct ctl_reader *reader, struct ctl_reply *ret_reply);

#endif
