/* SPDX-License-Identifier: MIT
 * See conn.h.
 */
#include "tls/conn.h"

#include <errno.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "tls/memory.h"

/* The size of a record's data.  Records are short at first, so that the peer
 * can use the first bytes before a long record has arrived, and long, which
 * costs less, once RECORDS_SHORT bytes were sent without a pause. */
#define RECORD_SHORT     (4u * 1024)
#define RECORD_LONG      (16u * 1024)
#define RECORDS_SHORT    (64u * 1024)
#define RECORDS_PAUSE_MS 1000

struct tls_conn {
	SSL *ssl;                    /* NULL: not begun */
	struct tls_context *context; /* until it has begun */
	struct tls_io *io;           /* of the present call */
	size_t got;                  /* bytes that the call has read */
	/* Bytes sent since the last pause, up to RECORDS_SHORT. */
	uint32_t sent;
	bool broken, lacks_memory;
	uint64_t memory_failures;  /* before the present call */
	uint64_t sent_ms;          /* the last write */
	unsigned long failure;     /* OpenSSL's code; 0: none */
	uint8_t *kept;             /* from the heap */
	size_t kept_from, kept_to; /* its bytes that are not sent */
};

/* -- the BIO: OpenSSL's access to the call's tls_io -- */

static int
io_read(BIO *bio, char *data, int size)
{
	struct tls_conn *conn = BIO_get_data(bio);
	struct tls_io *io = conn->io;
	ssize_t n = -1;

	BIO_clear_retry_flags(bio);
	if (io->readable && conn->got < TLS_READ_MAX) {
		do
			n = recv(io->fd, data, (size_t)size, 0);
		while (n < 0 && errno == EINTR);
		if (n == 0 || (n < 0 && errno != EAGAIN)) {
			io->ended = true;
			io->error = n < 0 ? errno : 0;
		}
		io->readable = n == size || (n > 0 && io->read_on);
		conn->got += n > 0 ? (size_t)n : 0;
	}
	if (n < 0 && !io->ended)
		BIO_set_retry_read(bio);
	return (int)n;
}

/* Appends records to io->out.  A call that makes more than there is room for
 * breaks the connection. */
static int
io_write(BIO *bio, const char *data, int size)
{
	struct tls_io *io = ((struct tls_conn *)BIO_get_data(bio))->io;

	BIO_clear_retry_flags(bio);
	if ((size_t)size > io->out_max - io->out_n)
		return -1;
	memcpy(io->out + io->out_n, data, (size_t)size);
	io->out_n += (size_t)size;
	return size;
}

static long
io_ctrl(BIO *bio, int what, long number, void *pointer)
{
	(void)bio, (void)number, (void)pointer;
	return what == BIO_CTRL_FLUSH;
}

static BIO_METHOD *io_method;

static void
make_io_method(void)
{
	io_method =
	    BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "lfproxy");
	if (!io_method)
		return;
	BIO_meth_set_read(io_method, io_read);
	BIO_meth_set_write(io_method, io_write);
	BIO_meth_set_ctrl(io_method, io_ctrl);
}

static BIO *
io_new(struct tls_conn *conn)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	BIO *bio;

	(void)pthread_once(&once, make_io_method);
	bio = io_method ? BIO_new(io_method) : NULL;
	if (bio) {
		BIO_set_data(bio, conn);
		BIO_set_init(bio, 1);
	}
	return bio;
}

/* -- the connection -- */

struct tls_conn *
tls_conn_new(struct tls_context *context)
{
	struct tls_conn *conn = calloc(1, sizeof(*conn));

	if (conn)
		conn->context = tls_context_ref(context);
	return conn;
}

static SSL *
ssl_new(struct tls_conn *conn)
{
	SSL_CTX *context = tls_context_take(conn->context);
	SSL *ssl = SSL_new(context);
	BIO *bio = ssl ? io_new(conn) : NULL;

	tls_context_give_back(context);
	if (bio) {
		SSL_set_bio(ssl, bio, bio);
		return ssl;
	}
	SSL_free(ssl);
	return NULL;
}

