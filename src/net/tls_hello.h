/* SPDX-License-Identifier: MIT
 * The first message of a TLS client: the name of the server that it wants, read
 * from a ClientHello, which is not changed.
 *
 * RFC 8446 4.1.2 (ClientHello, in the form that it has had since SSL 3.0), 5.1
 * (records: the message may be cut into several), RFC 6066 3 (server_name) and
 * RFC 7301 3.1 (application_layer_protocol_negotiation).  Hellos of SSL 2.0 are
 * not read.
 *
 * A pure function of the bytes so far: nothing is kept in between, nothing is
 * allocated, and no length is believed.
 */
#ifndef NET_TLS_HELLO_H
#define NET_TLS_HELLO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The longest message that is read, which is the longest record as well, and
 * all bytes up to its end: the heads of records that it is cut into are part of
 * them. */
#define TLS_HELLO_MESSAGE_MAX (16u * 1024)
#define TLS_HELLO_MAX         (TLS_HELLO_MESSAGE_MAX + 2048)

#define TLS_NAME_MAX                                                           \
	253 /* letters of a name in the DNS, without the last dot */
#define TLS_ALPN_MAX 128

enum tls_verdict {
	TLS_MORE,  /* so far it is one: more bytes are needed */
	TLS_OTHER, /* it is none, or a broken one, or longer than is read */
	TLS_HELLO,
};

struct tls_hello {
	/* TLS_MORE: the number of bytes needed at least, counted from the first
	 * one; always more than there were, and never more than TLS_HELLO_MAX.
	 */
	size_t needs;

	/* TLS_HELLO.  The name in small letters, without a dot at the end; ""
	 * when there is none, or one that no host can have. */
	uint8_t name_len;
	char name[TLS_NAME_MAX + 1];
	/* The protocols, each with its length before it (tls_hello_protocol);
	 * those that do not fit are left out. */
	uint8_t alpn_len;
	uint8_t alpn[TLS_ALPN_MAX];
};

/* Writes to *ret_hello only the fields that belong to the verdict. */
enum tls_verdict tls_hello_read(
    const uint8_t *data, size_t size, struct tls_hello *ret_hello);

/* Steps over the protocols; *position starts at 0.  Not ended by a NUL; NULL
 * after the last one. */
const char *tls_hello_protocol(
    const struct tls_hello *hello, size_t *position, size_t *ret_len);

/* Writes the form in which names are compared: letters, digits, `-`, `_` and
 * dots between labels that are not empty, in small letters, without a last dot.
 * Returns false for any other name.  out has room for TLS_NAME_MAX + 1. */
bool tls_name_normalize(
    const char *name, size_t len, char *out, uint8_t *ret_len);

#endif
