/* SPDX-License-Identifier: MIT
 * See server_sockets.h.
 */
#include "process/server_sockets.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "model/model.h"
#include "net/sock.h"

struct trial {
	const struct backend_spec *backend;
	const struct server_spec *server;
	const struct source_spec *source;
	bool warns;
};

static void
warn_of_server(const char *sentence, void *arg)
{
	const struct trial *t = arg;

	if (t->warns)
		log_warning("server = %s (backend %s): %s", t->server->name,
		    t->backend->name, sentence);
}

static bool
refuse_server_option(
    const struct trial *t, const struct sock_refusal *refusal, struct err *err)
{
	const struct spec_place *place = &t->server->place;
	char line[200] = "";

	if (place->file)
		snprintf(line, sizeof(line), "%.150s:%u: ", place->file,
		    place->line);
	return err_set(err, "%sserver %s/%s: the option %s is refused: %s%s",
	    line, t->backend->name, t->server->name, refusal->option,
	    strerror(refusal->error), sock_refusal_hint(refusal));
}

/* Returns the server's address family.  A server that is given by name may have
 * no address yet; then returns the family of its source, or IPv4. */
static sa_family_t
trial_family(const struct trial *t)
{
	int family = server_spec_family(t->backend, t->server);

	if (!t->server->host)
		return t->server->addr.sa.sa_family;
	return family == AF_UNSPEC ? AF_INET : (sa_family_t)family;
}

static bool
try_socket(int fd, struct trial *t, struct err *err)
{
	const struct addr any = {.sa.sa_family = trial_family(t)};
	const struct addr *to = t->server->host ? &any : &t->server->addr;
	const struct sock_options *options = &t->server->sock;
	struct sock_way way = {.options = options,
	    .transparent = t->source->kind == SOURCE_CLIENT};
	struct sock_refusal refusal;

	if (t->source->kind == SOURCE_ADDRESS &&
	    t->source->addr.sa.sa_family != AF_UNSPEC)
		way.source = &t->source->addr;
	if (sock_prepare(fd, to, &way, &refusal) < 0 &&
	    refusal.error == EADDRNOTAVAIL)
		warn_of_server(
		    "its source is not an address of this host now; nothing "
		    "can be connected before it is",
		    t);
	else if (refusal.option)
		return refuse_server_option(t, &refusal, err);
	sock_options_curtailed(fd, options, false, warn_of_server, t);
	return true;
}

bool
server_socket_try(const struct backend_spec *backend,
    const struct server_spec *server, bool warns, struct err *err)
{
	struct trial t = {backend, server,
	    server->source.kind != SOURCE_NONE ? &server->source
	                                       : &backend->source,
	    warns};
	bool ok;
	int fd;

	if (server->addr.sa.sa_family == AF_UNIX ||
	    (t.source->kind == SOURCE_NONE && !sock_options_any(&server->sock)))
		return true;
	fd = socket(trial_family(&t), SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return true;
	ok = try_socket(fd, &t, err);
	close(fd);
	return ok;
}

bool
server_sockets_try(const struct spec *spec, bool warns, struct err *err)
{
	/* Members of sets have the options of their set. */
	spec_for_each_server (b, s, spec)
		if (!s->set.is_set && !server_socket_try(b, s, warns, err))
			return false;
	for (size_t i = 0; i < spec->backends_n; i++) {
		const struct backend_spec *b = &spec->backends[i];

		for (size_t j = 0; j < b->sets_n; j++)
			if (!server_socket_try(
			        b, &b->sets[j].member, warns, err))
				return false;
	}
	return true;
}
