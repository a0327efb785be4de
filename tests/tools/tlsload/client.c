/* SPDX-License-Identifier: MIT
 * See client.h.
 */
#include "tools/tlsload/client.h"

#include <inttypes.h>
#include <sys/epoll.h>

struct tlsload_options opt = {.connections = 16,
    .storm = 24,
    .rate = 1000,
    .ms = 1000,
    .warm_ms = 200,
    .requests = 1,
    .bytes = 1u << 30,
    .path = "/"};
struct tool_addr server;
SSL_CTX *context;
int epoll_fd;
struct pace_queue due;
struct pace_times times;
uint64_t warm_until_ns, until_ns = UINT64_MAX;
double mean_ns;
struct tlsload_sums sum;
struct tlsload_facts facts;
char request[1024], block[BLOCK_SIZE];
size_t request_len;
static char scratch[BLOCK_SIZE];

/* -- connections -- */

void
client_open(struct client *c)
{
	struct epoll_event e = {
	    .events = EPOLLIN | EPOLLOUT | EPOLLET, .data.ptr = c};
	int one = 1;

	c->fd = socket(
	    server.sa.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (c->fd < 0)
		tool_die(TOOL_SYSTEM, "socket: %s", strerror(errno));
	if (server.sa.sa_family != AF_UNIX)
		setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	if (connect(c->fd, &server.sa, server.len) < 0 && errno != EINPROGRESS)
		tool_die(TOOL_SYSTEM, "connect: %s", strerror(errno));
	if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, c->fd, &e) < 0)
		tool_die(TOOL_SYSTEM, "epoll_ctl: %s", strerror(errno));
	c->ssl = tls_open(context, &opt.tls, c->fd, false);
	SSL_set_app_data(c->ssl, c);
	if (c->session && SSL_set_session(c->ssl, c->session) != 1)
		tool_die(TOOL_SYSTEM, "session: %s", tls_reason());
	c->began_ns = pace_now_ns();
	c->requests_left = opt.requests;
	c->in_len = 0;
	c->phase = SHAKING;
	sum.opened++;
}

void
client_close(struct client *c)
{
	SSL_free(c->ssl);
	c->ssl = NULL;
	close(c->fd);
	c->fd = -1;
	c->phase = CLOSED;
}

int
client_on_session(SSL *ssl, SSL_SESSION *session)
{
	struct client *c = SSL_get_app_data(ssl);

	if (!opt.resume)
		return 0;
	SSL_SESSION_free(c->session);
	c->session = session;
	return 1;
}

bool
clients_are_over(void)
{
	return !tool_goes_on() || pace_now_ns() >= until_ns ||
	       (opt.count > 0 && sum.opened >= opt.count);
}

static void
client_restart(struct client *c)
{
	client_close(c);
	sum.finished++;
	if (opt.mode == HANDSHAKES && !clients_are_over())
		client_open(c);
}

static void
client_fail(struct client *c, const char *doing)
{
	sum.failures++;
	if (sum.failures > opt.errors)
		tool_die(TOOL_FAILED, "%s: %s", doing, tls_reason());
	client_restart(c);
}

/* Returns whether the call has to be made again later; if not, c has failed. */
static bool
client_waits(struct client *c, int rc, const char *doing)
{
	if (tls_waits(c->ssl, rc))
		return true;
	client_fail(c, doing);
	return false;
}

/* -- requests -- */

void
client_ask(struct client *c)
{
	c->to_send = request_len + (opt.mode == BULK && opt.up ? opt.bytes : 0);
	c->sent = 0;
	c->in_len = 0;
	c->phase = SENDING;
}

/* Announces the end, then waits for the peer's: what it still sends, such as
 * tickets, would otherwise be answered by a reset. */
static void
client_end(struct client *c)
{
	if (SSL_shutdown(c->ssl) < 0)
		ERR_clear_error();
	shutdown(c->fd, SHUT_WR);
	c->phase = ENDING;
}

static void
note_facts(SSL *ssl)
{
	const char *group =
	    SSL_group_to_name(ssl, (int)SSL_get_negotiated_group(ssl));
	const unsigned char *name;
	unsigned n;

	snprintf(facts.group, sizeof(facts.group), "%s", group ? group : "");
	snprintf(
	    facts.version, sizeof(facts.version), "%s", SSL_get_version(ssl));
	snprintf(
	    facts.cipher, sizeof(facts.cipher), "%s", SSL_get_cipher_name(ssl));
	SSL_get0_alpn_selected(ssl, &name, &n);
	snprintf(
	    facts.alpn, sizeof(facts.alpn), "%.*s", (int)n, (const char *)name);
}

static void
step_shaking(struct client *c)
{
	int rc = SSL_do_handshake(c->ssl);

	if (rc != 1) {
		client_waits(c, rc, "handshake");
		return;
	}
	if (sum.handshakes == 0)
		note_facts(c->ssl);
	sum.handshakes++;
	sum.resumed += (unsigned)SSL_session_reused(c->ssl);
	if (opt.mode == HANDSHAKES)
		pace_note(
		    &times, (uint32_t)((pace_now_ns() - c->began_ns) / 1000));
	if (c->requests_left > 0)
		client_ask(c);
	else
		client_end(c);
}

