/* SPDX-License-Identifier: MIT
 * What people and monitoring reach lfproxy by, the admin sockets and the HTTP
 * port, as the configuration has them: opened at the start, and changed by
 * reloads.
 */
#ifndef ADMIN_ENDPOINTS_H
#define ADMIN_ENDPOINTS_H

#include "admin/admin.h"
#include "base/err.h"
#include "control/control.h"

struct endpoints;

/* Control thread, as all of these.  Opens what the model's spec names, and
 * follows reloads from then on.  NULL with err set on failure. */
struct endpoints *endpoints_open(struct control *control, struct err *err);

/* Breaks off every connection.  Before control_free; NULL is fine. */
void endpoints_close(struct endpoints *endpoints);

struct admin *endpoints_admin(const struct endpoints *endpoints);

#endif
