/* SPDX-License-Identifier: MIT
 * See proxy_protocol.h.
 */
#include "net/proxy_protocol.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "base/ensure.h"
#include "base/text.h"

/* The signature (the specification, 2.2); SIGNATURE_SIZE leaves out the NUL of
 * the literal. */
static const uint8_t signature[] = "\r\n\r\n\0\r\nQUIT\n";
#define SIGNATURE_SIZE (sizeof(signature) - 1)
#define FIXED_SIZE     16u
static const char line_start[] = "PROXY ";
#define LINE_START_SIZE (sizeof(line_start) - 1)
/* No line is shorter than `PROXY UNKNOWN` and its end. */
#define LINE_MIN 15u

enum { COMMAND_LOCAL = 0x20, COMMAND_PROXY = 0x21 };
enum { FAMILY_NONE = 0x00, FAMILY_TCP4 = 0x11, FAMILY_TCP6 = 0x21 };
enum {
	TLV_ALPN = 0x01,
	TLV_AUTHORITY = 0x02,
	TLV_CRC32C = 0x03,
	TLV_UNIQUE_ID = 0x05,
	TLV_SSL = 0x20,
	TLV_SSL_VERSION = 0x21,
	TLV_SSL_CN = 0x22,
	TLV_SSL_CIPHER = 0x23,
	TLV_SSL_SIG_ALG = 0x24,
	TLV_SSL_KEY_ALG = 0x25,
};
#define TLV_HEAD_SIZE 3u
#define UNIQUE_ID_MAX 128u

/* -- making -- */

static bool
is_ip(const struct endpoint *e)
{
	return e->family == AF_INET || e->family == AF_INET6;
}

static bool
has_addresses(const struct proxy_header *h)
{
	return is_ip(&h->source) && is_ip(&h->destination);
}

static bool
both_ipv4(const struct proxy_header *h)
{
	return h->source.family == AF_INET && h->destination.family == AF_INET;
}

/* Writes the address as IPv6; an IPv4 address becomes IPv4-mapped. */
static void
put_ipv6(const struct endpoint *e, uint8_t out[16])
{
	if (e->family == AF_INET6) {
		memcpy(out, e->ip, 16);
		return;
	}
	memcpy(out, addr_v4_mapped, sizeof(addr_v4_mapped));
	memcpy(out + sizeof(addr_v4_mapped), e->ip, 4);
}

static void
write_ip(const struct endpoint *e, bool as_ipv4, char out[INET6_ADDRSTRLEN])
{
	uint8_t ipv6[16];

	put_ipv6(e, ipv6);
	inet_ntop(as_ipv4 ? AF_INET : AF_INET6, as_ipv4 ? e->ip : ipv6, out,
	    INET6_ADDRSTRLEN);
}

static size_t
make_v1(const struct proxy_header *h, uint8_t *out)
{
	char from[INET6_ADDRSTRLEN], to[INET6_ADDRSTRLEN];
	bool ipv4 = both_ipv4(h);

	if (!has_addresses(h))
		return (size_t)snprintf(
		    (char *)out, PROXY_MADE_MAX, "PROXY UNKNOWN\r\n");
	write_ip(&h->source, ipv4, from);
	write_ip(&h->destination, ipv4, to);
	return (size_t)snprintf((char *)out, PROXY_MADE_MAX,
	    "PROXY %s %s %s %u %u\r\n", ipv4 ? "TCP4" : "TCP6", from, to,
	    h->source.port, h->destination.port);
}

static uint8_t *
put_u16(uint8_t *out, size_t n)
{
	out[0] = (uint8_t)(n >> 8);
	out[1] = (uint8_t)n;
	return out + 2;
}

static uint8_t *
put_addresses(const struct proxy_header *h, uint8_t *out)
{
	size_t size = both_ipv4(h) ? 4 : 16;

	if (size == 4) {
		memcpy(out, h->source.ip, 4);
		memcpy(out + 4, h->destination.ip, 4);
	} else {
		put_ipv6(&h->source, out);
		put_ipv6(&h->destination, out + 16);
	}
	out = put_u16(out + 2 * size, h->source.port);
	return put_u16(out, h->destination.port);
}

static uint8_t *
put_tlv(uint8_t *out, uint8_t type, const char *value, size_t len)
{
	*out++ = type;
	out = put_u16(out, len);
	memcpy(out, value, len);
	return out + len;
}