static void
step_sending(struct client *c)
{
	while (c->sent < c->to_send) {
		bool head = c->sent < request_len;
		const char *from = head ? request + c->sent : block;
		uint64_t n =
		    head ? request_len - c->sent : c->to_send - c->sent;
		int rc = SSL_write(
		    c->ssl, from, (int)(n < BLOCK_SIZE ? n : BLOCK_SIZE));

		if (rc <= 0) {
			client_waits(c, rc, "request");
			return;
		}
		c->sent += (unsigned)rc;
	}
	c->phase = HEAD;
}

static void
note_answer(struct client *c)
{
	uint64_t at_ns = pace_now_ns();

	sum.answers++;
	if (c->due_ns >= warm_until_ns && c->due_ns < until_ns)
		pace_note(&times, (uint32_t)((at_ns - c->due_ns) / 1000));
	c->due_ns = opt.closed ? at_ns : c->due_ns + pace_gap_ns(mean_ns);
	if (c->due_ns <= at_ns)
		client_ask(c);
	else
		pace_push(&due, c->due_ns, c);
}

/* The answer is complete. */
static void
client_answered(struct client *c)
{
	if (opt.mode == BULK)
		sum.bytes += opt.bytes;
	c->phase = QUIET;
	if (opt.mode == HANDSHAKES || opt.mode == BULK) {
		if (--c->requests_left > 0)
			client_ask(c);
		else
			client_end(c);
	} else if (warm_until_ns > 0) {
		note_answer(c);
	} else {
		sum.answers++; /* the first one */
	}
}

/* Bytes of an answer's body. */
static void
client_take(struct client *c, const char *bytes, size_t n)
{
	if (n > c->body_left)
		tool_die(TOOL_FAILED, "more than the answer");
	if (opt.mode == BULK && !opt.up && memcmp(bytes, block, n) != 0)
		tool_die(TOOL_FAILED,
		    "a wrong byte among the last %zu before "
		    "%" PRIu64 " more",
		    n, c->body_left - n);
	c->body_left -= n;
	c->phase = BODY;
	if (c->body_left == 0)
		client_answered(c);
}

static void
step_head(struct client *c)
{
	char *end, *length;
	size_t head;
	int rc = SSL_read(
	    c->ssl, c->in + c->in_len, (int)(HEAD_SIZE - 1 - c->in_len));

	if (rc <= 0) {
		client_waits(c, rc, "answer");
		return;
	}
	c->in_len += (unsigned)rc;
	c->in[c->in_len] = '\0';
	end = strstr(c->in, "\r\n\r\n");
	if (!end) {
		if (c->in_len == HEAD_SIZE - 1)
			tool_die(TOOL_FAILED, "an answer without an end");
		step_head(c);
		return;
	}
	length = strcasestr(c->in, "\r\nContent-Length:");
	if (strncmp(c->in, "HTTP/1.1 200", 12) != 0 || !length)
		tool_die(TOOL_FAILED, "not the answer expected: %s", c->in);
	c->body_left = strtoull(length + 17, NULL, 10);
	head = (size_t)(end + 4 - c->in);
	client_take(c, end + 4, c->in_len - head);
}

static void
step_body(struct client *c)
{
	while (c->phase == BODY) {
		int rc = SSL_read(c->ssl, scratch, sizeof(scratch));

		if (rc <= 0) {
			client_waits(c, rc, "answer");
			return;
		}
		client_take(c, scratch, (size_t)rc);
	}
}

static void
step_quiet(struct client *c)
{
	int rc = SSL_read(c->ssl, scratch, sizeof(scratch));

	if (rc > 0)
		tool_die(TOOL_FAILED, "an answer without a request");
	client_waits(c, rc, "waiting");
}

static void
step_ending(struct client *c)
{
	int rc = SSL_read(c->ssl, scratch, sizeof(scratch));

	if (rc > 0)
		tool_die(TOOL_FAILED, "bytes after the answer");
	if (tls_waits(c->ssl, rc))
		return;
	if (SSL_get_error(c->ssl, rc) != SSL_ERROR_ZERO_RETURN)
		sum.unclean++;
	client_restart(c);
}

static void
client_step(struct client *c)
{
	errno = 0;
	ERR_clear_error();
	switch (c->phase) {
	case CLOSED:
		break;
	case SHAKING:
		step_shaking(c);
		break;
	case SENDING:
		step_sending(c);
		break;
	case HEAD:
		step_head(c);
		break;
	case BODY:
		step_body(c);
		break;
	case QUIET:
		step_quiet(c);
		break;
	case ENDING:
		step_ending(c);
		break;
	}
}

void
client_advance(struct client *c)
{
	enum phase before;

	do {
		before = c->phase;
		client_step(c);
	} while (c->phase != before && c->phase != SHAKING);
}
