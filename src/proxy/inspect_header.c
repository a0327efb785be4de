/* SPDX-License-Identifier: MIT
 * The PROXY header of a client: peeked at until it is complete, then read.
 */
#include <sys/socket.h>

#include "base/log.h"
#include "proxy/inspect_internal.h"
#include "proxy/session_count.h"
#include "proxy/session_deadline.h"

_Static_assert(RELAY_BUFFER >= PROXY_READ_MAX, "a header fits into it");

/* Logs a connection without a valid header.  The messages are rate-limited:
 * most such connections are of clients that send no header, and there are many.
 */
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
	inspection_put_name(p, name, len);
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
	inspect_wait_for_any_byte(s);
	/* The time for the client's first byte begins. */
	session_set_deadline(s, self);
	return LOOK_DONE;
}

enum look
inspect_header(struct session *s, struct pool_thread *self)
{
	uint8_t *data = proxy_thread_of(self)->buffer;
	ssize_t n = inspect_receive(s, data, PROXY_READ_MAX, MSG_PEEK);
	enum look found = inspect_result(s, n);
	struct proxy_read r;

	if (found != LOOK_DONE)
		return found;
	switch (proxy_header_read(data, (size_t)n, &r)) {
	case PROXY_COMPLETE:
		return take_header(s, &r, self);
	case PROXY_INCOMPLETE:
		return inspect_again(s, (size_t)n + r.needs);
	case PROXY_WRONG:
		break;
	}
	log_bad_header(s, r.why);
	return LOOK_WRONG;
}

enum close_cause
inspect_refuse_header(
    struct session *s, enum look found, struct pool_thread *self)
{
	session_count(s, COUNT_FRONTEND, COUNTER_PROXY_ERRORS, 1, self);
	if (found == LOOK_WRONG)
		return CAUSE_PROXY_WRONG;
	if (found != LOOK_LATE)
		return CAUSE_PROXY_GONE;
	log_bad_header(s, "it did not come within timeout_hello");
	return CAUSE_PROXY_TIMEOUT;
}