SSL *
tls_conn_begin(struct tls_conn *conn, enum tls_role role)
{
	ERR_clear_error();
	conn->ssl = ssl_new(conn);
	if (!conn->ssl) {
		ERR_clear_error();
		return NULL;
	}
	if (role == TLS_ACCEPTS)
		SSL_set_accept_state(conn->ssl);
	else
		SSL_set_connect_state(conn->ssl);
	tls_context_unref(conn->context);
	conn->context = NULL;
	return conn->ssl;
}

/* Keeps the session resumable unless the connection is broken: OpenSSL drops
 * the session of a connection that was not shut down, and here connections may
 * end in any way. */
void
tls_conn_free(struct tls_conn *conn)
{
	if (!conn)
		return;
	if (conn->ssl && !conn->broken)
		SSL_set_shutdown(
		    conn->ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
	SSL_free(conn->ssl);
	tls_context_unref(conn->context);
	free(conn->kept);
	free(conn);
}

SSL *
tls_conn_ssl(const struct tls_conn *conn)
{
	return conn->ssl;
}

bool
tls_conn_lacks_memory(const struct tls_conn *conn)
{
	return conn->lacks_memory;
}

/* Prepares for a call of OpenSSL. */
static void
call_begin(struct tls_conn *conn, struct tls_io *io)
{
	conn->io = io;
	conn->got = 0;
	conn->memory_failures = tls_memory_failures_here();
}

/* Ends a call of OpenSSL that has returned result.  Returns SSL_get_error, and
 * notes the reason if the connection is broken. */
static int
call_ended(struct tls_conn *conn, int result)
{
	int error = SSL_ERROR_NONE;
	bool ended = conn->io->ended;

	conn->io = NULL;
	if (result == 1)
		return error;
	error = SSL_get_error(conn->ssl, result);
	if (error != SSL_ERROR_WANT_READ && error != SSL_ERROR_ZERO_RETURN) {
		conn->broken = true;
		conn->failure = ERR_peek_error();
		/* OpenSSL 3.5 may fail without a reason on a thread that lacked
		 * memory in an earlier call, also for another connection. */
		conn->lacks_memory =
		    conn->memory_failures != tls_memory_failures_here() ||
		    (!conn->failure && !ended &&
		        !SSL_is_init_finished(conn->ssl));
	}
	ERR_clear_error();
	return error;
}

enum tls_progress
tls_conn_handshake(struct tls_conn *conn, struct tls_io *io)
{
	call_begin(conn, io);
	switch (call_ended(conn, SSL_do_handshake(conn->ssl))) {
	case SSL_ERROR_NONE:
		return TLS_PROGRESS_DONE;
	case SSL_ERROR_WANT_READ:
		return TLS_PROGRESS_WAIT;
	default:
		return TLS_PROGRESS_FAILED;
	}
}

/* The server has done its part once it has sent its Finished.  From TLS 1.3 on
 * that is in its first answer, unless that asked for another hello; so it is in
 * resumed connections.  A certificate of the client is checked afterwards. */
bool
tls_conn_computes_long(const struct tls_conn *conn)
{
	uint8_t none[1];

	if (!SSL_is_server(conn->ssl) ||
	    SSL_get_finished(conn->ssl, none, 0) == 0)
		return true;
	return SSL_get_verify_mode(conn->ssl) != SSL_VERIFY_NONE &&
	       !SSL_session_reused(conn->ssl);
}

const char *
tls_conn_failure(const struct tls_conn *conn)
{
	return conn->failure ? ERR_reason_error_string(conn->failure) : NULL;
}

bool
tls_conn_failed_to_verify(const struct tls_conn *conn)
{
	return ERR_GET_LIB(conn->failure) == ERR_LIB_SSL &&
	       ERR_GET_REASON(conn->failure) ==
	           SSL_R_CERTIFICATE_VERIFY_FAILED &&
	       SSL_get_verify_result(conn->ssl) != X509_V_OK;
}

/* Each call of SSL_read_ex returns a record's data at most.  Another record is
 * read as long as any would fit. */
ssize_t
tls_conn_read(
    struct tls_conn *conn, struct tls_io *io, uint8_t *data, size_t size)
{
	size_t done = 0, n;
	int rc, error;

	if (conn->broken)
		return -ECONNRESET;
	call_begin(conn, io);
	do {
		rc = SSL_read_ex(conn->ssl, data + done, size - done, &n);
		done += rc == 1 ? n : 0;
	} while (rc == 1 && size - done >= RECORD_LONG &&
	         (io->readable || SSL_has_pending(conn->ssl)));
	error = call_ended(conn, rc);
	/* An end behind data is reported by the next read. */
	if (error == SSL_ERROR_NONE)
		io->readable |= SSL_has_pending(conn->ssl) == 1;
	else if (error != SSL_ERROR_WANT_READ)
		io->readable = true;
	if (done > 0)
		return (ssize_t)done;
	if (error == SSL_ERROR_WANT_READ)
		return -EAGAIN;
	return error == SSL_ERROR_ZERO_RETURN ? 0 : -ECONNRESET;
}

static size_t
record_size(struct tls_conn *conn, uint64_t now_ms)
{
	if (now_ms - conn->sent_ms >= RECORDS_PAUSE_MS)
		conn->sent = 0;
	conn->sent_ms = now_ms;
	return conn->sent < RECORDS_SHORT ? RECORD_SHORT : RECORD_LONG;
}

int
tls_conn_write(struct tls_conn *conn, struct tls_io *io, const uint8_t *data,
    size_t size, uint64_t now_ms)
{
	size_t done = 0, n;
	int rc = 1;

	if (conn->broken)
		return -ECONNRESET;
	/* OpenSSL writes no data before it has read the message. */
	if (SSL_in_init(conn->ssl))
		return -EAGAIN;
	call_begin(conn, io);
	while (rc == 1 && done < size) {
		size_t record = record_size(conn, now_ms);

		if (record > size - done)
			record = size - done;
		rc = SSL_write_ex(conn->ssl, data + done, record, &n);
		if (rc != 1)
			break;
		done += n;
		if (conn->sent < RECORDS_SHORT)
			conn->sent += (uint32_t)n;
	}
	return call_ended(conn, rc) == SSL_ERROR_NONE ? 0 : -ECONNRESET;
}

bool
tls_conn_end(struct tls_conn *conn, struct tls_io *io)
{
	if (conn->broken || !conn->ssl)
		return true;
	if (SSL_in_init(conn->ssl))
		return false;
	call_begin(conn, io);
	(void)SSL_shutdown(conn->ssl);
	conn->io = NULL;
	ERR_clear_error();
	return true;
}

bool
tls_conn_keep(struct tls_conn *conn, const uint8_t *records, size_t size)
{
	uint8_t *kept = realloc(conn->kept, conn->kept_to + size);

	if (!kept)
		return false;
	memcpy(kept + conn->kept_to, records, size);
	conn->kept = kept;
	conn->kept_to += size;
	return true;
}

const uint8_t *
tls_conn_kept(const struct tls_conn *conn, size_t *ret_size)
{
	*ret_size = conn->kept_to - conn->kept_from;
	return conn->kept + conn->kept_from;
}

void
tls_conn_kept_sent(struct tls_conn *conn, size_t size)
{
	conn->kept_from += size;
	if (conn->kept_from < conn->kept_to)
		return;
	free(conn->kept);
	conn->kept = NULL;
	conn->kept_from = conn->kept_to = 0;
}
