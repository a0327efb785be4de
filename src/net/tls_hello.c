/* SPDX-License-Identifier: MIT
 * See tls_hello.h.
 */
#include "net/tls_hello.h"

#include <string.h>

enum {
	RECORD_HEAD = 5, /* type, version, length */
	RECORD_HANDSHAKE = 22,
	MESSAGE_HEAD = 4, /* type, length */
	MESSAGE_CLIENT_HELLO = 1,
	VERSION_MAJOR_MIN = 3, /* SSL 3.0 and all TLS */
	EXTENSION_SERVER_NAME = 0,
	EXTENSION_ALPN = 16,
	EXTENSION_VERSIONS = 43, /* supported_versions (RFC 8446 4.2.1) */
	VERSION_LEGACY_MAX = 3,  /* TLS 1.2, where the extension is missing */
	NAME_TYPE_HOST = 0,
};

static unsigned
number16(const uint8_t *data)
{
	return (unsigned)data[0] << 8 | data[1];
}

/* Returns whether these bytes, 1 to RECORD_HEAD of them, begin a record of the
 * handshake.  A server has to accept any version of a record here (RFC 5246
 * E.1, RFC 8446 5.1).  As in HAProxy, only versions before SSL 3.0, whose
 * hellos have another form, are refused. */
static bool
begins_record(const uint8_t *data, size_t size)
{
	if (data[0] != RECORD_HANDSHAKE ||
	    (size > 1 && data[1] < VERSION_MAJOR_MIN))
		return false;
	if (size > 3 && data[3] > TLS_HELLO_MESSAGE_MAX >> 8)
		return false;
	return size < RECORD_HEAD ||
	       (number16(data + 3) > 0 &&
	           number16(data + 3) <= TLS_HELLO_MESSAGE_MAX);
}

/* A part of the message, which may extend over several records.  All of them
 * have arrived. */
struct part {
	const uint8_t *at;
	size_t in_record; /* bytes up to the end of the record that at is in */
	size_t left;      /* bytes left of the part */
	bool bad;         /* a read went beyond the part's end */
};

static void
part_next_record(struct part *p)
{
	p->in_record = number16(p->at + 3);
	p->at += RECORD_HEAD;
}

static unsigned
part_u8(struct part *p)
{
	if (p->left == 0) {
		p->bad = true;
		return 0;
	}
	if (p->in_record == 0)
		part_next_record(p);
	p->left--;
	p->in_record--;
	return *p->at++;
}

static unsigned
part_u16(struct part *p)
{
	unsigned high = part_u8(p);

	return high << 8 | part_u8(p);
}

/* Splits the first n bytes off the part, and returns them as a part of their
 * own. */
static struct part
part_split(struct part *p, size_t n)
{
	struct part piece = *p;

	if (n > p->left) {
		p->bad = piece.bad = true;
		p->left = piece.left = 0;
		return piece;
	}
	piece.left = n;
	p->left -= n;
	while (n > p->in_record) {
		n -= p->in_record;
		p->at += p->in_record;
		part_next_record(p);
	}
	p->at += n;
	p->in_record -= n;
	return piece;
}

static void
part_skip(struct part *p, size_t n)
{
	(void)part_split(p, n);
}

static bool
is_label_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' ||
	       c == '_';
}

bool
tls_name_normalize(const char *name, size_t len, char *out, uint8_t *ret_len)
{
	if (len > 0 && name[len - 1] == '.')
		len--;
	if (len == 0 || len > TLS_NAME_MAX)
		return false;
	for (size_t i = 0; i < len; i++) {
		char c = name[i];

		if (c >= 'A' && c <= 'Z')
			c = (char)(c - 'A' + 'a');
		/* Each label has a character, so there is one on each side of a
		 * dot. */
		if (!is_label_char(c) &&
		    (c != '.' || i == 0 || i == len - 1 || name[i - 1] == '.'))
			return false;
		out[i] = c;
	}
	out[len] = '\0';
	*ret_len = (uint8_t)len;
	return true;
}

static void
read_host(struct part name, struct tls_hello *hello)
{
	char text[TLS_NAME_MAX + 1];
	size_t len = name.left;

	if (len > sizeof(text))
		return;
	for (size_t i = 0; i < len; i++)
		text[i] = (char)part_u8(&name);
	if (!tls_name_normalize(text, len, hello->name, &hello->name_len)) {
		hello->name_len = 0;
		hello->name[0] = '\0';
	}
}

/* Reads the first of the host names; RFC 6066 allows only one. */
static bool
read_server_name(struct part extension, struct tls_hello *hello)
{
	struct part list = part_split(&extension, part_u16(&extension));
	bool found = false;

	while (list.left > 0 && !list.bad) {
		unsigned type = part_u8(&list);
		struct part name = part_split(&list, part_u16(&list));

		if (type != NAME_TYPE_HOST || found || list.bad)
			continue;
		found = true;
		read_host(name, hello);
	}
	return !list.bad && !extension.bad && extension.left == 0;
}

static void
add_protocol(struct part name, struct tls_hello *hello)
{
	if (name.left > sizeof(hello->alpn) - hello->alpn_len - 1)
		return;
	hello->alpn[hello->alpn_len++] = (uint8_t)name.left;
	while (name.left > 0)
		hello->alpn[hello->alpn_len++] = (uint8_t)part_u8(&name);
}

