/* SPDX-License-Identifier: MIT
 * The control river: one thread, one libev loop, that owns everything that is
 * not a session.
 *
 * spec -> model -> listeners, pools, checks -> admin.  All functions are for
 * the control thread, which is the thread that calls control_new.
 *
 *   control_new --(open what needs rights)--> control_start --> control_run
 *
 *   RUNNING --SIGTERM, SIGINT--> DRAINING --no session left--> stopped
 *                                  |   ^
 *                     drain_timeout|   | sessions end
 *                  or a second one v   |
 *                               KILLING --no session left, or 1 s--> stopped
 */
#ifndef CONTROL_CONTROL_H
#define CONTROL_CONTROL_H

#include <ev.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "control/pools.h"
#include "model/model.h"

struct control;

/* Makes the model and binds the listeners; nothing is accepted so far.  Takes
 * the spec over, also on failure; NULL with err set when something could not be
 * bound or the system refused. */
struct control *control_new(struct spec *spec, struct err *err);

/* Becomes the configured user, starts the log's writer, pools, acceptors and
 * checks.  False with err set when the system refused; call control_free. */
bool control_start(struct control *control, struct err *err);

/* Runs until it was told to stop and every pool has ended. */
void control_run(struct control *control);

/* NULL is fine. */
void control_free(struct control *control);

struct ev_loop *control_loop(struct control *control);
struct model *control_model(struct control *control);
/* NULL before control_start. */
struct pools *control_pools(struct control *control);
bool control_draining(const struct control *control);

/* The number of descriptors the process may have (RLIMIT_NOFILE), and of
 * sessions that follows from it. */
size_t control_descriptor_limit(const struct control *control);
size_t control_session_limit(const struct control *control);

#endif
