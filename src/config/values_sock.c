/* SPDX-License-Identifier: MIT
 * Values of socket options; the source of connections to servers, and the
 * proxies whose connections begin with a PROXY header.
 */
#include <errno.h>
#include <inttypes.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "config/values.h"
#include "net/cidr.h"
#include "net/sock_options.h"

static bool
parse_size(const struct value *v)
{
	struct err err;

	return text_parse_size(
	           v->text, v->key->min, v->key->max, value_target(v), &err) ||
	       value_fail(v, "%s", err.text);
}

static bool
print_size(const struct shown *s, char out[VALUE_TEXT_SIZE])
{
	const uint64_t *bytes = shown_source(s);

	return *bytes != 0 && text_size(*bytes, out);
}

static bool
parse_on_off(const struct value *v, bool *ret_on)
{
	return value_read_boolean(v->text, ret_on) ||
	       value_fail(
	           v, "'%s' is unknown; allowed are on, off, yes, no", v->text);
}

static bool
parse_switch(const struct value *v)
{
	return parse_on_off(v, value_target(v));
}

static bool
print_switch(const struct shown *s, char out[VALUE_TEXT_SIZE])
{
	const bool *on = shown_source(s);

	return value_write(out, "%s", *on ? "on" : "off");
}

static bool
print_switch_word(enum sock_switch value, char out[VALUE_TEXT_SIZE])
{
	return value != SWITCH_DEFAULT &&
	       value_write(out, value == SWITCH_ON ? "on" : "off");
}

static bool
parse_sock_switch(const struct value *v)
{
	enum sock_switch *value = value_target(v);
	bool on;

	if (!parse_on_off(v, &on))
		return false;
	*value = on ? SWITCH_ON : SWITCH_OFF;
	return true;
}

static bool
print_sock_switch(const struct shown *s, char out[VALUE_TEXT_SIZE])
{
	const enum sock_switch *value = shown_source(s);

	return print_switch_word(*value, out);
}

/* Reads the option of servers: a switch, stored as the number 1 or 0. */
static bool
parse_tfo(const struct value *v)
{
	unsigned *fast_open = value_target(v);
	bool on;

	if (!parse_on_off(v, &on))
		return false;
	*fast_open = on;
	return true;
}

static bool
print_tfo(const struct shown *s, char out[VALUE_TEXT_SIZE])
{
	const unsigned *fast_open = shown_source(s);

	return *fast_open > 0 && value_write(out, "on");
}

/* Reads a duration that the kernel takes in seconds. */
static bool
parse_whole_seconds(const struct value *v, const char *text, uint64_t min,
    uint64_t max, unsigned *ret_seconds)
{
	struct err err;
	uint64_t ms, n;

	if (text_parse_number(text, min, max, &n, NULL))
		return value_fail(v, "'%s' has no unit; write %ss", text, text);
	if (!text_parse_duration(text, min * 1000, max * 1000, &ms, &err))
		return value_fail(v, "%s", err.text);
	if (ms % 1000 != 0)
		return value_fail(v,
		    "'%s' is not a whole number of seconds; write %" PRIu64
		    "s or %" PRIu64 "s",
		    text, ms / 1000, ms / 1000 + 1);
	*ret_seconds = (unsigned)(ms / 1000);
	return true;
}

static bool
parse_seconds(const struct value *v)
{
	return parse_whole_seconds(
	    v, v->text, v->key->min, v->key->max, value_target(v));
}

static bool
print_seconds(const struct shown *s, char out[VALUE_TEXT_SIZE])
{
	const unsigned *seconds = shown_source(s);

	return *seconds != 0 && text_duration(*seconds * UINT64_C(1000), out);
}

#define KEEPALIVE_MAX_S 32767
#define KEEPALIVE_MAX_N 127

