/* SPDX-License-Identifier: MIT
 * The TLS hello of a client, and the facts in it that rules ask for.
 */
#include <string.h>
#include <sys/socket.h>

#include "model/rules.h"
#include "proxy/inspect_internal.h"
#include "proxy/session_count.h"

_Static_assert(RELAY_BUFFER >= TLS_HELLO_MAX, "a hello fits into it");

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
 * data for the server.  Returns the length of all bytes read so far, or as
 * recv. */
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

/* Finds the client's first bytes.  Returns their length, or as recv.  Bytes
 * that arrive in one piece stay in the socket. */
static ssize_t
first_bytes(
    struct session *s, const uint8_t **ret_data, struct pool_thread *self)
{
	return s->inspection->spoke && !s->side[HANDLE_CLIENT].tcp
	           ? read_hello(s, ret_data, self)
	           : peek_hello(s, ret_data, self);
}

/* Notes the protocols that rules ask for.  alpn: the list as in a hello. */
static void
note_protocols(struct session *s, const uint8_t *alpn, size_t size)
{
	const struct rules *rules = s->frontend->rules;

	if (rules)
		s->inspection->protocols = rules_protocols(rules, alpn, size);
}

enum look
inspect_hello(struct session *s, struct pool_thread *self)
{
	struct inspection *p = s->inspection;
	const uint8_t *data = NULL;
	struct tls_hello hello;
	ssize_t n = first_bytes(s, &data, self);
	enum look found = inspect_result(s, n);

	if (found != LOOK_DONE)
		return found;
	switch (tls_hello_read(data, (size_t)n, &hello)) {
	case TLS_MORE:
		return inspect_again(s, hello.needs);
	case TLS_OTHER:
		session_count(s, COUNT_FRONTEND, COUNTER_NOT_TLS, 1, self);
		if (p->asked_tls)
			return LOOK_UNASKED;
		break;
	case TLS_HELLO:
		session_count(s, COUNT_FRONTEND, COUNTER_HELLOS, 1, self);
		p->tls = true;
		p->versions = (uint8_t)(1u << hello.version);
		note_protocols(s, hello.alpn, hello.alpn_len);
		if (hello.name_len == 0)
			break;
		inspection_put_name(p, hello.name, hello.name_len);
		atomic_store_release(&p->name_len, hello.name_len); /* [P21] */
		break;
	}
	p->steps &= (uint8_t)~INSPECT_HELLO;
	return LOOK_DONE;
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
