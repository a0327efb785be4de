/* SPDX-License-Identifier: MIT
 * Stream sockets: listening, connecting, resetting.
 *
 * All descriptors are non-blocking and close-on-exec; the caller owns them.
 */
#ifndef NET_SOCK_H
#define NET_SOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "net/addr.h"

/* A listening socket, or -1 with err set.  TCP: SO_REUSEADDR, and TCP_NODELAY
 * for every accepted connection (Linux hands it on).  both_families: an IPv6
 * wildcard also takes IPv4; on a host without IPv6 it becomes the IPv4 one.
 * unix: the file gets the mode; the file of a listener that is gone is
 * replaced, that of a live one is an error, and so is any other file. */
int sock_listen(const struct addr *addr, bool both_families, uint32_t mode,
    struct err *err);

/* The address it really has, with the port that the kernel chose. */
bool sock_local_addr(int fd, struct addr *ret_addr);

/* Starts a connect.  The descriptor (*ret_connected: already connected), or
 * -errno when it failed at once. */
int sock_connect(const struct addr *addr, bool *ret_connected);

/* The error that waits on the socket, fetched and cleared; 0 if none. */
int sock_take_error(int fd);

/* Bytes that were written and not acknowledged by a TCP peer; 0 for a unix
 * socket, whose data survives the close. */
int sock_unacknowledged(int fd);

/* Closes so that the peer gets an RST; what it has not received is lost. */
void sock_close_reset(int fd);

#endif
