/* SPDX-License-Identifier: MIT
 * See inspect.h.
 */
#include "proxy/inspect.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "base/log.h"
#include "lf/pool.h"
#include "model/rules.h"
#include "net/sock.h"
#include "proxy/route.h"
#include "proxy/session_count.h"
#include "proxy/session_deadline.h"
#include "proxy/starttls.h"

_Static_assert(RELAY_BUFFER >= TLS_HELLO_MAX && RELAY_BUFFER >= PROXY_READ_MAX,
    "a hello or a header fits into it");

/* The result of looking at the client's bytes. */
enum look {
	LOOK_MORE,  /* more bytes are needed */
	LOOK_DONE,  /* the part is complete */
	LOOK_ENDED, /* more bytes are needed, and the client has sent its FIN */
	LOOK_GONE,  /* the client has left without sending anything, or reset */
	LOOK_LATE,  /* timeout_hello has passed */
	LOOK_WRONG, /* the PROXY header is not valid */
	LOOK_UNASKED, /* the request for TLS, or what follows, is not valid */
	LOOK_DENIED,  /* the gate refuses the client that the header names */
	LOOK_HELD,    /* the gate holds it */
};

bool
inspect_construct(void *object, uint32_t index, void *arg)
{
	struct inspection *p = object;

	(void)arg;
	p->index = index;
	return true;
}

bool
inspect_begin(
    struct session *s, unsigned listen, unsigned steps, struct proxy *proxy)
{
	uint32_t index;
	struct inspection *p = slab_take(&proxy->inspections, &index);

	if (!p)
		return false;
	atomic_store_relaxed(&p->name_len, 0);
	p->steps = (uint8_t)steps;
	p->listen = (uint16_t)listen;
	p->ended = p->spoke = p->tls = p->asked_gss = false;
	atomic_store_relaxed(&p->asked_tls, false);
	p->protocols = 0;
	p->low_water = 0;
	p->authority_len = 0;
	p->header_ms = 0;
	atomic_store_relaxed(&p->proxied, false);
	atomic_store_relaxed(&p->tls_cipher, NULL);
	atomic_store_release(&s->inspection, p); /* [P21] */
	return true;
}

void
inspect_end(struct session *s, struct proxy *proxy)
{
	if (s->inspection)
		slab_give(&proxy->inspections, s->inspection->index);
}

/* Receives from the client as recv does. */
static ssize_t
inspect_receive(const struct session *s, uint8_t *data, size_t size, int flags)
{
	ssize_t n;

	do
		n = recv(s->side[HANDLE_CLIENT].fd, data, size, flags);
	while (n < 0 && errno == EINTR);
	return n;
}

/* Writes the name word by word, as readers read it.  Readers see the name once
 * name_len is set. */
static void
put_name(struct inspection *p, const char *name, size_t len)
{
	uint64_t words[sizeof(p->name) / sizeof(p->name[0])] = {0};

	memcpy(words, name, len);
	for (size_t i = 0; i <= len / sizeof(words[0]); i++)
		atomic_store_relaxed(&p->name[i], words[i]);
}

void
inspect_read_name(
    const struct inspection *inspection, char ret_name[TLS_NAME_MAX + 1])
{
	uint64_t words[sizeof(inspection->name) / sizeof(inspection->name[0])];
	size_t len = 0;

	if (inspection)
		len = atomic_load_acquire(&inspection->name_len); /* [P21] */
	ret_name[len] = '\0';
	if (len == 0)
		return;
	for (size_t i = 0; i <= len / sizeof(words[0]); i++)
		words[i] = atomic_load_acquire(&inspection->name[i]);
	memcpy(ret_name, words, len);
}

void
inspect_read_client(const struct inspection *inspection,
    struct endpoint *client, struct endpoint *ret_peer)
{
	*ret_peer = (struct endpoint){.family = 0};
	if (!inspection ||
	    !atomic_load_acquire(&inspection->proxied)) /* [P21] */
		return;
	*ret_peer = *client;
	endpoint_get(&inspection->source, client);
}

