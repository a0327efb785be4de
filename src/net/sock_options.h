/* SPDX-License-Identifier: MIT
 * The options of a TCP socket, of a listener or towards a server.
 *
 * Connections that are accepted have what their listener has (Linux hands it
 * on), so a listener's options cost nothing for each of them.
 */
#ifndef NET_SOCK_OPTIONS_H
#define NET_SOCK_OPTIONS_H

#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sock_switch { SWITCH_DEFAULT, SWITCH_OFF, SWITCH_ON };

#define SOCK_CONGESTION_SIZE 16 /* TCP_CA_NAME_MAX */

/* tcp(7) keepalive; 0: the kernel's time. */
struct sock_keepalive {
	enum sock_switch on;
	unsigned idle_s, interval_s, count;
};

/* Zero and empty: whatever the kernel does without being asked. */
struct sock_options {
	struct sock_keepalive keepalive;
	uint64_t user_timeout_ms; /* TCP_USER_TIMEOUT, RFC 5482 */
	unsigned mss;             /* TCP_MAXSEG */
	uint64_t sndbuf, rcvbuf;  /* bytes, which the kernel doubles */
	unsigned dscp;            /* RFC 2474, 0 to 63 */
	unsigned mark;            /* SO_MARK, for routing rules */
	char congestion[SOCK_CONGESTION_SIZE];
	char interface[IF_NAMESIZE]; /* SO_BINDTODEVICE */
	/* RFC 7413.  A listener: how many may wait that have not been
	 * acknowledged.  Towards a server: not 0 to use it. */
	unsigned fast_open;

	/* Listeners only. */
	unsigned backlog;
	unsigned defer_accept_s;
	enum sock_switch v6only, reuseport;
	enum sock_switch transparent; /* IP_TRANSPARENT */
};

/* Whether any is given that sock_options_connect or sock_options_fast_open
 * sets. */
bool sock_options_any(const struct sock_options *options);

/* An option that the kernel refused. */
struct sock_refusal {
	const char *option; /* as in the configuration */
	int error;          /* errno */
	/* The option decides where packets go: to go on without it would be
	 * wrong, and not only slower. */
	bool essential;
};

/* Sets the given options on a new listening TCP socket of that family.  Returns
 * false when the kernel refused an option: *ret_refusal is the first refusal,
 * or the first essential one; the other options are set all the same. */
bool sock_options_listen(int fd, int family, const struct sock_options *options,
    struct sock_refusal *ret_refusal);
/* Like sock_options_listen, for a socket towards a server; fast_open is left
 * out. */
bool sock_options_connect(int fd, int family,
    const struct sock_options *options, struct sock_refusal *ret_refusal);

/* connect(2) will only make the socket look connected, and the first bytes go
 * with the SYN: only if there are some, and with an address that has given a
 * cookie before.  False when the kernel does not do it. */
bool sock_options_fast_open(int fd);

/* IP_TRANSPARENT: the socket may have an address that is not this host's. */
bool sock_options_transparent(int fd, int family);

/* Returns what to do about a refusal, as the end of a message: `; it takes
 * ...`, or "". */
const char *sock_refusal_hint(const struct sock_refusal *refusal);

/* Things that the kernel accepts and then does by half: calls tell with a
 * sentence for each.  fd has the options already. */
void sock_options_curtailed(int fd, const struct sock_options *options,
    bool listener, void (*tell)(const char *sentence, void *arg), void *arg);

/* Whether there is such an algorithm; it may have been loaded for that. */
bool sock_congestion_exists(const char *name);

/* The algorithms that are there, separated by blanks; returns out. */
#define SOCK_CONGESTIONS_SIZE 256
const char *sock_congestions(char out[SOCK_CONGESTIONS_SIZE]);

#endif
