/* SPDX-License-Identifier: MIT
 * See connect.h.
 */
#include "proxy/connect.h"

#include <errno.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "lf/pool.h"
#include "net/sock.h"
#include "proxy/accesslog.h"
#include "proxy/attempt.h"
#include "proxy/handshake.h"
#include "proxy/inspection.h"
#include "proxy/pacing.h"
#include "proxy/session_count.h"
#include "proxy/session_tls.h"
#include "proxy/starttls.h"
#include "proxy/upstream.h"
#include "tls/conn.h"
#include "tls/context.h"
#include "tls/peer.h"

/* Notes how long a connect took, for balance = ewma. */
static void
note_ewma(const struct session *s, uint64_t us, struct pool_thread *self)
{
	if (!session_backend(s)->spec->balance->connect_times)
		return;
	server_note_connect(s->server->state,
	    us < UINT32_MAX ? (uint32_t)us : UINT32_MAX, turn_now_ms(self));
}

/* Writes into out why TLS with the server failed, and what was expected of the
 * server. */
static void
tls_failure_text(const struct session *s, char *out, size_t size)
{
	const struct side *side = &s->side[HANDLE_SERVER];
	const SSL *ssl = side->tls ? tls_conn_ssl(side->tls) : NULL;
	const char *ca = tls_context_ca(s->server->tls);
	char name[TLS_EXPECTED_SIZE] = "";

	if (ssl)
		tls_peer_expected(ssl, name);
	snprintf(out, size, "TLS: %s%s%s%s%s%s", session_tls_failure(side),
	    *name ? "; expected name: " : "", name, ca ? "; ca: " : "",
	    ca ? ca : "", ca ? "" : "; not verified");
}

/* Errors of lfproxy's own: each is an errno that no socket reports here. */
#define ERROR_NESTED_TLS EXDEV
#define ERROR_NO_TLS     EPROTONOSUPPORT /* see starttls_read_answer */
#define ERROR_ANSWER     EBADMSG         /* likewise */
#define ERROR_NO_NAME    ENOKEY          /* see handshake.c */
#define ERROR_OPTION     ENOPROTOOPT     /* see upstream_connect */

/* Returns the text for an error that has a meaning of its own here; NULL:
 * strerror has the text. */
static const char *
own_reason(int error)
{
	switch (error) {
	case EDESTADDRREQ:
		return "the server has no port, and the client's destination "
		       "port yields no valid port";
	case ERROR_NESTED_TLS:
		return "the client's TLS is passed on, and the server has TLS "
		       "of its own; write tls=off for the server, or tls=NAME "
		       "behind the address of listen";
	case ERROR_NO_NAME:
		return "TLS: no name is known to check in the server's "
		       "certificate; set name in its [tls] section";
	case ERROR_OPTION:
		return "an option of the connection was refused, see the "
		       "warning about it";
	case ERROR_NO_TLS:
		return "the server offers no TLS: N is its answer to the "
		       "SSLRequest";
	case ERROR_ANSWER:
		return "the server's answer to the SSLRequest is wrong";
	default:
		return NULL;
	}
}

static void
log_failure(const struct session *s, int error, const struct pool_thread *self)
{
	static struct log_limit limit;
	char what[128], why[640];

	snprintf(what, sizeof(what), "connect to %s/%s failed",
	    session_backend(s)->spec->name, s->server->spec->name);
	if (error == EPROTO)
		tls_failure_text(s, why, sizeof(why));
	else
		snprintf(why, sizeof(why), "%s",
		    own_reason(error) ? own_reason(error) : strerror(error));
	if (!exhaustion_note(&proxy_of(self)->exhaustion, error, what))
		log_limited(&limit, LOG_LEVEL_WARNING, "%s: %s", what, why);
}

/* Returns whether the connect failed because of the client's address.  If that
 * address is to be the source, it may be no IP address, or one of another
 * family than the server's. */
