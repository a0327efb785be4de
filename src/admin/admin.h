/* SPDX-License-Identifier: MIT
 * The admin sockets: HAProxy's runtime API on unix and loopback TCP sockets.
 *
 * The sockets are served on the control loop and never block it: a client that
 * does not read or write costs a descriptor and a bounded buffer until its
 * time-out.
 *
 * The wire, after HAProxy's management guide, section 9.3: commands in a line
 * that ends with LF or CRLF, `;` between commands; a backslash quotes the next
 * character.  An answer ends with an empty line.  One line per
 * connection, unless the client sends `prompt`.
 *
 * All functions run on the control thread.
 */
#ifndef ADMIN_ADMIN_H
#define ADMIN_ADMIN_H

#include "base/err.h"
#include "config/diff.h"
#include "live/control.h"

struct admin;
struct command_env;

/* Binds the sockets that the model's spec.global.admin names.  A missing
 * directory is made; lfproxy runs on without a socket whose directory cannot be
 * made or written.  Returns NULL with err set on any other failure. */
struct admin *admin_open(struct control *control, struct err *err) MUST_CHECK;

/* Lets commands find what control_start has made. */
void admin_started(struct admin *admin, struct control *control);

/* Closes all sockets and connections.  admin may be NULL. */
void admin_close(struct admin *admin);

/* Returns the environment of commands, also for the pages of the HTTP port. */
const struct command_env *admin_env(const struct admin *admin);

/* Changes to the sockets of another configuration, in two steps.  The first
 * binds new sockets and changes the files of those that stay.  Returns false
 * with errors added and nothing changed; otherwise the caller calls
 * admin_commit or admin_cancel.  Borrows the list for the call, and the texts
 * of its places until the second step. */
bool admin_prepare(struct admin *admin, const struct admin_list *specs,
    struct err_list *errors) MUST_CHECK;
/* Undoes admin_prepare. */
void admin_cancel(struct admin *admin);
/* Completes the change.  Clients of sockets that stay go on.  Clients of
 * sockets that are closed get their answers and are then closed, including the
 * client whose command is running.  Adds changes that the configuration does
 * not show, such as a socket bound again. */
void admin_commit(struct admin *admin, struct changes *changes);

/* Follows lists whose files have changed: an entry that was added for a time
 * may be in a file by now, and then stays. */
void admin_follow_lists(struct admin *admin);

/* Leaves connections in the backlogs until admin_resume. */
void admin_hold(struct admin *admin);
/* Accepts again, those in the backlogs first. */
void admin_resume(struct admin *admin);

/* Calls add for each listening socket, with the address that was asked for. */
void admin_report_sockets(const struct admin *admin,
    void (*add)(void *to, const struct addr *asked, int fd), void *to);
/* Closes the listening sockets, which another process has as well, and leaves
 * their files.  Clients get their answers and are then closed, as when a reload
 * closes their socket. */
void admin_hand_over(struct admin *admin);

#endif
