/* SPDX-License-Identifier: MIT
 * See starttls.h.
 */
#include "proxy/starttls.h"

#include <errno.h>
#include <sys/socket.h>

#include "base/log.h"
#include "proxy/inspection.h"

/* The type of a record that begins a TLS handshake. */
#define TLS_RECORD_HANDSHAKE 22

/* The answers of a server. */
#define ANSWER_TLS  'S'
#define ANSWER_NONE 'N'

/* SQLSTATE 28000, "invalid authorization specification": PostgreSQL's answer to
 * clients that no hostssl line admits. */
#define NO_TLS_STATE "28000"
#define NO_TLS_TEXT  "this address requires TLS; connect with sslmode=require"

static ssize_t
receive_bytes(int fd, uint8_t *out, size_t size, int flags)
{
	ssize_t n;

	do
		n = recv(fd, out, size, flags);
	while (n < 0 && errno == EINTR);
	return n;
}

/* Sends a few bytes to a client whose send buffer is empty.  Returns whether
 * all were taken. */
static bool
send_answer(const struct session *s, const uint8_t *bytes, size_t n)
{
	ssize_t rc;

	do
		rc = send(s->side[HANDLE_CLIENT].fd, bytes, n, MSG_NOSIGNAL);
	while (rc < 0 && errno == EINTR);
	return rc == (ssize_t)n;
}

static enum starttls_look
refuse_client(const struct session *s, const char *why)
{
	static struct log_limit limit;
	const struct endpoint *client = session_client(s);
	char host[INET6_ADDRSTRLEN];

	log_limited(&limit, LOG_LEVEL_WARNING,
	    "frontend %s: a client from %s:%u is refused: %s",
	    s->frontend->spec->name, endpoint_host(client, host), client->port,
	    why);
	return STARTTLS_REFUSED;
}

/* Takes the request and answers it.  No byte has come after it. */
static enum starttls_look
answer_tls_request(struct session *s, enum pgsql_request request)
{
	struct inspection *p = s->inspection;
	uint8_t taken[PGSQL_REQUEST_SIZE];
	uint8_t answer = request == PGSQL_TLS ? ANSWER_TLS : ANSWER_NONE;

	if (receive_bytes(s->side[HANDLE_CLIENT].fd, taken, sizeof(taken), 0) !=
	        sizeof(taken) ||
	    !send_answer(s, &answer, 1))
		return STARTTLS_GONE;
	p->asked_gss |= request == PGSQL_GSS;
	if (request == PGSQL_GSS)
		return STARTTLS_WAIT;
	atomic_store_relaxed(&p->asked_tls, true); /* [P21] */
	return STARTTLS_PROCEED;
}

/* Refuses a client that does not ask for TLS where it is required.  Reads its
 * message, because closing with unread bytes would reset the connection, and
 * the client would not read the answer. */
static enum starttls_look
refuse_without_tls(struct session *s)
{
	uint8_t bytes[PGSQL_ERROR_MAX > 1024 ? PGSQL_ERROR_MAX : 1024];
	size_t size;

	(void)receive_bytes(s->side[HANDLE_CLIENT].fd, bytes, sizeof(bytes), 0);
	size = pgsql_error_make(NO_TLS_STATE, NO_TLS_TEXT, bytes);
	(void)send_answer(s, bytes, size);
	return refuse_client(s, "its first message does not ask for TLS, which "
	                        "the listen has (tls)");
}

enum starttls_look
starttls_with_client(struct session *s, size_t *ret_bytes)
{
	struct inspection *p = s->inspection;
	struct side *client = &s->side[HANDLE_CLIENT];
	uint8_t data[PGSQL_REQUEST_SIZE + 1];
	ssize_t n = receive_bytes(client->fd, data, sizeof(data), MSG_PEEK);
	enum pgsql_request request;

	*ret_bytes = 1;
	if (n < 0 && errno == EAGAIN) {
		client->readable = false;
		return STARTTLS_WAIT;
	}
	if (n <= 0)
		return STARTTLS_GONE;
	p->spoke = true;
	request = pgsql_request_read(data, (size_t)n);
	if (request == PGSQL_MORE) {
		*ret_bytes = PGSQL_REQUEST_SIZE;
		return STARTTLS_WAIT;
	}
	if (request == PGSQL_NONE)
		return client->tls && data[0] != TLS_RECORD_HANDSHAKE
		           ? refuse_without_tls(s)
		           : STARTTLS_PROCEED;
	if (n > PGSQL_REQUEST_SIZE)
		return refuse_client(s, "it has sent more than its request for "
		                        "encryption, before the answer");
	if (request == PGSQL_GSS && p->asked_gss)
		return refuse_client(s, "it has asked for GSSAPI twice");
	return answer_tls_request(s, request);
}

static bool
passes_tls_on(const struct session *s)
{
	const struct inspection *p = s->inspection;

	return p && p->asked_tls && !s->side[HANDLE_CLIENT].tls;
}

bool
starttls_with_server_is_due(const struct session *s)
{
	return passes_tls_on(s) ||
	       (s->server->tls && s->server->starttls != STARTTLS_OFF);
}

bool
starttls_is_nested(const struct session *s)
{
	return s->server->tls && passes_tls_on(s);
}

/* Logs what a server has answered; this may be an ErrorResponse, with a text.
 */
static void
log_wrong_answer(const struct session *s, uint8_t *bytes, size_t n)
{
	static struct log_limit limit;
	const struct server *server = s->server;

	for (size_t i = 0; i < n; i++)
		if (bytes[i] < ' ' || bytes[i] > '~')
			bytes[i] = ' ';
	log_limited(&limit, LOG_LEVEL_WARNING,
	    "server %s/%s: wrong answer to the SSLRequest: '%.*s'",
	    server->backend->spec->name, server->spec->name, (int)n,
	    (const char *)bytes);
}

int
starttls_read_answer(struct session *s)
{
	struct side *side = &s->side[HANDLE_SERVER];
	uint8_t bytes[160];
	ssize_t n = receive_bytes(side->fd, bytes, sizeof(bytes), 0);

	if (n < 0 && errno == EAGAIN) {
		side->readable = false;
		return 0;
	}
	if (n <= 0)
		return n < 0 ? -errno : -ECONNRESET;
	if (n == 1 && bytes[0] == ANSWER_TLS)
		return 1;
	if (n == 1 && bytes[0] == ANSWER_NONE)
		return -EPROTONOSUPPORT;
	log_wrong_answer(s, bytes, (size_t)n);
	return -EBADMSG;
}