void
session_destination(const struct session *s, struct endpoint *ret_destination)
{
	const struct inspection *p = s->inspection;
	struct addr addr;

	if (p && p->proxied)
		*ret_destination = p->destination;
	else if (sock_local_addr(s->side[HANDLE_CLIENT].fd, &addr))
		endpoint_set(ret_destination, &addr.sa, addr.len);
	else
		*ret_destination = (struct endpoint){.family = 0};
}

/* Sets how many unread bytes wake the session (SO_RCVLOWAT).  Has no effect on
 * a unix socket, where each write is an event.  Sets a value only once: if the
 * socket's buffer is too small for that many bytes, the kernel wakes the
 * session earlier by itself. */
static void
wait_for_bytes(struct session *s, size_t bytes)
{
	const struct side *client = &s->side[HANDLE_CLIENT];
	int value = (int)bytes;

	if (!client->tcp || s->inspection->low_water == bytes)
		return;
	(void)setsockopt(
	    client->fd, SOL_SOCKET, SO_RCVLOWAT, &value, sizeof(value));
	s->inspection->low_water = (uint16_t)bytes;
}

/* Lets a single unread byte wake the session again. */
static void
wait_for_any_byte(struct session *s)
{
	if (s->inspection->low_water > 0)
		wait_for_bytes(s, 1);
}

/* A recv has returned n.  LOOK_DONE: there are bytes. */
static enum look
look_at_result(struct session *s, ssize_t n)
{
	if (n < 0 && errno == EAGAIN) {
		s->side[HANDLE_CLIENT].readable = false;
		return LOOK_MORE;
	}
	if (n <= 0)
		return LOOK_GONE;
	s->inspection->spoke = true;
	return LOOK_DONE;
}

/* The part is incomplete, and has this many bytes at least. */
static enum look
look_again(struct session *s, size_t bytes)
{
	wait_for_bytes(s, bytes);
	return s->inspection->ended ? LOOK_ENDED : LOOK_MORE;
}

/* -- the PROXY header: peeked at until it is complete, then read -- */

/* Logs a connection without a valid header.  Rate-limited: most are clients
 * that send none, and there are many. */
static void
log_bad_header(const struct session *s, const char *why)
{
	static struct log_limit limit;
	char host[INET6_ADDRSTRLEN];

	log_limited(&limit, LOG_LEVEL_WARNING,
	    "frontend %s: a connection from %s:%u has no good PROXY header: "
	    "%s; see accept_proxy and proxy_from",
	    s->frontend->spec->name, endpoint_host(&s->client, host),
	    s->client.port, why);
}

/* Notes the name in the PROXY header, unless it is not a valid host name.  The
 * name in a TLS hello that is still to come takes precedence. */
static void
note_authority(struct inspection *p, const struct proxy_header *header)
{
	char name[TLS_NAME_MAX + 1];
	uint8_t len;

	if (!tls_name_normalize(
	        header->authority, header->authority_len, name, &len))
		return;
	put_name(p, name, len);
	if (p->steps & INSPECT_HELLO)
		p->authority_len = len;
	else
		atomic_store_release(&p->name_len, len); /* [P21] */
}

static void
note_header(struct inspection *p, const struct proxy_header *header)
{
	if (header->authority_len > 0)
		note_authority(p, header);
	if (header->source.family == 0)
		return;
	endpoint_put(&p->source, &header->source);
	endpoint_put(&p->destination, &header->destination);
	atomic_store_release(&p->proxied, true); /* [P21] */
}

/* Consumes the PROXY header, which has arrived completely. */
static enum look
take_header(
    struct session *s, const struct proxy_read *r, struct pool_thread *self)
{
	struct inspection *p = s->inspection;
	uint8_t *data = proxy_thread_of(self)->buffer;

	if (inspect_receive(s, data, r->size, 0) != (ssize_t)r->size)
		return LOOK_GONE;
	note_header(p, &r->header);
	session_count(s, COUNT_FRONTEND, COUNTER_PROXY_HEADERS, 1, self);
	p->steps &= (uint8_t)~INSPECT_PROXY;
	p->spoke = false;
	p->header_ms = turn_now_ms(self);
	wait_for_any_byte(s);
	/* The time for the client's first byte begins. */
	session_set_deadline(s, self);
	return LOOK_DONE;
}

