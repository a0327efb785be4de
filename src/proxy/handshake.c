/* SPDX-License-Identifier: MIT
 * See handshake.h.
 */
#include "proxy/handshake.h"

#include <errno.h>
#include <openssl/ssl.h>
#include <string.h>
#include <sys/socket.h>

#include "base/log.h"
#include "lf/pool.h"
#include "proxy/accesslog.h"
#include "proxy/inspect.h"
#include "proxy/route.h"
#include "proxy/server_tls.h"
#include "proxy/session_count.h"
#include "proxy/session_deadline.h"
#include "proxy/session_tls.h"
#include "proxy/tls_side.h"
#include "tls/counters.h"
#include "tls/peer.h"

/* Sends bytes.  Returns how many the socket has taken, or -errno. */
static ssize_t
send_bytes(struct side *side, const uint8_t *data, size_t size)
{
	size_t done = 0;

	while (done < size) {
		ssize_t n =
		    send(side->fd, data + done, size - done, MSG_NOSIGNAL);

		if (n >= 0) {
			done += (size_t)n;
		} else if (errno == EAGAIN || errno == EINPROGRESS) {
			/* EINPROGRESS: Fast Open, see upstream_send_header. */
			side->writable = false;
			break;
		} else if (errno != EINTR) {
			return -errno;
		}
	}
	return (ssize_t)done;
}

/* Sends the records that the TLS connection keeps.  Returns 1 when all are
 * sent, 0 when the socket takes no more for now, or -errno. */
static int
send_kept(struct side *side)
{
	size_t size;
	const uint8_t *kept = tls_conn_kept(side->tls, &size);
	ssize_t n;

	if (size == 0)
		return 1;
	n = send_bytes(side, kept, size);
	if (n < 0)
		return (int)n;
	tls_conn_kept_sent(side->tls, (size_t)n);
	return (size_t)n == size;
}

/* Sends the records that a call has made, and keeps those that the socket does
 * not take.  Returns as send_kept. */
static int
send_flight(struct side *side, const struct tls_io *io)
{
	ssize_t n = send_bytes(side, io->out, io->out_n);
	size_t left = io->out_n - (n < 0 ? 0 : (size_t)n);

	if (n < 0)
		return (int)n;
	if (left > 0 && !tls_conn_keep(side->tls, io->out + n, left))
		return -ENOMEM;
	return left == 0;
}

/* Runs the next steps of the side's handshake.  Returns 1 when it is complete
 * and all of its records are sent, 0 when the peer has to do something, or
 * -errno. */
static int
advance(struct side *side, struct pool_thread *self)
{
	uint64_t signed_before = tls_counters_key_operations_here();
	enum tls_progress progress;
	struct tls_io io;
	int rc;

	tls_side_begin(side, self, &io);
	progress = tls_conn_handshake(side->tls, &io);
	atomic_bump_own(&self->stats.key_operations,
	    tls_counters_key_operations_here() - signed_before);
	tls_side_end(side, &io);
	rc = send_flight(side, &io);
	if (progress == TLS_PROGRESS_FAILED && tls_conn_lacks_memory(side->tls))
		return -ENOMEM;
	if (progress == TLS_PROGRESS_FAILED && io.ended)
		return io.error ? -io.error : -ECONNRESET;
	if (progress == TLS_PROGRESS_FAILED)
		return -EPROTO;
	if (rc < 0 || progress == TLS_PROGRESS_WAIT)
		return rc < 0 ? rc : 0;
	/* Data may have come with the last records of the handshake. */
	side->readable |= SSL_has_pending(tls_conn_ssl(side->tls)) == 1;
	return rc;
}

/* Declares the next turn long. */
static enum handshake
declare_long(struct session *s, enum handshake next)
{
	s->declared = true;
	event_handler_declare_long(&s->handler);
	return next;
}

/* Waits for the peer, and declares the next turn long if processing the answer
 * may take long. */
static enum handshake
wait_for_peer(struct session *s, enum handle_side which)
{
	return tls_conn_computes_long(s->side[which].tls)
	           ? declare_long(s, HANDSHAKE_WAIT)
	           : HANDSHAKE_WAIT;
}

