/* SPDX-License-Identifier: MIT
 * See inspect.h.
 */
#include "proxy/inspect_internal.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "lf/pool.h"
#include "net/sock.h"
#include "proxy/first_byte.h"
#include "proxy/session_count.h"
#include "proxy/session_deadline.h"

_Static_assert(RELAY_BUFFER >= TLS_HELLO_MAX, "a hello fits into it");

bool
inspect_construct(void *object, uint32_t index, void *arg)
{
	struct inspection *p = object;

	(void)arg;
	p->index = index;
	return true;
}

bool
inspect_begin(struct session *s, unsigned steps, struct pool_thread *self)
{
	uint32_t index;
	struct inspection *p = slab_take(&proxy_of(self)->inspections, &index);

	if (!p)
		return false;
	atomic_store_relaxed(&p->name_len, 0);
	p->steps = (uint8_t)steps;
	p->ended = p->spoke = false;
	p->low_water = 0;
	p->authority_len = 0;
	p->header_ms = 0;
	atomic_store_relaxed(&p->proxied, false);
	atomic_store_release(&s->inspection, p); /* [P21] */
	return true;
}

void
inspect_end(struct session *s, struct pool_thread *self)
{
	if (s->inspection)
		slab_give(&proxy_of(self)->inspections, s->inspection->index);
}

ssize_t
inspect_receive(const struct session *s, uint8_t *data, size_t size, int flags)
{
	ssize_t n;

	do
		n = recv(s->side[HANDLE_CLIENT].fd, data, size, flags);
	while (n < 0 && errno == EINTR);
	return n;
}

