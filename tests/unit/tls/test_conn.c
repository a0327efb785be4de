/* SPDX-License-Identifier: MIT
 * A connection over a socket pair: the handshake and records of tls/conn.h
 * against OpenSSL itself, whose bytes pass through memory and so come in any
 * portions.
 */
#include <errno.h>
#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include "tls/conn.h"
#include "tools/own_cert.h"
#include "unit.h"

#define DATA_MAX (1024u * 1024)
#define PIECE    (64u * 1024)

/* How the peer is made. */
struct how {
	enum tls_role role; /* of the connection under test */
	int version;        /* 0: any */
	const char *ciphers;
	const char *curves; /* of the connection under test */
	uint8_t fragment;   /* what a client asks for, TLSEXT_max_fragment_* */
	bool verify;        /* the connection asks for a certificate */
};

struct rig {
	struct tls_context *context;
	struct tls_conn *conn;
	int fd, far; /* the connection's end, and the test's */
	struct tls_io io;
	uint8_t out[TLS_RECORDS_MAX(PIECE)];
	SSL_CTX *peer_ctx;
	SSL *peer;
	uint64_t now_ms;
};

static struct rig rig;
static char pem[64];
static uint8_t data[DATA_MAX], got[DATA_MAX];

/* -- OpenSSL's memory: it is counted, and can run out -- */

static _Atomic size_t heap_bytes;
static long allocations_left = -1; /* -1: any number */

static void *
counted(size_t *block, size_t size)
{
	if (!block)
		return NULL;
	*block = size;
	heap_bytes += size;
	return block + 2;
}

static void *
count_malloc(size_t size, const char *file, int line)
{
	if (allocations_left == 0)
		return NULL;
	if (allocations_left > 0)
		allocations_left--;
	return counted(malloc(size + 2 * sizeof(size_t)), size);
}

static void
count_free(void *at, const char *file, int line)
{
	size_t *block = at ? (size_t *)at - 2 : NULL;

	if (block)
		heap_bytes -= *block;
	free(block);
}

static void *
count_realloc(void *at, size_t size, const char *file, int line)
{
	void *fresh;

	if (!at)
		return count_malloc(size, file, line);
	fresh = count_malloc(size, file, line);
	if (!fresh)
		return NULL;
	memcpy(
	    fresh, at, ((size_t *)at)[-2] < size ? ((size_t *)at)[-2] : size);
	count_free(at, file, line);
	return fresh;
}

/* -- the rig -- */

static void
make_context(const struct how *how)
{
	struct tls_pair pair = {.cert = pem};
	char *ciphers = how->ciphers ? strdup(how->ciphers) : NULL;
	char *curves = how->curves ? strdup(how->curves) : NULL;
	struct tls_settings settings = {.tickets = true,
	    .session_timeout_s = 300,
	    .ca = pem,
	    .name = (char *)(uintptr_t) "localhost",
	    .ciphers = ciphers,
	    .curves = curves};
	struct err err;

	if (how->role == TLS_ACCEPTS)
		settings.pairs = &pair, settings.pairs_n = 1;
	settings.verify = how->role == TLS_CONNECTS ? TLS_VERIFY_NONE
	                  : how->verify             ? TLS_VERIFY_OPTIONAL
	                                            : TLS_VERIFY_NONE;
	rig.context = tls_context_new(&settings, how->role, &err);
	if (!rig.context)
		fail_msg("%s", err.text);
	free(ciphers);
	free(curves);
}