/* Returns how the handshake goes on after advance has returned rc. */
static enum handshake
after_advance(struct session *s, enum handle_side which, int rc, int *ret_error)
{
	const struct side *side = &s->side[which];

	*ret_error = rc < 0 ? -rc : 0;
	if (rc < 0)
		return HANDSHAKE_FAILED;
	if (rc == 1)
		return HANDSHAKE_DONE;
	/* The step has read as much as one step may, and no event would follow.
	 */
	if (side->readable && side->writable)
		return declare_long(s, HANDSHAKE_MORE);
	return wait_for_peer(s, which);
}

/* Goes on with a handshake that has begun. */
static enum handshake
go_on(struct session *s, enum handle_side which, struct pool_thread *self,
    int *ret_error)
{
	struct side *side = &s->side[which];
	bool computes = !SSL_is_init_finished(tls_conn_ssl(side->tls));
	int rc = send_kept(side);

	if (rc == 1 && computes) {
		if (!side->readable)
			return wait_for_peer(s, which);
		if (!s->declared && tls_conn_computes_long(side->tls))
			return declare_long(s, HANDSHAKE_MORE);
		s->declared = false;
		rc = advance(side, self);
	}
	return after_advance(s, which, rc, ret_error);
}

static void
count_handshake(const struct session *s, enum handle_side which, unsigned where,
    struct pool_thread *self)
{
	session_count(s, where, COUNTER_HANDSHAKES, 1, self);
	if (SSL_session_reused(tls_conn_ssl(s->side[which].tls)))
		session_count(s, where, COUNTER_HANDSHAKES_RESUMED, 1, self);
}

/* -- with the client -- */

/* Logs why the handshake with a client has failed, unless the access log has a
 * line of every session, which has the reason as well. */
static void
log_client_failure(const struct session *s)
{
	static struct log_limit limit;
	const struct endpoint *client = session_client(s);
	const char *name = inspect_name(s);
	char host[INET6_ADDRSTRLEN];

	if (accesslog_is_whole(s->frontend))
		return;
	log_limited(&limit, LOG_LEVEL_WARNING,
	    "frontend %s: TLS handshake with %s:%u failed: %s%s%s",
	    s->frontend->spec->name, endpoint_host(client, host), client->port,
	    session_tls_failure(&s->side[HANDLE_CLIENT]),
	    *name ? "; sni: " : "", name);
}

/* Notes the name in the client's hello, if it was read. */
static void
note_client_name(const struct session *s)
{
	const char *name =
	    SSL_get_servername(tls_conn_ssl(s->side[HANDLE_CLIENT].tls),
	        TLSEXT_NAMETYPE_host_name);

	if (name)
		inspect_note_name(s->inspection, name);
}

/* Notes the protocol and the version that both sides have agreed on. */
static void
note_client_protocol(struct session *s)
{
	const unsigned char *protocol = NULL;
	unsigned size = 0;

	SSL_get0_alpn_selected(
	    tls_conn_ssl(s->side[HANDLE_CLIENT].tls), &protocol, &size);
	inspect_note_protocol(s, protocol, size);
	s->inspection->versions =
	    (uint8_t)(1u << (SSL_version(
	                         tls_conn_ssl(s->side[HANDLE_CLIENT].tls)) -
	                     SSL3_VERSION));
}

static struct verdict
client_lacks_memory(struct pool_thread *self)
{
	(void)exhaustion_note(&proxy_of(self)->exhaustion, ENOMEM,
	    "a TLS handshake with a client failed");
	return verdict_close(CAUSE_NO_RESOURCE);
}

static struct verdict
client_failed(struct session *s, int error, struct pool_thread *self)
{
	if (error == ENOMEM)
		return client_lacks_memory(self);
	if (error != EPROTO)
		return verdict_close(CAUSE_CLIENT_GONE);
	note_client_name(s);
	log_client_failure(s);
	session_count(s, COUNT_FRONTEND, COUNTER_HANDSHAKE_ERRORS, 1, self);
	return (struct verdict){
	    .step = STEP_LINGER, .cause = CAUSE_HANDSHAKE_FAILED};
}

static struct verdict
client_done(struct session *s, struct pool_thread *self)
{
	count_handshake(s, HANDLE_CLIENT, COUNT_FRONTEND, self);
	note_client_name(s);
	note_client_protocol(s);
	session_tls_publish(s);
	return route_step(s, CAUSE_DENIED, self);
}

/* Begins the handshake with the client, whose first bytes have come.  Returns
 * false when memory is short. */
