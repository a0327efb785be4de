/* SPDX-License-Identifier: MIT
 * See loops.h.
 */
#include "model/loops.h"

#include <ifaddrs.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

#define PORTS 65536u

struct loops {
	const struct spec *spec;
	loops_addr *addr;
	void *arg;
	uint8_t ports[PORTS / 8]; /* a bit for each port of a listen */
	bool unix_sockets;        /* a listen is one */
	struct endpoint *own;     /* addresses of this host, without ports */
	size_t own_n, own_room;
	bool *seen; /* for each backend of the spec, in one search */
};

static void
port_set(struct loops *loops, unsigned port)
{
	loops->ports[port / 8] |= (uint8_t)(1u << port % 8);
}

static bool
port_has(const struct loops *loops, unsigned port)
{
	return loops->ports[port / 8] >> port % 8 & 1;
}

/* Returns the address without its port, so that equal ones have equal bytes. */
static struct endpoint
host_of(const struct sockaddr *sa, socklen_t len)
{
	struct endpoint host, bare = {.family = 0};

	endpoint_set(&host, sa, len);
	bare.family = host.family;
	memcpy(bare.ip, host.ip, sizeof(bare.ip));
	return bare;
}

static bool
hosts_equal(const struct endpoint *a, const struct endpoint *b)
{
	return a->family == b->family &&
	       memcmp(a->ip, b->ip, a->family == AF_INET ? 4 : 16) == 0;
}

static bool
is_any(const struct endpoint *host)
{
	static const uint8_t zeros[16];

	return memcmp(host->ip, zeros, host->family == AF_INET ? 4 : 16) == 0;
}

static bool
own_add(struct loops *loops, const struct sockaddr *sa)
{
	struct endpoint *grown;
	socklen_t len = sa->sa_family == AF_INET ? sizeof(struct sockaddr_in)
	                                         : sizeof(struct sockaddr_in6);

	grown =
	    grow(loops->own, loops->own_n, &loops->own_room, sizeof(*grown));
	if (!grown)
		return false;
	loops->own = grown;
	loops->own[loops->own_n++] = host_of(sa, len);
	return true;
}

/* A host that does not tell its addresses has the loopback ones. */
static bool
own_fill(struct loops *loops)
{
	struct ifaddrs *all;
	bool ok = true;

	if (getifaddrs(&all) < 0)
		return true;
	for (struct ifaddrs *i = all; ok && i; i = i->ifa_next) {
		if (i->ifa_addr && (i->ifa_addr->sa_family == AF_INET ||
		                       i->ifa_addr->sa_family == AF_INET6))
			ok = own_add(loops, i->ifa_addr);
	}
	freeifaddrs(all);
	return ok;
}

static const struct addr *
spec_addr(void *arg, const struct backend_spec *backend, size_t at)
{
	(void)arg;
	return &backend->servers[at]->addr;
}

struct loops *
loops_new(const struct spec *spec, loops_addr *addr, void *arg)
{
	struct loops *loops = calloc(1, sizeof(*loops));

	if (!loops)
		return NULL;
	loops->spec = spec;
	loops->addr = addr ? addr : spec_addr;
	loops->arg = arg;
	for (size_t i = 0; i < spec->frontends_n; i++) {
		const struct frontend_spec *f = &spec->frontends[i];

		for (size_t k = 0; k < f->listens_n; k++) {
			const struct addr *a = &f->listens[k].addr;

			if (a->sa.sa_family == AF_UNIX)
				loops->unix_sockets = true;
			else if (addr_port(a) > 0)
				port_set(loops, addr_port(a));
		}
	}
	loops->seen = calloc(spec->backends_n + 1, sizeof(*loops->seen));
	if (loops->seen && own_fill(loops))
		return loops;
	loops_free(loops);
	return NULL;
}

void
loops_free(struct loops *loops)
{
	if (!loops)
		return;
	free(loops->own);
	free(loops->seen);
	free(loops);
}

