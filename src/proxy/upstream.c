/* SPDX-License-Identifier: MIT
 * See upstream.h.
 */
#include "proxy/upstream.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "base/log.h"
#include "model/source_ports.h"
#include "net/sock.h"
#include "proxy/exhaustion.h"
#include "proxy/inspection.h"
#include "proxy/session_tls.h"

/* The most ports of the range that one connect tries, as in HAProxy.  Ports
 * that other programs have taken are skipped. */
#define PORTS_TRIED 10

static void
log_option_refused(
    const struct server *server, const struct sock_refusal *refusal)
{
	static struct log_limit limit;

	log_limited(&limit, LOG_LEVEL_WARNING,
	    "server %s/%s: the option %s was refused: %s%s",
	    server->backend->spec->name, server->spec->name, refusal->option,
	    strerror(refusal->error), sock_refusal_hint(refusal));
}

/* Finds the options and the source address of the connect.  Returns false when
 * the client has no address that could be the source. */
static bool
find_way(
    const struct session *s, struct sock_way *ret_way, struct addr *ret_source)
{
	const struct source_spec *source = server_source(s->server);

	*ret_way = (struct sock_way){.options = &s->server->spec->sock};
	/* Fast Open sends nothing before the first byte, so a client that waits
	 * for the server to speak would wait forever. */
	ret_way->fast_open = s->server->spec->sock.fast_open > 0 &&
	                     (upstream_wants_header(s) || s->server->tls ||
	                         sock_unread(s->side[HANDLE_CLIENT].fd) > 0);
	if (source->kind == SOURCE_NONE)
		return true;
	ret_way->source = ret_source;
	if (source->kind == SOURCE_ADDRESS) {
		*ret_source = source->addr;
		return true;
	}
	ret_way->transparent = true;
	return endpoint_addr(session_client(s), ret_source);
}

/* Sets the port of the connect if the server takes the client's.  Returns false
 * when the client's connection yields none. */
static bool
map_port(struct session *s)
{
	struct endpoint local;
	unsigned port = 0;

	if (server_maps_port(s->server)) {
		session_destination(s, &local);
		port = local.family == AF_UNIX
		           ? 0
		           : server_mapped_port(s->server, local.port);
		if (port == 0)
			return false;
	}
	if (s->server_port != port)
		atomic_store_relaxed(&s->server_port, (uint16_t)port);
	return true;
}

static int
connect_by(const struct session *s, const struct sock_way *way,
    bool *ret_connected, bool *ret_port_taken)
{
	const struct addr *to = server_addr(s->server);
	struct sock_refusal refusal;
	struct addr mapped;
	int fd;

	if (s->server_port > 0) {
		mapped = *to;
		addr_set_port(&mapped, s->server_port);
		to = &mapped;
	}
	fd = sock_connect_by(to, way, ret_connected, &refusal);

	/* EADDRINUSE: the source's port is taken.  EADDRNOTAVAIL: it is taken
	 * for this destination. */
	*ret_port_taken = fd == -EADDRINUSE || fd == -EADDRNOTAVAIL;
	if (refusal.option && fd != -EADDRINUSE)
		log_option_refused(s->server, &refusal);
	if (refusal.option && refusal.essential && !*ret_port_taken &&
	    resource_of(-fd) == RESOURCES)
		return -ENOPROTOOPT;
	return fd;
}

/* Connects from a port of the range; tries one port after another. */
static int
connect_from_range(struct session *s, const struct sock_way *way,
    struct addr *source, bool *ret_connected)
{
	struct source_ports *ports = s->server->ports;
	int fd = -EADDRNOTAVAIL;
	bool taken = true;

	for (int i = 0; i < PORTS_TRIED && taken; i++) {
		uint16_t port = source_ports_take(ports);

		if (port == 0)
			return -EADDRNOTAVAIL;
		source->in.sin_port = htons(port); /* as in sockaddr_in6 */
		fd = connect_by(s, way, ret_connected, &taken);
		if (fd >= 0)
			s->source_port = port;
		else
			source_ports_give(ports, port);
	}
	return fd == -EADDRINUSE ? -EADDRNOTAVAIL : fd;
}

int
upstream_connect(struct session *s, bool *ret_connected)
{
	struct sock_way way;
	struct addr source;
	bool ignored;
	int fd;

	if (!map_port(s))
		return -EDESTADDRREQ;
	if (!find_way(s, &way, &source))
		return -EAFNOSUPPORT;
	if (s->server->ports)
		return connect_from_range(s, &way, &source, ret_connected);
	fd = connect_by(s, &way, ret_connected, &ignored);
	return fd == -EADDRINUSE ? -EADDRNOTAVAIL : fd;
}

/* Makes the PROXY header.  It is made again for each server that is tried, and
 * for the rest of the header when a server has not taken all of it at once,
 * which is rare.  So a session stores only how much of it was written. */
static size_t
make_proxy_header(const struct session *s, uint8_t out[PROXY_MADE_MAX])
{
	struct session_tls_header room;
	struct proxy_header header = {.version = s->server->send_proxy,
	    .source = *session_client(s),
	    .authority = inspect_name(s)};

	header.authority_len = (uint8_t)strlen(header.authority);
	session_destination(s, &header.destination);
	if (header.version != PROXY_V1)
		session_tls_put_header(s, &room, &header);
	return proxy_header_make(&header, out);
}

static size_t
make_header(
    const struct session *s, uint8_t out[PROXY_MADE_MAX + PGSQL_REQUEST_SIZE])
{
	size_t n =
	    s->server->send_proxy == PROXY_OFF ? 0 : make_proxy_header(s, out);

	if (!starttls_with_server_is_due(s))
		return n;
	memcpy(out + n, pgsql_tls_request, sizeof(pgsql_tls_request));
	return n + sizeof(pgsql_tls_request);
}

int
upstream_send_header(struct session *s)
{
	struct side *side = &s->side[HANDLE_SERVER];
	uint8_t bytes[PROXY_MADE_MAX + PGSQL_REQUEST_SIZE];
	size_t size = make_header(s, bytes);

	while (s->header_sent < size) {
		ssize_t n = send(side->fd, bytes + s->header_sent,
		    size - s->header_sent, MSG_NOSIGNAL);

		if (n >= 0) {
			s->header_sent = (uint16_t)(s->header_sent + n);
		} else if (errno == EAGAIN || errno == EINPROGRESS) {
			/* EINPROGRESS: Fast Open has no cookie, so the connect
			 * is still under way. */
			side->writable = false;
			return 0;
		} else if (errno != EINTR) {
			return -errno;
		}
	}
	return 1;
}

void
upstream_closed(struct session *s)
{
	if (s->source_port == 0)
		return;
	source_ports_give(s->server->ports, s->source_port);
	s->source_port = 0;
}