/* Writes a text, cut to max bytes; writes nothing if it is NULL or empty. */
static uint8_t *
put_text_tlv(uint8_t *out, uint8_t type, const char *text, size_t max)
{
	return text && *text ? put_tlv(out, type, text, strnlen(text, max))
	                     : out;
}

/* Writes the facts about TLS (the specification, 2.2.6). */
static uint8_t *
put_tls(uint8_t *out, const struct proxy_tls *tls)
{
	uint8_t *end = out + TLV_HEAD_SIZE;

	*end++ = tls->client;
	end = put_u16(end, 0);
	end = put_u16(end, !tls->verified);
	end = put_text_tlv(end, TLV_SSL_VERSION, tls->version, PROXY_SHORT_MAX);
	end = put_text_tlv(end, TLV_SSL_CN, tls->cn, UINT8_MAX);
	end = put_text_tlv(end, TLV_SSL_CIPHER, tls->cipher, PROXY_SHORT_MAX);
	end = put_text_tlv(end, TLV_SSL_SIG_ALG, tls->sig_alg, PROXY_SHORT_MAX);
	end = put_text_tlv(end, TLV_SSL_KEY_ALG, tls->key_alg, PROXY_SHORT_MAX);
	*out = TLV_SSL;
	put_u16(out + 1, (size_t)(end - out) - TLV_HEAD_SIZE);
	return end;
}

static size_t
make_v2(const struct proxy_header *h, uint8_t *out)
{
	uint8_t *end = out + FIXED_SIZE;

	memcpy(out, signature, SIGNATURE_SIZE);
	out[12] = COMMAND_LOCAL;
	out[13] = FAMILY_NONE;
	if (!h->local && has_addresses(h)) {
		out[12] = COMMAND_PROXY;
		out[13] = both_ipv4(h) ? FAMILY_TCP4 : FAMILY_TCP6;
		end = put_addresses(h, end);
		end = put_text_tlv(end, TLV_ALPN, h->alpn, UINT8_MAX);
		if (h->authority_len > 0)
			end = put_tlv(
			    end, TLV_AUTHORITY, h->authority, h->authority_len);
		if (h->version == PROXY_V2_TLS && h->tls)
			end = put_tls(end, h->tls);
	}
	put_u16(out + 14, (size_t)(end - out) - FIXED_SIZE);
	return (size_t)(end - out);
}

size_t
proxy_header_make(
    const struct proxy_header *header, uint8_t out[PROXY_MADE_MAX])
{
	ENSURE(header->version != PROXY_OFF);
	return header->version == PROXY_V1 ? make_v1(header, out)
	                                   : make_v2(header, out);
}

/* -- reading: version 1 -- */

static enum proxy_reading
wrong(struct proxy_read *r, const char *why)
{
	r->why = why;
	return PROXY_WRONG;
}

static enum proxy_reading
incomplete(struct proxy_read *r, size_t needs)
{
	r->needs = needs;
	return PROXY_INCOMPLETE;
}

/* Cuts the next word off the line and returns it; NULL: there is none, or more
 * than a single blank before it. */
static char *
next_word(char **line)
{
	char *word = *line;

	if (!word || !*word || *word == ' ')
		return NULL;
	*line = strchr(word, ' ');
	if (*line)
		*(*line)++ = '\0';
	return word;
}

static bool
parse_ip_word(const char *word, int family, struct endpoint *e)
{
	uint8_t ip[16];

	if (!word || inet_pton(family, word, ip) != 1)
		return false;
	endpoint_set_ip(e, family, ip, 0);
	return true;
}

/* Parses a decimal port without leading zeros. */
static bool
parse_port_word(const char *text, struct endpoint *e)
{
	uint64_t port;

	if (!text || (text[0] == '0' && text[1]) ||
	    !text_parse_number(text, 0, UINT16_MAX, &port, NULL))
		return false;
	e->port = (uint16_t)port;
	return true;
}

