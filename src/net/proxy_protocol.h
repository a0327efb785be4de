/* SPDX-License-Identifier: MIT
 * The header of the PROXY protocol: a proxy begins a connection with the
 * address of its client (HAProxy's doc/proxy-protocol.txt, "the specification"
 * below).
 *
 *	version 1, a line        PROXY TCP4 192.0.2.7 192.0.2.1 50000 80 CR LF
 *	version 2, binary        signature 12 | version, command | family |
 *	                         length 16 bits | addresses | TLVs
 *
 * These functions do no input or output.
 */
#ifndef NET_PROXY_PROTOCOL_H
#define NET_PROXY_PROTOCOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/addr.h"

enum proxy_version {
	PROXY_OFF,
	PROXY_V1,
	PROXY_V2,
	PROXY_V2_TLS, /* to be sent: version 2 with a struct proxy_tls */
};

/* Bits of proxy_tls.client (the specification, 2.2.6). */
#define PROXY_TLS_USED      0x01u
#define PROXY_TLS_CERT_CONN 0x02u /* a certificate in this connection */
#define PROXY_TLS_CERT_SESS 0x04u /* at least in the session's first one */

/* TLS between the client and the proxy.  Texts end with NUL; NULL: unknown. */
struct proxy_tls {
	uint8_t client; /* PROXY_TLS_ */
	bool verified;  /* the client had a certificate, which was good */
	const char *version, *cn, *cipher;
	const char *sig_alg, *key_alg; /* the proxy's certificate's */
};

/* The contents of a header. */
struct proxy_header {
	enum proxy_version version;
	/* The connection is the proxy's own, for instance a check. */
	bool local;
	/* The client's address, and the address that it has connected to.  Both
	 * are IP addresses; or both have family 0 when the header has no
	 * addresses of a TCP client, and those of the connection count then. */
	struct endpoint source, destination;
	/* Version 2: the name that the client asked for (SNI), unchecked and
	 * without a NUL.  Points into the bytes that were read.  Length 0:
	 * none. */
	const char *authority;
	uint8_t authority_len;
	/* Version 2, only to be sent.  alpn: the protocol that was chosen with
	 * the client (ALPN); NULL: none.  tls: TLS with the client, for
	 * PROXY_V2_TLS; NULL: none. */
	const char *alpn;
	const struct proxy_tls *tls;
};

/* The length of the longest header that is made, which has three texts of 255
 * bytes and four short ones. */
#define PROXY_SHORT_MAX 64u
#define PROXY_MADE_MAX                                                         \
	(16u + 36u + 3u * (3u + 255u) + 3u + 5u + 4u * (3u + PROXY_SHORT_MAX))

/* Writes the header and returns its size.  As in HAProxy, a header without
 * addresses, LOCAL or in version 1 UNKNOWN, is made when not both addresses are
 * IP, and in version 2 when the connection is local.  Version 1 cannot say that
 * a connection is local: the addresses should be the connection's own then.  An
 * IPv4 address beside an IPv6 address is IPv4-mapped.  The version must not be
 * PROXY_OFF. */
size_t proxy_header_make(
    const struct proxy_header *header, uint8_t out[PROXY_MADE_MAX]);

/* The longest line of version 1, in bytes (the specification, 2.1). */
#define PROXY_V1_MAX 107u
/* The longest header that is read, in bytes, as in HAProxy (tune.bufsize). */
#define PROXY_READ_MAX 16384u

enum proxy_reading {
	PROXY_INCOMPLETE, /* the beginning of a header */
	PROXY_COMPLETE,
	PROXY_WRONG, /* no header, or an invalid one */
};

struct proxy_read {
	struct proxy_header header; /* when complete */
	size_t size;     /* complete: its length in bytes; data follow */
	size_t needs;    /* incomplete: at least this many more bytes follow */
	const char *why; /* wrong: in a few words */
};

/* Reads a header at the beginning of the n bytes received so far.  Checks the
 * CRC32c, if there is one.  Each prefix of incomplete data is incomplete. */
enum proxy_reading proxy_header_read(
    const uint8_t *data, size_t n, struct proxy_read *ret_read);

#endif