/* The peer gets new, empty buffers. */
static void
renew_peer_buffers(void)
{
	SSL_set_bio(rig.peer, BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
	BIO_set_mem_eof_return(SSL_get_rbio(rig.peer), -1);
}

static void
make_peer(const struct how *how)
{
	bool server = how->role == TLS_CONNECTS;

	rig.peer_ctx =
	    SSL_CTX_new(server ? TLS_server_method() : TLS_client_method());
	assert_non_null(rig.peer_ctx);
	if (how->version) {
		SSL_CTX_set_min_proto_version(rig.peer_ctx, how->version);
		SSL_CTX_set_max_proto_version(rig.peer_ctx, how->version);
	}
	if (server) {
		assert_int_equal(SSL_CTX_use_certificate_file(
		                     rig.peer_ctx, pem, SSL_FILETYPE_PEM),
		    1);
		assert_int_equal(SSL_CTX_use_PrivateKey_file(
		                     rig.peer_ctx, pem, SSL_FILETYPE_PEM),
		    1);
	}
	rig.peer = SSL_new(rig.peer_ctx);
	SSL_set_mode(rig.peer, SSL_MODE_RELEASE_BUFFERS);
	renew_peer_buffers();
	if (how->fragment)
		assert_int_equal(
		    SSL_set_tlsext_max_fragment_length(rig.peer, how->fragment),
		    1);
	if (server)
		SSL_set_accept_state(rig.peer);
	else
		SSL_set_connect_state(rig.peer);
}

static void
make(const struct how *how)
{
	int ends[2];

	memset(&rig, 0, sizeof(rig));
	rig.now_ms = 100000;
	assert_int_equal(
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
	rig.fd = ends[0];
	rig.far = ends[1];
	make_context(how);
	make_peer(how);
	rig.conn = tls_conn_new(rig.context);
	assert_non_null(tls_conn_begin(rig.conn, how->role));
}

static int
tear_down(void **state)
{
	allocations_left = -1;
	if (rig.context)
		tls_context_unref(rig.context);
	tls_conn_free(rig.conn);
	SSL_free(rig.peer);
	SSL_CTX_free(rig.peer_ctx);
	if (rig.context) {
		close(rig.fd);
		close(rig.far);
	}
	memset(&rig, 0, sizeof(rig));
	return 0;
}

/* Prepares a call, with all of the room. */
static struct tls_io *
call(void)
{
	rig.io = (struct tls_io){.fd = rig.fd,
	    .readable = true,
	    .out = rig.out,
	    .out_max = sizeof(rig.out)};
	return &rig.io;
}

/* Gives the peer what the call has made. */
static void
hand_over(void)
{
	if (rig.io.out_n > 0)
		assert_int_equal(BIO_write(SSL_get_rbio(rig.peer), rig.out,
		                     (int)rig.io.out_n),
		    rig.io.out_n);
	rig.io.out_n = 0;
}

/* Takes up to size of the bytes that the peer has made. */
static size_t
peer_bytes(uint8_t *to, size_t size)
{
	int n = BIO_read(SSL_get_wbio(rig.peer), to, (int)size);

	return n > 0 ? (size_t)n : 0;
}

static void
put_on_wire(const uint8_t *bytes, size_t size)
{
	assert_int_equal(send(rig.far, bytes, size, 0), size);
}

static enum tls_progress
step(void)
{
	enum tls_progress progress = tls_conn_handshake(rig.conn, call());

	hand_over();
	return progress;
}

/* Runs the handshake, the peer's bytes coming in portions of that size. */
static void
shake(size_t portion)
{
	enum tls_progress progress = step();

	for (int i = 0; i < 20000; i++) {
		uint8_t bytes[4096];
		size_t n;
		int rc = SSL_do_handshake(rig.peer);

		ERR_clear_error();
		n = peer_bytes(
		    bytes, portion < sizeof(bytes) ? portion : sizeof(bytes));
		if (n > 0)
			put_on_wire(bytes, n);
		if (progress == TLS_PROGRESS_WAIT)
			progress = step();
		assert_int_not_equal(progress, TLS_PROGRESS_FAILED);
		if (rc == 1 && progress == TLS_PROGRESS_DONE)
			break;
	}
	/* Tickets. */
	put_on_wire(got, peer_bytes(got, sizeof(got)));
	assert_int_equal(progress, TLS_PROGRESS_DONE);
	assert_true(SSL_is_init_finished(rig.peer));
}

static void
make_shaken(const struct how *how)
{
	make(how);
	shake(SIZE_MAX);
}

/* Reads what there is into got, up to size.  Returns the last result. */
static ssize_t
read_all(size_t size, size_t *ret_n)
{
	ssize_t n;

	*ret_n = 0;
	do {
		uint8_t piece[PIECE];

		n = tls_conn_read(rig.conn, call(), piece, sizeof(piece));
		hand_over();
		if (n <= 0)
			break;
		assert_true(*ret_n + (size_t)n <= size);
		memcpy(got + *ret_n, piece, (size_t)n);
		*ret_n += (size_t)n;
	} while (*ret_n < size);
	return n;
}

static void
expect_peer_gets(const uint8_t *wanted, size_t size)
{
	size_t n, done = 0;

	while (done < size &&
	       SSL_read_ex(rig.peer, got + done, size - done, &n) == 1)
		done += n;
	assert_int_equal(done, size);
	assert_memory_equal(got, wanted, size);
}

/* The peer sends the text, in a record of its own, and nothing else. */
static void
peer_says(const char *text)
{
	uint8_t bytes[4096];
	size_t n;

	assert_int_equal(
	    SSL_write(rig.peer, text, (int)strlen(text)), strlen(text));
	n = peer_bytes(bytes, sizeof(bytes));
	put_on_wire(bytes, n);
}

static void
expect_text(const char *text)
{
	size_t n;

	(void)read_all(strlen(text), &n);
	assert_int_equal(n, strlen(text));
	assert_memory_equal(got, text, n);
}

static void
expect_conversation(void)
{
	peer_says("to you");
	expect_text("to you");
	assert_int_equal(tls_conn_write(rig.conn, call(),
	                     (const uint8_t *)"to me", 5, rig.now_ms),
	    0);
	hand_over();
	expect_peer_gets((const uint8_t *)"to me", 5);
}

/* -- the handshake -- */

static void
a_handshake_takes_bytes_in_any_portions(void **state)
{
	static const size_t portions[] = {1, 2, 5, 6, 100, SIZE_MAX};
	static const int versions[] = {TLS1_2_VERSION, TLS1_3_VERSION};

	for (size_t p = 0; p < UNIT_N(portions); p++)
		for (size_t v = 0; v < UNIT_N(versions); v++)
			for (unsigned role = 0; role < TLS_ROLES; role++) {
				make(&(struct how){.role = (enum tls_role)role,
				    .version = versions[v]});
				shake(portions[p]);
				expect_conversation();
				tear_down(NULL);
			}
}

/* Runs the server's handshake and notes, before each of its steps, whether that
 * may take long: as 'l' and 's'. */
static void
note_steps(char *ret_steps, size_t size)
{
	size_t n = 0;
	enum tls_progress progress = TLS_PROGRESS_WAIT;

	while (progress == TLS_PROGRESS_WAIT && n + 1 < size) {
		uint8_t bytes[8192];

		(void)SSL_do_handshake(rig.peer);
		ERR_clear_error();
		put_on_wire(bytes, peer_bytes(bytes, sizeof(bytes)));
		ret_steps[n++] = tls_conn_computes_long(rig.conn) ? 'l' : 's';
		progress = step();
	}
	ret_steps[n] = '\0';
	assert_int_equal(progress, TLS_PROGRESS_DONE);
}

static void
steps_that_sign_are_long(void **state)
{
	static const struct {
		struct how how;
		const char *steps;
	} cases[] = {
	    {{.version = TLS1_3_VERSION}, "ls"},
	    {{.version = TLS1_2_VERSION}, "ll"},
	    /* Another hello is asked for: nothing was computed yet. */
	    {{.version = TLS1_3_VERSION, .curves = "P-384"}, "lls"},
	    /* The client's certificate is checked in the last one. */
	    {{.version = TLS1_3_VERSION, .verify = true}, "ll"},
	};
	char steps[8];

	for (size_t i = 0; i < UNIT_N(cases); i++) {
		make(&cases[i].how);
		note_steps(steps, sizeof(steps));
		assert_string_equal(steps, cases[i].steps);
		tear_down(NULL);
	}
}

static void
the_last_step_of_a_resumed_connection_is_short(void **state)
{
	SSL_SESSION *session;
	int ends[2];
	char steps[8];

	make_shaken(&(struct how){.version = TLS1_2_VERSION});
	session = SSL_get1_session(rig.peer);
	tls_conn_free(rig.conn);
	SSL_set_shutdown(rig.peer, SSL_SENT_SHUTDOWN);
	SSL_free(rig.peer);
	rig.peer = SSL_new(rig.peer_ctx);
	renew_peer_buffers();
	SSL_set_connect_state(rig.peer);
	assert_int_equal(SSL_set_session(rig.peer, session), 1);
	SSL_SESSION_free(session);
	close(rig.fd);
	close(rig.far);
	assert_int_equal(
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
	rig.fd = ends[0];
	rig.far = ends[1];
	rig.conn = tls_conn_new(rig.context);
	assert_non_null(tls_conn_begin(rig.conn, TLS_ACCEPTS));
	note_steps(steps, sizeof(steps));
	assert_true(SSL_session_reused(rig.peer));
	assert_string_equal(steps, "ls");
}

static void
expect_refused(const char *bytes, size_t size, const char *why)
{
	make(&(struct how){.role = TLS_ACCEPTS});
	put_on_wire((const uint8_t *)bytes, size);
	assert_int_equal(
	    tls_conn_handshake(rig.conn, call()), TLS_PROGRESS_FAILED);
	assert_false(rig.io.ended);
	assert_non_null(tls_conn_failure(rig.conn));
	assert_string_equal(tls_conn_failure(rig.conn), why);
	assert_int_equal(ERR_peek_error(), 0);
	/* The connection stays broken. */
	assert_int_equal(tls_conn_read(rig.conn, call(), got, 1), -ECONNRESET);
	assert_int_equal(
	    tls_conn_write(rig.conn, call(), data, 1, 0), -ECONNRESET);
	assert_true(tls_conn_end(rig.conn, call()));
	assert_int_equal(rig.io.out_n, 0);
	tear_down(NULL);
}

static void
what_is_no_hello_is_refused(void **state)
{
	static const char http[] = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
	char zeros[600] = "";

	expect_refused(http, strlen(http), "http request");
	expect_refused(
	    "CONNECT a:1 HTTP/1.1\r\n\r\n", 24, "https proxy request");
	expect_refused("SSH-2.0-OpenSSH_9.2\r\n", 21, "wrong version number");
	expect_refused(zeros, sizeof(zeros), "wrong version number");
}

/* A hello that is cut off is no failure of TLS. */
static void
an_end_in_the_handshake_is_the_sockets(void **state)
{
	uint8_t hello[4096];
	size_t n;

	make(&(struct how){.role = TLS_ACCEPTS});
	(void)SSL_do_handshake(rig.peer);
	n = peer_bytes(hello, sizeof(hello));
	put_on_wire(hello, n - 1);
	assert_int_equal(step(), TLS_PROGRESS_WAIT);
	assert_false(rig.io.readable);
	shutdown(rig.far, SHUT_WR);
	assert_int_equal(step(), TLS_PROGRESS_FAILED);
	assert_true(rig.io.ended);
	assert_int_equal(rig.io.error, 0);
	assert_null(tls_conn_failure(rig.conn));
}

static void
records_of_the_handshake_are_kept_in_order(void **state)
{
	size_t size;

	make(&(struct how){.role = TLS_ACCEPTS});
	tls_conn_kept(rig.conn, &size);
	assert_int_equal(size, 0);
	assert_true(tls_conn_keep(rig.conn, (const uint8_t *)"abcdef", 6));
	tls_conn_kept_sent(rig.conn, 2);
	assert_true(tls_conn_keep(rig.conn, (const uint8_t *)"gh", 2));
	assert_memory_equal(tls_conn_kept(rig.conn, &size), "cdefgh", 6);
	assert_int_equal(size, 6);
	tls_conn_kept_sent(rig.conn, 6);
	tls_conn_kept(rig.conn, &size);
	assert_int_equal(size, 0);
	/* The rest is freed with the connection. */
	assert_true(tls_conn_keep(rig.conn, (const uint8_t *)"abcdef", 6));
}

/* -- data -- */

/* Writes the first size bytes of data in pieces, and gives them to the peer. */
static void
write_data(size_t size)
{
	for (size_t at = 0; at < size; at += PIECE) {
		size_t piece = size - at < PIECE ? size - at : PIECE;

		assert_int_equal(tls_conn_write(rig.conn, call(), data + at,
		                     piece, rig.now_ms),
		    0);
		assert_true(rig.io.out_n <= TLS_RECORDS_MAX(piece));
		hand_over();
	}
}

/* The peer sends the first size bytes of data, in records of up to that size;
 * they come in portions. */
static void
receive_data(size_t size, size_t record, size_t portion)
{
	static uint8_t wire[2 * DATA_MAX];
	size_t wire_n = 0, sent = 0, done = 0;

	for (size_t at = 0; at < size; at += record) {
		size_t n = size - at < record ? size - at : record;

		assert_int_equal(SSL_write(rig.peer, data + at, (int)n), n);
		wire_n += peer_bytes(wire + wire_n, sizeof(wire) - wire_n);
	}
	while (sent < wire_n || done < size) {
		size_t n = wire_n - sent < portion ? wire_n - sent : portion;
		ssize_t in;

		if (n > 0) {
			in = send(rig.far, wire + sent, n, 0);
			sent += in > 0 ? (size_t)in : 0;
		}
		do {
			in = tls_conn_read(rig.conn, call(), got + done, PIECE);
			assert_true(in > 0 || in == -EAGAIN);
			done += in > 0 ? (size_t)in : 0;
		} while (in > 0 && done + PIECE <= sizeof(got));
	}
	assert_int_equal(done, size);
	assert_memory_equal(got, data, size);
}

static void
data_of_any_size_go_both_ways(void **state)
{
	static const size_t sizes[] = {1, 2, 511, 512, 513, 1023, 1025, 4095,
	    4096, 4097, 16383, 16384, 16385, 65535, 65536, 65537, 200000,
	    DATA_MAX - PIECE};

	for (unsigned role = 0; role < TLS_ROLES; role++) {
		make_shaken(&(struct how){.role = (enum tls_role)role});
		for (size_t i = 0; i < UNIT_N(sizes); i++) {
			write_data(sizes[i]);
			expect_peer_gets(data, sizes[i]);
			receive_data(sizes[i], 16384, PIECE);
		}
		tear_down(NULL);
	}
}

static void
records_come_split_and_joined(void **state)
{
	static const size_t records[] = {1, 100, 4096, 16384};
	static const size_t portions[] = {1, 7, 1000, 16000, 60000};

	make_shaken(&(struct how){.role = TLS_ACCEPTS});
	for (size_t r = 0; r < UNIT_N(records); r++)
		for (size_t p = 0; p < UNIT_N(portions); p++) {
			size_t size = records[r] * 50;

			if (size / portions[p] > 100000)
				size = 100000;
			receive_data(size < DATA_MAX / 2 ? size : DATA_MAX / 2,
			    records[r], portions[p]);
		}
}

/* Returns the size of the record at the beginning of what was made. */
static size_t
first_record(void)
{
	assert_true(rig.io.out_n > 5);
	return (size_t)rig.out[3] << 8 | rig.out[4];
}

static bool
is_short(size_t record)
{
	return record >= 4096 && record < 4096 + 300;
}

static void
records_are_short_at_first_and_after_a_pause(void **state)
{
	make_shaken(&(struct how){.role = TLS_ACCEPTS});
	for (int round = 0; round < 2; round++) {
		for (size_t sent = 0; sent < 65536; sent += 16384) {
			assert_int_equal(tls_conn_write(rig.conn, call(), data,
			                     16384, rig.now_ms),
			    0);
			assert_true(is_short(first_record()));
			hand_over();
			rig.now_ms += 10;
		}
		rig.now_ms += 900;
		assert_int_equal(
		    tls_conn_write(rig.conn, call(), data, 16384, rig.now_ms),
		    0);
		assert_true(first_record() >= 16384);
		hand_over();
		rig.now_ms += 1000;
	}
	/* The times of two threads may differ by some ms either way. */
	rig.now_ms -= 3;
	assert_int_equal(
	    tls_conn_write(rig.conn, call(), data, 16384, rig.now_ms), 0);
	hand_over();
	expect_peer_gets(data, 16384);
}

/* Symptom: a client that asks for records of 512 bytes lost its connection as
 * soon as 64 KiB were sent at once. */
static void
records_fit_in_their_room(void **state)
{
	static const struct how cases[] = {
	    {.version = TLS1_3_VERSION,
	        .fragment = TLSEXT_max_fragment_length_512},
	    {.version = TLS1_2_VERSION,
	        .fragment = TLSEXT_max_fragment_length_512},
	    {.version = TLS1_2_VERSION,
	        .ciphers = "ECDHE-ECDSA-AES256-SHA384",
	        .fragment = TLSEXT_max_fragment_length_512},
	    {.version = TLS1_2_VERSION,
	        .ciphers = "ECDHE-ECDSA-AES256-SHA384",
	        .fragment = TLSEXT_max_fragment_length_1024},
	    {.version = TLS1_2_VERSION, .ciphers = "ECDHE-ECDSA-AES256-SHA384"},
	    {.version = TLS1_2_VERSION},
	};

	for (size_t i = 0; i < UNIT_N(cases); i++) {
		make_shaken(&cases[i]);
		for (size_t size = 1; size <= PIECE; size = size * 3 + 1) {
			write_data(size);
			expect_peer_gets(data, size);
		}
		write_data(PIECE);
		write_data(PIECE);
		expect_peer_gets(data, PIECE);
		expect_peer_gets(data, PIECE);
		tear_down(NULL);
	}
}

static void
too_little_room_breaks_the_connection(void **state)
{
	make_shaken(&(struct how){.role = TLS_ACCEPTS});
	(void)call();
	rig.io.out_max = 1000;
	assert_int_equal(
	    tls_conn_write(rig.conn, &rig.io, data, 5000, 0), -ECONNRESET);
	assert_true(rig.io.out_n <= 1000);
	assert_int_equal(
	    tls_conn_write(rig.conn, call(), data, 1, 0), -ECONNRESET);
	assert_int_equal(ERR_peek_error(), 0);
}

/* -- ends -- */

static void
peer_ends(void)
{
	uint8_t bytes[256];

	(void)SSL_shutdown(rig.peer);
	put_on_wire(bytes, peer_bytes(bytes, sizeof(bytes)));
}

static void
an_announced_end_comes_behind_the_data(void **state)
{
	size_t n;

	for (unsigned role = 0; role < TLS_ROLES; role++) {
		make_shaken(&(struct how){.role = (enum tls_role)role});
		peer_says("the last");
		peer_ends();
		expect_text("the last");
		assert_int_equal(read_all(1, &n), 0);
		assert_int_equal(read_all(1, &n), 0);
		/* The other direction goes on. */
		write_data(100000);
		assert_true(tls_conn_end(rig.conn, call()));
		hand_over();
		expect_peer_gets(data, 100000);
		assert_int_equal(SSL_read(rig.peer, got, 1), 0);
		assert_int_equal(
		    SSL_get_shutdown(rig.peer) & SSL_RECEIVED_SHUTDOWN,
		    SSL_RECEIVED_SHUTDOWN);
		tear_down(NULL);
	}
}

static void
our_end_leaves_the_other_direction(void **state)
{
	size_t n;

	make_shaken(&(struct how){.role = TLS_ACCEPTS});
	assert_true(tls_conn_end(rig.conn, call()));
	assert_true(rig.io.out_n > 0);
	hand_over();
	assert_int_equal(SSL_read(rig.peer, got, 1), 0);
	receive_data(100000, 5000, 999);
	peer_ends();
	assert_int_equal(read_all(1, &n), 0);
}

/* A socket's end is not the peer's word for it. */
static void
an_end_that_was_not_announced_is_a_reset(void **state)
{
	for (unsigned role = 0; role < TLS_ROLES; role++) {
		size_t n;

		make_shaken(&(struct how){.role = (enum tls_role)role});
		peer_says("cut");
		shutdown(rig.far, SHUT_WR);
		(void)call();
		rig.io.read_on = true;
		n = (size_t)tls_conn_read(rig.conn, &rig.io, got, PIECE);
		assert_int_equal(n, 3);
		assert_true(rig.io.readable);
		assert_int_equal(read_all(1, &n), -ECONNRESET);
		assert_null(tls_conn_failure(rig.conn));
		/* A session that ends so can be resumed all the same. */
		assert_int_equal(ERR_peek_error(), 0);
		tear_down(NULL);
	}
}

static void
a_part_of_a_record_is_no_data(void **state)
{
	uint8_t bytes[512];
	size_t n;

	make_shaken(&(struct how){.role = TLS_ACCEPTS});
	assert_int_equal(SSL_write(rig.peer, data, 100), 100);
	n = peer_bytes(bytes, sizeof(bytes));
	put_on_wire(bytes, n - 1);
	assert_int_equal(tls_conn_read(rig.conn, call(), got, PIECE), -EAGAIN);
	assert_false(rig.io.readable);
	shutdown(rig.far, SHUT_WR);
	assert_int_equal(
	    tls_conn_read(rig.conn, call(), got, PIECE), -ECONNRESET);
	assert_true(rig.io.ended);
}

static void
a_record_that_was_changed_ends_the_connection_behind_the_data(void **state)
{
	uint8_t bytes[512];
	size_t n;

	for (unsigned role = 0; role < TLS_ROLES; role++) {
		make_shaken(&(struct how){.role = (enum tls_role)role});
		peer_says("good");
		assert_int_equal(SSL_write(rig.peer, data, 100), 100);
		n = peer_bytes(bytes, sizeof(bytes));
		bytes[n - 1] ^= 1;
		put_on_wire(bytes, n);
		expect_text("good");
		assert_int_equal(
		    tls_conn_read(rig.conn, call(), got, PIECE), -ECONNRESET);
		hand_over();
		assert_string_equal(tls_conn_failure(rig.conn),
		    "decryption failed or bad record mac");
		/* The peer is told. */
		assert_true(SSL_read(rig.peer, got, 1) <= 0);
		assert_int_equal(ERR_GET_REASON(ERR_peek_error()),
		    SSL_R_SSLV3_ALERT_BAD_RECORD_MAC);
		ERR_clear_error();
		tear_down(NULL);
	}
}

/* -- what comes without data -- */

static void
keys_are_updated_both_ways(void **state)
{
	for (unsigned role = 0; role < TLS_ROLES; role++) {
		make_shaken(&(struct how){
		    .role = (enum tls_role)role, .version = TLS1_3_VERSION});
		for (int i = 0; i < 50; i++) {
			assert_int_equal(
			    SSL_key_update(
			        rig.peer, i % 2 ? SSL_KEY_UPDATE_REQUESTED
			                        : SSL_KEY_UPDATE_NOT_REQUESTED),
			    1);
			expect_conversation();
		}
		tear_down(NULL);
	}
}

/* Writes so many key updates, each with its request for another, on the wire as
 * far as it takes them. */
static size_t
flood(unsigned updates)
{
	static uint8_t wire[8 * 1024 * 1024];
	size_t n = 0;
	ssize_t sent;

	for (unsigned i = 0; i < updates; i++) {
		assert_int_equal(
		    SSL_key_update(rig.peer, SSL_KEY_UPDATE_REQUESTED), 1);
		assert_int_equal(SSL_do_handshake(rig.peer), 1);
		n += peer_bytes(wire + n, sizeof(wire) - n);
	}
	sent = send(rig.far, wire, n, 0);
	return sent > 0 ? (size_t)sent : 0;
}

/* Symptom: a client that sent key updates faster than they were processed held
 * a thread for as long as it did so. */
static void
a_flood_of_key_updates_is_read_in_parts(void **state)
{
	unsigned calls = 0;
	size_t before;
	ssize_t n;

	make_shaken(
	    &(struct how){.role = TLS_ACCEPTS, .version = TLS1_3_VERSION});
	assert_int_equal(setsockopt(rig.far, SOL_SOCKET, SO_SNDBUF,
	                     &(int){1024 * 1024}, sizeof(int)),
	    0);
	assert_true(flood(6000) > 2 * TLS_READ_MAX);
	renew_peer_buffers();
	before = heap_bytes;
	do {
		n = tls_conn_read(rig.conn, call(), got, PIECE);
		assert_int_equal(n, -EAGAIN);
		/* There is an answer to each, and room for it. */
		assert_true(rig.io.out_n <= TLS_FLIGHT_MAX);
		rig.io.out_n = 0;
		calls++;
	} while (rig.io.readable);
	assert_true(calls > 2);
	/* The buffer for a record in part is allowed. */
	assert_true(heap_bytes < before + 20000);
}

static int
make_ticket_long(SSL *ssl, void *arg)
{
	return SSL_SESSION_set1_ticket_appdata(
	    SSL_get0_session(ssl), data, 3000);
}

/* Symptom: a session was reset that had data for a server while a ticket of the
 * server had come in part. */
static void
data_wait_for_a_ticket_that_has_come_in_part(void **state)
{
	static uint8_t bytes[16384];
	size_t n, first;

	make(&(struct how){.role = TLS_CONNECTS, .version = TLS1_3_VERSION});
	SSL_set_max_send_fragment(rig.peer, 512);
	SSL_CTX_set_session_ticket_cb(
	    rig.peer_ctx, make_ticket_long, NULL, NULL);
	shake(SIZE_MAX);
	expect_conversation();
	assert_int_equal(SSL_new_session_ticket(rig.peer), 1);
	assert_int_equal(SSL_do_handshake(rig.peer), 1);
	n = peer_bytes(bytes, sizeof(bytes));
	first = 5 + ((size_t)bytes[3] << 8 | bytes[4]);
	assert_true(n > 2 * first);
	put_on_wire(bytes, first);
	assert_int_equal(tls_conn_read(rig.conn, call(), got, PIECE), -EAGAIN);
	assert_int_equal(
	    tls_conn_write(rig.conn, call(), data, 100, 0), -EAGAIN);
	assert_false(tls_conn_end(rig.conn, call()));
	assert_int_equal(rig.io.out_n, 0);
	put_on_wire(bytes + first, n - first);
	assert_int_equal(tls_conn_read(rig.conn, call(), got, PIECE), -EAGAIN);
	expect_conversation();
	assert_true(tls_conn_end(rig.conn, call()));
	assert_true(rig.io.out_n > 0);
}

static void
a_renegotiation_is_refused(void **state)
{
	static const uint8_t warning[] = {21, 3, 3};
	uint8_t bytes[4096];
	size_t n;

	for (unsigned role = 0; role < TLS_ROLES; role++) {
		make_shaken(&(struct how){
		    .role = (enum tls_role)role, .version = TLS1_2_VERSION});
		assert_int_equal(SSL_renegotiate(rig.peer), 1);
		(void)SSL_do_handshake(rig.peer);
		ERR_clear_error();
		n = peer_bytes(bytes, sizeof(bytes));
		assert_true(n > 0);
		put_on_wire(bytes, n);
		n = (size_t)tls_conn_read(rig.conn, call(), got, PIECE);
		assert_int_equal((ssize_t)n, -EAGAIN);
		/* An alert that is encrypted, and nothing else. */
		assert_true(rig.io.out_n > 5 && rig.io.out_n < 64);
		assert_memory_equal(rig.out, warning, sizeof(warning));
		assert_int_equal(
		    tls_conn_write(rig.conn, call(), data, 100, 0), 0);
		tear_down(NULL);
	}
}

/* -- memory -- */

static void
no_memory_is_held_between_records(void **state)
{
	size_t before;

	for (unsigned role = 0; role < TLS_ROLES; role++) {
		make_shaken(&(struct how){.role = (enum tls_role)role});
		/* The peer's memory of the handshake goes with its first
		 * record. */
		expect_conversation();
		expect_conversation();
		renew_peer_buffers();
		before = heap_bytes;
		receive_data(200000, 16384, 60000);
		renew_peer_buffers();
		write_data(200000);
		expect_peer_gets(data, 200000);
		renew_peer_buffers();
		assert_int_equal(heap_bytes, before);
		tear_down(NULL);
	}
}

/* Runs the handshake of the connection, in which the n-th allocation and all
 * later ones fail.  Returns whether it was complete before. */
static bool
shake_with_memory(enum tls_role role, long n)
{
	enum tls_progress progress = TLS_PROGRESS_WAIT;
	SSL *ssl;

	make(&(struct how){.role = role, .version = TLS1_2_VERSION});
	tls_conn_free(rig.conn);
	rig.conn = tls_conn_new(rig.context);
	allocations_left = n;
	ssl = tls_conn_begin(rig.conn, role);
	allocations_left = -1;
	for (int i = 0; ssl && i < 10 && progress == TLS_PROGRESS_WAIT; i++) {
		uint8_t bytes[8192];

		(void)SSL_do_handshake(rig.peer);
		ERR_clear_error();
		put_on_wire(bytes, peer_bytes(bytes, sizeof(bytes)));
		allocations_left = n;
		progress = tls_conn_handshake(rig.conn, call());
		allocations_left = -1;
		hand_over();
	}
	assert_int_equal(ERR_peek_error(), 0);
	if (progress == TLS_PROGRESS_DONE)
		expect_conversation();
	tear_down(NULL);
	return progress == TLS_PROGRESS_DONE;
}

/* A handshake makes some 1300 allocations.  With a sanitizer it takes a hundred
 * times as long, and fewer places have to do. */
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define FIRST_STEP 7
#define STEP       97
#else
#define FIRST_STEP 1
#define STEP       7
#endif

static void
a_handshake_without_memory_fails(void **state)
{
	for (unsigned role = 0; role < TLS_ROLES; role++) {
		long n = 0;

		while (!shake_with_memory((enum tls_role)role, n))
			n += n < 100 ? FIRST_STEP : STEP;
		assert_true(n > 100);
	}
}

int
main(void)
{
#define T(name) cmocka_unit_test_teardown(name, tear_down)
	const struct CMUnitTest tests[] = {
	    T(a_handshake_takes_bytes_in_any_portions),
	    T(steps_that_sign_are_long),
	    T(the_last_step_of_a_resumed_connection_is_short),
	    T(what_is_no_hello_is_refused),
	    T(an_end_in_the_handshake_is_the_sockets),
	    T(records_of_the_handshake_are_kept_in_order),
	    T(data_of_any_size_go_both_ways),
	    T(records_come_split_and_joined),
	    T(records_are_short_at_first_and_after_a_pause),
	    T(records_fit_in_their_room),
	    T(too_little_room_breaks_the_connection),
	    T(an_announced_end_comes_behind_the_data),
	    T(our_end_leaves_the_other_direction),
	    T(an_end_that_was_not_announced_is_a_reset),
	    T(a_part_of_a_record_is_no_data),
	    T(a_record_that_was_changed_ends_the_connection_behind_the_data),
	    T(keys_are_updated_both_ways),
	    T(a_flood_of_key_updates_is_read_in_parts),
	    T(data_wait_for_a_ticket_that_has_come_in_part),
	    T(a_renegotiation_is_refused),
	    T(no_memory_is_held_between_records),
	    T(a_handshake_without_memory_fails),
	};
	int failed;

	unit_watchdog();
	if (CRYPTO_set_mem_functions(count_malloc, count_realloc, count_free) !=
	    1)
		return 1;
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * 2654435761u >> 13);
	snprintf(pem, sizeof(pem), "/tmp/lfproxy-conn-%d.pem", (int)getpid());
	if (!own_cert_write(pem))
		return 1;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(pem);
	return failed;
}