/* Reads the text between `PROXY ` and the end of the line. */
static enum proxy_reading
parse_words(char *line, struct proxy_read *r)
{
	struct proxy_header *h = &r->header;
	const char *protocol = next_word(&line);
	int family;

	if (!protocol)
		return wrong(r, "the line names no protocol");
	/* After UNKNOWN the rest of the line is ignored. */
	if (strcmp(protocol, "UNKNOWN") == 0)
		return PROXY_COMPLETE;
	if (strcmp(protocol, "TCP4") == 0)
		family = AF_INET;
	else if (strcmp(protocol, "TCP6") == 0)
		family = AF_INET6;
	else
		return wrong(r, "its protocol is not TCP4, TCP6 or UNKNOWN");
	if (!parse_ip_word(next_word(&line), family, &h->source) ||
	    !parse_ip_word(next_word(&line), family, &h->destination))
		return wrong(
		    r, "an address does not belong to the header's protocol");
	if (!parse_port_word(next_word(&line), &h->source) ||
	    !parse_port_word(next_word(&line), &h->destination))
		return wrong(r, "a port is not a number from 0 to 65535");
	return line ? wrong(r, "there is more than two addresses and ports")
	            : PROXY_COMPLETE;
}

static enum proxy_reading
read_v1(const uint8_t *data, size_t n, struct proxy_read *r)
{
	size_t most = n < PROXY_V1_MAX - 1 ? n : PROXY_V1_MAX - 1;
	const uint8_t *cr = memchr(data, '\r', most);
	char line[PROXY_V1_MAX + 1];
	size_t len = cr ? (size_t)(cr - data) : most;

	if (!cr && most == PROXY_V1_MAX - 1)
		return wrong(r, "the line is longer than 107 bytes");
	if (memchr(data, '\0', len) || memchr(data, '\n', len))
		return wrong(r, "the line does not end in CR LF");
	if (n < LINE_MIN)
		return incomplete(r, LINE_MIN - n);
	if (!cr || len + 1 == n)
		return incomplete(r, cr ? 1 : 2);
	if (cr[1] != '\n')
		return wrong(r, "the line does not end in CR LF");
	memcpy(line, data, len);
	line[len] = '\0';
	r->header.version = PROXY_V1;
	r->size = len + 2;
	return parse_words(line + LINE_START_SIZE, r);
}

/* -- reading: version 2 -- */

static size_t
get_u16(const uint8_t *p)
{
	return (size_t)p[0] << 8 | p[1];
}

/* Returns the CRC by Castagnoli's polynomial, reflected (RFC 3720, appendix
 * B.4); processes four bits at a time. */
static uint32_t
crc32c(uint32_t crc, const uint8_t *data, size_t n)
{
	static const uint32_t table[16] = {0x00000000, 0x105ec76f, 0x20bd8ede,
	    0x30e349b1, 0x417b1dbc, 0x5125dad3, 0x61c69362, 0x7198540d,
	    0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9, 0xc38d26c4,
	    0xd3d3e1ab, 0xe330a81a, 0xf36e6f75};

	for (; n > 0; n--) {
		crc ^= *data++;
		crc = crc >> 4 ^ table[crc & 15];
		crc = crc >> 4 ^ table[crc & 15];
	}
	return crc;
}

/* Returns whether the checksum is right.  The sum is that of the header with
 * zeros in place of the checksum (the specification, PP2_TYPE_CRC32C). */
static bool
has_checksum(const uint8_t *data, size_t size, const uint8_t *value)
{
	static const uint8_t zeros[4];
	const uint8_t *after = value + sizeof(zeros);
	uint32_t crc = UINT32_MAX;

	crc = crc32c(crc, data, (size_t)(value - data));
	crc = crc32c(crc, zeros, sizeof(zeros));
	crc = ~crc32c(crc, after, size - (size_t)(after - data));
	return crc == ((uint32_t)get_u16(value) << 16 | get_u16(value + 2));
}

static enum proxy_reading
read_tlv(const uint8_t *data, uint8_t type, const uint8_t *value, size_t len,
    struct proxy_read *r)
{
	if (type == TLV_AUTHORITY) {
		if (len > UINT8_MAX)
			return wrong(
			    r, "its authority has more than 255 bytes");
		r->header.authority = (const char *)value;
		r->header.authority_len = (uint8_t)len;
	} else if (type == TLV_CRC32C) {
		if (len != 4)
			return wrong(r, "its CRC32c has not four bytes");
		if (!has_checksum(data, r->size, value))
			return wrong(r, "its CRC32c is wrong");
	} else if (type == TLV_UNIQUE_ID && len > UNIQUE_ID_MAX) {
		return wrong(r, "its unique ID has more than 128 bytes");
	}
	return PROXY_COMPLETE;
}