static bool
is_clients_family(const struct session *s, int error)
{
	return error == EAFNOSUPPORT &&
	       server_source(s->server)->kind == SOURCE_CLIENT;
}

/* Returns the kind of the failure.  A TLS handshake may fail because of the
 * name that the client has asked for. */
static enum failure
failure_of(const struct session *s)
{
	const struct tls_conn *tls = s->side[HANDLE_SERVER].tls;
	const SSL *ssl = tls ? tls_conn_ssl(tls) : NULL;

	return ssl && *inspect_name(s) != '\0' &&
	               tls_peer_passes_sni(SSL_get_SSL_CTX(ssl))
	           ? FAILURE_RESET
	           : FAILURE_CONNECT;
}

/* Returns whether lfproxy, its configuration or the client is the cause of the
 * failure, and not the server. */
static bool
is_our_failure(const struct session *s, int error)
{
	return resource_of(error) != RESOURCES || is_clients_family(s, error) ||
	       error == EDESTADDRREQ || error == ERROR_NESTED_TLS ||
	       error == ERROR_NO_NAME || error == ERROR_OPTION;
}

/* Counts a failed connect against the server, for balancing and for its health.
 * For ewma the connect took at least timeout_connect: a server that refuses at
 * once is not a quick one. */
static void
blame_server(struct session *s, int error, struct pool_thread *self)
{
	uint64_t us = session_backend(s)->spec->timeout_connect_ms * 1000;
	uint64_t took_us = (clock_now_ns() - s->connecting_ns) / 1000;

	if (is_our_failure(s, error))
		return;
	note_ewma(s, took_us > us ? took_us : us, self);
	if (server_note_failure(s->server, failure_of(s), error))
		attempt_note_ejected(s);
}

/* Returns whether a resource of lfproxy has run out, so that another server
 * would not help.  Source ports are the exception: each server has its own. */
static bool
is_exhaustion(int error)
{
	return resource_of(error) != RESOURCES && error != EADDRNOTAVAIL;
}

static enum close_cause
failure_cause(int error)
{
	if (resource_of(error) != RESOURCES)
		return CAUSE_NO_RESOURCE;
	if (error == ERROR_NO_TLS || error == ERROR_ANSWER)
		return CAUSE_STARTTLS_REFUSED;
	return error == ETIMEDOUT ? CAUSE_SERVER_TIMEOUT : CAUSE_CONNECT_FAILED;
}

static struct verdict
attempt_failed(struct session *s, int error, struct pool_thread *self)
{
	log_failure(s, error, self);
	blame_server(s, error, self);
	session_end_retry(s);
	if (is_exhaustion(error))
		return attempt_give_up(s, failure_cause(error), self);
	return verdict_choose(failure_cause(error));
}

/* Counts how long the connect took.  Reads the clock for every connect, because
 * the turn's time may be older by a batch of accepts. */
static void
note_connect_time(const struct session *s, struct pool_thread *self)
{
	uint64_t ns = clock_now_ns() - s->connecting_ns;

	timings_add(session_backend(s)->state->timings, self->index,
	    TIMING_CONNECT, ns);
	note_ewma(s, ns / 1000, self);
}

/* Enters RELAYING: the server is connected, and the client's bytes are next. */
static struct verdict
server_connected(struct session *s, struct pool_thread *self)
{
	struct side *side = &s->side[HANDLE_SERVER];

	s->connected_ms = turn_now_ms(self);
	session_end_retry(s);
	note_connect_time(s, self);
	side->writable = true;
	side->active_ms = s->connected_ms;
	s->side[HANDLE_CLIENT].active_ms = s->connected_ms;
	session_set_state(s, SESSION_RELAYING, self);
	accesslog_connected(s, self);
	return pacing_begin(s, self) ? verdict(STEP_RELAY)
	                             : verdict_close(CAUSE_NO_RESOURCE);
}

