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
#include "net/sock_options.h"

/* A listening socket, or -1 with err set.  TCP: SO_REUSEADDR, and TCP_NODELAY
 * for every accepted connection (Linux hands it on).  both_families: an IPv6
 * wildcard also takes IPv4; on a host without IPv6 it becomes the IPv4 one.
 * unix: the file gets the mode; the file of a listener that is gone is
 * replaced, that of a live one is an error, and so is any other file. */
int sock_listen(const struct addr *addr, bool both_families, uint32_t mode,
    struct err *err);

/* The same with options (NULL: none).  Their refusal is an error, too. */
int sock_listen_with(const struct addr *addr, bool both_families, uint32_t mode,
    const struct sock_options *options, struct err *err);

/* A TCP socket that listened and was shut listens again at that address, which
 * was its own; backlog 0: as long as by default.  0 or -errno. */
int sock_listen_again(int fd, const struct addr *addr, unsigned backlog);

/* Returns the number of connections that wait to be accepted on a listening TCP
 * socket, and the greatest number that may.  False for a unix socket, and for a
 * socket that was shut: the kernel does not tell. */
bool sock_backlog(int fd, uint32_t *ret_waiting, uint32_t *ret_max);

/* The address it really has, with the port that the kernel chose. */
bool sock_local_addr(int fd, struct addr *ret_addr);

/* Starts a connect.  The descriptor (*ret_connected: already connected), or
 * -errno when it failed at once. */
int sock_connect(const struct addr *addr, bool *ret_connected);

/* How to get to a server. */
struct sock_way {
	const struct sock_options *options;
	/* Bind to this first; port 0: the kernel chooses one when it knows the
	 * destination, so that each destination has all ports.  Its family may
	 * be AF_UNSPEC: only the port counts then.  NULL: do not bind. */
	const struct addr *source;
	bool transparent; /* source is not an address of this host */
	bool fast_open;   /* there are bytes to be sent at once */
};

/* Makes a new TCP socket ready for the way to that address.  0, or -errno and
 * *ret_refusal: an essential option was refused, or the source (EADDRINUSE: its
 * port is taken).  An option that is not essential is refused with 0. */
int sock_prepare(int fd, const struct addr *to, const struct sock_way *way,
    struct sock_refusal *ret_refusal);

/* Like sock_connect, by the given way.  ret_refusal->option is NULL unless the
 * kernel refused an option or the source. */
int sock_connect_by(const struct addr *addr, const struct sock_way *way,
    bool *ret_connected, struct sock_refusal *ret_refusal);

/* The error that waits on the socket, fetched and cleared; 0 if none. */
int sock_take_error(int fd);

/* The peer has sent its FIN, or broken off, and nothing is left to be read. */
bool sock_at_end(int fd);

/* Bytes that have come and were not read, 0 if that is not known; leaves an
 * error of the socket where it is. */
int sock_unread(int fd);

/* Bytes that were written and not acknowledged by a TCP peer; 0 for a unix
 * socket, whose data survives the close. */
int sock_unacknowledged(int fd);

/* Closes so that the peer gets an RST; what it has not received is lost. */
void sock_close_reset(int fd);

#endif
