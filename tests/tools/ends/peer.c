/* SPDX-License-Identifier: MIT
 * See peer.h.
 */
#include "tools/ends/peer.h"

#include <openssl/err.h>

#include "tools/ends/cell.h"
#include "tools/peers.h"

void
peer_wait(const struct peer *p, short events)
{
	struct pollfd pfd = {.fd = p->fd, .events = events};

	(void)poll(&pfd, 1, 20);
}

/* A call of OpenSSL has returned n <= 0: notes what that means. */
static void
note_tls(struct peer *p, int n)
{
	int error = errno, what = SSL_get_error(p->ssl, n);

	/* The first error says what has happened. */
	switch (p->error ? SSL_ERROR_NONE : what) {
	case SSL_ERROR_NONE:
	case SSL_ERROR_WANT_READ:
	case SSL_ERROR_WANT_WRITE:
		break;
	case SSL_ERROR_ZERO_RETURN:
		p->eof = true;
		break;
	case SSL_ERROR_SYSCALL:
		p->error = error ? error : EIO;
		break;
	default:
		p->cut = ERR_GET_REASON(ERR_peek_error()) ==
		         SSL_R_UNEXPECTED_EOF_WHILE_READING;
		p->error = EPROTO;
		break;
	}
	ERR_clear_error();
}

/* Sends as send does; -1 when nothing was sent. */
static ssize_t
send_some(struct peer *p, const uint8_t *data, size_t size)
{
	ssize_t n;

	if (!p->ssl) {
		n = send(p->fd, data, size, MSG_NOSIGNAL);
		if (n < 0 && errno != EAGAIN)
			p->error = errno;
		return n;
	}
	errno = 0;
	n = SSL_write(p->ssl, data, (int)size);
	p->again = n <= 0 ? size : 0;
	if (n <= 0)
		note_tls(p, (int)n);
	return n;
}

bool
peer_push(struct peer *p, uint64_t total)
{
	uint8_t data[65536];
	bool any = false;

	while (!p->error && (p->sent < total || p->again > 0)) {
		size_t size = p->sent < total && total - p->sent < sizeof(data)
		                  ? (size_t)(total - p->sent)
		                  : sizeof(data);
		uint64_t now_ms = tool_now_ms();
		ssize_t n;

		size = p->again > 0 ? p->again : size;
		peers_fill(data, size, p->seed, p->sent);
		n = send_some(p, data, size);
		if (n <= 0)
			break;
		p->sent += (uint64_t)n;
		p->sent_ms = now_ms;
		any = true;
	}
	return any;
}

/* Receives as recv does; notes ends. */
static ssize_t
receive_some(struct peer *p, uint8_t *data, size_t size)
{
	ssize_t n;

	if (p->ssl) {
		errno = 0;
		n = SSL_read(p->ssl, data, (int)size);
		if (n <= 0)
			note_tls(p, (int)n);
		return n;
	}
	n = recv(p->fd, data, size, MSG_DONTWAIT);
	if (n == 0)
		p->eof = true;
	else if (n < 0 && errno != EAGAIN)
		p->error = errno;
	return n;
}

bool
peer_pull(struct peer *p, const struct peer *from)
{
	uint8_t data[65536];
	ssize_t n = receive_some(p, data, sizeof(data));

	if (n > 0) {
		if (!peers_match(data, (size_t)n, from->seed, p->received))
			cell_wrong("wrong bytes after %llu",
			    (unsigned long long)p->received);
		p->received += (uint64_t)n;
	}
	return n > 0;
}

void
peer_settle(struct peer *x, struct peer *y)
{
	while (x->again > 0) {
		peer_push(x, x->sent);
		if (!peer_pull(y, x))
			peer_wait(y, POLLIN);
		cell_in_time("completing a record");
	}
}

void
peer_send_fin(struct peer *x, struct peer *y)
{
	peer_settle(x, y);
	while (x->ssl && SSL_shutdown(x->ssl) < 0) {
		if (!peer_pull(y, x))
			peer_wait(x, POLLOUT);
		cell_in_time("announcing the end");
	}
	shutdown(x->fd, SHUT_WR);
}

void
peer_transfer(struct peer *from, struct peer *to, uint64_t bytes)
{
	uint64_t sent = from->sent + bytes, received = to->received + bytes;

	while (to->received < received) {
		bool moved = peer_push(from, sent);

		if (!peer_pull(to, from) && !moved)
			peer_wait(to, POLLIN);
		if (to->eof || to->error)
			cell_wrong(
			    "an early end while %llu of %llu bytes were there",
			    (unsigned long long)to->received,
			    (unsigned long long)received);
		cell_in_time("moving bytes");
	}
}

