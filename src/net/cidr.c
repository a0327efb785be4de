/* SPDX-License-Identifier: MIT
 * See cidr.h.
 */
#include "net/cidr.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

static unsigned
bits_of(uint16_t family)
{
	return family == AF_INET ? 32 : 128;
}

/* Clears all bits after the first `bits`. */
static void
clear_rest(uint8_t ip[16], unsigned bits)
{
	for (unsigned i = 0; i < 16; i++) {
		unsigned kept = bits > 8 * i ? bits - 8 * i : 0;

		if (kept < 8)
			ip[i] &= (uint8_t)(0xff00u >> kept);
	}
}

bool
cidr_parse(const char *s, struct cidr *ret_cidr, struct err *err)
{
	size_t len = strcspn(s, "/");
	char ip[INET6_ADDRSTRLEN], text[CIDR_TEXT_SIZE];
	struct cidr c = {.family = AF_INET}, whole;
	uint64_t bits;

	if (strcmp(s, "unix") == 0) {
		*ret_cidr = (struct cidr){.family = AF_UNIX};
		return true;
	}
	snprintf(ip, sizeof(ip), "%.*s", (int)len, s);
	if (inet_pton(AF_INET, ip, c.ip) != 1)
		c.family = AF_INET6;
	if (len >= sizeof(ip) || inet_pton(c.family, ip, c.ip) != 1)
		return err_set(err,
		    "'%s' is not a range of addresses; write ADDRESS, "
		    "ADDRESS/BITS, or unix",
		    s);
	bits = bits_of(c.family);
	if (s[len] && !text_parse_number(s + len + 1, 0, bits, &bits, NULL))
		return err_set(err, "'%s' has no number from 0 to %u behind /",
		    s, bits_of(c.family));
	if (c.family == AF_INET6 &&
	    memcmp(c.ip, addr_v4_mapped, sizeof(addr_v4_mapped)) == 0)
		return err_set(
		    err, "'%s' is IPv4 in IPv6; write it as IPv4", s);
	whole = c;
	c.bits = (uint8_t)bits;
	clear_rest(c.ip, c.bits);
	if (memcmp(c.ip, whole.ip, sizeof(c.ip)) != 0)
		return err_set(err,
		    "'%s' has bits beyond the first %u; write %s", s, c.bits,
		    cidr_text(&c, text));
	*ret_cidr = c;
	return true;
}

const char *
cidr_text(const struct cidr *cidr, char out[CIDR_TEXT_SIZE])
{
	char ip[INET6_ADDRSTRLEN];

	if (cidr->family == AF_UNIX)
		return strcpy(out, "unix");
	inet_ntop(cidr->family, cidr->ip, ip, sizeof(ip));
	if (cidr->bits == bits_of(cidr->family))
		return strcpy(out, ip);
	snprintf(out, CIDR_TEXT_SIZE, "%s/%u", ip, cidr->bits);
	return out;
}

bool
cidr_has(const struct cidr *cidr, const struct endpoint *endpoint)
{
	uint8_t ip[16];

	if (cidr->family != endpoint->family)
		return false;
	if (cidr->family == AF_UNIX)
		return true;
	memcpy(ip, endpoint->ip, sizeof(ip));
	clear_rest(ip, cidr->bits);
	return memcmp(ip, cidr->ip, sizeof(ip)) == 0;
}

bool
cidr_covers(const struct cidr *outer, const struct cidr *inner)
{
	struct endpoint first = {.family = inner->family};

	memcpy(first.ip, inner->ip, sizeof(first.ip));
	return outer->bits <= inner->bits && cidr_has(outer, &first);
}