static enum look
look_at_header(struct session *s, struct pool_thread *self)
{
	uint8_t *data = proxy_thread_of(self)->buffer;
	ssize_t n = inspect_receive(s, data, PROXY_READ_MAX, MSG_PEEK);
	enum look found = look_at_result(s, n);
	struct proxy_read r;

	if (found != LOOK_DONE)
		return found;
	switch (proxy_header_read(data, (size_t)n, &r)) {
	case PROXY_COMPLETE:
		return take_header(s, &r, self);
	case PROXY_INCOMPLETE:
		return look_again(s, (size_t)n + r.needs);
	case PROXY_WRONG:
		break;
	}
	log_bad_header(s, r.why);
	return LOOK_WRONG;
}

/* Counts a session without a valid PROXY header.  found: ENDED, GONE, LATE or
 * WRONG.  Returns why it ends. */
static enum close_cause
refuse_header(struct session *s, enum look found, struct pool_thread *self)
{
	session_count(s, COUNT_FRONTEND, COUNTER_PROXY_ERRORS, 1, self);
	if (found == LOOK_WRONG)
		return CAUSE_PROXY_WRONG;
	if (found != LOOK_LATE)
		return CAUSE_PROXY_GONE;
	log_bad_header(s, "it did not come within timeout_hello");
	return CAUSE_PROXY_TIMEOUT;
}

/* -- the request for TLS -- */

static enum look
look_at_request(struct session *s)
{
	size_t bytes;

	switch (starttls_with_client(s, &bytes)) {
	case STARTTLS_WAIT:
		return look_again(s, bytes);
	case STARTTLS_PROCEED:
		break;
	case STARTTLS_GONE:
		return LOOK_GONE;
	case STARTTLS_REFUSED:
		return LOOK_UNASKED;
	}
	wait_for_any_byte(s);
	s->inspection->steps &= (uint8_t)~INSPECT_STARTTLS;
	return LOOK_DONE;
}

/* -- the TLS hello -- */

static ssize_t
peek_hello(
    struct session *s, const uint8_t **ret_data, struct pool_thread *self)
{
	uint8_t *buffer = proxy_thread_of(self)->buffer;

	*ret_data = buffer;
	return inspect_receive(s, buffer, TLS_HELLO_MAX, MSG_PEEK);
}

/* Reads the first bytes from a unix socket, instead of peeking: unread bytes
 * would block the sender after some dozens of writes.  The bytes become pending
 * data for the server.  Returns, as recv, the length of all bytes read so far.
 */
static ssize_t
read_hello(
    struct session *s, const uint8_t **ret_data, struct pool_thread *self)
{
	struct pending_pool *pending_pool = &proxy_of(self)->pending_pool;
	struct pending *pending = s->pending[HANDLE_SERVER].buffer;
	bool fresh = !pending;
	ssize_t n;

	if (fresh) {
		pending = pending_take(pending_pool);
		if (!pending)
			return peek_hello(s, ret_data, self);
		pending->from = pending->to = 0;
	}
	n = inspect_receive(
	    s, pending->data + pending->to, TLS_HELLO_MAX - pending->to, 0);
	if (n <= 0 && fresh) {
		pending_give(pending_pool, pending);
		return n;
	}
	s->pending[HANDLE_SERVER].buffer = pending;
	s->side[HANDLE_SERVER].piped = false;
	*ret_data = pending->data;
	if (n > 0) {
		pending->to += (uint32_t)n;
		session_received(
		    s, HANDLE_CLIENT, (uint64_t)n, turn_now_ms(self));
	} else if (n == 0) {
		s->inspection->ended = true;
	}
	return n < 0 ? n : (ssize_t)pending->to;
}

/* Returns the client's first bytes and their length, as recv.  Bytes that
 * arrive in one piece stay in the socket. */
