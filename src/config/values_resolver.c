/* SPDX-License-Identifier: MIT
 * Values of [resolver].
 */
#include "config/values.h"

#include <string.h>

#include "base/text.h"

#define DNS_PORT        53
#define NAMESERVERS_MAX 16

static bool
parse_nameserver_addr(const struct value *v, struct addr *ret_addr)
{
	struct err err;

	if (addr_parse_ip(v->text, ret_addr)) {
		addr_set_port(ret_addr, DNS_PORT);
		return true;
	}
	if (!addr_parse(v->text, ADDR_CONNECT, ret_addr, &err))
		return value_fail(v,
		    "%s; a name server is given by its address, as in "
		    "10.0.0.2:53",
		    err.text);
	return ret_addr->sa.sa_family != AF_UNIX ||
	       value_fail(v, "'%s' is not an IP address", v->text);
}

static bool
parse_nameserver(const struct value *v)
{
	struct resolver_spec *r = v->object;
	struct addr addr;

	if (!parse_nameserver_addr(v, &addr))
		return false;
	for (size_t i = 0; i < r->nameservers_n; i++)
		if (addr_equal(&r->nameservers[i], &addr))
			return value_fail(
			    v, "'%s' is given twice; keep one", v->text);
	if (r->nameservers_n == NAMESERVERS_MAX)
		return value_fail(
		    v, "at most %d name servers are allowed", NAMESERVERS_MAX);
	return value_append(
	    v, &r->nameservers, &r->nameservers_n, &addr, sizeof(addr));
}

static bool
print_nameserver(const struct shown *s, char out[VALUE_TEXT_SIZE])
{
	const struct resolver_spec *r = s->object;
	char text[ADDR_TEXT_SIZE];

	return s->nth < r->nameservers_n &&
	       value_write(out, "%s", addr_text(&r->nameservers[s->nth], text));
}

static bool
parse_hold(const struct value *v)
{
	struct err err;

	if (strcmp(v->text, "forever") == 0) {
		*(uint64_t *)value_target(v) = HOLD_FOREVER;
		return true;
	}
	return text_parse_duration(
	           v->text, v->key->min, v->key->max, value_target(v), &err) ||
	       value_fail(v, "%s; or write forever", err.text);
}

static bool
print_hold(const struct shown *s, char out[VALUE_TEXT_SIZE])
{
	const uint64_t *ms = shown_source(s);
	char text[TEXT_DURATION_SIZE];

	return value_write(out, "%s",
	    *ms == HOLD_FOREVER ? "forever" : text_duration(*ms, text));
}

VALUE_TYPE(nameserver, print_nameserver, "ADDRESS:PORT, or ADDRESS", 0);
VALUE_TYPE(hold, print_hold, "0 to 30d, or forever", 0);
