/* SPDX-License-Identifier: MIT
 * The admin sockets: HAProxy's runtime API on unix and loopback TCP sockets.
 *
 * Served on the control loop, and never waits: a client that does not read or
 * does not write costs a descriptor and a bounded buffer until its time is
 * up, and nobody else's time.
 *
 * The wire, after HAProxy's management guide, section 9.3: commands in a line
 * that ends with LF or CRLF, `;` between commands, a backslash takes the next
 * character as it is.  An answer ends with an empty line.  One line per
 * connection, unless it says `prompt`.
 */
#ifndef ADMIN_ADMIN_H
#define ADMIN_ADMIN_H

#include <stdio.h>

#include "base/err.h"
#include "base/memory_use.h"
#include "config/diff.h"
#include "control/control.h"

struct admin;
struct info_facts;

/* Control thread, as all of these.  Binds the sockets that the model's
 * spec.global.admin names.  NULL with err set on failure. */
struct admin *admin_open(struct control *control, struct err *err);

/* NULL is fine. */
void admin_close(struct admin *admin);

/* A change to the sockets of another configuration, in two steps.  The first
 * binds those that are new and changes the files of those that stay; errors
 * have their places.  False when nothing has changed; else admin_commit or
 * admin_cancel follows.  The list is borrowed for the call, the texts of its
 * places until the second step. */
bool admin_prepare(struct admin *admin, const struct admin_list *specs,
    struct err_list *errors);
void admin_cancel(struct admin *admin);
/* Clients of sockets that stay go on; those of sockets that are closed are
 * answered and leave, the one whose command is being run as well.  Tells what
 * the configuration does not say. */
void admin_commit(struct admin *admin, struct changes *changes);

/* Fills in what only the admin sockets know; NULL: there are none. */
void admin_facts(const struct admin *admin, struct info_facts *ret_facts);

/* Who is connected, and what there is for them; NULL: there are none. */
void admin_memory(const struct admin *admin, struct memory_use *ret_clients,
    struct memory_use *ret_self);

/* `show cli sockets`. */
void admin_list_sockets(const struct admin *admin, bool json, FILE *out);

#endif
