/* SPDX-License-Identifier: MIT
 * Addresses of HAProxy's bind and server lines.
 *
 * Source: HAProxy 2.6 Configuration Manual, 11 "Address formats".
 */
#include <ctype.h>
#include <string.h>

#include "import/haproxy.h"

/* Returns the last colon outside of braces and brackets, or NULL. */
static const char *
last_colon(const char *word)
{
	const char *found = NULL;
	int depth = 0;

	for (const char *c = word; *c; c++) {
		depth += *c == '{' || *c == '[';
		depth -= *c == '}' || *c == ']';
		if (*c == ':' && depth == 0)
			found = c;
	}
	return found;
}

void
hap_split_address(struct arena *arena, const char *word, const char **ret_host,
    const char **ret_port)
{
	const char *colon = last_colon(word), *host;
	size_t n = colon ? (size_t)(colon - word) : strlen(word);

	host = arena_copy(arena, word, n);
	if (n > 0 && host[0] == '[' && host[n - 1] == ']')
		host = arena_copy(arena, host + 1, n - 2);
	*ret_host = host;
	*ret_port = colon && colon[1] ? colon + 1 : NULL;
}

/* Removes a prefix such as ipv4@.  Returns NULL if it has no counterpart. */
static const char *
without_prefix(
    const char *word, const char **ret_family, const char **ret_reason)
{
	static const char *const lost[][2] = {
	    {"abns@", "abstract sockets have no counterpart; use unix:/PATH"},
	    {"abnsz@", "abstract sockets have no counterpart; use unix:/PATH"},
	    {"fd@", "inherited descriptors have no counterpart; write the "
	            "address"},
	    {"sockpair@", "socket pairs have no counterpart"},
	    {"udp@", "lfproxy relays TCP only"},
	    {"udp4@", "lfproxy relays TCP only"},
	    {"udp6@", "lfproxy relays TCP only"},
	    {"quic4@", "QUIC runs over UDP; lfproxy relays TCP only"},
	    {"quic6@", "QUIC runs over UDP; lfproxy relays TCP only"},
	    {"rhttp@", "reverse HTTP has no counterpart"},
	    {"rev@", "reverse HTTP has no counterpart"},
	};
	static const char *const kept[] = {
	    "ipv4@", "ipv6@", "tcp4@", "tcp6@", "tcp@", "ip@", "unix@"};

	*ret_family = "";
	for (size_t i = 0; i < sizeof(lost) / sizeof(lost[0]); i++)
		if (strncmp(word, lost[i][0], strlen(lost[i][0])) == 0) {
			*ret_reason = lost[i][1];
			return NULL;
		}
	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
		if (strncmp(word, kept[i], strlen(kept[i])) == 0) {
			*ret_family = kept[i];
			return word + strlen(kept[i]);
		}
	return word;
}

static bool
haproxy_is_unix(const char *word, const char *family)
{
	return word[0] == '/' || strcmp(family, "unix@") == 0;
}

static const char *
unix_address(struct arena *arena, const char *path, const char **ret_reason)
{
	if (path[0] == '/')
		return arena_printf(arena, "unix:%s", path);
	*ret_reason = "the path of a UNIX-domain socket has to be absolute";
	return NULL;
}

const char *
hap_server_address(
    struct arena *arena, const char *word, const char **ret_reason)
{
	const char *family, *host, *port;

	word = without_prefix(word, &family, ret_reason);
	if (!word)
		return NULL;
	if (haproxy_is_unix(word, family))
		return unix_address(arena, word, ret_reason);
	hap_split_address(arena, word, &host, &port);
	if (!*host || strcmp(host, "*") == 0 || strcmp(host, "0.0.0.0") == 0) {
		*ret_reason = "the client's own destination as the server has "
		              "no counterpart; write the server's address";
		return NULL;
	}
	if (strchr(host, ':') && !strchr(host, '$'))
		host = arena_printf(arena, "[%s]", host);
	if (!port)
		return host;
	return arena_printf(arena, "%s:%s", host, port);
}

const char *
hap_listen_address(
    struct arena *arena, const char *word, const char **ret_reason)
{
	const char *family, *host, *port, *range;

	word = without_prefix(word, &family, ret_reason);
	if (!word)
		return NULL;
	if (haproxy_is_unix(word, family))
		return unix_address(arena, word, ret_reason);
	hap_split_address(arena, word, &host, &port);
	if (!port) {
		*ret_reason = "the port is missing";
		return NULL;
	}
	if (strstr(family, "6@") && (!*host || strcmp(host, "*") == 0))
		return arena_printf(arena, "[::]:%s", port);
	if (!*host || strcmp(host, "*") == 0)
		return arena_printf(arena, "0.0.0.0:%s", port);
	if (strcmp(host, "::") == 0)
		return arena_printf(arena, "[::]:%s", port);
	if (strcmp(host, "localhost") == 0)
		return arena_printf(arena, "127.0.0.1:%s", port);
	if (strchr(host, '$'))
		return arena_printf(arena, "%s:%s", host, port);
	if (!value_range(arena, host, &range)) {
		*ret_reason = "listen takes no host names; write the address";
		return NULL;
	}
	return arena_printf(
	    arena, strchr(host, ':') ? "[%s]:%s" : "%s:%s", host, port);
}
