/* SPDX-License-Identifier: MIT
 * TLS on one connection: the handshake, and records.
 *
 * The caller owns the socket and writes to it.  A call reads from the socket
 * where it needs records, and appends the records that it makes to io->out; the
 * caller sends them, in order, before any others.  So a call never waits until
 * the socket takes something, and the caller keeps what the socket does not
 * take.
 *
 * No memory is held for records between two calls, unless part of a record has
 * come.  Functions run on the connection's owner and do not block.
 *
 * RFC 8446 (TLS 1.3), RFC 5246 (TLS 1.2); SSL_read(3ssl), SSL_write(3ssl).
 */
#ifndef TLS_CONN_H
#define TLS_CONN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "tls/context.h"

/* The most bytes that records of size bytes of data take.  A client may ask for
 * records of 512 bytes (RFC 6066, section 4), and a record has at most 85 bytes
 * besides its data (CBC with SHA-384).  There may be a key update before them
 * and an alert behind. */
#define TLS_RECORDS_MAX(size) ((size) + (size) / 512 * 96 + 512)

/* A call that has read this many bytes reads no more, so it reads at most 17
 * KiB beyond: else records without data, such as key updates, would keep a
 * thread for as long as they come.  The answers to them fit in TLS_FLIGHT_MAX.
 */
#define TLS_READ_MAX (56u * 1024)

struct tls_conn;

/* A call's access to the socket. */
struct tls_io {
	int fd;
	bool readable; /* a read may find something; cleared once it has not */
	bool read_on;  /* a read of less than was asked for is not the last */
	bool ended;    /* set: a read has found the end, or an error */
	int error;     /* set: that error; 0: the end */
	uint8_t *out;  /* records to be sent are appended here */
	size_t out_n, out_max;
};

/* The least room that a handshake and a read need in io->out. */
#define TLS_FLIGHT_MAX (76u * 1024)

enum tls_progress {
	TLS_PROGRESS_DONE,
	TLS_PROGRESS_WAIT,   /* for records of the peer, if !io->readable */
	TLS_PROGRESS_FAILED, /* see tls_conn_failure; io->out may have an alert
	                      */
};

/* Makes a connection for the context, and takes a reference to it.  Until the
 * connection begins it needs little memory.  Returns NULL when memory is
 * short. */
struct tls_conn *tls_conn_new(struct tls_context *context);

/* Frees the connection, but does not touch the socket.  Accepts NULL. */
void tls_conn_free(struct tls_conn *conn);

/* Begins the connection: as the server for TLS_ACCEPTS, as the client for
 * TLS_CONNECTS.  Takes some 10 us and 10 KiB.  Returns NULL when memory is
 * short, otherwise what tls_conn_ssl returns from now on.  Called once. */
SSL *tls_conn_begin(struct tls_conn *conn, enum tls_role role);

/* Goes on with the handshake of a connection that has begun.  Computes for some
 * ms if tls_conn_computes_long. */
enum tls_progress tls_conn_handshake(struct tls_conn *conn, struct tls_io *io);

/* Returns whether the handshake's next step may take long: it signs, agrees on
 * a key or checks certificates.  Other steps take some 50 us at most. */
bool tls_conn_computes_long(const struct tls_conn *conn);

/* Returns why the connection is broken, in OpenSSL's words, or NULL when the
 * socket has ended or failed.  Valid as long as the process lives. */
const char *tls_conn_failure(const struct tls_conn *conn);

/* Returns whether the connection is broken because memory was short here, so
 * that the peer is not at fault. */
bool tls_conn_lacks_memory(const struct tls_conn *conn);

/* Returns whether the connection is broken because of the peer's certificate;
 * SSL_get_verify_result then says more. */
bool tls_conn_failed_to_verify(const struct tls_conn *conn);

/* Keeps records of the handshake that the socket did not take.  Returns false
 * when memory is short. */
bool tls_conn_keep(
    struct tls_conn *conn, const uint8_t *records, size_t size) MUST_CHECK;
/* Returns the kept records, and their size, 0 for none. */
const uint8_t *tls_conn_kept(const struct tls_conn *conn, size_t *ret_size);
/* Drops the first `size` bytes of the kept records, which were sent. */
void tls_conn_kept_sent(struct tls_conn *conn, size_t size);

/* Reads data.  Returns the number of bytes, up to size; 0 when the peer has
 * announced its end (close_notify); -EAGAIN; or -ECONNRESET when the connection
 * is broken: by a reset, an end that was not announced, or an invalid record.
 * io->readable stays set while records are left, with -EAGAIN as well. */
ssize_t tls_conn_read(
    struct tls_conn *conn, struct tls_io *io, uint8_t *data, size_t size);

/* Makes records of all data.  io->out has room for TLS_RECORDS_MAX(size).
 * Returns 0, or -ECONNRESET when the connection is broken.  Returns -EAGAIN and
 * makes no records while part of a message of the peer that is not data, such
 * as a ticket, has come. */
int tls_conn_write(struct tls_conn *conn, struct tls_io *io,
    const uint8_t *data, size_t size, uint64_t now_ms) MUST_CHECK;

/* Announces the end of the data (close_notify), once.  Returns false, and
 * announces nothing, where tls_conn_write returns -EAGAIN. */
bool tls_conn_end(struct tls_conn *conn, struct tls_io *io) MUST_CHECK;

/* Returns the SSL object, for facts about the connection; NULL before it has
 * begun. */
SSL *tls_conn_ssl(const struct tls_conn *conn);

#endif
