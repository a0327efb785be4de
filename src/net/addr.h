/* SPDX-License-Identifier: MIT
 * Addresses: TCP over IPv4 and IPv6, and unix stream sockets.
 */
#ifndef NET_ADDR_H
#define NET_ADDR_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/err.h"

/* What connect(2) and bind(2) take. */
struct addr {
	union {
		struct sockaddr sa;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
		struct sockaddr_un un;
	};
	socklen_t len;
};

/* A TCP peer in 24 bytes, for sessions: an idle one must stay small.  A unix
 * peer has only its family. */
struct endpoint {
	uint16_t family; /* AF_INET, AF_INET6, AF_UNIX, or 0 for none */
	uint16_t port;   /* host order */
	uint32_t scope;
	uint8_t ip[16];
};

enum addr_use {
	ADDR_CONNECT, /* a host and a port are required */
	ADDR_LISTEN,  /* no host, `*`: every address of both families */
};

/* Parses `HOST:PORT`, `[V6]:PORT`, `:PORT` and `*:PORT` (listen only), and
 * `unix:/path`.  Ports are 1 to 65535; for listening also 0, which lets the
 * kernel choose.  `:PORT` yields the IPv6 wildcard; a listener opens it for
 * both families.  For ADDR_CONNECT a HOST that is a name is resolved with
 * getaddrinfo(3) and its first address taken: this blocks, so only the
 * control thread may call it, before traffic. */
bool addr_parse(
    const char *s, enum addr_use use, struct addr *ret_addr, struct err *err);

/* `10.0.0.1:80`, `[2001:db8::1]:80`, `unix:/path`; v4-mapped addresses as
 * IPv4; a link-local address with its scope as a number; returns out. */
#define ADDR_TEXT_SIZE 128
const char *addr_text(const struct addr *addr, char out[ADDR_TEXT_SIZE]);

/* The IP address without the port, `unix` for a unix peer, `-` for none. */
const char *endpoint_host(
    const struct endpoint *endpoint, char out[INET6_ADDRSTRLEN]);

bool addr_equal(const struct addr *a, const struct addr *b);

/* v4-mapped IPv6 becomes IPv4. */
void endpoint_set(
    struct endpoint *endpoint, const struct sockaddr *sa, socklen_t len);

#endif