static ssize_t
peek(struct session *s, const uint8_t **ret_data, struct pool_thread *self)
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
take(struct session *s, const uint8_t **ret_data, struct pool_thread *self)
{
	struct pending_pool *pending_pool = &proxy_of(self)->pending_pool;
	struct pending *pending = s->pending[HANDLE_SERVER].buffer;
	bool fresh = !pending;
	ssize_t n;

	if (fresh) {
		pending = pending_take(pending_pool);
		if (!pending)
			return peek(s, ret_data, self);
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
	           ? take(s, ret_data, self)
	           : peek(s, ret_data, self);
}

void
inspect_put_name(struct inspection *p, const char *name, size_t len)
{
	uint64_t words[sizeof(p->name) / sizeof(p->name[0])] = {0};

	memcpy(words, name, len);
	for (size_t i = 0; i <= len / sizeof(words[0]); i++)
		atomic_store_relaxed(&p->name[i], words[i]);
}

static void
note_name(struct inspection *p, const struct tls_hello *hello)
{
	inspect_put_name(p, hello->name, hello->name_len);
	atomic_store_release(&p->name_len, hello->name_len); /* [P21] */
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

void
inspect_wait_for(struct session *s, size_t bytes)
{
	const struct side *client = &s->side[HANDLE_CLIENT];
	int value = (int)bytes;

	if (!client->tcp || s->inspection->low_water == bytes)
		return;
	(void)setsockopt(
	    client->fd, SOL_SOCKET, SO_RCVLOWAT, &value, sizeof(value));
	s->inspection->low_water = (uint16_t)bytes;
}

void
inspect_wait_for_any(struct session *s)
{
	if (s->inspection->low_water > 0)
		inspect_wait_for(s, 1);
}

static enum look
look_at_hello(struct session *s, struct pool_thread *self)
{
	struct side *client = &s->side[HANDLE_CLIENT];
	struct inspection *p = s->inspection;
	const uint8_t *data = NULL;
	struct tls_hello hello;
	ssize_t n = first_bytes(s, &data, self);

	if (n < 0 && errno == EAGAIN) {
		client->readable = false;
		return LOOK_MORE;
	}
	if (n <= 0)
		return LOOK_GONE;
	p->spoke = true;
	switch (tls_hello_read(data, (size_t)n, &hello)) {
	case TLS_MORE:
		inspect_wait_for(s, hello.needs);
		return p->ended ? LOOK_ENDED : LOOK_MORE;
	case TLS_OTHER:
		session_count(s, COUNT_FRONTEND, COUNTER_NOT_TLS, 1, self);
		break;
	case TLS_HELLO:
		session_count(s, COUNT_FRONTEND, COUNTER_HELLOS, 1, self);
		if (hello.name_len > 0)
			note_name(p, &hello);
		break;
	}
	p->steps &= (uint8_t)~INSPECT_HELLO;
	return LOOK_DONE;
}

static enum look
look(struct session *s, struct pool_thread *self)
{
	enum look found = LOOK_DONE;

	if (s->inspection->steps & INSPECT_PROXY)
		found = inspect_look_at_proxy(s, self);
	if (found == LOOK_DONE && s->inspection->steps & INSPECT_HELLO)
		found = look_at_hello(s, self);
	return found;
}

/* Ends the inspection and routes the session by the name known so far. */
static struct verdict
proceed(
    struct session *s, enum close_reason otherwise, struct pool_thread *self)
{
	struct inspection *p = s->inspection;
	unsigned route;

	/* Without a name in a TLS hello, use the name of the PROXY header. */
	if (p->name_len == 0 && p->authority_len > 0)
		atomic_store_release(
		    &p->name_len, p->authority_len); /* [P21] */
	route = frontend_route_named(
	    s->frontend, (const char *)p->name, p->name_len);
	inspect_wait_for_any(s);
	if (route == s->frontend->backends_n) {
		if (otherwise == CLOSE_DENIED)
			session_count(
			    s, COUNT_FRONTEND, COUNTER_DENIED, 1, self);
		return verdict_close(otherwise);
	}
	session_use_backend(s, route, self);
	return verdict_choose(CLOSE_NO_SERVER);
}

static void
note_events(struct session *s, uint32_t pending)
{
	if (pending & (HANDLE_READ_CLOSED | HANDLE_HUNG_UP | HANDLE_ERROR))
		s->inspection->ended = true;
}

static bool
is_late(const struct session *s, const struct pool_thread *self)
{
	/* Accepted by another thread it may be later than this turn's time. */
	return turn_now_ms(self) >=
	       s->accepted_ms + s->frontend->spec->timeout_hello_ms;
}

struct verdict
inspect_step(struct session *s, uint32_t pending, struct pool_thread *self)
{
	const struct side *client = &s->side[HANDLE_CLIENT];
	enum look found = LOOK_MORE;

	if (s->state == SESSION_ACCEPTED)
		session_set_state(s, SESSION_INSPECTING, self);
	note_events(s, pending);
	/* Even then a header that owes nothing to the reset is taken: HAProxy's
	 * checks are a header and a reset. */
	if (client->error && client->tcp &&
	    !(s->inspection->steps & INSPECT_PROXY))
		found = LOOK_GONE;
	else if (client->readable)
		found = look(s, self);
	if (found == LOOK_DONE && client->error && client->tcp)
		found = LOOK_GONE;
	if (found == LOOK_MORE && first_byte_is_late(s, self))
		return verdict_close(session_reason(s, CAUSE_FIRST_BYTE_LATE));
	if (found == LOOK_MORE && is_late(s, self))
		found = LOOK_LATE;
	if (s->inspection->steps & INSPECT_PROXY && found != LOOK_MORE)
		return verdict_close(inspect_refuse_proxy(s, found, self));
	switch (found) {
	case LOOK_MORE:
		/* The deadline may have been that of the first byte, which has
		 * come since. */
		if (pending & NOTE_TIMEOUT)
			session_set_deadline(s, self);
		break;
	case LOOK_WRONG:
		break;
	case LOOK_DONE:
		return proceed(s, CLOSE_DENIED, self);
	case LOOK_ENDED:
		session_count(s, COUNT_FRONTEND, COUNTER_NOT_TLS, 1, self);
		return proceed(s, CLOSE_CLIENT_GONE_HELLO, self);
	case LOOK_GONE:
		return verdict_close(session_reason(s, CAUSE_CLIENT_GONE));
	case LOOK_LATE:
		session_count(
		    s, COUNT_FRONTEND, COUNTER_HELLO_TIMEOUTS, 1, self);
		return proceed(s, CLOSE_HELLO_TIMEOUT, self);
	}
	return verdict(STEP_WAIT);
}
