/* SPDX-License-Identifier: MIT
 * Addresses: TCP over IPv4 and IPv6, unix stream sockets, and the names of
 * sockets that a service manager has bound.
 */
#ifndef NET_ADDR_H
#define NET_ADDR_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/err.h"

/* The family of `fd:NAME`; sun_path is the NAME, under which a service manager
 * passes descriptors (inherited.h).  No kernel uses this number.  It must not
 * change, because processes of different versions exchange such addresses. */
#define ADDR_DESCRIPTOR 0xfd00

/* A socket address, for connect(2) and bind(2), except for `fd:NAME`. */
struct addr {
	union {
		struct sockaddr sa;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
		struct sockaddr_un un;
	};
	socklen_t len;
};

/* A TCP peer in 24 bytes, because idle sessions have to stay small.  A unix
 * peer has only its family, and a port. */
struct endpoint {
	uint16_t family; /* AF_INET, AF_INET6, AF_UNIX, or 0 for none */
	uint16_t port;   /* host order; unix: a number to tell peers apart */
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
 * both families.  A HOST that is a name is an error.  Never blocks. */
bool addr_parse(const char *s, enum addr_use use, struct addr *ret_addr,
    struct err *err) MUST_CHECK;

/* Sets the address to `fd:NAME`.  Returns false with err set if no descriptor
 * can have the name: it is empty or too long, or has a colon or a character
 * that is not visible ASCII. */
bool addr_set_descriptor(
    const char *name, struct addr *ret_addr, struct err *err) MUST_CHECK;

/* Returns whether the address is `fd:NAME`. */
bool addr_is_descriptor(const struct addr *addr);

/* A host that is given by name.  A name has 253 characters at most. */
#define ADDR_HOST_SIZE 256
struct addr_name {
	char host[ADDR_HOST_SIZE]; /* empty: the address is a number */
	uint16_t port;             /* host order */
};

/* Parses as addr_parse does for ADDR_CONNECT, but HOST may also be a name.  For
 * a name, *ret_name has the name and the port, and *ret_addr is AF_UNSPEC with
 * len 0.  Never blocks: the caller has to look the name up. */
bool addr_parse_name(const char *s, struct addr *ret_addr,
    struct addr_name *ret_name, struct err *err) MUST_CHECK;

/* Looks the name up with getaddrinfo(3) and returns its first address, with
 * port 0.  family: AF_INET, AF_INET6, or AF_UNSPEC for either.  Returns 0 or an
 * error for addr_lookup_error.  Blocks for as long as the resolver does, which
 * may be a minute: never call it on the control thread or a pool thread. */
int addr_lookup(const char *host, int family, struct addr *ret_addr) MUST_CHECK;

/* Returns the error of addr_lookup in words. */
const char *addr_lookup_error(int error);

#define ADDR_TEXT_SIZE 128

/* Writes `10.0.0.1:80`, `[2001:db8::1]:80`, `unix:/path`, `fd:NAME`, or `-` for
 * AF_UNSPEC.  Writes IPv4-mapped addresses as IPv4, and the scope of a
 * link-local address as a number.  Returns out. */
const char *addr_text(const struct addr *addr, char out[ADDR_TEXT_SIZE]);

/* Writes the IP address, `unix` for a unix peer, `-` for none.  Returns out. */
const char *endpoint_host(
    const struct endpoint *endpoint, char out[INET6_ADDRSTRLEN]);

/* Returns a hash (XXH64) of the IP address, and of the port if asked for.  The
 * hash is the same on every machine, and for all unix peers. */
uint64_t endpoint_hash(const struct endpoint *endpoint, bool with_port);

/* Returns whether only this host can reach the address: a unix socket,
 * 127.0.0.0/8, ::1. */
bool addr_is_loopback(const struct addr *addr);

/* Returns whether the Internet cannot reach the address: loopback, or an
 * address that is not routed there, as 10.0.0.0/8 or fd00::/8 (RFC 1918, 3927,
 * 4193, 4291, 6598).  False for the wildcard address. */
bool addr_is_private(const struct addr *addr);

/* Returns whether the port is 0: the kernel chooses a listener's port.  False
 * for a unix socket and a descriptor. */
bool addr_has_any_port(const struct addr *addr);

/* Returns whether both addresses are the same, port included. */
bool addr_equal(const struct addr *a, const struct addr *b);

/* Writes the endpoint word by word, relaxed: another thread may read meanwhile.
 */
void endpoint_put(struct endpoint *shared, const struct endpoint *from);
/* Reads the endpoint word by word, with acquire order: another thread may write
 * meanwhile, so the result may mix two values. */
void endpoint_get(const struct endpoint *shared, struct endpoint *ret_endpoint);

/* Sets *ret_addr to the peer's IP address, with port 0.  Returns false when the
 * peer has none. */
bool endpoint_addr(const struct endpoint *endpoint, struct addr *ret_addr);

/* The first bytes of an IPv4-mapped IPv6 address. */
extern const uint8_t addr_v4_mapped[12];

/* Sets the endpoint from a socket's address; an IPv4-mapped IPv6 address
 * becomes IPv4. */
void endpoint_set(
    struct endpoint *endpoint, const struct sockaddr *sa, socklen_t len);

/* Sets the endpoint from the 4 or 16 bytes of an IP address, and a port in host
 * order; an IPv4-mapped IPv6 address becomes IPv4. */
void endpoint_set_ip(
    struct endpoint *endpoint, int family, const uint8_t *ip, uint16_t port);

/* Sets the port; has no effect on a unix socket. */
void addr_set_port(struct addr *addr, unsigned port);

/* Returns the port in host order, 0 for a unix socket. */
unsigned addr_port(const struct addr *addr);

/* Writes the IP address without the port, or the path, or `-`.  Returns out. */
const char *addr_host(const struct addr *addr, char out[ADDR_TEXT_SIZE]);

/* Parses an IPv4 or IPv6 address; its port is 0.  Returns false for any other
 * text. */
bool addr_parse_ip(const char *s, struct addr *ret_addr) MUST_CHECK;

#endif
