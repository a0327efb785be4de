/* SPDX-License-Identifier: MIT
 * How a connection changes to TLS after its protocol's own request for it.
 *
 * PostgreSQL (protocol 3.0, "SSL Session Encryption" and "GSSAPI Session
 * Encryption"): a client begins with a request of 8 bytes, and the server
 * answers with a single byte.  After `S` TLS follows; after `N` the client goes
 * on without TLS, asks for the other kind of encryption, or leaves.  A client
 * may also begin with TLS at once (PostgreSQL 17, sslnegotiation direct), or
 * with a message that asks for no encryption.
 */
#ifndef NET_STARTTLS_H
#define NET_STARTTLS_H

#include <stddef.h>
#include <stdint.h>

enum starttls { STARTTLS_OFF, STARTTLS_POSTGRESQL };

/* The length of either request. */
#define PGSQL_REQUEST_SIZE 8

/* The most bytes that pgsql_error_make writes. */
#define PGSQL_ERROR_MAX 256

enum pgsql_request {
	PGSQL_MORE, /* the beginning of a request: all 8 bytes are needed */
	PGSQL_TLS,  /* SSLRequest */
	PGSQL_GSS,  /* GSSENCRequest */
	PGSQL_NONE, /* something else */
};

/* The SSLRequest, as a client sends it. */
extern const uint8_t pgsql_tls_request[PGSQL_REQUEST_SIZE];

/* Returns the request that a client's bytes begin with.  size: the number of
 * bytes so far. */
enum pgsql_request pgsql_request_read(const uint8_t *data, size_t size);

/* Writes an ErrorResponse of the severity FATAL.  state: the five characters of
 * the SQLSTATE.  A longer text is cut off.  Returns the size. */
size_t pgsql_error_make(
    const char *state, const char *text, uint8_t out[PGSQL_ERROR_MAX]);

#endif
