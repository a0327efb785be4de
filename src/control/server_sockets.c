/* SPDX-License-Identifier: MIT
 * See server_sockets.h.
 */
#include "control/server_sockets.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "net/sock.h"

struct trial {
	const struct backend_spec *backend;
	const struct server_spec *server;
	const struct source_spec *source;
};

static void
warn(const char *sentence, void *arg)
{
	const struct trial *t = arg;

	log_warning("server = %s (backend %s): %s", t->server->name,
	    t->backend->name, sentence);
}

static bool
refused(
    const struct trial *t, const struct sock_refusal *refusal, struct err *err)
{
	return err_set(err, "server %s/%s: the option %s is refused: %s%s",
	    t->backend->name, t->server->name, refusal->option,
	    strerror(refusal->error), sock_refusal_hint(refusal));
}

static bool
try_on(int fd, struct trial *t, struct err *err)
{
	const struct addr *to = &t->server->addr;
	const struct sock_options *options = &t->server->sock;
	struct sock_way way = {.options = options,
	    .transparent = t->source->kind == SOURCE_CLIENT};
	struct sock_refusal refusal;

	if (t->source->kind == SOURCE_ADDRESS &&
	    t->source->addr.sa.sa_family != AF_UNSPEC)
		way.source = &t->source->addr;
	if (sock_prepare(fd, to, &way, &refusal) < 0 &&
	    refusal.error == EADDRNOTAVAIL)
		warn("its source is not an address of this host now; nothing "
		     "can be connected before it is",
		    t);
	else if (refusal.option)
		return refused(t, &refusal, err);
	sock_options_curtailed(fd, options, false, warn, t);
	return true;
}

bool
server_sockets_try(const struct spec *spec, struct err *err)
{
	for (size_t i = 0; i < spec->backends_n; i++) {
		const struct backend_spec *b = &spec->backends[i];

		for (size_t j = 0; j < b->servers_n; j++) {
			const struct server_spec *s = &b->servers[j];
			struct trial t = {b, s,
			    s->source.kind != SOURCE_NONE ? &s->source
			                                  : &b->source};
			bool ok;
			int fd;

			if (s->addr.sa.sa_family == AF_UNIX)
				continue;
			fd = socket(s->addr.sa.sa_family,
			    SOCK_STREAM | SOCK_CLOEXEC, 0);
			if (fd < 0)
				continue;
			ok = try_on(fd, &t, err);
			close(fd);
			if (!ok)
				return false;
		}
	}
	return true;
}
