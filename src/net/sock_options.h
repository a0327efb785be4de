/* SPDX-License-Identifier: MIT
 * The options of a TCP socket, of a listener or towards a server.
 *
 * An accepted connection has the options of its listener (Linux hands them on),
 * so they cost no system call.
 */
#ifndef NET_SOCK_OPTIONS_H
#define NET_SOCK_OPTIONS_H

#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum sock_switch { SWITCH_DEFAULT, SWITCH_OFF, SWITCH_ON };

#define SOCK_CONGESTION_SIZE 16 /* TCP_CA_NAME_MAX */

/* Keepalive as in tcp(7); 0: the kernel's value. */
struct sock_keepalive {
	enum sock_switch on;
	unsigned idle_s, interval_s, count;
};

/* The options.  Zero and empty: the kernel's default. */
struct sock_options {
	struct sock_keepalive keepalive;
	uint64_t user_timeout_ms; /* TCP_USER_TIMEOUT, RFC 5482 */
	unsigned mss;             /* TCP_MAXSEG */
	uint64_t sndbuf, rcvbuf;  /* bytes, which the kernel doubles */
	unsigned dscp;            /* RFC 2474, 0 to 63 */
	unsigned mark;            /* SO_MARK, for routing rules */
	char congestion[SOCK_CONGESTION_SIZE];
	char interface[IF_NAMESIZE]; /* SO_BINDTODEVICE */
	/* TCP Fast Open, RFC 7413.  On a listener: how many such connections
	 * may wait before their handshake is complete.  Towards a server: not 0
	 * to use it. */
	unsigned fast_open;

	/* Listeners only. */
	unsigned backlog;
	unsigned defer_accept_s;
	enum sock_switch v6only, reuseport;
	enum sock_switch transparent; /* IP_TRANSPARENT */
};

/* Returns whether any option is given. */
bool sock_options_any(const struct sock_options *options);

/* The length of a listener's backlog if the option is not given; the kernel
 * cuts it to net.core.somaxconn. */
#define SOCK_BACKLOG 65535

/* An option that the kernel refused. */
struct sock_refusal {
	const char *option; /* as in the configuration; NULL: none was */
	int error;          /* errno */
	/* The option decides where packets go: going on without it would be
	 * wrong, not only slower. */
	bool essential;
};

/* Sets the given options on a new listening TCP socket of that family, except
 * for backlog and v6only.  Returns false when the kernel refused an option:
 * *ret_refusal is the first refusal, or the first essential one; the other
 * options are set nevertheless. */
bool sock_options_listen(int fd, int family, const struct sock_options *options,
    struct sock_refusal *ret_refusal) MUST_CHECK;
/* Sets the given options as sock_options_listen does, on a socket towards a
 * server, except for fast_open. */
bool sock_options_connect(int fd, int family,
    const struct sock_options *options,
    struct sock_refusal *ret_refusal) MUST_CHECK;

/* Changes the options of a listener to those of `to`; an option that `to` does
 * not give gets the kernel's default.  Connections that are accepted from then
 * on have the new options, those in the backlog the old ones.  listens: the
 * socket is not shut at present, so that the backlog can be changed.  v6only,
 * reuseport and transparent stay, because bind(2) fixes them.  Returns false
 * with the first refusal; all options are then as before. */
bool sock_options_change(int fd, bool listens, const struct sock_options *from,
    const struct sock_options *to, struct sock_refusal *ret_refusal) MUST_CHECK;

/* Undoes a change.  from: the options that the socket has.  Goes on after a
 * refusal (a process without root's rights cannot remove an interface), and
 * returns false if there was one; the refused option stays as it is. */
bool sock_options_put_back(int fd, bool listens,
    const struct sock_options *from, const struct sock_options *to,
    struct sock_refusal *ret_refusal) MUST_CHECK;

/* Reads the options of a listener, so that they can be put back after another
 * process has changed them, or changed to what a configuration gives.  A value
 * that a new socket has, too, counts as not given.  The mss counts as not given
 * if the kernel does not tell a listener's.  v6only, reuseport and transparent
 * are left out. */
void sock_options_read(int fd, struct sock_options *ret_options);

/* Reads how many connections wait to be accepted on a listening TCP socket, and
 * how many may wait.  Returns false for a unix socket and for a socket that was
 * shut. */
bool sock_backlog(int fd, uint32_t *ret_waiting, uint32_t *ret_max) MUST_CHECK;

/* Sets TCP_FASTOPEN_CONNECT: connect(2) then only makes the socket look
 * connected, and the first bytes go with the SYN, if the server has given a
 * cookie before.  Returns false when the kernel refuses. */
bool sock_options_fast_open(int fd);

/* Sets IP_TRANSPARENT: the socket may then have an address that is not this
 * host's.  Returns false when the kernel refuses. */
bool sock_options_transparent(int fd, int family);

/* Returns what to do about a refusal, as the end of a message: `; it takes
 * ...`, or "". */
const char *sock_refusal_hint(const struct sock_refusal *refusal);

/* Finds the options that the kernel has accepted but follows only in part, and
 * calls warn with a sentence for each.  The options are already set on fd. */
void sock_options_curtailed(int fd, const struct sock_options *options,
    bool listener, void (*warn)(const char *sentence, void *arg), void *arg);

/* Returns whether the kernel has the congestion control algorithm; loads its
 * module if need be. */
bool sock_congestion_exists(const char *name);
/* Returns whether users without CAP_NET_ADMIN may choose the algorithm, too. */
bool sock_congestion_for_all(const char *name);

#define SOCK_CONGESTIONS_SIZE 256

/* Writes the algorithms that the kernel has, separated by blanks.  Returns
 * out. */
const char *sock_congestions(char out[SOCK_CONGESTIONS_SIZE]);

#endif
