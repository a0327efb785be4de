/* SPDX-License-Identifier: MIT
 * See talk.h.
 */
#include "check/talk.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/secrets.h"
#include "tls/context.h"
#include "tls/memory.h"
#include "tls/peer.h"
#include "tls/server_name.h"

/* The most bytes that are kept of an answer: a server that has sent more has
 * not sent what was expected. */
#define DATA_MAX_BYTES (16 * 1024)
#define TEXT_SIZE      200
#define SHOWN_BYTES    60

enum talk_phase { CONNECTING, HEADER, ANSWER, HANDSHAKE, STEPS };

struct talk {
	struct ev_loop *loop;
	struct talk_plan plan;
	talk_done *done;
	void *arg;
	enum talk_phase phase;
	int fd;
	int error; /* failure of the start; the timer reports it */
	ev_io io;
	ev_timer timeout;
	SSL *ssl;
	size_t step;  /* the present one */
	size_t sent;  /* bytes of the step, or of the header */
	size_t since; /* the first step behind the last that sent */
	size_t n;     /* bytes of data */
	char data[];  /* DATA_MAX_BYTES, if there are steps */
};

void
talk_cancel(struct talk *t)
{
	if (!t)
		return;
	ev_io_stop(t->loop, &t->io);
	ev_timer_stop(t->loop, &t->timeout);
	SSL_free(t->ssl);
	/* An ordinary close, where HAProxy resets (SO_LINGER 0): a server then
	 * reads an end of stream instead of logging an error at every check.
	 * The cost is sockets in TIME_WAIT on our side, thirty for each server
	 * with the default interval.  These need no descriptors and block no
	 * other destination. */
	if (t->fd >= 0)
		close(t->fd);
	free(t);
	ERR_clear_error();
}

static void
talk_end(struct talk *t, enum check_status status, int error, const char *text)
{
	const struct talk_result result = {.error = error,
	    .status = status,
	    .text = text,
	    .data = t->data,
	    .n = t->n,
	    .fd = &t->fd};

	t->done(t->arg, &result);
	talk_cancel(t);
}

/* Ends the talk because of a failed connect. */
static void
talk_end_without(struct talk *t, int error)
{
	talk_end(t, CHECK_STATUS_L4CON, error, "");
}

/* Ends the talk with the beginning of what came instead of what was expected.
 */
static void
talk_end_unexpected(
    struct talk *t, const char *why, const struct pattern *pattern)
{
	char text[TEXT_SIZE], shown[SHOWN_BYTES + 1] = "", *masked;
	/* Mask secrets before the text is cut: a part of a secret is not
	 * recognized. */
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
	talk_end(t, CHECK_STATUS_L7RSP, 0, text);
}

static void
talk_watch(struct talk *t, int events)
{
	ev_io_stop(t->loop, &t->io);
	ev_io_set(&t->io, t->fd, events);
	ev_io_start(t->loop, &t->io);
}

/* Ends the talk with the error of TLS: that of the certificate, or else the
 * last error. */
static void
talk_end_tls(struct talk *t)
{
	long verify = SSL_get_verify_result(t->ssl);
	unsigned long error = ERR_peek_last_error();
	const char *reason = error ? ERR_reason_error_string(error) : NULL;

	talk_end(t, CHECK_STATUS_L6RSP, 0,
	    verify != X509_V_OK && (t->plan.trust || t->plan.context)
	        ? tls_server_verify_text(verify)
	    : reason ? reason
	    : error  ? "TLS failed"
	             : "the connection ended in the TLS handshake");
}

/* Returns the result of a read or write: the bytes, 0 at the end, -EAGAIN after
 * asking for events, or another -errno.  events: what a socket without TLS has
 * to wait for. */
static ssize_t
talk_io_result(struct talk *t, ssize_t rc, int events)
{
	if (rc > 0)
		return rc;
	if (t->ssl) {
		switch (SSL_get_error(t->ssl, (int)rc)) {
		case SSL_ERROR_WANT_READ:
			events = EV_READ;
			break;
		case SSL_ERROR_WANT_WRITE:
			events = EV_WRITE;
			break;
		case SSL_ERROR_ZERO_RETURN:
			return 0;
		default:
			return -ECONNRESET;
		}
	} else if (rc == 0 || (errno != EAGAIN && errno != EINTR)) {
		return rc < 0 ? -errno : 0;
	}
	talk_watch(t, events);
	return -EAGAIN;
}

