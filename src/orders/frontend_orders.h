/* SPDX-License-Identifier: MIT
 * Orders of the operator about whole frontends.  All functions run on the
 * control thread.
 */
#ifndef ORDERS_FRONTEND_ORDERS_H
#define ORDERS_FRONTEND_ORDERS_H

#include <stdbool.h>

#include "base/err.h"

struct frontend;
struct listeners;

/* Closes the frontend to new connections.  The frontend stays closed over
 * reloads. */
void frontend_pause(struct listeners *listeners, struct frontend *frontend);
/* Opens a paused frontend.  Returns false with err set if the system refuses to
 * listen. */
bool frontend_resume(struct listeners *listeners, struct frontend *frontend,
    struct err *err) MUST_CHECK;
/* Closes the frontend's sockets until the next reload. */
void frontend_shut(struct listeners *listeners, struct frontend *frontend);

#endif
