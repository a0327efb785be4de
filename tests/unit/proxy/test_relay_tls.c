/* SPDX-License-Identifier: MIT
 * The relay with TLS on one side or both.
 */
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <signal.h>

#include "relay_stage.h"
#include "tools/own_cert.h"

#define MUCH (3u * 1024 * 1024)

static char pem[64];
static SSL_CTX *peer_ctx[2]; /* what plays the client, and the server */
static struct tls_context *context[2];
static SSL *far_end[2]; /* NULL: that side is without TLS */
static uint8_t data[MUCH], got[MUCH];

/* -- the stage -- */

static bool
shake(SSL *peer, struct side *side)
{
	struct tls_io io;
	struct proxy_thread *t = &stage.local;
	bool done = false;

	for (int i = 0; i < 20; i++) {
		int rc = SSL_do_handshake(peer);

		ERR_clear_error();
		io = (struct tls_io){.fd = side->fd,
		    .readable = true,
		    .out = t->records,
		    .out_max = sizeof(t->records)};
		if (!done)
			done = tls_conn_handshake(side->tls, &io) ==
			       TLS_PROGRESS_DONE;
		assert_int_equal(
		    write(side->fd, t->records, io.out_n), io.out_n);
		if (done && rc == 1)
			return true;
	}
	return false;
}

