/* SPDX-License-Identifier: MIT
 * See talk.h.
 */
#include "check/talk.h"

#include <arpa/inet.h>
#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/secrets.h"

/* A server that has sent more than this has not said what was expected. */
#define DATA_MAX_BYTES (16 * 1024)
#define TEXT_SIZE      200
#define SHOWN_BYTES    60

enum phase { CONNECTING, GREETING, HANDSHAKE, STEPS };

struct talk {
	struct ev_loop *loop;
	struct talk_plan plan;
	void (*done)(void *arg, const struct talk_result *result);
	void *arg;
	enum phase phase;
	int fd;
	int error; /* of the start, told by the timer */
	ev_io io;
	ev_timer timeout;
	SSL *ssl;
	size_t step;  /* the present one */
	size_t sent;  /* of it, or of the header */
	size_t since; /* the first step since the last that sent */
	char *data;
	size_t n;
};

static void
talk_free(struct talk *t)
{
	ev_io_stop(t->loop, &t->io);
	ev_timer_stop(t->loop, &t->timeout);
	if (t->ssl)
		SSL_free(t->ssl);
	/* An ordinary close, where HAProxy resets (SO_LINGER 0): a server then
	 * reads an end of stream instead of logging an error at every check.
	 * The price is a socket in TIME_WAIT on our side, thirty per server
	 * with the default interval, which cost no descriptor and block no
	 * other destination. */
	if (t->fd >= 0)
		close(t->fd);
	free(t->data);
	free(t);
	ERR_clear_error();
}

static void
end(struct talk *t, const struct talk_result *result)
{
	t->done(t->arg, result);
	talk_free(t);
}

static void
end_without(struct talk *t, int error)
{
	end(t, &(struct talk_result){.error = error, .text = ""});
}

static void
end_with(struct talk *t, enum check_status status, const char *text)
{
	end(t, &(struct talk_result){.status = status,
	           .text = text,
	           .data = t->data,
	           .n = t->n,
	           .fd = &t->fd});
}

/* The first words of what came instead of what was expected. */
static void
end_unexpected(struct talk *t, const char *why, const struct pattern *pattern)
{
	char text[TEXT_SIZE], shown[SHOWN_BYTES + 1] = "", *masked;
	/* Before it is cut: a part of a secret is not known for one. */
	const char *expected = secrets_mask(pattern->text, &masked);

	/* A NUL would hide what follows. */
	for (size_t i = 0; i < t->n && i < SHOWN_BYTES; i++)
		shown[i] = t->data[i] ? t->data[i] : '?';
	if (t->n > 0)
		snprintf(
		    text, sizeof(text), "%s %.80s: %s", why, expected, shown);
	else
		snprintf(text, sizeof(text), "%s %.80s", why, expected);
	free(masked);
	end_with(t, CHECK_STATUS_L7RSP, text);
}

static void
watch(struct talk *t, int events)
{
	ev_io_stop(t->loop, &t->io);
	ev_io_set(&t->io, t->fd, events);
	ev_io_start(t->loop, &t->io);
}

/* Ends the talk with the error of TLS: that of the certificate, or else the
 * last one. */
static void
end_tls(struct talk *t)
{
	long verify = SSL_get_verify_result(t->ssl);
	unsigned long error = ERR_peek_last_error();
	char text[TEXT_SIZE];

	if (verify != X509_V_OK && t->plan.trust)
		snprintf(text, sizeof(text), "%s",
		    X509_verify_cert_error_string(verify));
	else if (error)
		snprintf(text, sizeof(text), "%s",
		    ERR_reason_error_string(error)
		        ? ERR_reason_error_string(error)
		        : "TLS failed");
	else
		strcpy(text, "the connection ended in the TLS handshake");
	end_with(t, CHECK_STATUS_L6RSP, text);
}

/* Results of reading and writing: bytes, 0 at the end, -EAGAIN after it has
 * asked for events, or another -errno. */
static ssize_t
tls_result(struct talk *t, int rc)
{
	switch (SSL_get_error(t->ssl, rc)) {
	case SSL_ERROR_WANT_READ:
		watch(t, EV_READ);
		return -EAGAIN;
	case SSL_ERROR_WANT_WRITE:
		watch(t, EV_WRITE);
		return -EAGAIN;
	case SSL_ERROR_ZERO_RETURN:
		return 0;
	default:
		return -ECONNRESET;
	}
}

static ssize_t
talk_read(struct talk *t, void *out, size_t size)
{
	ssize_t n;

	if (t->ssl) {
		ERR_clear_error();
		n = SSL_read(t->ssl, out, (int)size);
		return n > 0 ? n : tls_result(t, (int)n);
	}
	n = recv(t->fd, out, size, 0);
	if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
		watch(t, EV_READ);
		return -EAGAIN;
	}
	return n < 0 ? -errno : n;
}

