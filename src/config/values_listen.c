/* SPDX-License-Identifier: MIT
 * Addresses to listen on, and ranges of ports.
 */
#include "config/values.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Applies v6only: the IPv6 wildcard alone can accept IPv4 as well. */
static bool
set_v6only(const struct value *v, struct listen_spec *l, const char *text)
{
	if (l->sock.v6only == SWITCH_DEFAULT)
		return true;
	if (l->addr.sa.sa_family != AF_INET6)
		return value_fail(v,
		    "v6only is for IPv6 addresses, and '%s' is not an IPv6 "
		    "address",
		    text);
	l->both_families = l->sock.v6only == SWITCH_OFF;
	if (l->both_families &&
	    !IN6_IS_ADDR_UNSPECIFIED(&l->addr.in6.sin6_addr))
		return value_fail(v,
		    "v6only=off is for [::]:PORT; '%s' cannot take IPv4", text);
	return true;
}

/* Reads `HOST:PORT` or `HOST:LOW-HIGH`, for which *ret_range is the number of
 * ports, and the address has the first of them. */
static bool
parse_listen_addr(const struct value *v, const char *text,
    struct addr *ret_addr, unsigned *ret_range)
{
	const char *colon = strrchr(text, ':');
	char first[DRAFT_VALUE_MAX + 1];
	unsigned low, high;
	struct err err;

	*ret_range = 0;
	if (strncmp(text, "fd:", 3) == 0)
		return addr_set_descriptor(text + 3, ret_addr, &err) ||
		       value_fail(v, "%s", err.text);
	if (!colon || !strchr(colon, '-') || strncmp(text, "unix:", 5) == 0)
		return addr_parse(text, ADDR_LISTEN, ret_addr, &err) ||
		       value_fail(v, "%s", err.text);
	if (!value_read_range(colon + 1, 1, UINT16_MAX, &low, &high))
		return value_fail(v,
		    "'%s' is not a range of ports; write LOW-HIGH, from 1 to "
		    "65535, as in :8000-8099",
		    colon + 1);
	snprintf(
	    first, sizeof(first), "%.*s:%u", (int)(colon - text), text, low);
	*ret_range = high - low + 1;
	return addr_parse(first, ADDR_LISTEN, ret_addr, &err) ||
	       value_fail(v, "%s", err.text);
}

/* Appends a copy of the TCP listen, of which only the text is allocated, with
 * this text. */
static bool
append_listen(
    const struct value *v, const struct listen_spec *listen, const char *text)
{
	struct frontend_spec *f = v->object;
	struct listen_spec l = *listen;

	l.text = NULL;
	if (value_set_string(v, &l.text, text) &&
	    value_append(v, &f->listens, &f->listens_n, &l, sizeof(l)))
		return true;
	free(l.text);
	return false;
}

/* Appends the other ports of the range that begins with the listen. */
static bool
append_range(
    const struct value *v, const struct listen_spec *first, const char *text)
{
	int host = (int)(strrchr(text, ':') - text);
	unsigned low = addr_port(&first->addr);
	struct listen_spec l = *first;
	char name[DRAFT_VALUE_MAX + 1];
	bool ok = true;

	l.range = 0;
	l.in_range = true;
	for (unsigned i = 1; ok && i < first->range; i++) {
		snprintf(name, sizeof(name), "%.*s:%u", host, text, low + i);
		addr_set_port(&l.addr, low + i);
		ok = append_listen(v, &l, name);
	}
	return ok;
}

/* Returns the flags of the options that an address may have, and what other
 * options are for. */
static unsigned
listen_options(const char *text, const char **ret_why)
{
	if (strncmp(text, "unix:", 5) == 0) {
		*ret_why = "TCP only";
		return KEY_UNIX_ONLY;
	}
	if (strncmp(text, "fd:", 3) == 0) {
		*ret_why = "addresses that lfproxy binds itself; write it into "
		           "the socket unit";
		return KEY_TCP_ONLY;
	}
	*ret_why = "unix sockets only, as in unix:/path mode=0666";
	return KEY_TCP_ONLY | KEY_BIND_ONLY;
}

static bool
parse_listen(const struct value *v)
{
	struct frontend_spec *f = v->object;
	struct listen_spec l = {.place = v->entry->place};
	struct words words;
	const char *text, *why;
	unsigned allowed;
	bool ok;

	words_split(&words, v->text);
	text = words.word[0];
	allowed = listen_options(text, &why);
	ok = parse_listen_addr(v, text, &l.addr, &l.range);
	ok &= options_read(v, &words, 1, &l, allowed, why);
	l.both_families = text[0] == ':' || text[0] == '*';
	if (ok && set_v6only(v, &l, text) &&
	    value_set_string(v, &l.text, text) &&
	    value_append(v, &f->listens, &f->listens_n, &l, sizeof(l)))
		return l.range < 2 || append_range(v, &l, text);
	listen_spec_clear(&l);
	return false;
}

/* Prints an address.  A range is one value. */
static bool
print_listen(const struct shown *s, char out[VALUE_TEXT_SIZE])
{
	const struct frontend_spec *f = s->object;
	const struct listen_spec *l = f->listens;
	size_t before = s->nth;
	const char *why;

	for (; l < f->listens + f->listens_n; l++)
		if (!l->in_range && before-- == 0)
			break;
	if (l == f->listens + f->listens_n)
		return false;
	value_write(out, "%s", l->text);
	options_print(s, l, NULL, listen_options(l->text, &why), out);
	return true;
}

VALUE_TYPE(listen, print_listen,
    "IP:PORT, [V6]:PORT, :PORT, a range of ports as :8000-8099, unix:/path, or "
    "fd:NAME",
    0);
