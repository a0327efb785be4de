/* SPDX-License-Identifier: MIT
 * The control river: one thread, one libev loop, that owns everything that is
 * not a session.
 *
 * config -> model -> pools, listeners, backends -> checks -> admin.  All
 * functions are for the control thread.
 */
#ifndef CONTROL_CONTROL_H
#define CONTROL_CONTROL_H

#include <ev.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "lf/pool.h"
#include "model/model.h"

struct control;

/* Binds the listeners, starts the pools and the checks.  Takes the spec over,
 * also on failure; NULL with err set when something could not be bound or the
 * system refused. */
struct control *control_new(struct spec *spec, struct err *err);

/* Runs until it was told to stop and everything is stopped.  SIGTERM and
 * SIGINT drain: listeners close, sessions may end until drain_timeout has
 * passed; a second one ends them at once. */
void control_run(struct control *control);
void control_free(struct control *control);

struct ev_loop *control_loop(struct control *control);
struct model *control_model(struct control *control);
size_t control_pools(const struct control *control);
struct pool *control_pool(struct control *control, size_t i);
bool control_draining(const struct control *control);

/* The number of descriptors the process may have (RLIMIT_NOFILE). */
size_t control_descriptor_limit(const struct control *control);

#endif