/* Makes that side's connection one with TLS. */
static void
secure(enum handle_side which)
{
	struct side *side = &stage.session->side[which];
	bool client = which == HANDLE_CLIENT;

	side->tls = tls_conn_new(context[which]);
	assert_non_null(
	    tls_conn_begin(side->tls, client ? TLS_ACCEPTS : TLS_CONNECTS));
	far_end[which] = SSL_new(peer_ctx[which]);
	SSL_set_fd(far_end[which], stage.peer[which]);
	SSL_set_mode(far_end[which], SSL_MODE_ENABLE_PARTIAL_WRITE |
	                                 SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
	if (client)
		SSL_set_connect_state(far_end[which]);
	else
		SSL_set_accept_state(far_end[which]);
	assert_true(shake(far_end[which], side));
	side->readable = true;
}

static int
end_stage(void **state)
{
	for (int i = 0; i < 2; i++) {
		SSL_free(far_end[i]);
		far_end[i] = NULL;
	}
	ERR_clear_error();
	return tear_down(state);
}

/* Another server takes the place of the one that has failed. */
static void
replace_server(void)
{
	struct side *server = &stage.session->side[HANDLE_SERVER];
	int ends[2];

	SSL_free(far_end[HANDLE_SERVER]);
	tls_side_free(server);
	close(server->fd);
	close(stage.peer[HANDLE_SERVER]);
	assert_int_equal(
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
	stage.peer[HANDLE_SERVER] = ends[0];
	side_reset(server, ends[1], NOW_MS);
	server->writable = true;
	secure(HANDLE_SERVER);
}

/* Every event at once. */
static struct verdict
turn(void)
{
	for (int i = 0; i < 2; i++)
		stage.session->side[i].readable =
		    stage.session->side[i].writable = true;
	return relay_step(stage.session, &stage.self);
}

static ssize_t
far_send(enum handle_side which, const uint8_t *bytes, size_t size)
{
	ssize_t n = far_end[which]
	                ? SSL_write(far_end[which], bytes, (int)size)
	                : send(stage.peer[which], bytes, size, MSG_NOSIGNAL);

	ERR_clear_error();
	return n;
}

/* Receives as recv does; 0 at the end that was announced, by TLS if that is
 * spoken. */
static ssize_t
far_receive(enum handle_side which, uint8_t *bytes, size_t size)
{
	ssize_t n;

	if (!far_end[which])
		return recv(stage.peer[which], bytes, size, 0);
	n = SSL_read(far_end[which], bytes, (int)size);
	if (n <= 0 &&
	    SSL_get_error(far_end[which], (int)n) != SSL_ERROR_ZERO_RETURN)
		n = -1;
	ERR_clear_error();
	return n;
}

static void
far_ends(enum handle_side which)
{
	if (far_end[which])
		(void)SSL_shutdown(far_end[which]);
	shutdown(stage.peer[which], SHUT_WR);
	stage.session->side[which].read_on = true;
}

static void
expect_text(enum handle_side which, const char *text)
{
	char bytes[64] = "";

	assert_int_equal(
	    far_receive(which, (uint8_t *)bytes, sizeof(bytes) - 1),
	    strlen(text));
	assert_string_equal(bytes, text);
}

/* The sides that speak TLS, in every combination that has any. */
static void
secure_some(int which)
{
	if (which & 1)
		secure(HANDLE_CLIENT);
	if (which & 2)
		secure(HANDLE_SERVER);
}

/* -- data -- */

/* The verdict when both sides have ended. */
static bool
close_sides(void)
{
	for (int i = 0; i < 2; i++) {
		assert_int_equal(stage.session->side[i].end & END_EOF, END_EOF);
		assert_false(
		    session_has_pending(stage.session, (enum handle_side)i));
		shutdown(stage.session->side[i].fd, SHUT_WR);
	}
	return true;
}

/* The receiver takes nothing at first, so that every buffer is full; then it
 * takes all, and the end. */
static void
carry_to_the_end(enum handle_side from, size_t bite)
{
	size_t sent = 0, received = 0;
	bool ended = false, eof = false, full = false, closed = false;

	while (!eof) {
		ssize_t n = 0;
		size_t left = sizeof(data) - sent;

		if (left > 0)
			n = far_send(
			    from, data + sent, left < 30000 ? left : 30000);
		sent += n > 0 ? (size_t)n : 0;
		if (sent == sizeof(data) && !ended) {
			far_ends(from);
			ended = true;
		}
		if (!closed && turn().step == STEP_CLOSE)
			closed = close_sides();
		full |= n <= 0;
		if (!full)
			continue;
		n = far_receive(!from, got + received,
		    sizeof(got) - received < bite ? sizeof(got) - received + 1
		                                  : bite);
		assert_true(received + (size_t)(n > 0 ? n : 0) <= sizeof(got));
		received += n > 0 ? (size_t)n : 0;
		eof = n == 0;
	}
	assert_int_equal(received, sizeof(data));
	assert_memory_equal(got, data, sizeof(data));
}

static void
data_and_the_end_pass_full_buffers(void **state)
{
	for (int which = 1; which < 4; which++)
		for (unsigned from = 0; from < 2; from++) {
			secure_some(which);
			carry_to_the_end((enum handle_side)from, 65536);
			carry_to_the_end((enum handle_side) !from, 100000);
			end_stage(NULL);
			set_up(NULL);
		}
}

/* Symptom: lfproxy aborted when a server that had completed its handshake reset
 * the connection just as the client's first bytes were on their way. */
static void
data_for_a_server_that_has_failed_go_to_the_next(void **state)
{
	for (int with_client = 0; with_client < 2; with_client++) {
		struct side *server = &stage.session->side[HANDLE_SERVER];

		if (with_client)
			secure(HANDLE_CLIENT);
		secure(HANDLE_SERVER);
		for (int i = 0; i < 3; i++) {
			if (i == 0)
				far_send(HANDLE_CLIENT, (uint8_t *)"first", 5);
			shutdown(stage.peer[HANDLE_SERVER], SHUT_RDWR);
			send_error = ECONNRESET;
			assert_int_equal(turn().step, STEP_REPLACE);
			assert_true(
			    session_has_pending(stage.session, HANDLE_SERVER));
			assert_false(server->sealed || server->wrote);
			replace_server();
		}
		far_send(HANDLE_CLIENT, (uint8_t *)" second", 7);
		assert_int_equal(turn().step, STEP_WAIT);
		expect_text(HANDLE_SERVER, "first");
		expect_text(HANDLE_SERVER, " second");
		end_stage(NULL);
		set_up(NULL);
	}
}

/* This server has got some of the data, so no other may get them. */
static void
data_that_a_server_has_got_in_part_are_not_repeated(void **state)
{
	struct side *server = &stage.session->side[HANDLE_SERVER];

	secure(HANDLE_SERVER);
	far_send(HANDLE_CLIENT, (uint8_t *)"first", 5);
	assert_int_equal(turn().step, STEP_WAIT);
	assert_true(server->wrote);
	shutdown(stage.peer[HANDLE_SERVER], SHUT_RDWR);
	assert_int_not_equal(turn().step, STEP_REPLACE);
	assert_true(side_is_broken(server));
	assert_false(session_has_pending(stage.session, HANDLE_SERVER));
}

/* A server without TLS that takes nothing has made the client one that is
 * spliced; another server, with TLS, takes its place. */
static void
a_client_is_not_spliced_to_a_server_with_tls(void **state)
{
	struct side *client = &stage.session->side[HANDLE_CLIENT];

	secure(HANDLE_SERVER);
	client->splicing = true;
	far_send(HANDLE_CLIENT, (uint8_t *)"secret", 6);
	assert_int_equal(turn().step, STEP_WAIT);
	expect_text(HANDLE_SERVER, "secret");
}

/* -- ends -- */

static void
a_fin_without_an_announcement_is_passed_on_as_a_reset(void **state)
{
	for (unsigned which = 0; which < 2; which++) {
		struct verdict v;

		secure((enum handle_side)which);
		far_send((enum handle_side)which, (uint8_t *)"cut", 3);
		/* The server has been used. */
		far_send((enum handle_side) !which, (uint8_t *)"x", 1);
		assert_int_equal(turn().step, STEP_WAIT);
		shutdown(stage.peer[which], SHUT_WR);
		stage.session->side[which].read_on = true;
		v = turn();
		assert_int_equal(v.step, STEP_CLOSE);
		assert_int_equal(v.cause, which == HANDLE_CLIENT
		                              ? CAUSE_CLIENT_GONE
		                              : CAUSE_SERVER_RESET);
		assert_int_equal(stage.session->side[which].end, SIDE_GONE);
		expect_text((enum handle_side) !which, "cut");
		end_stage(NULL);
		set_up(NULL);
	}
}

/* An announcement that finds its side gone is not waited for. */
static void
an_end_for_a_side_that_is_gone_is_not_waited_for(void **state)
{
	secure(HANDLE_CLIENT);
	secure(HANDLE_SERVER);
	far_send(HANDLE_SERVER, (uint8_t *)"x", 1);
	assert_int_equal(turn().step, STEP_WAIT);
	far_ends(HANDLE_CLIENT);
	stage.session->side[HANDLE_CLIENT].readable = true;
	send_error = ECONNRESET;
	assert_int_equal(
	    relay_step(stage.session, &stage.self).step, STEP_MORE);
	assert_true(side_is_broken(&stage.session->side[HANDLE_SERVER]));
}

/* -- a message that comes in part -- */

static int
make_ticket_long(SSL *ssl, void *arg)
{
	return SSL_SESSION_set1_ticket_appdata(
	    SSL_get0_session(ssl), data, 3000);
}

/* The server's ticket takes several records.  Puts the first of them on the
 * wire, and returns the rest, whose size is *ret_n. */
static const uint8_t *
send_ticket_in_part(size_t *ret_n)
{
	static uint8_t bytes[16384];
	BIO *wire = BIO_new(BIO_s_mem());
	SSL *server = far_end[HANDLE_SERVER];
	BIO *socket = SSL_get_wbio(server);
	size_t first, n;

	BIO_up_ref(socket);
	SSL_set_max_send_fragment(server, 512);
	SSL_set0_wbio(server, wire);
	assert_int_equal(SSL_new_session_ticket(server), 1);
	assert_int_equal(SSL_do_handshake(server), 1);
	n = (size_t)BIO_read(wire, bytes, sizeof(bytes));
	SSL_set0_wbio(server, socket);
	first = 5 + ((size_t)bytes[3] << 8 | bytes[4]);
	assert_true(n > 2 * first && n < sizeof(bytes));
	assert_int_equal(
	    send(stage.peer[HANDLE_SERVER], bytes, first, 0), first);
	*ret_n = n - first;
	return bytes + first;
}

/* Symptom: the session was reset. */
static void
data_wait_for_a_servers_ticket(void **state)
{
	const uint8_t *rest;
	size_t n;

	SSL_CTX_set_session_ticket_cb(
	    peer_ctx[HANDLE_SERVER], make_ticket_long, NULL, NULL);
	secure(HANDLE_SERVER);
	far_send(HANDLE_CLIENT, (uint8_t *)"before", 6);
	assert_int_equal(turn().step, STEP_WAIT);
	expect_text(HANDLE_SERVER, "before");
	rest = send_ticket_in_part(&n);
	assert_int_equal(turn().step, STEP_WAIT);
	far_send(HANDLE_CLIENT, (uint8_t *)"after", 5);
	far_ends(HANDLE_CLIENT);
	assert_int_equal(turn().step, STEP_WAIT);
	assert_int_equal(far_receive(HANDLE_SERVER, got, 1), -1);
	assert_int_equal(send(stage.peer[HANDLE_SERVER], rest, n, 0), n);
	/* The event of the server alone. */
	stage.session->side[HANDLE_SERVER].readable = true;
	assert_int_equal(
	    relay_step(stage.session, &stage.self).step, STEP_WAIT);
	expect_text(HANDLE_SERVER, "after");
	assert_int_equal(far_receive(HANDLE_SERVER, got, 1), 0);
	SSL_CTX_set_session_ticket_cb(
	    peer_ctx[HANDLE_SERVER], NULL, NULL, NULL);
}

/* Nothing but the end has to wait. */
static void
an_end_waits_for_a_servers_ticket(void **state)
{
	const uint8_t *rest;
	size_t n;

	SSL_CTX_set_session_ticket_cb(
	    peer_ctx[HANDLE_SERVER], make_ticket_long, NULL, NULL);
	secure(HANDLE_SERVER);
	far_send(HANDLE_CLIENT, (uint8_t *)"x", 1);
	assert_int_equal(turn().step, STEP_WAIT);
	expect_text(HANDLE_SERVER, "x");
	rest = send_ticket_in_part(&n);
	assert_int_equal(turn().step, STEP_WAIT);
	far_ends(HANDLE_CLIENT);
	assert_int_equal(turn().step, STEP_WAIT);
	assert_int_equal(far_receive(HANDLE_SERVER, got, 1), -1);
	assert_int_equal(send(stage.peer[HANDLE_SERVER], rest, n, 0), n);
	stage.session->side[HANDLE_SERVER].readable = true;
	assert_int_equal(
	    relay_step(stage.session, &stage.self).step, STEP_WAIT);
	assert_int_equal(far_receive(HANDLE_SERVER, got, 1), 0);
	SSL_CTX_set_session_ticket_cb(
	    peer_ctx[HANDLE_SERVER], NULL, NULL, NULL);
}

/* A server that ends in the midst of its ticket is not waited for. */
static void
a_ticket_that_stays_in_part_holds_up_no_end(void **state)
{
	struct verdict v = {.step = STEP_WAIT};
	size_t n;

	for (int with_data = 0; with_data < 2; with_data++) {
		SSL_CTX_set_session_ticket_cb(
		    peer_ctx[HANDLE_SERVER], make_ticket_long, NULL, NULL);
		secure(HANDLE_SERVER);
		far_send(HANDLE_CLIENT, (uint8_t *)"x", 1);
		assert_int_equal(turn().step, STEP_WAIT);
		(void)send_ticket_in_part(&n);
		assert_int_equal(turn().step, STEP_WAIT);
		far_ends(HANDLE_SERVER);
		(void)turn();
		if (with_data)
			far_send(HANDLE_CLIENT, (uint8_t *)"y", 1);
		far_ends(HANDLE_CLIENT);
		for (int i = 0; i < 3 && v.step != STEP_CLOSE; i++)
			v = turn();
		assert_int_equal(v.step, STEP_CLOSE);
		SSL_CTX_set_session_ticket_cb(
		    peer_ctx[HANDLE_SERVER], NULL, NULL, NULL);
		v.step = STEP_WAIT;
		end_stage(NULL);
		set_up(NULL);
	}
}

/* -- key updates -- */

static unsigned
ask_for_key_updates(enum handle_side which, unsigned n)
{
	unsigned i;

	for (i = 0; i < n; i++)
		if (SSL_key_update(far_end[which], SSL_KEY_UPDATE_REQUESTED) !=
		        1 ||
		    SSL_do_handshake(far_end[which]) != 1)
			break;
	ERR_clear_error();
	return i;
}

/* The answer to a key update comes behind records that are pending. */
static void
keys_are_updated_behind_pending_data(void **state)
{
	size_t sent = 0, received = 0;

	secure(HANDLE_CLIENT);
	while (!session_has_pending(stage.session, HANDLE_CLIENT)) {
		ssize_t n = far_send(HANDLE_SERVER, data + sent, 30000);

		sent += n > 0 ? (size_t)n : 0;
		(void)turn();
	}
	assert_int_equal(ask_for_key_updates(HANDLE_CLIENT, 3), 3);
	assert_int_equal(turn().step, STEP_WAIT);
	far_send(HANDLE_CLIENT, (uint8_t *)"new keys", 8);
	assert_int_equal(turn().step, STEP_WAIT);
	expect_text(HANDLE_SERVER, "new keys");
	while (received < sent) {
		ssize_t n = far_receive(
		    HANDLE_CLIENT, got + received, sizeof(got) - received);

		received += n > 0 ? (size_t)n : 0;
		(void)turn();
	}
	assert_int_equal(received, sent);
	assert_memory_equal(got, data, sent);
}

/* A client that asks for key updates and takes no answers is reset. */
static void
a_flood_from_a_peer_that_takes_nothing_ends_the_session(void **state)
{
	struct side *client = &stage.session->side[HANDLE_CLIENT];
	unsigned asked = 0;

	secure(HANDLE_CLIENT);
	far_send(HANDLE_SERVER, (uint8_t *)"x", 1);
	(void)turn();
	while (!side_is_broken(client)) {
		unsigned n = ask_for_key_updates(HANDLE_CLIENT, 100);

		asked += n;
		(void)turn();
		assert_true(asked < 1000000);
		assert_true(slab_used(&stage.proxy.pending_pool.slab) <= 1);
	}
	assert_true(asked > 1000);
	assert_int_equal(client->end, SIDE_GONE);
	assert_int_equal(slab_used(&stage.proxy.pending_pool.slab), 0);
}

/* A flood leaves the turn to others. */
static void
a_flood_uses_up_the_turns_budget(void **state)
{
	int size = 1024 * 1024;
	BIO *wire = BIO_new(BIO_s_mem());
	char *bytes;
	long n;

	secure(HANDLE_CLIENT);
	assert_int_equal(setsockopt(stage.peer[HANDLE_CLIENT], SOL_SOCKET,
	                     SO_SNDBUF, &size, sizeof(size)),
	    0);
	SSL_set0_wbio(far_end[HANDLE_CLIENT], wire);
	/* Without a request: nothing has to be answered. */
	for (int i = 0; i < 7000; i++) {
		(void)SSL_key_update(
		    far_end[HANDLE_CLIENT], SSL_KEY_UPDATE_NOT_REQUESTED);
		assert_int_equal(SSL_do_handshake(far_end[HANDLE_CLIENT]), 1);
	}
	n = BIO_get_mem_data(wire, &bytes);
	assert_int_equal(
	    send(stage.peer[HANDLE_CLIENT], bytes, (size_t)n, 0), n);
	assert_int_equal(turn().step, STEP_MORE);
}

static void
nothing_is_sent_behind_our_end(void **state)
{
	secure(HANDLE_CLIENT);
	far_send(HANDLE_CLIENT, (uint8_t *)"a", 1);
	far_send(HANDLE_SERVER, (uint8_t *)"b", 1);
	assert_int_equal(turn().step, STEP_WAIT);
	expect_text(HANDLE_CLIENT, "b");
	far_ends(HANDLE_SERVER);
	assert_int_equal(turn().step, STEP_WAIT);
	assert_true(side_is_shut(&stage.session->side[HANDLE_CLIENT]));
	assert_int_equal(ask_for_key_updates(HANDLE_CLIENT, 1), 1);
	far_send(HANDLE_CLIENT, (uint8_t *)"c", 1);
	assert_int_equal(turn().step, STEP_WAIT);
	assert_false(side_is_broken(&stage.session->side[HANDLE_CLIENT]));
	expect_text(HANDLE_SERVER, "ac");
	/* close_notify, and then the end of the socket. */
	assert_int_equal(far_receive(HANDLE_CLIENT, got, 1), 0);
	assert_int_equal(recv(stage.peer[HANDLE_CLIENT], got, 1, 0), 0);
}

/* -- memory -- */

static void
records_that_cannot_be_kept_end_the_session(void **state)
{
	static struct pending *taken[20000];
	unsigned taken_n = 0;
	struct verdict v = {.step = STEP_WAIT};

	secure(HANDLE_CLIENT);
	while (taken_n < UNIT_N(taken) &&
	       (taken[taken_n] = pending_take(&stage.proxy.pending_pool)))
		taken_n++;
	assert_true(taken_n < UNIT_N(taken));
	while (v.step != STEP_CLOSE) {
		(void)far_send(HANDLE_SERVER, data, 30000);
		v = turn();
	}
	assert_int_equal(v.cause, CAUSE_NO_RESOURCE);
	while (taken_n > 0)
		pending_give(&stage.proxy.pending_pool, taken[--taken_n]);
}

static bool
make_contexts(void)
{
	struct tls_pair pair = {.cert = pem};
	struct tls_settings accepts = {.pairs = &pair,
	                        .pairs_n = 1,
	                        .tickets = true,
	                        .session_timeout_s = 300},
	                    connects = {.ca = pem, .verify = TLS_VERIFY_NONE};
	struct err err;

	context[HANDLE_CLIENT] = tls_context_new(&accepts, TLS_ACCEPTS, &err);
	context[HANDLE_SERVER] = tls_context_new(&connects, TLS_CONNECTS, &err);
	peer_ctx[HANDLE_CLIENT] = SSL_CTX_new(TLS_client_method());
	peer_ctx[HANDLE_SERVER] = SSL_CTX_new(TLS_server_method());
	return context[HANDLE_CLIENT] && context[HANDLE_SERVER] &&
	       SSL_CTX_use_certificate_file(
	           peer_ctx[HANDLE_SERVER], pem, SSL_FILETYPE_PEM) == 1 &&
	       SSL_CTX_use_PrivateKey_file(
	           peer_ctx[HANDLE_SERVER], pem, SSL_FILETYPE_PEM) == 1;
}

int
main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, end_stage)
	const struct CMUnitTest tests[] = {
	    T(data_and_the_end_pass_full_buffers),
	    T(data_for_a_server_that_has_failed_go_to_the_next),
	    T(data_that_a_server_has_got_in_part_are_not_repeated),
	    T(a_client_is_not_spliced_to_a_server_with_tls),
	    T(a_fin_without_an_announcement_is_passed_on_as_a_reset),
	    T(an_end_for_a_side_that_is_gone_is_not_waited_for),
	    T(data_wait_for_a_servers_ticket),
	    T(an_end_waits_for_a_servers_ticket),
	    T(a_ticket_that_stays_in_part_holds_up_no_end),
	    T(keys_are_updated_behind_pending_data),
	    T(a_flood_from_a_peer_that_takes_nothing_ends_the_session),
	    T(a_flood_uses_up_the_turns_budget),
	    T(nothing_is_sent_behind_our_end),
	    T(records_that_cannot_be_kept_end_the_session),
	};
	int failed;

	unit_watchdog();
	signal(SIGPIPE, SIG_IGN);
	snprintf(pem, sizeof(pem), "/tmp/lfproxy-relay-%d.pem", (int)getpid());
	if (!own_cert_write(pem) || !make_contexts())
		return 1;
	unlink(pem);
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * 2654435761u >> 13);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	for (int i = 0; i < 2; i++) {
		tls_context_unref(context[i]);
		SSL_CTX_free(peer_ctx[i]);
	}
	return failed;
}
