/* SPDX-License-Identifier: MIT
 * A client that speaks TLS with a session: an input is a script of what it, the
 * server and the network between them do.  A letter is a step, and the number
 * behind it, if any, says how much; whatever else there is is passed over.
 *
 *   h      the client goes on with its handshake
 *   d N    it sends N times 100 bytes;   k, K  it updates its key, or both keys
 *   n      it announces its end;         f     its FIN
 *   r      it reads what there is
 *   c N    N bytes of what it has made reach lfproxy, all without a number
 *   x N    the byte at N of what it has made is changed;  z N  N are lost
 *   : HEX  these bytes reach lfproxy as well
 *   s N    the server sends N times 100 bytes;  e  its FIN;  g  it reads
 *   t N    N turns of the session;  p N  N milliseconds pass
 *
 * Whatever the network does, the server gets a beginning of what the client has
 * sent, and the client one of what the server has; no end is taken for one that
 * was not announced; and memory is bounded.
 */
#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fuzz/fuzz.h"
#include "lf/pool.h"
#include "proxy/reaper.h"
#include "proxy/relay.h"
#include "proxy/tls_side.h"
#include "tools/own_cert.h"

#define STEPS_MAX 400
#define DATA_MAX  (400u * 1024)
#define NOW_MS    100000u

/* State that stays from one input to the next. */
static struct world {
	bool made;
	struct tls_context *context;
	SSL_CTX *client_ctx;
	struct proxy proxy;
	struct proxy_thread local;
	struct pool_thread self;
	struct frontend_spec frontend_spec;
	struct backend_spec backend_spec;
	struct server_state server_state;
	struct server server;
	struct backend backend;
	struct frontend *frontend; /* with one backend */
} world;

/* The input's. */
static struct play {
	struct session *s;
	uint32_t index;
	int client, server; /* the far ends */
	SSL *tls;
	enum tls_progress progress;
	bool relays, closed;
	bool announced;        /* the client has announced its end */
	size_t sent, received; /* by the client, of data */
	size_t server_sent, server_received; /* by the server */
} play;

static uint8_t
byte_at(size_t at)
{
	return (uint8_t)(at * 2654435761u >> 11);
}

static void
make_world(void)
{
	char path[64];
	struct tls_pair pair = {.cert = path};
	struct tls_settings settings = {.pairs = &pair,
	    .pairs_n = 1,
	    .tickets = true,
	    .session_timeout_s = 300};
	struct world *w = &world;

	snprintf(path, sizeof(path), "/tmp/lfproxy-fuzz-%d.pem", (int)getpid());
	ENSURE(own_cert_write(path));
	w->context = tls_context_new(&settings, TLS_ACCEPTS, NULL);
	unlink(path);
	w->client_ctx = SSL_CTX_new(TLS_client_method());
	ENSURE(w->context && w->client_ctx);
	w->frontend_spec = (struct frontend_spec){.timeout_client_ms = 60000,
	    .timeout_client_fin_ms = 60000,
	    .half_close = true};
	w->backend_spec = (struct backend_spec){.timeout_server_ms = 60000,
	    .timeout_server_fin_ms = 60000,
	    .half_close = true};
	w->backend.spec = &w->backend_spec;
	w->server.backend = &w->backend;
	w->server.state = &w->server_state;
	w->frontend =
	    calloc(1, sizeof(*w->frontend) + sizeof(*w->frontend->backends));
	ENSURE(w->frontend);
	w->frontend->spec = &w->frontend_spec;
	w->frontend->counters = counters_new();
	w->frontend->backends[0] = &w->backend;
	w->local.proxy = &w->proxy;
	w->self.local = &w->local;
	ENSURE(w->frontend->counters && proxy_init(&w->proxy, 1, 0, 0) == 0);
	w->made = true;
}

static int
make_side(struct side *side)
{
	int ends[2];

	ENSURE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) == 0);
	side_reset(side, ends[1], NOW_MS);
	side->readable = side->writable = true;
	return ends[0];
}