static ssize_t
talk_read(struct talk *t, void *out, size_t size)
{
	ERR_clear_error();
	return talk_io_result(t,
	    t->ssl ? SSL_read(t->ssl, out, (int)size)
	           : recv(t->fd, out, size, 0),
	    EV_READ);
}

/* Sends the bytes, or what is left of them.  Returns 1 once all are sent, else
 * as talk_io_result. */
static ssize_t
talk_send(struct talk *t, const uint8_t *bytes, size_t n)
{
	while (t->sent < n) {
		const uint8_t *from = bytes + t->sent;
		size_t left = n - t->sent;
		ssize_t rc;

		ERR_clear_error();
		rc = talk_io_result(t,
		    t->ssl ? SSL_write(t->ssl, from, (int)left)
		           : send(t->fd, from, left, MSG_NOSIGNAL),
		    EV_WRITE);
		if (rc <= 0)
			return rc;
		t->sent += (size_t)rc;
	}
	t->sent = 0;
	return 1;
}

/* Sends the pattern.  Returns whether the step is done.  If not, it goes on
 * later, or the talk has ended. */
static bool
talk_step_send(struct talk *t, const struct pattern *pattern)
{
	ssize_t rc = talk_send(t, pattern->bytes, pattern->n);

	if (rc <= 0 && rc != -EAGAIN)
		talk_end_unexpected(t, "the connection ended before", pattern);
	if (rc <= 0)
		return false;
	t->n = 0;
	t->since = t->step + 1;
	return true;
}

/* Returns the refusal that the data match, among those after the last step that
 * sent; or NULL. */
static const struct pattern *
talk_refusal(const struct talk *t)
{
	for (size_t i = t->since; i < t->step; i++)
		if (t->plan.steps[i].kind == STEP_REFUSE &&
		    pattern_found(&t->plan.steps[i].pattern, t->data, t->n))
			return &t->plan.steps[i].pattern;
	return NULL;
}

/* Reads until the data match the pattern or a refusal.  Returns as
 * talk_step_send. */
static bool
talk_step_expect(struct talk *t, const struct pattern *pattern)
{
	for (;;) {
		const struct pattern *refusal = talk_refusal(t);
		ssize_t n = 0;

		if (!refusal && pattern_found(pattern, t->data, t->n))
			return true;
		if (!refusal && t->n < DATA_MAX_BYTES)
			n = talk_read(t, t->data + t->n, DATA_MAX_BYTES - t->n);
		if (n == -EAGAIN)
			return false;
		if (n <= 0) {
			talk_end_unexpected(t,
			    refusal ? "was refused by"
			    : t->n == DATA_MAX_BYTES
			        ? "16 KiB without"
			        : "the connection ended without",
			    refusal ? refusal : pattern);
			return false;
		}
		t->n += (size_t)n;
	}
}

static void
talk_run_steps(struct talk *t)
{
	for (; t->step < t->plan.steps_n; t->step++) {
		const struct check_step *step = &t->plan.steps[t->step];

		if (step->kind == STEP_SEND &&
		    !talk_step_send(t, &step->pattern))
			return;
		if (step->kind == STEP_EXPECT &&
		    !talk_step_expect(t, &step->pattern))
			return;
	}
	if (t->ssl)
		(void)SSL_shutdown(t->ssl);
	talk_end(t,
	    t->plan.steps_n > 0 ? CHECK_STATUS_L7OK
	    : t->plan.tls       ? CHECK_STATUS_L6OK
	                        : CHECK_STATUS_L4OK,
	    0, "");
}

/* Makes the handshake verify that the certificate has the server's name, or its
 * address. */
static bool
talk_verify_name(struct talk *t)
{
	const struct addr *addr = &t->plan.addr;
	char text[ADDR_TEXT_SIZE];
	const char *name = t->plan.name;

	if (!name && addr->sa.sa_family != AF_UNIX)
		name = addr_host(addr, text);
	return !name || tls_server_name_set(
	                    SSL_get0_param(t->ssl), name, t->plan.common_name);
}

static bool
talk_prepare_own(struct talk *t)
{
	bool ok = true;

	SSL_set_verify(t->ssl,
	    t->plan.trust ? SSL_VERIFY_PEER : SSL_VERIFY_NONE,
	    tls_server_name_verify);
	if (t->plan.name)
		ok = SSL_set_tlsext_host_name(t->ssl, t->plan.name) == 1;
	return ok && (!t->plan.trust || talk_verify_name(t));
}

