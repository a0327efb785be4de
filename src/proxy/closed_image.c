/* SPDX-License-Identifier: MIT
 * See closed_image.h.
 */
#include "proxy/closed_image.h"

#include <stdlib.h>
#include <string.h>

#include "proxy/image_field.h"

/* X(tag, type, member): numbers of struct closed_session. */
#define CLOSED_NUMBERS_TABLE(X)                                                \
	X(1, uint64_t, id)                                                     \
	X(2, uint64_t, ended_ns)                                               \
	X(3, uint8_t, first)                                                   \
	X(4, uint64_t, session.accepted_wall_us)                               \
	X(5, int64_t, session.wait_ms)                                         \
	X(6, int64_t, session.connect_ms)                                      \
	X(7, int64_t, session.total_ms)                                        \
	X(8, uint64_t, session.bytes_in)                                       \
	X(9, uint64_t, session.bytes_out)                                      \
	X(10, uint32_t, session.slot)                                          \
	X(11, uint32_t, session.queue_position)                                \
	X(12, uint8_t, session.retries)                                        \
	X(13, bool, session.redispatched)                                      \
	X(14, uint16_t, session.tls.listen)                                    \
	X(15, bool, session.tls.resumed)                                       \
	X(16, bool, session.server_tls.resumed)                                \
	X(17, bool, tcp_known[0])                                              \
	X(18, bool, tcp_known[1])                                              \
	X(20, uint64_t, tcp[0].delivery_rate)                                  \
	X(21, uint32_t, tcp[0].rtt_us)                                         \
	X(22, uint32_t, tcp[0].rttvar_us)                                      \
	X(23, uint32_t, tcp[0].min_rtt_us)                                     \
	X(24, uint32_t, tcp[0].retransmits)                                    \
	X(25, uint32_t, tcp[0].cwnd)                                           \
	X(26, uint32_t, tcp[0].mss)                                            \
	X(30, uint64_t, tcp[1].delivery_rate)                                  \
	X(31, uint32_t, tcp[1].rtt_us)                                         \
	X(32, uint32_t, tcp[1].rttvar_us)                                      \
	X(33, uint32_t, tcp[1].min_rtt_us)                                     \
	X(34, uint32_t, tcp[1].retransmits)                                    \
	X(35, uint32_t, tcp[1].cwnd)                                           \
	X(36, uint32_t, tcp[1].mss)

/* X(tag, member): texts of TLS, NULL for none. */
#define CLOSED_TEXTS_TABLE(X)                                                  \
	X(100, session.tls.version)                                            \
	X(101, session.tls.cipher)                                             \
	X(102, session.tls.verify)                                             \
	X(103, session.tls.failure)                                            \
	X(104, session.server_tls.version)                                     \
	X(105, session.server_tls.cipher)                                      \
	X(106, session.server_tls.verify)                                      \
	X(107, session.tls.group)                                              \
	X(108, session.server_tls.group)

enum closed_blob {
	BLOB_CLIENT = 200,
	BLOB_PEER,
	BLOB_REASON, /* its text: numbers of reasons change with versions */
	BLOB_CODE,   /* its code, for a reason that is not known */
	BLOB_NAMES,
	BLOB_SERVER_ALPN,
};

/* The longest text of TLS or of a reason. */
#define TEXT_MAX 160

/* -- writing -- */

static uint8_t *
put_number(uint8_t *at, uint32_t tag, uint64_t n)
{
	return n == 0 ? at : image_field_put(at, tag, &n, sizeof(n));
}

static uint8_t *
put_text_field(uint8_t *at, uint32_t tag, const char *text)
{
	return text ? image_field_put(at, tag, text, strnlen(text, TEXT_MAX))
	            : at;
}

/* Returns whether a number is written: the facts of TCP only if they are known.
 */
static bool
is_written(const struct closed_session *c, uint32_t tag)
{
	return tag < 20 || (tag < 30 ? c->tcp_known[0] : c->tcp_known[1]);
}

size_t
closed_image_encode(
    const struct closed_session *closed, uint8_t out[CLOSED_IMAGE_MAX])
{
	const struct closed_session *c = closed;
	const struct session_record *s = &c->session;
	uint8_t *at = out;

#define X(tag, type, member)                                                   \
	if (is_written(c, tag))                                                \
		at = put_number(at, tag, (uint64_t)c->member);
	CLOSED_NUMBERS_TABLE(X)
#undef X
#define X(tag, member) at = put_text_field(at, tag, c->member);
	CLOSED_TEXTS_TABLE(X)
#undef X
	at = image_field_put(at, BLOB_CLIENT, &s->client, sizeof(s->client));
	at = image_field_put(at, BLOB_PEER, &s->peer, sizeof(s->peer));
	at = put_text_field(at, BLOB_REASON, close_reason_text(s->reason));
	at = put_text_field(at, BLOB_CODE, close_reason_code(s->reason));
	at = image_field_put(at, BLOB_SERVER_ALPN, s->server_tls.alpn,
	    strlen(s->server_tls.alpn));
	at = image_field_put(at, BLOB_NAMES, c->names, c->names_len);
	return (size_t)(at - out);
}