static void
begin(void)
{
	struct session *s;

	memset(&play, 0, sizeof(play));
	world.self.now_ns = (uint64_t)NOW_MS * 1000000;
	s = play.s = slab_take(&world.proxy.sessions, &play.index);
	ENSURE(s);
	s->frontend = world.frontend;
	s->server = &world.server;
	s->cause = CAUSE_DONE;
	s->closer = 0;
	s->inspection = NULL;
	s->accepted_ms = s->connected_ms = NOW_MS;
	s->counted_ms = (uint32_t)NOW_MS;
	s->pending[0].buffer = s->pending[1].buffer = NULL;
	play.client = make_side(&s->side[HANDLE_CLIENT]);
	play.server = make_side(&s->side[HANDLE_SERVER]);
	s->side[HANDLE_CLIENT].tls = tls_conn_new(world.context);
	ENSURE(s->side[HANDLE_CLIENT].tls &&
	       tls_conn_begin(s->side[HANDLE_CLIENT].tls, TLS_ACCEPTS));
	play.progress = TLS_PROGRESS_WAIT;
	play.tls = SSL_new(world.client_ctx);
	ENSURE(play.tls);
	SSL_set_bio(play.tls, BIO_new_socket(play.client, BIO_NOCLOSE),
	    BIO_new(BIO_s_mem()));
	SSL_set_connect_state(play.tls);
}

static void
end(void)
{
	struct session *s = play.s;

	relay_drop_pending(s, &world.proxy);
	ENSURE(slab_used(&world.proxy.pending_pool.slab) == 0);
	for (int i = 0; i < 2; i++) {
		tls_side_free(&s->side[i]);
		close(s->side[i].fd);
	}
	SSL_free(play.tls);
	ERR_clear_error();
	close(play.client);
	close(play.server);
	s->state = SESSION_FREE;
	proxy_set_deadline(&world.proxy, play.index, 0);
	slab_give(&world.proxy.sessions, play.index);
}

/* -- lfproxy -- */

static void
shake(void)
{
	struct side *side = &play.s->side[HANDLE_CLIENT];
	struct tls_io io;

	side->readable = true;
	(void)tls_conn_computes_long(side->tls);
	tls_side_begin(side, &world.self, &io);
	play.progress = tls_conn_handshake(side->tls, &io);
	tls_side_end(side, &io);
	ENSURE(io.out_n <= sizeof(world.local.records));
	(void)send(side->fd, io.out, io.out_n, MSG_NOSIGNAL);
	if (play.progress == TLS_PROGRESS_FAILED) {
		play.closed = true;
	} else if (play.progress == TLS_PROGRESS_DONE) {
		play.s->state = SESSION_CONNECTING;
		session_set_state(play.s, SESSION_RELAYING, &world.self);
		play.relays = true;
	}
}

static void
turn(void)
{
	struct verdict v = {.step = STEP_MORE};

	if (play.closed)
		return;
	if (!play.relays) {
		shake();
		return;
	}
	for (int i = 0; i < 2; i++)
		play.s->side[i].readable = play.s->side[i].writable = true;
	for (int i = 0; i < 4 && v.step == STEP_MORE; i++)
		v = relay_step(play.s, &world.self);
	if (v.step == STEP_REPLACE)
		v = relay_keep_server(play.s, &world.self);
	ENSURE(slab_used(&world.proxy.pending_pool.slab) <= 2);
	ENSURE(ERR_peek_error() == 0);
	play.closed = v.step == STEP_CLOSE;
	/* An end of the client's data is one that it has announced. */
	ENSURE(play.announced || side_is_broken(&play.s->side[HANDLE_CLIENT]) ||
	       !side_at_eof(&play.s->side[HANDLE_CLIENT]));
}

/* -- the peers -- */

static void
fill(uint8_t *data, size_t size, size_t at)
{
	for (size_t i = 0; i < size; i++)
		data[i] = byte_at(at + i);
}

static void
check(const uint8_t *data, size_t size, size_t at)
{
	for (size_t i = 0; i < size; i++)
		ENSURE(data[i] == byte_at(at + i));
}

static void
client_sends(size_t size)
{
	static uint8_t data[DATA_MAX];

	if (size == 0 || play.sent + size > DATA_MAX ||
	    !SSL_is_init_finished(play.tls))
		return;
	fill(data, size, play.sent);
	if (SSL_write(play.tls, data, (int)size) > 0)
		play.sent += size;
}

static void
client_reads(void)
{
	uint8_t data[16384];
	int n;

	while ((n = SSL_read(play.tls, data, sizeof(data))) > 0) {
		check(data, (size_t)n, play.received);
		play.received += (size_t)n;
		ENSURE(play.received <= play.server_sent);
	}
}