static bool
parse_keepalive_times(const struct value *v, struct sock_keepalive *k)
{
	char copy[DRAFT_VALUE_MAX + 1], *rest = strcpy(copy, v->text);
	const char *idle = strsep(&rest, ":");
	const char *interval = rest ? strsep(&rest, ":") : "";
	const char *count = rest ? rest : "";
	struct err err;
	uint64_t n = 0;

	k->on = SWITCH_ON;
	if (*idle &&
	    !parse_whole_seconds(v, idle, 1, KEEPALIVE_MAX_S, &k->idle_s))
		return false;
	if (*interval && !parse_whole_seconds(
	                     v, interval, 1, KEEPALIVE_MAX_S, &k->interval_s))
		return false;
	if (*count && !text_parse_number(count, 1, KEEPALIVE_MAX_N, &n, &err))
		return value_fail(v, "the count %s", err.text);
	k->count = (unsigned)n;
	if (k->idle_s || k->interval_s || k->count)
		return true;
	return value_fail(
	    v, "'%s' has no time; write on, or for example 60s:10s:3", v->text);
}

/* Reads nginx's form: `on`, `off`, or IDLE:INTERVAL:COUNT, each of which may be
 * left out. */
static bool
parse_keepalive(const struct value *v)
{
	struct sock_keepalive k = {.on = SWITCH_DEFAULT};
	bool ok = true, on;

	if (value_read_boolean(v->text, &on))
		k.on = on ? SWITCH_ON : SWITCH_OFF;
	else
		ok = parse_keepalive_times(v, &k);
	if (ok)
		memcpy(value_target(v), &k, sizeof(k));
	return ok;
}

static bool
print_keepalive(const struct shown *s, char out[VALUE_TEXT_SIZE])
{
	const struct sock_keepalive *k = shown_source(s);
	char idle[TEXT_DURATION_SIZE] = "", interval[TEXT_DURATION_SIZE] = "";
	char count[12] = "";

	if (k->idle_s == 0 && k->interval_s == 0 && k->count == 0)
		return print_switch_word(k->on, out);
	if (k->idle_s > 0)
		text_duration(k->idle_s * UINT64_C(1000), idle);
	if (k->interval_s > 0)
		text_duration(k->interval_s * UINT64_C(1000), interval);
	if (k->count > 0)
		snprintf(count, sizeof(count), "%u", k->count);
	return value_write(out, "%s%s%s%s%s", idle,
	    *interval || *count ? ":" : "", interval, *count ? ":" : "", count);
}

static bool
print_name(const struct shown *s, char out[VALUE_TEXT_SIZE])
{
	const char *name = shown_source(s);

	return name[0] && value_write(out, "%s", name);
}

static bool
parse_congestion(const struct value *v)
{
	char there[SOCK_CONGESTIONS_SIZE], *rest = there, *word;
	struct hint hint;

	if (strlen(v->text) < SOCK_CONGESTION_SIZE &&
	    sock_congestion_exists(v->text)) {
		strcpy(value_target(v), v->text);
		return true;
	}
	hint_init(&hint, v->text);
	sock_congestions(there);
	while ((word = strsep(&rest, " ")))
		hint_offer(&hint, word);
	return value_fail(v, "the kernel has no congestion control '%s'; %s",
	    v->text, hint_text(&hint, "there"));
}

static bool
parse_interface(const struct value *v)
{
	struct if_nameindex *all;
	struct hint hint;

	if (strlen(v->text) < IF_NAMESIZE && if_nametoindex(v->text) > 0) {
		strcpy(value_target(v), v->text);
		return true;
	}
	hint_init(&hint, v->text);
	all = if_nameindex();
	for (size_t i = 0; all && all[i].if_index > 0; i++)
		hint_offer(&hint, all[i].if_name);
	value_fail(v, "this host has no interface '%s'; %s", v->text,
	    hint_text(&hint, "there"));
	if (all)
		if_freenameindex(all);
	return false;
}

