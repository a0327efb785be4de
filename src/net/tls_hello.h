/* SPDX-License-Identifier: MIT
 * Reads the name of the server that a TLS client wants, and the protocols that
 * it offers, from its first message.
 *
 * The formats are those of RFC 8446 4.1.2 (ClientHello, in the form that it has
 * had since SSL 3.0) and 5.1 (records: the message may be cut into several),
 * RFC 6066 3 (server_name) and RFC 7301 3.1 (ALPN).  Hellos of SSL 2.0 are not
 * read.
 *
 * tls_hello_read is a pure function of the bytes so far.  It allocates nothing,
 * and checks every length in the message.
 */
#ifndef NET_TLS_HELLO_H
#define NET_TLS_HELLO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The longest message that is read, which has the size of the longest record;
 * and its size with the heads of the records that it is cut into. */
#define TLS_HELLO_MESSAGE_MAX (16u * 1024)
#define TLS_HELLO_MAX         (TLS_HELLO_MESSAGE_MAX + 2048)

/* The most characters of a name in the DNS, without the last dot. */
#define TLS_NAME_MAX 253

/* The most bytes of protocol names that are kept.  Clients offer two or three
 * names, in some 12 bytes. */
#define TLS_ALPN_MAX 255

enum tls_verdict {
	TLS_MORE,  /* the beginning of a hello: more bytes are needed */
	TLS_OTHER, /* no hello, a broken one, or one that is too long */
	TLS_HELLO,
};

/* The minor version number of TLS 1.3; SSL 3.0 has 0. */
#define TLS_VERSION_MAX 4

struct tls_hello {
	/* TLS_MORE: the number of bytes needed at least, counted from the first
	 * one; always more than there were, and never more than TLS_HELLO_MAX.
	 */
	size_t needs;

	/* TLS_HELLO.  The name in lower case, without a dot at the end; "" when
	 * there is no name, or one that is not a valid host name. */
	uint8_t name_len;
	char name[TLS_NAME_MAX + 1];
	/* The highest version that the client offers: its minor number, at most
	 * TLS_VERSION_MAX. */
	uint8_t version;
	/* The names of the protocols that the client offers, each behind a byte
	 * with its length; a name that does not fit is left out. */
	uint8_t alpn_len;
	uint8_t alpn[TLS_ALPN_MAX];
};

/* Reads the hello from the bytes so far.  Writes to *ret_hello only the fields
 * that belong to the verdict. */
enum tls_verdict tls_hello_read(
    const uint8_t *data, size_t size, struct tls_hello *ret_hello);

/* Writes the name in the form in which names are compared: letters, digits,
 * `-`, `_` and dots between labels that are not empty, in lower case, without a
 * last dot.  Returns false for any other name.  out has room for TLS_NAME_MAX +
 * 1 bytes. */
bool tls_name_normalize(
    const char *name, size_t len, char *out, uint8_t *ret_len);

#endif