static ssize_t
first_bytes(
    struct session *s, const uint8_t **ret_data, struct pool_thread *self)
{
	return s->inspection->spoke && !s->side[HANDLE_CLIENT].tcp
	           ? read_hello(s, ret_data, self)
	           : peek_hello(s, ret_data, self);
}

/* alpn: as in a hello. */
static void
note_protocols(struct session *s, const uint8_t *alpn, size_t size)
{
	const struct rules *rules = s->frontend->rules;

	if (rules)
		s->inspection->protocols = rules_protocols(rules, alpn, size);
}

static enum look
look_at_hello(struct session *s, struct pool_thread *self)
{
	struct inspection *p = s->inspection;
	const uint8_t *data = NULL;
	struct tls_hello hello;
	ssize_t n = first_bytes(s, &data, self);
	enum look found = look_at_result(s, n);

	if (found != LOOK_DONE)
		return found;
	switch (tls_hello_read(data, (size_t)n, &hello)) {
	case TLS_MORE:
		return look_again(s, hello.needs);
	case TLS_OTHER:
		session_count(s, COUNT_FRONTEND, COUNTER_NOT_TLS, 1, self);
		if (p->asked_tls)
			return LOOK_UNASKED;
		break;
	case TLS_HELLO:
		session_count(s, COUNT_FRONTEND, COUNTER_HELLOS, 1, self);
		p->tls = true;
		note_protocols(s, hello.alpn, hello.alpn_len);
		if (hello.name_len == 0)
			break;
		put_name(p, hello.name, hello.name_len);
		atomic_store_release(&p->name_len, hello.name_len); /* [P21] */
		break;
	}
	p->steps &= (uint8_t)~INSPECT_HELLO;
	return LOOK_DONE;
}

/* The client that the header has named is judged as others are when they are
 * accepted.  A header without an address stands for the peer itself. */
static enum look
pass_gate(struct session *s, struct pool_thread *self)
{
	struct gate_answer answer;

	if (!gate_is_used(s->frontend))
		return LOOK_DONE;
	answer = gate_client(s->frontend, session_client(s), self->now_ns);
	session_note_gate(s, &answer);
	gate_count(s->frontend, &answer, COUNTER_DENIED_SESSIONS, self->index);
	if (answer.action == GATE_ADMIT)
		return LOOK_DONE;
	return answer.hold_ms > 0 ? LOOK_HELD : LOOK_DENIED;
}

/* No rule needs the hello: a request for TLS is for the server then. */
static void
leave_out_hello(struct session *s)
{
	s->inspection->steps &= (uint8_t)~INSPECT_HELLO;
	if (!s->side[HANDLE_CLIENT].tls)
		s->inspection->steps &= (uint8_t)~INSPECT_STARTTLS;
}

static enum look
look_at_parts(struct session *s, struct pool_thread *self)
{
	enum look found = LOOK_DONE;

	if (s->inspection->steps & INSPECT_PROXY) {
		found = look_at_header(s, self);
		if (found == LOOK_DONE && !route_needs_hello(s))
			leave_out_hello(s);
		if (found == LOOK_DONE)
			found = pass_gate(s, self);
	}
	if (found == LOOK_DONE && s->inspection->steps & INSPECT_STARTTLS)
		found = look_at_request(s);
	if (found == LOOK_DONE && s->inspection->steps & INSPECT_HELLO)
		found = look_at_hello(s, self);
	return found;
}

void
inspect_note_name(struct inspection *inspection, const char *name)
{
	char normal[TLS_NAME_MAX + 1];
	uint8_t len;

	if (!tls_name_normalize(name, strlen(name), normal, &len))
		return;
	put_name(inspection, normal, len);
	atomic_store_release(&inspection->name_len, len); /* [P21] */
}

void
inspect_note_protocol(struct session *s, const uint8_t *protocol, unsigned size)
{
	uint8_t list[1 + UINT8_MAX];

	if (!protocol || size > UINT8_MAX)
		return;
	list[0] = (uint8_t)size;
	memcpy(list + 1, protocol, size);
	note_protocols(s, list, 1u + size);
}