/* Readies TLS as for sessions.  No TLS session is resumed, because the
 * certificate is a part of what is checked. */
static bool
talk_prepare_as_sessions(struct talk *t, struct err *err)
{
	char text[ADDR_TEXT_SIZE];
	const struct addr *addr = &t->plan.addr;
	const struct tls_peer peer = {
	    .host = t->plan.host,
	    .ip = addr->sa.sa_family == AF_UNIX ? NULL : addr_host(addr, text),
	};

	if (!tls_peer_lacks_name(SSL_get_SSL_CTX(t->ssl), &peer))
		err = NULL;
	return tls_peer_prepare(t->ssl, &peer, err);
}

/* Returns the context, with a reference; NULL when memory is short. */
static SSL_CTX *
talk_take_context(const struct talk *t)
{
	SSL_CTX *context;

	if (t->plan.context)
		return tls_context_take(t->plan.context);
	context = SSL_CTX_new(TLS_client_method());
	if (context && t->plan.trust)
		SSL_CTX_set1_cert_store(context, t->plan.trust);
	return context;
}

/* Returns false when TLS cannot begin; then err is set, unless memory is short.
 */
static bool
talk_prepare_tls(struct talk *t, struct err *err)
{
	SSL_CTX *context = talk_take_context(t);

	t->ssl = context ? SSL_new(context) : NULL;
	tls_context_give_back(context);
	if (!t->ssl || SSL_set_fd(t->ssl, t->fd) != 1)
		return false;
	return t->plan.context ? talk_prepare_as_sessions(t, err)
	                       : talk_prepare_own(t);
}

static void
talk_handshake(struct talk *t)
{
	uint64_t failures = tls_memory_failures_here();
	int rc;

	ERR_clear_error();
	rc = SSL_connect(t->ssl);
	if (rc == 1) {
		t->phase = STEPS;
		talk_run_steps(t);
	} else if (talk_io_result(t, rc, 0) == -EAGAIN) {
		return;
	} else if (failures != tls_memory_failures_here()) {
		talk_end_without(t, ENOMEM);
	} else {
		talk_end_tls(t);
	}
}

static void
talk_start_tls(struct talk *t)
{
	struct err err = {.text = ""};

	t->phase = t->plan.tls ? HANDSHAKE : STEPS;
	if (!t->plan.tls)
		talk_run_steps(t);
	else if (talk_prepare_tls(t, &err))
		talk_handshake(t);
	else if (*err.text)
		talk_end(t, CHECK_STATUS_SOCKERR, 0, err.text);
	else
		talk_end_without(t, ENOMEM);
}

static bool
talk_asks_for_tls(const struct talk *t)
{
	return t->plan.tls && t->plan.starttls != STARTTLS_OFF;
}

/* Reads the answer to the request for TLS. */
static void
talk_read_answer(struct talk *t)
{
	uint8_t answer;
	ssize_t rc = talk_read(t, &answer, 1);

	if (rc == -EAGAIN)
		return;
	if (rc == 1 && answer == 'S')
		talk_start_tls(t);
	else
		talk_end(t, CHECK_STATUS_L6RSP, 0,
		    rc == 1 && answer == 'N'
		        ? "no TLS offered: N is the answer to the SSLRequest"
		    : rc == 1 ? "wrong answer to the SSLRequest"
		              : "the connection ended without an answer to the "
		                "SSLRequest");
}

/* Makes the PROXY header of a connection that is the proxy's own: LOCAL, or in
 * version 1 with the connection's addresses, for some servers refuse UNKNOWN.
 */
static size_t
talk_make_header(const struct talk *t, uint8_t out[PROXY_MADE_MAX])
{
	struct proxy_header header = {.version = t->plan.proxy, .local = true};
	struct addr own, peer;

	if (t->plan.proxy == PROXY_OFF)
		return 0;
	if (sock_local_addr(t->fd, &own) && sock_peer_addr(t->fd, &peer)) {
		endpoint_set(&header.source, &own.sa, own.len);
		endpoint_set(&header.destination, &peer.sa, peer.len);
	}
	return proxy_header_make(&header, out);
}