static bool
begin_with_client(struct session *s)
{
	s->inspection->spoke = true;
	return tls_conn_begin(s->side[HANDLE_CLIENT].tls, TLS_ACCEPTS);
}

struct verdict
handshake_step(struct session *s, struct pool_thread *self)
{
	struct side *client = &s->side[HANDLE_CLIENT];
	OSSL_HANDSHAKE_STATE before;
	enum handshake next;
	int error;

	if (s->state != SESSION_HANDSHAKE)
		session_set_state(s, SESSION_HANDSHAKE, self);
	/* An alert before the reset is read first: it says why the client left.
	 */
	if (client->error && client->tcp && !client->readable)
		return verdict_close(CAUSE_CLIENT_GONE);
	if (session_first_byte_is_late(s, self))
		return verdict_close(CAUSE_FIRST_BYTE_LATE);
	if (turn_now_ms(self) >= session_handshake_ends_ms(s))
		return verdict_close(CAUSE_HANDSHAKE_TIMEOUT);
	/* The deadline was that of the first byte, which has come. */
	if (session_deadline_passed(s, self))
		session_set_deadline(s, self);
	if (!tls_conn_ssl(client->tls)) {
		if (!client->readable) {
			(void)declare_long(s, HANDSHAKE_WAIT);
			return verdict(STEP_WAIT);
		}
		if (!begin_with_client(s))
			return client_lacks_memory(self);
	}
	before = SSL_get_state(tls_conn_ssl(client->tls));
	next = go_on(s, HANDLE_CLIENT, self, &error);
	switch (next) {
	case HANDSHAKE_WAIT:
		if (SSL_get_state(tls_conn_ssl(client->tls)) != before)
			newcomers_enter(s, turn_now_ms(self));
		break;
	case HANDSHAKE_MORE:
		return verdict(STEP_MORE);
	case HANDSHAKE_FAILED:
		return client_failed(s, error, self);
	case HANDSHAKE_DONE:
		return client_done(s, self);
	}
	return verdict(STEP_WAIT);
}

/* -- with the server -- */

/* Readies the handshake: the SNI, the name that the server's certificate must
 * have, and the session to resume.  Returns 0, -ENOMEM, or -ENOKEY when a name
 * has to be checked and none is known. */
static int
prepare_peer(const struct session *s, SSL *ssl)
{
	const struct addr *addr = server_addr(s->server);
	const char *client_sni = inspect_name(s);
	char text[ADDR_TEXT_SIZE];
	struct tls_peer peer = {
	    .client_sni = *client_sni ? client_sni : NULL,
	    .host = s->server->spec->host,
	    .ip = addr->sa.sa_family == AF_UNIX ? NULL : addr_host(addr, text),
	    .resume = s->server->resume,
	};

	if (tls_peer_lacks_name(SSL_get_SSL_CTX(ssl), &peer))
		return -ENOKEY;
	return tls_peer_prepare(ssl, &peer, NULL) ? 0 : -ENOMEM;
}

/* Begins the handshake with the server.  Makes lfproxy's first message in this
 * turn: this takes only some 50 us. */
static enum handshake
begin_with_server(struct session *s, struct pool_thread *self, int *ret_error)
{
	struct side *side = &s->side[HANDLE_SERVER];
	SSL *ssl = NULL;
	int rc;

	side->tls = tls_conn_new(s->server->tls);
	if (side->tls)
		ssl = tls_conn_begin(side->tls, TLS_CONNECTS);
	rc = ssl ? prepare_peer(s, ssl) : -ENOMEM;
	if (rc == 0)
		rc = advance(side, self);
	return after_advance(s, HANDLE_SERVER, rc, ret_error);
}

enum handshake
handshake_with_server(
    struct session *s, struct pool_thread *self, int *ret_error)
{
	const unsigned where = COUNT_BACKEND | COUNT_SERVER;
	enum handshake next = s->side[HANDLE_SERVER].tls
	                          ? go_on(s, HANDLE_SERVER, self, ret_error)
	                          : begin_with_server(s, self, ret_error);

	if (next == HANDSHAKE_DONE) {
		count_handshake(s, HANDLE_SERVER, where, self);
		server_tls_publish(s);
	} else if (next == HANDSHAKE_FAILED && *ret_error == EPROTO) {
		session_count(s, where, COUNTER_HANDSHAKE_ERRORS, 1, self);
	}
	return next;
}
