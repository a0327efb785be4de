/* SPDX-License-Identifier: MIT
 * See addr.h.
 */
#include "net/addr.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <xxhash.h>

#include "base/atomics.h"
#include "base/text.h"

static bool
parse_unix(const char *path, struct addr *ret_addr, struct err *err)
{
	struct addr a = {.un.sun_family = AF_UNIX};

	if (path[0] != '/')
		return err_set(err,
		    "'unix:%s' has no absolute path; write unix:/path", path);
	if (strlen(path) >= sizeof(a.un.sun_path))
		return err_set(err, "the path '%s' is longer than %zu bytes",
		    path, sizeof(a.un.sun_path) - 1);
	strcpy(a.un.sun_path, path);
	a.len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) +
	                    strlen(path) + 1);
	*ret_addr = a;
	return true;
}

/* The rules for names are systemd's (FileDescriptorName=), except for the
 * length. */
bool
addr_set_descriptor(const char *name, struct addr *ret_addr, struct err *err)
{
	struct addr a = {.un.sun_family = ADDR_DESCRIPTOR};
	size_t n = strlen(name);

	if (n == 0)
		return err_set(err,
		    "'fd:' names no descriptor; write fd:NAME, with the "
		    "FileDescriptorName of the socket unit");
	if (n >= sizeof(a.un.sun_path))
		return err_set(err,
		    "the descriptor's name '%s' is longer than %zu bytes", name,
		    sizeof(a.un.sun_path) - 1);
	for (size_t i = 0; i < n; i++)
		if (name[i] <= ' ' || name[i] > '~' || name[i] == ':')
			return err_set(err,
			    "'fd:%s' is not the name of a descriptor; a name "
			    "has visible ASCII characters other than ':'",
			    name);
	memcpy(a.un.sun_path, name, n);
	a.len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n + 1);
	*ret_addr = a;
	return true;
}

bool
addr_is_descriptor(const struct addr *addr)
{
	return addr->sa.sa_family == ADDR_DESCRIPTOR;
}

/* Returns whether the host ends in a number, so that it has to be an IPv4
 * address of four decimal numbers.  getaddrinfo(3) also accepts what
 * inet_aton(3) does: `10.1` for 10.0.0.1, `010.0.0.1` for 8.0.0.1, `0x7f.1`. */
static bool
looks_like_ipv4(const char *host)
{
	const char *dot = strrchr(host, '.');
	const char *last = dot ? dot + 1 : host;

	return (*last && last[strspn(last, "0123456789")] == '\0') ||
	       strncasecmp(last, "0x", 2) == 0;
}

/* Rejects hosts that getaddrinfo(3) would misread, and text in brackets that is
 * not an IPv6 address.  Returns false with err set. */
static bool
check_host(const char *host, bool bracketed, struct err *err)
{
	struct in_addr in;

	if (bracketed && !strchr(host, ':'))
		return err_set(err,
		    "'[%s]' is not an IPv6 address; brackets are for IPv6 "
		    "addresses only",
		    host);
	if (!bracketed && looks_like_ipv4(host) &&
	    inet_pton(AF_INET, host, &in) != 1)
		return err_set(err,
		    "'%s' is not an IPv4 address; write four numbers from 0 to "
		    "255 without leading zeros",
		    host);
	return true;
}

/* Returns whether the host is a name by RFC 1123, section 2.1, with lengths by
 * RFC 1035, section 2.3.4.  Underscores are allowed, because many hosts have
 * them. */