/* -- reading -- */

/* Returns a static text that is equal to the bytes, or NULL if there are too
 * many different ones or memory is short. */
static const char *
intern_text(const uint8_t *bytes, size_t size)
{
	static char *kept[256];
	char text[TEXT_MAX + 1];

	if (size > TEXT_MAX)
		return NULL;
	memcpy(text, bytes, size);
	text[size] = '\0';
	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
		if (!kept[i])
			kept[i] = strdup(text);
		if (!kept[i] || strcmp(kept[i], text) == 0)
			return kept[i];
	}
	return NULL;
}

static bool
is_text(const char *text, const uint8_t *bytes, size_t size)
{
	return strlen(text) == size && memcmp(text, bytes, size) == 0;
}

/* Returns the first reason with that text or code, or CLOSE_REASONS. */
static unsigned
find_reason(const char *(*of)(enum close_reason reason), const uint8_t *bytes,
    size_t size)
{
	unsigned i = 0;

	while (i < CLOSE_REASONS &&
	       !is_text(of((enum close_reason)i), bytes, size))
		i++;
	return i;
}

/* Returns whether the bytes are all the names of a record, each with its NUL.
 */
static bool
are_names(const uint8_t *bytes, size_t size)
{
	unsigned n = 0;

	for (size_t i = 0; i < size; i++)
		n += bytes[i] == '\0';
	return size > 0 && size <= CLOSED_NAMES_SIZE && n == CLOSED_SANS + 1 &&
	       bytes[size - 1] == '\0';
}

static bool
read_closed_endpoint(
    const uint8_t *bytes, size_t size, struct endpoint *ret_endpoint)
{
	if (size != sizeof(*ret_endpoint))
		return false;
	memcpy(ret_endpoint, bytes, size);
	return true;
}

/* Reads a field that is no number and no text of TLS.  *reason, *code: see
 * find_reason. */
static bool
read_closed_blob(const struct image_field *f, const uint8_t *bytes,
    struct closed_session *c, unsigned *reason, unsigned *code)
{
	struct server_tls *tls = &c->session.server_tls;

	switch (f->tag) {
	case BLOB_CLIENT:
		return read_closed_endpoint(bytes, f->size, &c->session.client);
	case BLOB_PEER:
		return read_closed_endpoint(bytes, f->size, &c->session.peer);
	case BLOB_REASON:
		*reason = find_reason(close_reason_text, bytes, f->size);
		return true;
	case BLOB_CODE:
		*code = find_reason(close_reason_code, bytes, f->size);
		return true;
	case BLOB_SERVER_ALPN:
		if (f->size < sizeof(tls->alpn))
			memcpy(tls->alpn, bytes, f->size);
		return f->size < sizeof(tls->alpn);
	case BLOB_NAMES:
		if (!are_names(bytes, f->size))
			return false;
		memcpy(c->names, bytes, f->size);
		c->names_len = (uint16_t)f->size;
		return true;
	default:
		return true;
	}
}

static bool
read_number(
    const struct image_field *f, const uint8_t *bytes, struct closed_session *c)
{
	uint64_t n;

	if (f->size != sizeof(n))
		return false;
	memcpy(&n, bytes, sizeof(n));
	switch (f->tag) {
#define X(tag, type, member)                                                   \
	case tag:                                                              \
		c->member = (type)n;                                           \
		return true;
		CLOSED_NUMBERS_TABLE(X)
#undef X
	default:
		return true;
	}
}

static void
read_text_field(
    const struct image_field *f, const uint8_t *bytes, struct closed_session *c)
{
	switch (f->tag) {
#define X(tag, member)                                                         \
	case tag:                                                              \
		c->member = intern_text(bytes, f->size);                       \
		break;
		CLOSED_TEXTS_TABLE(X)
#undef X
	default:
		break;
	}
}

bool
closed_image_decode(
    const uint8_t *bytes, size_t size, struct closed_session *ret_closed)
{
	struct closed_session *c = ret_closed;
	unsigned reason = CLOSE_REASONS, code = CLOSE_REASONS;
	struct image_field f;

	memset(c, 0, sizeof(*c));
	for (; size > 0; bytes += f.size, size -= f.size) {
		if (!image_field_read(&bytes, &size, &f))
			return false;
		if (f.tag < 100 && !read_number(&f, bytes, c))
			return false;
		if (f.tag >= 100 && f.tag < BLOB_CLIENT)
			read_text_field(&f, bytes, c);
		else if (!read_closed_blob(&f, bytes, c, &reason, &code))
			return false;
	}
	if (reason == CLOSE_REASONS)
		reason = code;
	c->session.reason = (uint8_t)reason;
	return reason < CLOSE_REASONS && c->names_len > 0 &&
	       c->first <= CLOSER_BOTH && c->id > 0;
}