/* Reads the names of the protocols; no name may be empty (RFC 7301). */
static bool
read_alpn(struct part extension, struct tls_hello *hello)
{
	struct part list = part_split(&extension, part_u16(&extension));

	while (list.left > 0 && !list.bad) {
		struct part name = part_split(&list, part_u8(&list));

		if (list.bad || name.left == 0)
			return false;
		if (hello->alpn_len < sizeof(hello->alpn))
			add_protocol(name, hello);
	}
	return !list.bad && !extension.bad && extension.left == 0;
}

/* Reads the highest version that is known.  Clients also offer reserved numbers
 * (RFC 8701). */
static bool
read_versions(struct part extension, struct tls_hello *hello)
{
	struct part list = part_split(&extension, part_u8(&extension));
	unsigned highest = 0;

	while (list.left > 0 && !list.bad) {
		unsigned version = part_u16(&list);

		if (version >> 8 == VERSION_MAJOR_MIN &&
		    (version & 0xff) <= TLS_VERSION_MAX && version > highest)
			highest = version;
	}
	hello->version = highest & 0xff;
	return !list.bad && !extension.bad && extension.left == 0;
}

/* Reads server_name, ALPN and supported_versions.  Each may appear only once:
 * of two, the server behind lfproxy could choose the other one. */
static bool
read_extensions(struct part extensions, struct tls_hello *hello)
{
	bool named = false, has_alpn = false, has_versions = false;

	while (extensions.left > 0) {
		unsigned type = part_u16(&extensions);
		struct part extension =
		    part_split(&extensions, part_u16(&extensions));

		if (extensions.bad)
			return false;
		if (type == EXTENSION_SERVER_NAME) {
			if (named || !read_server_name(extension, hello))
				return false;
			named = true;
		} else if (type == EXTENSION_ALPN) {
			if (has_alpn || !read_alpn(extension, hello))
				return false;
			has_alpn = true;
		} else if (type == EXTENSION_VERSIONS) {
			if (has_versions || !read_versions(extension, hello))
				return false;
			has_versions = true;
		}
	}
	return true;
}

static enum tls_verdict
read_message(struct part message, struct tls_hello *hello)
{
	struct part extensions;
	unsigned major, minor;

	hello->name_len = hello->alpn_len = 0;
	hello->name[0] = '\0';
	/* A version that a server does not know is negotiated down. */
	major = part_u8(&message);
	minor = part_u8(&message);
	if (major < VERSION_MAJOR_MIN)
		return TLS_OTHER;
	hello->version = VERSION_LEGACY_MAX;
	if (major == VERSION_MAJOR_MIN && minor < VERSION_LEGACY_MAX)
		hello->version = (uint8_t)minor;
	part_skip(&message, 32);                 /* random */
	part_skip(&message, part_u8(&message));  /* session_id */
	part_skip(&message, part_u16(&message)); /* cipher_suites */
	part_skip(&message, part_u8(&message));  /* compression_methods */
	if (message.bad)
		return TLS_OTHER;
	if (message.left == 0)
		return TLS_HELLO; /* as before TLS 1.2: no extensions */
	extensions = part_split(&message, part_u16(&message));
	if (message.bad || message.left > 0)
		return TLS_OTHER;
	return read_extensions(extensions, hello) ? TLS_HELLO : TLS_OTHER;
}

static enum tls_verdict
hello_needs(size_t needs, struct tls_hello *ret_hello)
{
	if (needs > TLS_HELLO_MAX)
		return TLS_OTHER;
	ret_hello->needs = needs;
	return TLS_MORE;
}

enum tls_verdict
tls_hello_read(const uint8_t *data, size_t size, struct tls_hello *ret_hello)
{
	uint8_t head[MESSAGE_HEAD];
	size_t at = 0, got = 0, message = MESSAGE_HEAD;
	struct part part = {.at = data};

	while (got < message) {
		size_t length;

		if (size > at &&
		    !begins_record(data + at,
		        size - at < RECORD_HEAD ? size - at : RECORD_HEAD))
			return TLS_OTHER;
		if (size - at < RECORD_HEAD)
			return hello_needs(at + RECORD_HEAD, ret_hello);
		length = number16(data + at + 3);
		at += RECORD_HEAD;
		for (size_t i = 0; i < length && got + i < MESSAGE_HEAD; i++) {
			if (at + i == size)
				return hello_needs(at + length, ret_hello);
			head[got + i] = data[at + i];
			if (got + i == 0 && head[0] != MESSAGE_CLIENT_HELLO)
				return TLS_OTHER;
		}
		got += length;
		at += length;
		if (got >= MESSAGE_HEAD)
			message = MESSAGE_HEAD +
			          ((size_t)head[1] << 16 | number16(head + 2));
		if (message - MESSAGE_HEAD > TLS_HELLO_MESSAGE_MAX)
			return TLS_OTHER;
		if (at > size)
			return hello_needs(at, ret_hello);
	}
	part.left = message;
	part_skip(&part, MESSAGE_HEAD);
	return read_message(part, ret_hello);
}