/* Reads the TLVs from this offset to the end of the header. */
static enum proxy_reading
read_tlvs(const uint8_t *data, size_t at, struct proxy_read *r)
{
	while (at < r->size) {
		enum proxy_reading reading;
		size_t len;

		if (r->size - at < TLV_HEAD_SIZE)
			return wrong(r, "a value does not fit into it");
		len = get_u16(data + at + 1);
		if (r->size - at - TLV_HEAD_SIZE < len)
			return wrong(r, "a value does not fit into it");
		reading =
		    read_tlv(data, data[at], data + at + TLV_HEAD_SIZE, len, r);
		if (reading != PROXY_COMPLETE)
			return reading;
		at += TLV_HEAD_SIZE + len;
	}
	return PROXY_COMPLETE;
}

/* Returns the size of the addresses in bytes, or -1 if the family is unknown.
 */
static int
addresses_size(uint8_t family)
{
	static const int sizes[] = {0, 12, 36, 216};

	/* Accept FAMILY_NONE, or a stream or datagram socket over IPv4, IPv6 or
	 * unix. */
	if (family == FAMILY_NONE)
		return 0;
	if (family >> 4 < 1 || family >> 4 > 3 || (family & 15) < 1 ||
	    (family & 15) > 2)
		return -1;
	return sizes[family >> 4];
}

/* Reads the addresses; ignores those that are not TCP's (the specification,
 * 2.2). */
static void
read_addresses(const uint8_t *data, struct proxy_header *h)
{
	const uint8_t *p = data + FIXED_SIZE;
	size_t size = data[13] == FAMILY_TCP4 ? 4 : 16;
	int family = size == 4 ? AF_INET : AF_INET6;

	if (data[13] != FAMILY_TCP4 && data[13] != FAMILY_TCP6)
		return;
	endpoint_set_ip(&h->source, family, p, (uint16_t)get_u16(p + 2 * size));
	endpoint_set_ip(&h->destination, family, p + size,
	    (uint16_t)get_u16(p + 2 * size + 2));
}

static enum proxy_reading
read_body(const uint8_t *data, struct proxy_read *r)
{
	int size = addresses_size(data[13]);

	/* Skip the whole address block of a LOCAL header. */
	if (data[12] == COMMAND_LOCAL) {
		r->header.local = true;
		return PROXY_COMPLETE;
	}
	if (r->size - FIXED_SIZE < (size_t)size)
		return wrong(r, "it is too short for its addresses");
	read_addresses(data, &r->header);
	return read_tlvs(data, FIXED_SIZE + (size_t)size, r);
}

static enum proxy_reading
read_v2(const uint8_t *data, size_t n, struct proxy_read *r)
{
	if (n > 12 && data[12] >> 4 != 2)
		return wrong(r, "its version is not 2");
	if (n > 12 && data[12] > COMMAND_PROXY)
		return wrong(r, "its command is not LOCAL or PROXY");
	if (n > 13 && data[12] == COMMAND_PROXY && addresses_size(data[13]) < 0)
		return wrong(r, "its family is unknown");
	if (n < FIXED_SIZE)
		return incomplete(r, FIXED_SIZE - n);
	r->header.version = PROXY_V2;
	r->size = FIXED_SIZE + get_u16(data + 14);
	if (r->size > PROXY_READ_MAX)
		return wrong(r, "it is longer than 16 KiB");
	if (n < r->size)
		return incomplete(r, r->size - n);
	return read_body(data, r);
}

static bool
begins_as(const uint8_t *data, size_t n, const void *with, size_t with_size)
{
	return memcmp(data, with, n < with_size ? n : with_size) == 0;
}

enum proxy_reading
proxy_header_read(const uint8_t *data, size_t n, struct proxy_read *ret_read)
{
	*ret_read = (struct proxy_read){.size = 0};
	/* Ask for a single byte first: that shows as early as possible that
	 * data are not a header. */
	if (n == 0)
		return incomplete(ret_read, 1);
	if (begins_as(data, n, line_start, LINE_START_SIZE))
		return read_v1(data, n, ret_read);
	if (begins_as(data, n, signature, SIGNATURE_SIZE))
		return read_v2(data, n, ret_read);
	return wrong(ret_read, "the first bytes are not those of a header");
}