static struct verdict
make_handshake(struct session *s, struct pool_thread *self)
{
	int error;

	switch (handshake_with_server(s, self, &error)) {
	case HANDSHAKE_DONE:
		return server_connected(s, self);
	case HANDSHAKE_MORE:
		return verdict(STEP_MORE);
	case HANDSHAKE_FAILED:
		return attempt_failed(s, error, self);
	case HANDSHAKE_WAIT:
		break;
	}
	return verdict_wait(session_client_reset(s));
}

/* Goes on after the server has accepted.  The connect is complete once the
 * PROXY header is sent, the request for TLS is answered, and the TLS handshake
 * is made: a server that has gone again fails one of these. */
static struct verdict
server_accepted(struct session *s, struct pool_thread *self)
{
	int rc = upstream_wants_header(s) ? upstream_send_header(s) : 1;

	if (rc < 0)
		return attempt_failed(s, -rc, self);
	if (rc == 0)
		return verdict(STEP_WAIT);
	if (!s->side[HANDLE_SERVER].tls && starttls_with_server_is_due(s)) {
		rc = starttls_read_answer(s);
		if (rc < 0)
			return attempt_failed(s, -rc, self);
		if (rc == 0)
			return verdict_wait(session_client_reset(s));
	}
	return s->server->tls ? make_handshake(s, self)
	                      : server_connected(s, self);
}

/* Opens the connection to the server.  Returns 1 when the server has accepted
 * already, 0 when the connect is under way, or -errno. */
static int
open_server_side(struct session *s, struct pool_thread *self)
{
	struct side *side = &s->side[HANDLE_SERVER];
	bool done;
	int fd, rc;

	if (s->waits == 0)
		s->connecting_ms = turn_now_ms(self);
	s->connecting_ns = clock_now_ns();
	session_set_state(s, SESSION_CONNECTING, self);
	s->header_sent = 0;
	if (starttls_is_nested(s))
		return -ERROR_NESTED_TLS;
	fd = upstream_connect(s, &done);
	if (fd < 0)
		return fd;
	atomic_store_relaxed(&side->fd, fd);
	side->tcp = server_addr(s->server)->sa.sa_family != AF_UNIX;
	rc = session_watch(s, HANDLE_SERVER);
	return rc < 0 ? rc : done;
}

/* Pauses before the next connect, because the backlog of a unix socket is full.
 * With TCP the kernel would repeat the SYN until timeout_connect; here the
 * session repeats the connect. */
static struct verdict
wait_for_backlog(struct session *s, struct pool_thread *self)
{
	if (turn_now_ms(self) >=
	    s->connecting_ms + session_backend(s)->spec->timeout_connect_ms)
		return attempt_failed(s, ETIMEDOUT, self);
	if (s->waits < SESSION_WAITS_MAX)
		s->waits++;
	session_set_state(s, SESSION_PAUSING, self);
	return verdict(STEP_WAIT);
}

struct verdict
connect_start(struct session *s, struct pool_thread *self)
{
	int rc = open_server_side(s, self);

	if (rc == -EAGAIN)
		return wait_for_backlog(s, self);
	if (rc < 0)
		return attempt_failed(s, -rc, self);
	return rc == 1 ? server_accepted(s, self) : verdict(STEP_WAIT);
}

struct verdict
connect_step(struct session *s, struct pool_thread *self)
{
	struct side *side = &s->side[HANDLE_SERVER];
	int error;

	if (side->error) {
		side->error = false;
		error = sock_take_error(side->fd);
		if (error != 0)
			return attempt_failed(s, error, self);
	}
	/* When the server accepts, the socket becomes writable, so no system
	 * call is needed to find out; exceptions are rare. */
	if (side->writable)
		return server_accepted(s, self);
	/* The client's reset is looked for last: a connected server would still
	 * get what the client sent before it. */
	return verdict_wait(session_client_reset(s));
}

struct verdict
connect_timeout(struct session *s, struct pool_thread *self)
{
	return attempt_failed(s, ETIMEDOUT, self);
}
