/* SPDX-License-Identifier: MIT
 * An admin socket: binding, accepting, its clients, and its reload.
 *
 * All functions run on the control thread.
 */
#ifndef ADMIN_ADMIN_SOCKET_H
#define ADMIN_ADMIN_SOCKET_H

#include "admin/client.h"
#include "commands/call.h"
#include "base/err.h"
#include "base/list.h"
#include "config/diff.h"
#include "model/spec.h"

struct admin_socket;

/* Binds the address of the spec, see admin_bind.h.  Accepts no client before
 * admin_socket_commit.  Borrows everything.  Returns NULL with err set on
 * failure. */
struct admin_socket *admin_socket_open(const struct admin_spec *spec,
    const struct command_env *env, struct ev_loop *loop,
    struct err *err) MUST_CHECK;

/* Closes every connection, and removes the file if it is still ours.  socket
 * may be NULL. */
void admin_socket_close(struct admin_socket *socket);

/* Returns whether the socket is at the address of the spec; a path may be
 * written differently. */
bool admin_socket_serves(
    const struct admin_socket *socket, const struct admin_spec *spec);

/* Changes the socket to another spec of the same address, in two steps.  The
 * first does all that can fail: looks up names, changes the file's mode and
 * owner, and binds again if the file was lost.  Returns false with err set and
 * nothing changed; otherwise the caller calls commit or cancel. */
bool admin_socket_prepare(struct admin_socket *socket,
    const struct admin_spec *spec, struct err *err) MUST_CHECK;

/* Returns whether the socket is between prepare and commit or cancel. */
bool admin_socket_is_prepared(const struct admin_socket *socket);

/* Undoes admin_socket_prepare, or admin_socket_open before the first commit. */
void admin_socket_cancel(struct admin_socket *socket);

/* Completes the change, or begins to accept clients after admin_socket_open.
 * Keeps all clients.  Lowered rights apply to them at once; raised rights, the
 * time-out and maxconn apply to new clients.  Adds a change if the socket was
 * bound again; changes may be NULL for a new socket. */
void admin_socket_commit(struct admin_socket *socket, struct changes *changes);

/* Closes and frees the socket, and removes the file if it is still ours; adds a
 * change if the file cannot be removed.  The clients move to the list and get
 * their last answers, see client_leave. */
void admin_socket_leave(
    struct admin_socket *socket, struct list *left, struct changes *changes);

/* Returns the listening socket; borrowed. */
int admin_socket_fd(const struct admin_socket *socket);

/* Leaves connections in the backlog until admin_socket_resume. */
void admin_socket_hold(struct admin_socket *socket);
/* Accepts again, those in the backlog first. */
void admin_socket_resume(struct admin_socket *socket);

/* Closes the listening socket, which another process has as well, and leaves
 * its file.  The clients get their last answers, see client_leave. */
void admin_socket_hand_over(struct admin_socket *socket);

/* Returns the clients. */
const struct list *admin_socket_clients(const struct admin_socket *socket);

/* Closes the clients in a list of admin_socket_leave. */
void admin_clients_close(struct list *clients);

/* Counts the clients in a list that still expect answers: a client that has
 * seen the end of its last answer does not count any more. */
unsigned admin_clients_count(const struct list *clients);

#define ADMIN_SOCKET_TEXT_SIZE (ADDR_TEXT_SIZE + 8)

/* Writes `unix@/run/x.sock` or `ipv4@127.0.0.1:9999`.  Returns out. */
const char *admin_socket_text(
    const struct admin_socket *socket, char out[ADMIN_SOCKET_TEXT_SIZE]);

/* Returns the level of clients without grants of their own. */
enum admin_level admin_socket_level(const struct admin_socket *socket);

#endif