/* The inspection is complete. */
static struct verdict
proceed(struct session *s, enum close_cause otherwise, struct pool_thread *self)
{
	struct inspection *p = s->inspection;

	wait_for_any_byte(s);
	if (s->side[HANDLE_CLIENT].tls)
		return verdict(STEP_HANDSHAKE);
	/* Without a name in a TLS hello, use the name of the PROXY header. */
	if (p->name_len == 0 && p->authority_len > 0)
		atomic_store_release(
		    &p->name_len, p->authority_len); /* [P21] */
	return route_step(s, otherwise, self);
}

/* Goes on without a complete hello: by the rules that do without it, else the
 * session ends for that cause.  A client that has asked for TLS, or that has to
 * speak it, cannot go on so. */
static struct verdict
proceed_without(
    struct session *s, enum close_cause otherwise, struct pool_thread *self)
{
	if (s->inspection->asked_tls || s->side[HANDLE_CLIENT].tls)
		return verdict_close(otherwise);
	return proceed(s, otherwise, self);
}

static bool
is_late(const struct session *s, const struct pool_thread *self)
{
	/* Accepted by another thread it may be later than this turn's time. */
	return turn_now_ms(self) >= session_hello_ends_ms(s);
}

struct verdict
inspect_resume(struct session *s, uint32_t pending, struct pool_thread *self)
{
	return s->inspection->steps == 0 ? proceed(s, CAUSE_DENIED, self)
	                                 : inspect_step(s, pending, self);
}

struct verdict
inspect_step(struct session *s, uint32_t pending, struct pool_thread *self)
{
	const struct side *client = &s->side[HANDLE_CLIENT];
	enum look found = LOOK_MORE;

	if (s->state == SESSION_ACCEPTED || s->state == SESSION_HELD)
		session_set_state(s, SESSION_INSPECTING, self);
	if (pending & (HANDLE_READ_CLOSED | HANDLE_HUNG_UP | HANDLE_ERROR))
		s->inspection->ended = true;
	/* A PROXY header is taken even then: HAProxy's checks are a header and
	 * a reset. */
	if (client->error && client->tcp &&
	    !(s->inspection->steps & INSPECT_PROXY))
		found = LOOK_GONE;
	else if (client->readable)
		found = look_at_parts(s, self);
	if (found == LOOK_DONE && client->error && client->tcp)
		found = LOOK_GONE;
	if (found == LOOK_MORE && session_first_byte_is_late(s, self))
		return verdict_close(CAUSE_FIRST_BYTE_LATE);
	if (found == LOOK_MORE && is_late(s, self))
		found = LOOK_LATE;
	if (s->inspection->steps & INSPECT_PROXY && found != LOOK_MORE)
		return verdict_close(refuse_header(s, found, self));
	switch (found) {
	case LOOK_MORE:
		/* The deadline may have been that of the first byte, which has
		 * come since. */
		if (pending & NOTE_TIMEOUT)
			session_set_deadline(s, self);
		break;
	case LOOK_WRONG:
		break;
	case LOOK_UNASKED:
		return verdict_close(CAUSE_STARTTLS_WRONG);
	case LOOK_DENIED:
		return verdict_close((enum close_cause)s->cause);
	case LOOK_HELD:
		return verdict(STEP_HOLD);
	case LOOK_DONE:
		return proceed(s, CAUSE_DENIED, self);
	case LOOK_ENDED:
		session_count(s, COUNT_FRONTEND, COUNTER_NOT_TLS, 1, self);
		return proceed_without(s, CAUSE_CLIENT_GONE, self);
	case LOOK_GONE:
		return verdict_close(CAUSE_CLIENT_GONE);
	case LOOK_LATE:
		session_count(
		    s, COUNT_FRONTEND, COUNTER_HELLO_TIMEOUTS, 1, self);
		return proceed_without(s, CAUSE_HELLO_TIMEOUT, self);
	}
	return verdict(STEP_WAIT);
}