static ssize_t
talk_write(struct talk *t, const void *data, size_t n)
{
	ssize_t rc;

	if (t->ssl) {
		ERR_clear_error();
		rc = SSL_write(t->ssl, data, (int)n);
		return rc > 0 ? rc : tls_result(t, (int)rc);
	}
	rc = send(t->fd, data, n, MSG_NOSIGNAL);
	if (rc < 0 && (errno == EAGAIN || errno == EINTR)) {
		watch(t, EV_WRITE);
		return -EAGAIN;
	}
	return rc < 0 ? -errno : rc;
}

/* False: not yet, or no more. */
static bool
step_send(struct talk *t, const struct pattern *pattern)
{
	while (t->sent < pattern->n) {
		ssize_t n = talk_write(
		    t, pattern->bytes + t->sent, pattern->n - t->sent);

		if (n == -EAGAIN)
			return false;
		if (n <= 0) {
			end_unexpected(
			    t, "the connection ended before", pattern);
			return false;
		}
		t->sent += (size_t)n;
	}
	t->n = 0;
	t->since = t->step + 1;
	return true;
}

/* The step since the last sending one that speaks against what has come. */
static const struct pattern *
refused(const struct talk *t)
{
	for (size_t i = t->since; i < t->step; i++)
		if (t->plan.steps[i].kind == STEP_REFUSE &&
		    pattern_found(&t->plan.steps[i].pattern, t->data, t->n))
			return &t->plan.steps[i].pattern;
	return NULL;
}

static bool
step_expect(struct talk *t, const struct pattern *pattern)
{
	for (;;) {
		const struct pattern *no = refused(t);
		ssize_t n;

		if (no) {
			end_unexpected(t, "was refused by", no);
			return false;
		}
		if (pattern_found(pattern, t->data, t->n))
			return true;
		if (t->n == DATA_MAX_BYTES) {
			end_unexpected(t, "16 KiB without", pattern);
			return false;
		}
		n = talk_read(t, t->data + t->n, DATA_MAX_BYTES - t->n);
		if (n == -EAGAIN)
			return false;
		if (n <= 0) {
			end_unexpected(
			    t, "the connection ended without", pattern);
			return false;
		}
		t->n += (size_t)n;
	}
}

static void
run_steps(struct talk *t)
{
	while (t->step < t->plan.steps_n) {
		const struct check_step *step = &t->plan.steps[t->step];

		if (step->kind == STEP_SEND && !step_send(t, &step->pattern))
			return;
		if (step->kind == STEP_EXPECT &&
		    !step_expect(t, &step->pattern))
			return;
		t->step++;
		t->sent = 0;
	}
	if (t->ssl)
		(void)SSL_shutdown(t->ssl);
	end_with(t,
	    t->plan.steps_n > 0 ? CHECK_STATUS_L7OK
	    : t->plan.tls       ? CHECK_STATUS_L6OK
	                        : CHECK_STATUS_L4OK,
	    "");
}

/* The server's name, or its address, must be in its certificate. */
static bool
verify_name(struct talk *t)
{
	X509_VERIFY_PARAM *param = SSL_get0_param(t->ssl);
	char ip[INET6_ADDRSTRLEN];

	if (t->plan.name)
		return X509_VERIFY_PARAM_set1_host(param, t->plan.name, 0) == 1;
	if (t->plan.addr.sa.sa_family == AF_UNIX)
		return true;
	return X509_VERIFY_PARAM_set1_ip_asc(
	           param, inet_ntop(t->plan.addr.sa.sa_family,
	                      t->plan.addr.sa.sa_family == AF_INET
	                          ? (const void *)&t->plan.addr.in.sin_addr
	                          : (const void *)&t->plan.addr.in6.sin6_addr,
	                      ip, sizeof(ip))) == 1;
}

static bool
prepare_tls(struct talk *t)
{
	SSL_CTX *context = SSL_CTX_new(TLS_client_method());
	bool ok;

	if (!context)
		return false;
	if (t->plan.trust)
		SSL_CTX_set1_cert_store(context, t->plan.trust);
	t->ssl = SSL_new(context);
	SSL_CTX_free(context);
	if (!t->ssl)
		return false;
	SSL_set_verify(
	    t->ssl, t->plan.trust ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, NULL);
	ok = SSL_set_fd(t->ssl, t->fd) == 1;
	if (t->plan.name)
		ok &= SSL_set_tlsext_host_name(t->ssl, t->plan.name) == 1;
	return ok && (!t->plan.trust || verify_name(t));
}

static void
handshake(struct talk *t)
{
	int rc;

	ERR_clear_error();
	rc = SSL_connect(t->ssl);
	if (rc == 1) {
		t->phase = STEPS;
		run_steps(t);
	} else if (tls_result(t, rc) != -EAGAIN) {
		end_tls(t);
	}
}