void
peer_fill(struct peer *from)
{
	uint64_t still_ms = tool_now_ms() + 300 * patience;

	while (tool_now_ms() < still_ms) {
		if (peer_push(from, UINT64_MAX))
			still_ms = tool_now_ms() + 300 * patience;
		peers_nap();
		cell_in_time("filling the buffers");
	}
}

void
peer_send(struct peer *p, uint64_t bytes)
{
	uint64_t total = p->sent + bytes;

	while (p->sent < total) {
		if (!peer_push(p, total))
			peer_wait(p, POLLOUT);
		cell_in_time("sending");
	}
}

void
peer_until_acknowledged(const struct peer *p)
{
	while (peers_unacknowledged(p->fd) > 0) {
		peers_nap();
		cell_in_time("waiting for acknowledgements");
	}
}

void
peer_read_to_end(struct peer *p, const struct peer *from, const char *what)
{
	while (!p->eof && !p->error) {
		if (!peer_pull(p, from))
			peer_wait(p, POLLIN);
		cell_in_time(what);
	}
}

void
peer_until_error(struct peer *p)
{
	while (!p->error) {
		struct pollfd pfd = {.fd = p->fd};
		socklen_t len = sizeof(p->error);

		(void)poll(&pfd, 1, 20);
		if (pfd.revents & POLLERR)
			(void)getsockopt(
			    p->fd, SOL_SOCKET, SO_ERROR, &p->error, &len);
		cell_in_time("waiting for the reset after the FIN");
	}
}

void
peer_expect_fin(const struct peer *p, const char *who)
{
	char byte;
	ssize_t n = -1;

	if (p->error)
		cell_wrong("%s: expected a FIN, got %s", who,
		    p->cut ? "one that was not announced" : strerror(p->error));
	/* Behind the announcement. */
	while (p->ssl && n != 0) {
		n = recv(p->fd, &byte, 1, MSG_DONTWAIT);
		if (n > 0 || (n < 0 && errno != EAGAIN))
			cell_wrong(
			    "%s: expected a FIN behind close_notify", who);
		if (n < 0)
			peer_wait(p, POLLIN);
		cell_in_time("waiting for the FIN behind close_notify");
	}
}

void
peer_expect_timer_fin(const struct peer *p, const char *who)
{
	if (!p->ssl)
		peer_expect_fin(p, who);
	else if (!p->cut)
		cell_wrong("%s: expected a FIN that is not announced", who);
}

void
peer_expect_rst(const struct peer *p, const char *who)
{
	if (p->error != ECONNRESET && p->error != EPIPE)
		cell_wrong("%s: expected a reset, got %s", who,
		    p->error ? strerror(p->error) : "a FIN");
}

void
peer_expect_received(const struct peer *p, uint64_t bytes, const char *who)
{
	if (p->received != bytes)
		cell_wrong("%s: %llu bytes of %llu arrived", who,
		    (unsigned long long)p->received, (unsigned long long)bytes);
}

static SSL_CTX *
make_context(bool server, int version)
{
	SSL_CTX *ctx =
	    SSL_CTX_new(server ? TLS_server_method() : TLS_client_method());

	if (!ctx || SSL_CTX_set_max_proto_version(ctx, version) != 1 ||
	    (server && (SSL_CTX_use_certificate_file(
	                    ctx, certificate, SSL_FILETYPE_PEM) != 1 ||
	                   SSL_CTX_use_PrivateKey_file(
	                       ctx, certificate, SSL_FILETYPE_PEM) != 1)))
		cell_wrong("no TLS context");
	SSL_CTX_set_mode(ctx, SSL_MODE_ENABLE_PARTIAL_WRITE |
	                          SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
	return ctx;
}

void
peer_secure(struct peer *p, bool server)
{
	int n;

	p->ssl = SSL_new(
	    make_context(server, me->policy ? TLS1_2_VERSION : TLS1_3_VERSION));
	if (!p->ssl || SSL_set_fd(p->ssl, p->fd) != 1)
		cell_wrong("no TLS connection");
	if (server)
		SSL_set_accept_state(p->ssl);
	else
		SSL_set_connect_state(p->ssl);
	while ((n = SSL_do_handshake(p->ssl)) != 1) {
		note_tls(p, n);
		if (p->error || p->eof)
			cell_wrong("the TLS handshake fails");
		peer_wait(p, SSL_want_write(p->ssl) ? POLLOUT : POLLIN);
		cell_in_time("the TLS handshake");
	}
}
