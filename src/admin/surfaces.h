/* SPDX-License-Identifier: MIT
 * What people and monitoring reach lfproxy by, the admin sockets and the HTTP
 * port, as the configuration has them: opened at the start, and changed by
 * reloads.
 */
#ifndef ADMIN_SURFACES_H
#define ADMIN_SURFACES_H

#include "admin/admin.h"
#include "base/err.h"
#include "control/control.h"

struct surfaces;

/* Control thread, as all of these.  Opens what the model's spec names, and
 * follows reloads from then on.  NULL with err set on failure. */
struct surfaces *surfaces_open(struct control *control, struct err *err);

/* Breaks off every connection.  Before control_free; NULL is fine. */
void surfaces_close(struct surfaces *surfaces);

struct admin *surfaces_admin(const struct surfaces *surfaces);

#endif
