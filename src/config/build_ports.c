/* SPDX-License-Identifier: MIT
 * Warnings about servers that take the port of the client, behind addresses
 * whose ports they cannot take: see build.h.
 */
#include "config/build.h"

#include <stdlib.h>

/* The addresses of a frontend, without those where a PROXY header names the
 * port. */
struct ways {
	const struct frontend_spec *frontend;
	unsigned low, high; /* ports, 0: none that is known */
	bool has_unix;
};

static struct ways
ways_of(const struct frontend_spec *f)
{
	struct ways w = {.frontend = f};

	for (size_t i = 0; i < f->listens_n; i++) {
		const struct listen_spec *l = &f->listens[i];
		unsigned port = addr_port(&l->addr);

		if (l->accept_proxy)
			continue;
		w.has_unix |= l->addr.sa.sa_family == AF_UNIX;
		if (port > 0 && (w.low == 0 || port < w.low))
			w.low = port;
		if (port > w.high)
			w.high = port;
	}
	return w;
}

static void
warn_of_server_ports(const struct ways *w, const struct server_spec *s,
    struct err_list *warnings)
{
	const char *frontend = w->frontend->name;
	int low = (int)w->low + s->port_offset;
	int high = (int)w->high + s->port_offset;

	if (!server_spec_maps_port(s))
		return;
	if (w->has_unix)
		ERROR_AT(s, warnings,
		    "warning: server: '%s' takes the client's port, but "
		    "clients of a unix socket of [frontend %s] have no port: "
		    "their sessions cannot reach the server; write its port",
		    s->address, frontend);
	if (w->low > 0 && (low < 1 || high > UINT16_MAX))
		ERROR_AT(s, warnings,
		    "warning: server: '%s' takes the client's port, and for "
		    "port %u of [frontend %s] that would be %d; ports end at "
		    "1 and 65535",
		    s->address, low < 1 ? w->low : w->high, frontend,
		    low < 1 ? low : high);
}

static void
warn_of_backend_ports(const struct ways *w, const struct backend_spec *b,
    bool *seen, struct err_list *warnings)
{
	if (*seen)
		return;
	*seen = true;
	for (size_t i = 0; i < b->servers_n; i++)
		warn_of_server_ports(w, b->servers[i], warnings);
}

void
build_port_warnings(const struct spec *spec, struct err_list *warnings)
{
	for (size_t i = 0; i < spec->frontends_n; i++) {
		const struct frontend_spec *f = &spec->frontends[i];
		const struct ways w = ways_of(f);
		bool *seen = calloc(spec->backends_n, sizeof(*seen));

		if (!seen)
			return;
		for (size_t j = 0, b;
		     (b = frontend_spec_backend(f, j)) != SIZE_MAX; j++)
			warn_of_backend_ports(
			    &w, &spec->backends[b], &seen[b], warnings);
		free(seen);
	}
}