static void
server_sends(size_t size)
{
	static uint8_t data[DATA_MAX];
	ssize_t n;

	if (size > DATA_MAX)
		return;
	fill(data, size, play.server_sent);
	n = send(play.server, data, size, MSG_NOSIGNAL);
	play.server_sent += n > 0 ? (size_t)n : 0;
}

static void
server_reads(void)
{
	uint8_t data[16384];
	ssize_t n;

	while ((n = recv(play.server, data, sizeof(data), 0)) > 0) {
		check(data, (size_t)n, play.server_received);
		play.server_received += (size_t)n;
		ENSURE(play.server_received <= play.sent);
	}
}

/* -- the network: what the client has made, and has not reached lfproxy -- */

static void
carry(long size)
{
	uint8_t data[16384];
	int n = 1;

	while (size != 0 && n > 0) {
		n = (int)sizeof(data);
		if (size > 0 && size < n)
			n = (int)size;
		n = BIO_read(SSL_get_wbio(play.tls), data, n);
		if (n > 0)
			(void)send(play.client, data, (size_t)n, MSG_NOSIGNAL);
		size -= size > 0 && n > 0 ? n : 0;
	}
}

static void
change(size_t at)
{
	char *data;
	long n = BIO_get_mem_data(SSL_get_wbio(play.tls), &data);

	if ((long)at < n)
		data[at] = (char)(data[at] ^ (1 << at % 8));
}

static void
lose(size_t size)
{
	uint8_t data[1000];

	(void)BIO_read(SSL_get_wbio(play.tls), data,
	    size < sizeof(data) ? (int)size : (int)sizeof(data));
}

static const char *
send_digits(const char *at)
{
	static const char digits[] = "0123456789abcdef";
	const char *high, *low;

	while (*at == ' ')
		at++;
	while (*at && at[1] && (high = strchr(digits, *at)) &&
	       (low = strchr(digits, at[1]))) {
		uint8_t byte = (uint8_t)((high - digits) << 4 | (low - digits));

		(void)send(play.client, &byte, 1, MSG_NOSIGNAL);
		at += 2;
	}
	return at;
}

static void
step(char what, long number)
{
	size_t n = number < 0 ? 1 : (size_t)number % 10000;

	switch (what) {
	case 'h':
		(void)SSL_do_handshake(play.tls);
		break;
	case 'd':
		client_sends(n * 100);
		break;
	case 'k':
	case 'K':
		if (SSL_is_init_finished(play.tls) &&
		    SSL_key_update(play.tls, what == 'K') == 1)
			(void)SSL_do_handshake(play.tls);
		break;
	case 'n':
		play.announced |= SSL_shutdown(play.tls) >= 0;
		break;
	case 'f':
		shutdown(play.client, SHUT_WR);
		play.s->side[HANDLE_CLIENT].read_on = true;
		break;
	case 'r':
		client_reads();
		break;
	case 'c':
		carry(number);
		break;
	case 'x':
		change(n);
		break;
	case 'z':
		lose(n);
		break;
	case 's':
		server_sends(n * 100);
		break;
	case 'e':
		shutdown(play.server, SHUT_WR);
		play.s->side[HANDLE_SERVER].read_on = true;
		break;
	case 'g':
		server_reads();
		break;
	case 't':
		for (size_t i = 0; i < n && i < 20; i++)
			turn();
		break;
	case 'p':
		world.self.now_ns += n * 1000000u;
		/* There is no backend to count bytes for. */
		play.s->counted_ms = (uint32_t)turn_now_ms(&world.self);
		break;
	default:
		break;
	}
	ERR_clear_error();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *script = fuzz_string(data, size);
	const char *at = script;

	if (!world.made)
		make_world();
	begin();
	for (int i = 0; i < STEPS_MAX && *at; i++) {
		char what = *at++;
		long number = -1;

		if (what == ':') {
			at = send_digits(at);
			continue;
		}
		while (*at == ' ')
			at++;
		if (*at >= '0' && *at <= '9')
			number = strtol(at, (char **)(uintptr_t)&at, 10);
		step(what, number);
	}
	server_reads();
	client_reads();
	ERR_clear_error();
	end();
	free(script);
	return 0;
}
