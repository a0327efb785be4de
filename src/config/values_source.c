/* SPDX-License-Identifier: MIT
 * Values about addresses: the source of connections to servers, and the proxies
 * whose connections begin with a PROXY header.
 */
#include <stdio.h>
#include <string.h>

#include "config/values.h"
#include "net/cidr.h"

/* `PORT` or `LOW-HIGH`. */
static bool
parse_ports(const struct value *v, const char *text, struct source_spec *s)
{
	unsigned low, high;

	if (!value_read_range(text, 1, UINT16_MAX, &low, &high))
		return value_fail(v,
		    "'%s' is not a port or a range of ports; write one from 1 "
		    "to 65535 or a range, as in 10000-20000",
		    text);
	s->port_low = (uint16_t)low;
	s->port_high = (uint16_t)high;
	return true;
}

/* Without the port: `192.0.2.1`, `[2001:db8::1]`, `2001:db8::1`, `*`. */
static bool
parse_source_host(const struct value *v, const char *host, struct addr *ret)
{
	bool bare_v6 = host[0] != '[' && strchr(host, ':');
	char text[DRAFT_VALUE_MAX + 8];
	struct err err;

	if (strcmp(host, "*") == 0) {
		ret->sa.sa_family = AF_UNSPEC;
		return true;
	}
	snprintf(text, sizeof(text), bare_v6 ? "[%s]:0" : "%s:0", host);
	if (strncmp(host, "unix:", 5) == 0 || !*host ||
	    !addr_parse(text, ADDR_LISTEN, ret, &err))
		return value_fail(v,
		    "'%s' is not a source address; write client, an IP "
		    "address, an IP:PORT or an IP:LOW-HIGH",
		    v->text);
	return true;
}

static bool
parse_source(const struct value *v)
{
	struct source_spec s = {.kind = SOURCE_ADDRESS};
	char host[DRAFT_VALUE_MAX + 1];
	char *bracket, *colon;

	if (strcmp(v->text, "client") == 0) {
		s.kind = SOURCE_CLIENT;
		memcpy(value_target(v), &s, sizeof(s));
		return true;
	}
	strcpy(host, v->text);
	bracket = strchr(host, ']');
	colon = strchr(bracket ? bracket : host, ':');
	/* Several without brackets are an IPv6 address. */
	if (colon && !strchr(colon + 1, ':') && !strpbrk(host, "/")) {
		*colon++ = '\0';
		if (!parse_ports(v, colon, &s))
			return false;
	}
	if (!parse_source_host(v, host, &s.addr))
		return false;
	if (s.addr.sa.sa_family == AF_UNSPEC && s.port_low == 0)
		return value_fail(v, "'*' needs ports, as in *:10000-20000");
	memcpy(value_target(v), &s, sizeof(s));
	return true;
}

static bool
print_source(const struct shown *s, char out[VALUE_TEXT_SIZE])
{
	const struct source_spec *from = shown_source(s);
	char text[ADDR_TEXT_SIZE] = "*:0";
	size_t len;

	if (from->kind == SOURCE_NONE)
		return false;
	if (from->kind == SOURCE_CLIENT)
		return value_write(out, "client");
	if (from->addr.sa.sa_family != AF_UNSPEC)
		addr_text(&from->addr, text);
	len = strlen(text) - strlen(":0");
	return value_write(out,
	    from->port_low == 0                 ? "%.*s"
	    : from->port_low == from->port_high ? "%.*s:%u"
	                                        : "%.*s:%u-%u",
	    (int)len, text, from->port_low, from->port_high);
}

/* Several at once, and the key may be repeated. */
static bool
parse_proxy_from(const struct value *v)
{
	struct frontend_spec *f = v->object;
	struct words words;
	bool ok = true;

	words_split(&words, v->text);
	for (size_t i = 0; i < words.n; i++) {
		struct cidr cidr;
		struct err err;

		if (cidr_parse(words.word[i], &cidr, &err))
			ok &= value_append(v, &f->proxy_from, &f->proxy_from_n,
			    &cidr, sizeof(cidr));
		else
			ok = value_fail(v, "%s", err.text);
	}
	return ok;
}

static bool
print_proxy_from(const struct shown *s, char out[VALUE_TEXT_SIZE])
{
	const struct frontend_spec *f = s->object;

	return s->nth < f->proxy_from_n &&
	       cidr_text(&f->proxy_from[s->nth], out);
}

VALUE_TYPE(source, print_source,
    "client, or an IP address, an IP:PORT, or an IP:LOW-HIGH; * for any "
    "address",
    0);
VALUE_TYPE(proxy_from, print_proxy_from,
    "IP addresses, ranges of them as 10.0.0.0/8, and unix", 0);
