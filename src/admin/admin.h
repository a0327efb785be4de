/* SPDX-License-Identifier: MIT
 * The admin socket: HAProxy's runtime API on a unix stream socket.
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

#include "base/err.h"
#include "control/control.h"

#define ADMIN_CLIENTS_MAX 64

struct admin;

/* Control thread.  Binds the socket that the model's spec.global.admin names
 * (which must not be NULL) with its mode.  The file that a dead process left
 * is replaced, a live one is an error.  NULL with err set on failure. */
struct admin *admin_open(struct control *control, struct err *err);

/* Closes every connection and removes the file if it is still ours.  NULL is
 * fine. */
void admin_close(struct admin *admin);

#endif