static void
header_sent(struct talk *t)
{
	t->phase = t->plan.tls ? HANDSHAKE : STEPS;
	if (t->plan.tls)
		handshake(t);
	else
		run_steps(t);
}

/* The connection is the proxy's own. */
static void
greet(struct talk *t)
{
	struct proxy_header header = {.version = t->plan.proxy, .local = true};
	uint8_t bytes[PROXY_MADE_MAX];
	size_t size = proxy_header_make(&header, bytes);

	t->phase = GREETING;
	while (t->sent < size) {
		ssize_t n =
		    send(t->fd, bytes + t->sent, size - t->sent, MSG_NOSIGNAL);

		if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
			watch(t, EV_WRITE);
			return;
		}
		if (n < 0) {
			end_without(t, errno);
			return;
		}
		t->sent += (size_t)n;
	}
	t->sent = 0;
	header_sent(t);
}

/* Returns whether the socket is connected to itself, which proves nothing.
 * TCP's simultaneous open (RFC 9293, section 3.5) does that if a loopback port
 * without a listener is the one that the kernel chose for our own end. */
static bool
connected_to_itself(int fd)
{
	struct addr own = {.len = sizeof(own.un)};
	struct addr peer = {.len = sizeof(peer.un)};

	if (getsockname(fd, &own.sa, &own.len) < 0 ||
	    getpeername(fd, &peer.sa, &peer.len) < 0)
		return false;
	return own.sa.sa_family != AF_UNIX && addr_equal(&own, &peer);
}

static void
connected(struct talk *t)
{
	int error = 0;
	socklen_t len = sizeof(error);

	if (getsockopt(t->fd, SOL_SOCKET, SO_ERROR, &error, &len) < 0)
		error = errno;
	if (!error && connected_to_itself(t->fd))
		error = ECONNREFUSED;
	if (!error && t->plan.tls && !prepare_tls(t))
		error = ENOMEM;
	if (error) {
		end_without(t, error);
		return;
	}
	if (t->plan.proxy != PROXY_OFF)
		greet(t);
	else
		header_sent(t);
}

static void
on_ready(struct ev_loop *loop, ev_io *io, int events)
{
	struct talk *t = io->data;

	(void)loop;
	(void)events;
	if (t->phase == CONNECTING)
		connected(t);
	else if (t->phase == GREETING)
		greet(t);
	else if (t->phase == HANDSHAKE)
		handshake(t);
	else
		run_steps(t);
}

static void
on_timeout(struct ev_loop *loop, ev_timer *timer, int events)
{
	struct talk *t = timer->data;

	(void)loop;
	(void)events;
	if (t->error)
		end_without(t, t->error);
	else if (t->phase == CONNECTING)
		end_with(t, CHECK_STATUS_L4TOUT, "no answer to the connect");
	else if (t->phase == HANDSHAKE)
		end_with(t, CHECK_STATUS_L6TOUT, "no end of the TLS handshake");
	else if (t->n > 0 && t->plan.steps[t->step].kind == STEP_EXPECT)
		end_unexpected(t, "no", &t->plan.steps[t->step].pattern);
	else
		end_with(t, CHECK_STATUS_L7TOUT, "no answer");
}

static int
begin(struct talk *t)
{
	const struct addr *addr = &t->plan.addr;

	t->fd = socket(
	    addr->sa.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (t->fd < 0)
		return errno;
	if (addr->sa.sa_family != AF_UNIX) {
		struct sock_refusal refusal;
		int rc = sock_prepare(t->fd, addr, &t->plan.way, &refusal);

		if (rc < 0)
			return -rc;
	}
	if (connect(t->fd, &addr->sa, addr->len) < 0 && errno != EINPROGRESS)
		return errno;
	watch(t, EV_WRITE);
	return 0;
}

struct talk *
talk_start(struct ev_loop *loop, const struct talk_plan *plan,
    void (*done)(void *arg, const struct talk_result *result), void *arg)
{
	struct talk *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	*t = (struct talk){
	    .loop = loop, .plan = *plan, .done = done, .arg = arg, .fd = -1};
	if (plan->steps_n > 0 && !(t->data = malloc(DATA_MAX_BYTES))) {
		free(t);
		return NULL;
	}
	ev_init(&t->io, on_ready);
	t->io.data = t->timeout.data = t;
	t->error = begin(t);
	ev_now_update(loop);
	ev_timer_init(&t->timeout, on_timeout,
	    t->error ? 0. : (double)plan->timeout_ms / 1e3, 0.);
	t->timeout.data = t;
	ev_timer_start(loop, &t->timeout);
	return t;
}

void
talk_move(struct talk *talk, const struct talk_plan *plan)
{
	talk->plan = *plan;
}

void
talk_cancel(struct talk *talk)
{
	talk_free(talk);
}
