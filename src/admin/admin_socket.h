/* SPDX-License-Identifier: MIT
 * One admin socket: binding it, accepting, and who is connected.
 */
#ifndef ADMIN_ADMIN_SOCKET_H
#define ADMIN_ADMIN_SOCKET_H

#include "admin/client_turns.h"
#include "commands/call.h"
#include "base/err.h"
#include "base/list.h"
#include "base/memory_use.h"
#include "model/spec.h"

struct admin_socket;

/* Control thread, as all of these.  Binds what the spec says, see admin_bind.h;
 * nobody is accepted before admin_socket_serve.  Everything is borrowed.  NULL
 * with err set on failure. */
struct admin_socket *admin_socket_open(const struct admin_spec *spec,
    const struct command_env *env, struct client_turns *turns, struct err *err);
void admin_socket_serve(struct admin_socket *socket);

/* Closes every connection, and removes the file if it is still ours.  NULL is
 * fine. */
void admin_socket_close(struct admin_socket *socket);

/* Whether it is where the spec says; a path may be written in another way. */
bool admin_socket_serves(
    const struct admin_socket *socket, const struct admin_spec *spec);

/* A change to another spec of that place, in two steps.  The first does all
 * that can fail: looks names up, changes the file's mode and owner, and binds
 * anew where the file was lost, as at the start.  False with err set, and
 * nothing has changed; else commit or cancel follows. */
bool admin_socket_prepare(struct admin_socket *socket,
    const struct admin_spec *spec, struct err *err);
void admin_socket_cancel(struct admin_socket *socket);

/* Nobody is cut off.  A level that is lower now is so at once for those who are
 * connected; a higher one, a time-out and what is allowed at a time hold for
 * those who come.  True: it was bound anew. */
bool admin_socket_commit(struct admin_socket *socket);

/* Closes it, and removes the file if it is still ours, while those who are
 * connected go over to left and are told to leave (client_leave).  Frees it.
 * 0 or -errno: the file cannot be removed. */
int admin_socket_leave(struct admin_socket *socket, struct list *left);

/* Of such a list. */
void admin_clients_close(struct list *clients);
void admin_clients_memory(const struct list *clients, struct memory_use *use);
unsigned admin_clients_count(const struct list *clients);

/* Adds those who are connected, and it itself. */
void admin_socket_memory(const struct admin_socket *socket,
    struct memory_use *clients, struct memory_use *self);

/* How many are connected, without those that have been told all: whoever has
 * seen the end of its answer is not counted any more. */
unsigned admin_socket_clients(const struct admin_socket *socket);

/* `unix@/run/x.sock`, `ipv4@127.0.0.1:9999`; returns out. */
#define ADMIN_SOCKET_TEXT_SIZE (ADDR_TEXT_SIZE + 8)
const char *admin_socket_text(
    const struct admin_socket *socket, char out[ADMIN_SOCKET_TEXT_SIZE]);
enum command_level admin_socket_level(const struct admin_socket *socket);

#endif
