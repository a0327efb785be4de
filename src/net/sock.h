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

/* Returns a listening socket, or -1 with err set.  A TCP socket has
 * SO_REUSEADDR, and TCP_NODELAY, which accepted connections inherit.
 * both_families: an IPv6 wildcard also takes IPv4; on a host without IPv6 it
 * becomes the IPv4 wildcard.  The file of a unix socket gets the mode; the
 * socket of a listener that is gone is replaced, and any other file of that
 * name is an error.  An inherited socket for the address is used instead of a
 * new one (inherited.h). */
int sock_listen(const struct addr *addr, bool both_families, uint32_t mode,
    struct err *err) MUST_CHECK;

/* Listens as sock_listen does, with options (NULL: none).  A refused option is
 * an error. */
int sock_listen_with(const struct addr *addr, bool both_families, uint32_t mode,
    const struct sock_options *options, struct err *err) MUST_CHECK;

/* Listens again, after shutdown(2), at the TCP socket's former address.
 * backlog 0: SOCK_BACKLOG.  Returns 0 or -errno. */
int sock_listen_again(
    int fd, const struct addr *addr, unsigned backlog) MUST_CHECK;

/* Reads the socket's address, with the port that the kernel chose.  Returns
 * false when there is none. */
bool sock_local_addr(int fd, struct addr *ret_addr);
/* Reads the peer's address.  Returns false when there is none. */
bool sock_peer_addr(int fd, struct addr *ret_addr);

/* Starts a connect.  Returns the descriptor, or -errno when the connect failed
 * at once.  *ret_connected: the connection is made already. */
int sock_connect(const struct addr *addr, bool *ret_connected) MUST_CHECK;

/* How to connect to a server. */
struct sock_way {
	const struct sock_options *options;
	/* The address to bind to; NULL: none.  Port 0: the kernel chooses a
	 * port when it knows the destination, so that each destination has all
	 * ports.  Family AF_UNSPEC: bind to the port alone. */
	const struct addr *source;
	bool transparent; /* source is not an address of this host */
	bool fast_open;   /* TCP Fast Open: bytes will be sent at once */
};

/* Sets the options of a new TCP socket and binds it to the source.  Returns 0,
 * or -errno when an essential option or the source was refused (EADDRINUSE: the
 * source's port is taken).  ret_refusal->option is NULL unless an option or the
 * source was refused. */
int sock_prepare(int fd, const struct addr *to, const struct sock_way *way,
    struct sock_refusal *ret_refusal) MUST_CHECK;

/* Starts a connect as sock_connect does, in the given way.  ret_refusal: as for
 * sock_prepare. */
int sock_connect_by(const struct addr *addr, const struct sock_way *way,
    bool *ret_connected, struct sock_refusal *ret_refusal) MUST_CHECK;

/* Returns and clears the error of the socket (SO_ERROR); 0 if there is none. */
int sock_take_error(int fd) MUST_CHECK;

/* Returns whether the peer has sent its FIN or a reset, and nothing is left to
 * read. */
bool sock_at_end(int fd);

/* Returns the number of unread bytes; 0 if it is unknown.  Does not clear
 * SO_ERROR. */
int sock_unread(int fd);

/* Returns the number of written bytes that a TCP peer has not acknowledged; 0
 * for a unix socket, whose data survive the close. */
int sock_unacknowledged(int fd);

/* Closes the socket with a reset.  Unsent and unacknowledged bytes are lost. */
void sock_close_reset(int fd);

/* Closes a TCP socket so that the peer does not learn of it.  With
 * CAP_NET_ADMIN no packet is sent; without it, a reset is sent that the first
 * router discards, but that a peer on the same network still gets. */
void sock_close_silent(int fd);

#endif
