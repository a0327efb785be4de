/* SPDX-License-Identifier: MIT
 * The answers to the commands of a line, in parts that the client sends.
 */
#ifndef ADMIN_CLIENT_ANSWER_H
#define ADMIN_CLIENT_ANSWER_H

#include "commands/command.h"

struct client_answer {
	char *next;               /* the commands that are left; NULL: none */
	const char *payload;      /* of the line's last command; NULL: none */
	struct answer_rest *rest; /* behind out; NULL: nothing */
	const char *out;          /* from sent to size; NULL: all was sent */
	size_t size, sent;
	char *made; /* out, if it is not a constant */
};

/* Makes the next part of the answer, or runs the next command.  The former part
 * must have been sent.  Returns false if all is answered.  When memory is
 * exhausted, answers that and sets mode->quit. */
bool client_answer_make(struct client_answer *answer,
    const struct command_env *env, struct command_mode *mode) MUST_CHECK;

/* Answers with a constant, runs no more commands, and sets mode->quit. */
void client_answer_refuse(
    struct client_answer *answer, struct command_mode *mode, const char *text);

/* Frees a part that was sent. */
void client_answer_sent(struct client_answer *answer);

/* Frees all parts. */
void client_answer_fini(struct client_answer *answer);

#endif