static bool
is_rfc1123_name(const char *host)
{
	size_t len = strlen(host), label = 0;

	if (len == 0 || len > 253)
		return false;
	for (size_t i = 0; i < len; i++) {
		char c = host[i];

		if (c == '.' && label == 0)
			return false;
		label = c == '.' ? 0 : label + 1;
		if (label > 63 ||
		    !((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
		        (c >= '0' && c <= '9') || strchr("-_.", c)))
			return false;
	}
	return true;
}

static bool
refuse_host(const char *host, enum addr_use use, const struct addr_name *name,
    struct err *err)
{
	if (strchr(host, ':'))
		return err_set(err, "'%s' is not an IPv6 address", host);
	if (use == ADDR_LISTEN)
		return err_set(err,
		    "'%s' is not an IP address; listen on an address of this "
		    "host, "
		    "on *, or on unix:/path",
		    host);
	if (!name)
		return err_set(err, "'%s' is not an IP address", host);
	return err_set(err,
	    "'%s' cannot be a host's name; a name has letters, digits and "
	    "hyphens, with single dots between them",
	    host);
}

/* Looks the host up.  Returns 0, or an error for addr_lookup_error.  The port
 * is 0. */
static int
lookup(const char *host, int family, int flags, struct addr *ret_addr)
{
	struct addrinfo hints = {
	    .ai_family = family, .ai_socktype = SOCK_STREAM, .ai_flags = flags};
	struct addrinfo *found;
	struct addr a = {.len = 0};
	int rc = getaddrinfo(host, NULL, &hints, &found);

	if (rc != 0)
		return rc == EAI_SYSTEM ? errno : rc;
	memcpy(&a.sa, found->ai_addr, found->ai_addrlen);
	a.len = found->ai_addrlen;
	freeaddrinfo(found);
	*ret_addr = a;
	return 0;
}

/* Parses a host that is an address, or a name for ret_name; if that is NULL, a
 * name is refused. */
static bool
parse_host(const char *host, uint16_t port, enum addr_use use,
    struct addr *ret_addr, struct addr_name *ret_name, struct err *err)
{
	struct addr a = {.len = 0};
	struct endpoint e;

	/* AI_NUMERICHOST never asks a name server. */
	if (lookup(host, AF_UNSPEC, AI_NUMERICHOST, &a) == 0) {
		endpoint_set(&e, &a.sa, a.len);
		(void)endpoint_addr(&e, &a);
		addr_set_port(&a, port);
	} else if (ret_name && is_rfc1123_name(host)) {
		strcpy(ret_name->host, host);
		ret_name->port = port;
	} else {
		return refuse_host(host, use, ret_name, err);
	}
	*ret_addr = a;
	return true;
}

static bool
parse_addr(const char *s, enum addr_use use, struct addr *ret_addr,
    struct addr_name *ret_name, struct err *err)
{
	const char *colon = strrchr(s, ':');
	const char *host_end = colon;
	char host[ADDR_HOST_SIZE];
	uint64_t port;
	size_t len;
	bool bracketed = s[0] == '[';

	if (strncmp(s, "unix:", 5) == 0)
		return parse_unix(s + 5, ret_addr, err);
	if (strstr(s, "://"))
		return err_set(err,
		    "'%s' is a URL; write HOST:PORT, [V6]:PORT or unix:/path",
		    s);
	if (bracketed && !strchr(s, ']'))
		return err_set(err,
		    "'%s': ']' expected behind the IPv6 address; write "
		    "[V6]:PORT, as in [::1]:80",
		    s);
	if (!colon || (bracketed && colon[-1] != ']'))
		return err_set(err,
		    "'%s' has no port; write %sHOST:PORT, [V6]:PORT or "
		    "unix:/path",
		    s, use == ADDR_LISTEN ? ":PORT, " : "");
	if (!text_parse_number(
	        colon + 1, use == ADDR_LISTEN ? 0 : 1, 65535, &port, NULL))
		return err_set(err, "'%s' has no port from 1 to 65535", s);
	if (bracketed) {
		s++;
		host_end--;
	} else if (memchr(s, ':', (size_t)(colon - s))) {
		return err_set(err,
		    "'%s' is ambiguous; write an IPv6 address in brackets, as "
		    "in [::1]:80",
		    s);
	}
	len = (size_t)(host_end - s);
	if (len >= sizeof(host))
		return err_set(err, "the host in '%s' is too long", s);
	memcpy(host, s, len);
	host[len] = '\0';
	if (bracketed || (len > 0 && strcmp(host, "*") != 0))
		return check_host(host, bracketed, err) &&
		       parse_host(
		           host, (uint16_t)port, use, ret_addr, ret_name, err);
	if (use == ADDR_CONNECT)
		return err_set(err,
		    "'%s' names no host; write HOST:PORT or unix:/path", s);
	*ret_addr = (struct addr){.in6 = {.sin6_family = AF_INET6,
	                              .sin6_port = htons((uint16_t)port)},
	    .len = sizeof(struct sockaddr_in6)};
	return true;
}

bool
addr_parse(
    const char *s, enum addr_use use, struct addr *ret_addr, struct err *err)
{
	return parse_addr(s, use, ret_addr, NULL, err);
}

bool
addr_parse_name(const char *s, struct addr *ret_addr,
    struct addr_name *ret_name, struct err *err)
{
	struct addr_name name = {.host = ""};

	if (!parse_addr(s, ADDR_CONNECT, ret_addr, &name, err))
		return false;
	*ret_name = name;
	return true;
}

const uint8_t addr_v4_mapped[12] = {[10] = 0xff, [11] = 0xff};

void
endpoint_set_ip(
    struct endpoint *endpoint, int family, const uint8_t *ip, uint16_t port)
{
	bool mapped = family == AF_INET6 &&
	              memcmp(ip, addr_v4_mapped, sizeof(addr_v4_mapped)) == 0;

	if (mapped) {
		family = AF_INET;
		ip += sizeof(addr_v4_mapped);
	}
	*endpoint = (struct endpoint){.family = (uint16_t)family, .port = port};
	memcpy(endpoint->ip, ip, family == AF_INET ? 4 : 16);
}

void
endpoint_set(
    struct endpoint *endpoint, const struct sockaddr *sa, socklen_t len)
{
	union {
		struct sockaddr sa;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
	} a = {.sa.sa_family = AF_UNIX};

	/* An unnamed unix peer has no address at all, not even its family. */
	if (len >= sizeof(sa_family_t))
		memcpy(&a, sa, len < sizeof(a) ? len : sizeof(a));
	if (a.sa.sa_family == AF_INET) {
		endpoint_set_ip(endpoint, AF_INET,
		    (const uint8_t *)&a.in.sin_addr, ntohs(a.in.sin_port));
	} else if (a.sa.sa_family == AF_INET6) {
		endpoint_set_ip(endpoint, AF_INET6, a.in6.sin6_addr.s6_addr,
		    ntohs(a.in6.sin6_port));
		if (endpoint->family == AF_INET6)
			endpoint->scope = a.in6.sin6_scope_id;
	} else {
		*endpoint = (struct endpoint){.family = a.sa.sa_family};
	}
}

bool
endpoint_addr(const struct endpoint *endpoint, struct addr *ret_addr)
{
	struct addr a;

	if (endpoint->family == AF_INET) {
		a = (struct addr){
		    .in = {.sin_family = AF_INET}, .len = sizeof(a.in)};
		memcpy(&a.in.sin_addr, endpoint->ip, 4);
	} else if (endpoint->family == AF_INET6) {
		a = (struct addr){.in6 = {.sin6_family = AF_INET6,
		                      .sin6_scope_id = endpoint->scope},
		    .len = sizeof(a.in6)};
		memcpy(&a.in6.sin6_addr, endpoint->ip, 16);
	} else {
		return false;
	}
	*ret_addr = a;
	return true;
}

const char *
endpoint_host(const struct endpoint *endpoint, char out[INET6_ADDRSTRLEN])
{
	if (endpoint->family == AF_INET || endpoint->family == AF_INET6)
		inet_ntop(
		    endpoint->family, endpoint->ip, out, INET6_ADDRSTRLEN);
	else
		strcpy(out, endpoint->family == AF_UNIX ? "unix" : "-");
	return out;
}

const char *
addr_host(const struct addr *addr, char out[ADDR_TEXT_SIZE])
{
	struct endpoint e;

	if (addr->sa.sa_family == AF_UNSPEC)
		return strcpy(out, "-");
	if (addr->sa.sa_family == AF_UNIX || addr_is_descriptor(addr)) {
		snprintf(out, ADDR_TEXT_SIZE, "%.*s",
		    (int)sizeof(addr->un.sun_path), addr->un.sun_path);
		return out;
	}
	endpoint_set(&e, &addr->sa, addr->len);
	return endpoint_host(&e, out);
}

const char *
addr_text(const struct addr *addr, char out[ADDR_TEXT_SIZE])
{
	char host[ADDR_TEXT_SIZE], scope[16] = "";
	struct endpoint e;

	addr_host(addr, host);
	endpoint_set(&e, &addr->sa, addr->len);
	if (addr->sa.sa_family == AF_UNSPEC)
		return strcpy(out, host);
	if (e.scope != 0)
		snprintf(scope, sizeof(scope), "%%%u", e.scope);
	if (addr_is_descriptor(addr))
		snprintf(out, ADDR_TEXT_SIZE, "fd:%.108s", host);
	else if (e.family == AF_UNIX)
		snprintf(out, ADDR_TEXT_SIZE, "unix:%.108s", host);
	else if (e.family == AF_INET)
		snprintf(out, ADDR_TEXT_SIZE, "%.15s:%u", host, e.port);
	else
		snprintf(
		    out, ADDR_TEXT_SIZE, "[%.45s%s]:%u", host, scope, e.port);
	return out;
}

bool
addr_equal(const struct addr *a, const struct addr *b)
{
	return a->len == b->len && memcmp(&a->sa, &b->sa, a->len) == 0;
}

uint64_t
endpoint_hash(const struct endpoint *endpoint, bool with_port)
{
	uint8_t bytes[sizeof(endpoint->ip) + 2];
	size_t len = endpoint->family == AF_INET ? 4 : sizeof(endpoint->ip);

	memcpy(bytes, endpoint->ip, len);
	if (with_port) {
		bytes[len++] = (uint8_t)(endpoint->port >> 8);
		bytes[len++] = (uint8_t)endpoint->port;
	}
	return XXH64(bytes, len, 0);
}

void
addr_set_port(struct addr *addr, unsigned port)
{
	if (addr->sa.sa_family == AF_INET)
		addr->in.sin_port = htons((uint16_t)port);
	else if (addr->sa.sa_family == AF_INET6)
		addr->in6.sin6_port = htons((uint16_t)port);
}

unsigned
addr_port(const struct addr *addr)
{
	if (addr->sa.sa_family == AF_INET)
		return ntohs(addr->in.sin_port);
	if (addr->sa.sa_family == AF_INET6)
		return ntohs(addr->in6.sin6_port);
	return 0;
}

bool
addr_parse_ip(const char *s, struct addr *ret_addr)
{
	struct endpoint e = {.family = AF_INET};

	if (inet_pton(AF_INET, s, e.ip) != 1) {
		e.family = AF_INET6;
		if (inet_pton(AF_INET6, s, e.ip) != 1)
			return false;
	}
	return endpoint_addr(&e, ret_addr);
}

typedef uint32_t __attribute__((may_alias)) word;

#define ENDPOINT_WORDS (sizeof(struct endpoint) / sizeof(word))

void
endpoint_put(struct endpoint *shared, const struct endpoint *from)
{
	word *to = (word *)shared;
	const word *w = (const word *)from;

	for (size_t i = 0; i < ENDPOINT_WORDS; i++)
		atomic_store_relaxed(&to[i], w[i]);
}

void
endpoint_get(const struct endpoint *shared, struct endpoint *ret_endpoint)
{
	const word *from = (const word *)shared;
	word *to = (word *)ret_endpoint;

	for (size_t i = 0; i < ENDPOINT_WORDS; i++)
		to[i] = atomic_load_acquire(&from[i]);
}

bool
addr_is_loopback(const struct addr *addr)
{
	struct endpoint e;

	endpoint_set(&e, &addr->sa, addr->len);
	return e.family == AF_UNIX || (e.family == AF_INET && e.ip[0] == 127) ||
	       (e.family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(e.ip));
}

static bool
is_private_ipv4(const uint8_t *ip)
{
	return ip[0] == 10 || (ip[0] == 172 && ip[1] >> 4 == 1) ||
	       (ip[0] == 192 && ip[1] == 168) ||
	       (ip[0] == 169 && ip[1] == 254) ||
	       (ip[0] == 100 && ip[1] >> 6 == 1);
}

bool
addr_is_private(const struct addr *addr)
{
	struct endpoint e;

	endpoint_set(&e, &addr->sa, addr->len);
	return addr_is_loopback(addr) ||
	       (e.family == AF_INET && is_private_ipv4(e.ip)) ||
	       (e.family == AF_INET6 &&
	           (IN6_IS_ADDR_LINKLOCAL(e.ip) || (e.ip[0] & 0xfe) == 0xfc));
}

bool
addr_has_any_port(const struct addr *addr)
{
	/* sin_port and sin6_port are in the same place. */
	return addr->sa.sa_family != AF_UNIX && !addr_is_descriptor(addr) &&
	       addr->in.sin_port == 0;
}

int
addr_lookup(const char *host, int family, struct addr *ret_addr)
{
	return lookup(host, family, 0, ret_addr);
}

/* EAI_ numbers are negative, and errno's are not. */
const char *
addr_lookup_error(int error)
{
	return error < 0 ? gai_strerror(error) : strerror(error);
}
