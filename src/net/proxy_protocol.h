/* SPDX-License-Identifier: MIT
 * The PROXY protocol's header: the first bytes of a connection, by which who
 * makes it says on whose behalf (haproxy's doc/proxy-protocol.txt, "the text"
 * below).
 *
 *	version 1, a line        PROXY TCP4 192.0.2.7 192.0.2.1 50000 80 CR LF
 *	version 2, binary        signature 12 | version, command | family |
 *	                         length 16 bits | addresses | type, length,
 *value as often as fits
 *
 * Nothing here does input or output.
 */
#ifndef NET_PROXY_PROTOCOL_H
#define NET_PROXY_PROTOCOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/addr.h"

enum proxy_version { PROXY_OFF, PROXY_V1, PROXY_V2 };

/* The contents of a header. */
struct proxy_header {
	enum proxy_version version;
	/* The connection is the proxy's own, a check for instance. */
	bool local;
	/* The client's address, and the one that it had connected to: both IP,
	 * or both of family 0 where the header names none, or none that could
	 * be a TCP client's; then those of the connection hold. */
	struct endpoint source, destination;
	/* Version 2: the name that the client asked for (TLS' SNI), without a
	 * NUL; none of its bytes is checked.  It points into the bytes that
	 * were read.  Length 0: none. */
	const char *authority;
	uint8_t authority_len;
};

/* The longest header that is made. */
#define PROXY_MADE_MAX (16u + 36u + 3u + 255u)

/* Writes the header; its size.  One that is local, or whose addresses are not
 * both IP, has nothing in it, as HAProxy does: LOCAL, or UNKNOWN in version 1.
 * An IPv4 address beside an IPv6 one is written as IPv4-mapped, likewise.  The
 * version is not PROXY_OFF. */
size_t proxy_header_make(
    const struct proxy_header *header, uint8_t out[PROXY_MADE_MAX]);

/* The longest line of version 1, in bytes (the specification, 2.1). */
#define PROXY_V1_MAX 107u
/* The longest header that is read, in bytes, as in HAProxy (tune.bufsize). */
#define PROXY_READ_MAX 16384u

enum proxy_reading {
	PROXY_INCOMPLETE, /* the beginning of a header, and no more */
	PROXY_COMPLETE,
	PROXY_WRONG, /* no header, or one that contradicts itself */
};

struct proxy_read {
	struct proxy_header header; /* when complete */
	size_t size;     /* complete: its bytes, what follows is data */
	size_t needs;    /* incomplete: at least this many more bytes follow */
	const char *why; /* wrong: in a few words */
};

/* Looks for a header at the beginning of what a connection has brought so far.
 * A CRC32c that is there is checked.  Where a prefix of something is incomplete
 * so is each shorter one. */
enum proxy_reading proxy_header_read(
    const uint8_t *data, size_t n, struct proxy_read *ret_read);

#endif
