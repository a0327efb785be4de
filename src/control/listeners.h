/* SPDX-License-Identifier: MIT
 * The listening sockets of all frontends, from bind to close.
 */
#ifndef CONTROL_LISTENERS_H
#define CONTROL_LISTENERS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "control/pools.h"
#include "model/model.h"
#include "proxy/proxy.h"

struct listeners;

/* Binds all of them; NULL with err set if one could not be. */
struct listeners *listeners_bind(
    struct model *model, struct proxy *proxy, struct err *err);

/* Starts accepting; pools in the order of the spec. */
bool listeners_open(
    struct listeners *listeners, struct pools *pools, struct err *err);

/* Closes them, unix sockets' files included.  Returns at once; a connection
 * that is being accepted still becomes a session. */
void listeners_stop(struct listeners *listeners);
bool listeners_stopped(const struct listeners *listeners);

/* After the pools have ended; NULL is fine. */
void listeners_free(struct listeners *listeners);

#endif