/* RFC 2474, 2597, 3246, 5865, 8622. */
static const struct {
	const char *name;
	unsigned dscp;
} dscps[] = {{"cs0", 0}, {"le", 1}, {"cs1", 8}, {"af11", 10}, {"af12", 12},
    {"af13", 14}, {"cs2", 16}, {"af21", 18}, {"af22", 20}, {"af23", 22},
    {"cs3", 24}, {"af31", 26}, {"af32", 28}, {"af33", 30}, {"cs4", 32},
    {"af41", 34}, {"af42", 36}, {"af43", 38}, {"cs5", 40}, {"va", 44},
    {"ef", 46}, {"cs6", 48}, {"cs7", 56}};

#define DSCPS (sizeof(dscps) / sizeof(dscps[0]))

static bool
parse_dscp(const struct value *v)
{
	unsigned *dscp = value_target(v);
	uint64_t n;
	size_t i;

	if (name_table_find(NAME_TABLE(dscps, DSCPS), v->text, &i))
		n = dscps[i].dscp;
	else if (!text_parse_number(v->text, 0, 63, &n, NULL))
		return value_fail(v,
		    "'%s' is not a DSCP; write 0 to 63, or a name as ef, af41, "
		    "cs1",
		    v->text);
	*dscp = (unsigned)n;
	return true;
}

static bool
print_dscp(const struct shown *s, char out[VALUE_TEXT_SIZE])
{
	const unsigned *dscp = shown_source(s);

	for (size_t i = 0; i < DSCPS; i++)
		if (dscps[i].dscp == *dscp)
			return *dscp != 0 &&
			       value_write(out, "%s", dscps[i].name);
	return value_write(out, "%u", *dscp);
}

static bool
parse_mark(const struct value *v)
{
	const char *text = v->text;
	bool hex = strncmp(text, "0x", 2) == 0;
	unsigned *mark = value_target(v);
	char *end;
	unsigned long long n;

	errno = 0;
	n = strtoull(text, &end, hex ? 16 : 10);
	if (text[0] < '0' || text[0] > '9' || *end || errno || n == 0 ||
	    n > UINT32_MAX)
		return value_fail(v,
		    "'%s' is not a mark; write 1 to 4294967295, or 0x1 to "
		    "0xffffffff",
		    text);
	*mark = (unsigned)n;
	return true;
}

static bool
print_mark(const struct shown *s, char out[VALUE_TEXT_SIZE])
{
	const unsigned *mark = shown_source(s);

	return *mark != 0 && value_write(out, "0x%x", *mark);
}

/* -- the source of connections, and the proxies in front -- */

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

/* Reads an address without port: `192.0.2.1`, `[2001:db8::1]`, `2001:db8::1`,
 * `*`. */
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
	/* More than one colon without brackets: an IPv6 address. */
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

/* Reads one or more networks; the key may be repeated, too. */
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

PLAIN_TYPE(size, print_size, NULL, 0, uint64_t);
PLAIN_TYPE(switch, print_switch, "on, off", VALUE_BOOLEAN, bool);
PLAIN_TYPE(
    sock_switch, print_sock_switch, "on, off", VALUE_BOOLEAN, enum sock_switch);
PLAIN_TYPE(tfo, print_tfo, "on, off", VALUE_BOOLEAN, unsigned);
PLAIN_TYPE(seconds, print_seconds, "1s to 5m, whole seconds", 0, unsigned);
VALUE_TYPE(keepalive, print_keepalive,
    "on, off, or IDLE:INTERVAL:COUNT as in 60s:10s:3", VALUE_BOOLEAN);
VALUE_TYPE(congestion, print_name, "an algorithm of the kernel", 0);
VALUE_TYPE(interface, print_name, "an interface of this host", 0);
PLAIN_TYPE(
    dscp, print_dscp, "0 to 63, or a name as ef, af41, cs1", 0, unsigned);
PLAIN_TYPE(
    mark, print_mark, "1 to 4294967295, or 0x1 to 0xffffffff", 0, unsigned);
VALUE_TYPE(source, print_source,
    "client, or an IP address, an IP:PORT, or an IP:LOW-HIGH; * for any "
    "address",
    0);
VALUE_TYPE(proxy_from, print_proxy_from,
    "IP addresses, ranges of them as 10.0.0.0/8, and unix", 0);