/* Returns whether the host is this one. */
static bool
is_own_host(const struct loops *loops, const struct addr *addr)
{
	struct endpoint host = host_of(&addr->sa, addr->len);

	if (is_any(&host) || addr_is_loopback(addr))
		return true;
	for (size_t i = 0; i < loops->own_n; i++) {
		if (hosts_equal(&loops->own[i], &host))
			return true;
	}
	return false;
}

/* A server without a port has that of the frontend. */
bool
loops_concern(const struct loops *loops, const struct server_spec *server,
    const struct addr *addr)
{
	switch (addr->sa.sa_family) {
	case AF_UNIX:
		return loops->unix_sockets;
	case AF_INET:
	case AF_INET6:
		break;
	default:
		return false;
	}
	if (addr_port(addr) == 0 ? server->port_offset != 0
	                         : !port_has(loops, addr_port(addr)))
		return false;
	return is_own_host(loops, addr);
}

/* Returns whether a connection to the address, one of this host's, gets to the
 * listen.  0.0.0.0 and :: lead to the loopback addresses. */
static bool
listen_gets(const struct listen_spec *listen, const struct addr *to)
{
	const struct addr *at = &listen->addr;
	struct endpoint host = host_of(&to->sa, to->len);
	struct endpoint own = host_of(&at->sa, at->len);

	if (at->sa.sa_family == AF_UNIX || to->sa.sa_family == AF_UNIX)
		return addr_equal(at, to);
	if (addr_port(at) == 0 ||
	    (addr_port(to) > 0 && addr_port(at) != addr_port(to)))
		return false;
	if (is_any(&own))
		return listen->both_families || own.family == host.family;
	return is_any(&host) ? own.family == host.family && addr_is_loopback(at)
	                     : hosts_equal(&own, &host);
}

static const struct frontend_spec *addr_leads_to(
    struct loops *loops, const struct addr *addr, size_t to);

/* Returns whether a server of the backend leads to backend `to`. */
static bool
backend_leads_to(struct loops *loops, size_t number, size_t to)
{
	const struct backend_spec *b = &loops->spec->backends[number];

	if (loops->seen[number])
		return false;
	loops->seen[number] = true;
	for (size_t i = 0; i < b->servers_n; i++) {
		const struct server_spec *s = b->servers[i];
		const struct addr *addr = loops->addr(loops->arg, b, i);

		if (loops_concern(loops, s, addr) &&
		    addr_leads_to(loops, addr, to))
			return true;
	}
	return false;
}

static bool
frontend_leads_to(
    struct loops *loops, const struct frontend_spec *frontend, size_t to)
{
	size_t backend;

	for (size_t i = 0;
	     (backend = frontend_spec_backend(frontend, i)) != SIZE_MAX; i++) {
		if (backend == to || backend_leads_to(loops, backend, to))
			return true;
	}
	return false;
}

/* Returns the frontend at the address that leads to backend `to`, or NULL. */
static const struct frontend_spec *
addr_leads_to(struct loops *loops, const struct addr *addr, size_t to)
{
	const struct spec *spec = loops->spec;
	const struct addr own = *addr; /* the next look-up may overwrite it */

	for (size_t i = 0; i < spec->frontends_n; i++) {
		const struct frontend_spec *f = &spec->frontends[i];

		for (size_t k = 0; k < f->listens_n; k++) {
			if (!listen_gets(&f->listens[k], &own))
				continue;
			if (frontend_leads_to(loops, f, to))
				return f;
			break;
		}
	}
	return NULL;
}

const struct frontend_spec *
loops_find(struct loops *loops, const struct backend_spec *backend,
    const struct server_spec *server, const struct addr *addr)
{
	if (!loops_concern(loops, server, addr))
		return NULL;
	memset(loops->seen, 0, loops->spec->backends_n * sizeof(*loops->seen));
	return addr_leads_to(
	    loops, addr, (size_t)(backend - loops->spec->backends));
}
