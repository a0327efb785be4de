/* SPDX-License-Identifier: MIT
 * Readiness: whether it is worth sending sessions here.  /readyz and the
 * command `ready` answer by this.
 *
 * lfproxy is ready if a frontend is ready, and no signal and no upgrade has
 * told this process to stop.  A frontend is ready if it accepts sessions, and a
 * backend that may get them has a usable server.  A frontend whose sessions
 * wait for a limit stays ready.
 *
 * Runs on the control thread.
 */
#ifndef STATS_READY_H
#define STATS_READY_H

#include <stdbool.h>
#include <stddef.h>

struct command_env;
struct frontend;

/* Returns why the process takes no sessions, NULL if it takes them. */
const char *process_unready_reason(const struct command_env *env);

/* Returns why the frontend takes no sessions, whatever its servers do; NULL if
 * it takes them. */
const char *frontend_closed_reason(const struct frontend *frontend);

/* Returns why sessions of the frontend cannot be served, NULL if they can. */
const char *frontend_unready_reason(const struct frontend *frontend);

/* Returns whether sessions of the frontend may go to its backend of that
 * number: that has a weight or a rule, or is a fallback. */
bool frontend_is_routed_to(const struct frontend *frontend, size_t backend);

/* Returns why lfproxy, or that frontend alone unless it is NULL, is not ready;
 * NULL if it is ready. */
const char *unready_reason(
    const struct command_env *env, const struct frontend *frontend);

#endif