/* Sends the PROXY header and the request for TLS. */
static void
talk_send_header(struct talk *t)
{
	uint8_t bytes[PROXY_MADE_MAX + PGSQL_REQUEST_SIZE];
	size_t size = talk_make_header(t, bytes);
	ssize_t rc;

	if (talk_asks_for_tls(t)) {
		memcpy(bytes + size, pgsql_tls_request, PGSQL_REQUEST_SIZE);
		size += PGSQL_REQUEST_SIZE;
	}
	rc = talk_send(t, bytes, size);
	if (rc > 0 && talk_asks_for_tls(t)) {
		t->phase = ANSWER;
		talk_read_answer(t);
	} else if (rc > 0) {
		talk_start_tls(t);
	} else if (rc != -EAGAIN) {
		talk_end_without(t, (int)-rc);
	}
}

/* Returns whether the socket is connected to itself, which proves nothing.
 * TCP's simultaneous open (RFC 9293, section 3.5) makes such a connection if
 * the server's address is a loopback port without a listener, and the kernel
 * has chosen this port for our own end. */
static bool
connected_to_itself(int fd)
{
	struct addr own, peer;

	return sock_local_addr(fd, &own) && own.sa.sa_family != AF_UNIX &&
	       sock_peer_addr(fd, &peer) && addr_equal(&own, &peer);
}

static void
talk_connected(struct talk *t)
{
	int error = sock_take_error(t->fd);

	if (!error && connected_to_itself(t->fd))
		error = ECONNREFUSED;
	t->phase = HEADER;
	if (error)
		talk_end_without(t, error);
	else if (t->plan.proxy != PROXY_OFF || talk_asks_for_tls(t))
		talk_send_header(t);
	else
		talk_start_tls(t);
}

static const struct {
	void (*run)(struct talk *t); /* when the socket is ready */
	enum check_status timeout;
	const char *text;
} talk_phases[] = {
    [CONNECTING] = {talk_connected, CHECK_STATUS_L4TOUT,
        "no answer to the connect"},
    [HEADER] = {talk_send_header, CHECK_STATUS_L7TOUT, "no answer"},
    [ANSWER] = {talk_read_answer, CHECK_STATUS_L6TOUT,
        "no answer to the SSLRequest"},
    [HANDSHAKE] = {talk_handshake, CHECK_STATUS_L6TOUT,
        "no end of the TLS handshake"},
    [STEPS] = {talk_run_steps, CHECK_STATUS_L7TOUT, "no answer"},
};

static void
talk_on_ready(struct ev_loop *loop, ev_io *io, int events)
{
	struct talk *t = io->data;

	(void)loop;
	(void)events;
	talk_phases[t->phase].run(t);
}

static void
talk_on_timeout(struct ev_loop *loop, ev_timer *timer, int events)
{
	struct talk *t = timer->data;

	(void)loop;
	(void)events;
	if (t->error)
		talk_end_without(t, t->error);
	else if (t->n > 0 && t->plan.steps[t->step].kind == STEP_EXPECT)
		talk_end_unexpected(t, "no", &t->plan.steps[t->step].pattern);
	else
		talk_end(t, talk_phases[t->phase].timeout, 0,
		    talk_phases[t->phase].text);
}

struct talk *
talk_start(struct ev_loop *loop, const struct talk_plan *plan, talk_done *done,
    void *arg)
{
	struct talk *t =
	    calloc(1, sizeof(*t) + (plan->steps_n > 0 ? DATA_MAX_BYTES : 0));
	struct sock_refusal refusal;
	bool connected;

	if (!t)
		return NULL;
	*t = (struct talk){
	    .loop = loop, .plan = *plan, .done = done, .arg = arg};
	ev_init(&t->io, talk_on_ready);
	t->fd = sock_connect_by(&plan->addr, &plan->way, &connected, &refusal);
	t->error = t->fd < 0 ? -t->fd : 0;
	if (t->fd >= 0)
		talk_watch(t, EV_WRITE);
	ev_now_update(loop);
	ev_timer_init(&t->timeout, talk_on_timeout,
	    t->error ? 0. : (double)plan->timeout_ms / 1e3, 0.);
	ev_set_priority(&t->timeout, CHECK_TIMEOUT_PRIORITY);
	t->io.data = t->timeout.data = t;
	ev_timer_start(loop, &t->timeout);
	return t;
}

void
talk_move(struct talk *talk, const struct talk_plan *plan)
{
	talk->plan = *plan;
}
