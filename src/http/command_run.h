/* SPDX-License-Identifier: MIT
 * Runs the command of an HTTP request: POST /api/v1/command with the body
 *
 *   {"command": "set server app/a state drain", "payload": "..."}
 *
 * A request runs a single command, with the rights of the caller.  payload has
 * the lines that a client of an admin socket would send behind `<<`.  The
 * answer is collected whole, since its end says whether the command has failed.
 * Some commands take a while (`reload` waits for names), and the request waits
 * with them.
 *
 * All functions run on the control thread.
 */
#ifndef HTTP_COMMAND_RUN_H
#define HTTP_COMMAND_RUN_H

#include "http/request.h"

/* A longer answer is an error; the admin socket has no limit. */
#define COMMAND_ANSWER_MAX (8u << 20)

struct command_run;

/* Runs the command in the request's body on the loop, and suspends the request
 * until the command is over.  Returns NULL with the refusal filled. */
struct command_run *command_run_begin(struct http_request *request,
    const struct http_caller *caller, struct http_refusal *ret_refusal);

/* Returns whether the command is over. */
bool command_run_is_over(const struct command_run *run);

/* Sends the answer: {"answer": "..."}, or {"error": "..."} with status 400, or
 * 403 where the caller lacks the rights. */
enum MHD_Result command_run_send(const struct command_run *run);

/* Ends the command if it is not over, and frees it.  Accepts NULL. */
void command_run_free(struct command_run *run);

/* Ends all commands where they are, and resumes their requests, as the port
 * closes. */
void command_runs_stop(struct http_site *site);

#endif
