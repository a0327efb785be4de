/* SPDX-License-Identifier: MIT
 * See listeners.h.
 */
#include "control/listeners.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "net/sock.h"
#include "proxy/acceptor.h"

struct listener {
	const struct listen_spec *spec;
	struct frontend *frontend;
	struct acceptor *acceptor;
	bool opened;
};

struct listeners {
	struct listener *all;
	size_t n;
	bool stopped;
};

/* Says where, with the port that the kernel chose if it was 0. */
static void
announce(const struct listener *l, int fd)
{
	char text[ADDR_TEXT_SIZE];
	struct addr addr = l->spec->addr;

	if (addr.sa.sa_family != AF_UNIX)
		(void)sock_local_addr(fd, &addr);
	log_info("listening on %s (frontend %s)", addr_text(&addr, text),
	    l->frontend->spec->name);
}

static bool
bind_one(struct listener *l, struct proxy *proxy, struct err *err)
{
	const struct listen_spec *spec = l->spec;
	int fd;

	fd = sock_listen(&spec->addr, spec->both_families, spec->mode, err);
	if (fd < 0)
		return false;
	if (acceptor_new(proxy, l->frontend, fd, &l->acceptor) < 0)
		return err_set(err, "out of memory");
	announce(l, fd);
	return true;
}

static size_t
count(const struct spec *spec)
{
	size_t n = 0;

	for (size_t i = 0; i < spec->frontends_n; i++)
		n += spec->frontends[i].listens_n;
	return n;
}

struct listeners *
listeners_bind(struct model *model, struct proxy *proxy, struct err *err)
{
	const struct spec *spec = model->spec;
	struct listeners *ls = calloc(1, sizeof(*ls));

	if (ls)
		ls->all = calloc(count(spec), sizeof(*ls->all));
	if (!ls || !ls->all) {
		err_set(err, "out of memory");
		goto fail;
	}
	for (size_t i = 0; i < spec->frontends_n; i++) {
		const struct frontend_spec *f = &spec->frontends[i];

		for (size_t j = 0; j < f->listens_n; j++) {
			struct listener *l = &ls->all[ls->n];

			l->spec = &f->listens[j];
			l->frontend = model->frontends[i];
			if (!bind_one(l, proxy, err))
				goto fail;
			ls->n++;
		}
	}
	return ls;
fail:
	listeners_free(ls);
	return NULL;
}

bool
listeners_open(
    struct listeners *listeners, struct pools *pools, struct err *err)
{
	for (size_t i = 0; i < listeners->n; i++) {
		struct listener *l = &listeners->all[i];
		struct pool *pool = pools_at(pools, l->frontend->spec->pool);
		int rc = acceptor_open(l->acceptor, pool_shard(pool, 0));

		if (rc < 0)
			return err_set(err,
			    "cannot wait for connections on %s: "
			    "%s",
			    l->spec->text, strerror(-rc));
		l->opened = true;
	}
	return true;
}

static void
remove_file(const struct listener *l)
{
	if (l->spec->addr.sa.sa_family == AF_UNIX)
		(void)unlink(l->spec->addr.un.sun_path);
}

void
listeners_stop(struct listeners *listeners)
{
	if (listeners->stopped)
		return;
	listeners->stopped = true;
	for (size_t i = 0; i < listeners->n; i++) {
		struct listener *l = &listeners->all[i];

		remove_file(l);
		if (l->opened)
			acceptor_stop(l->acceptor);
	}
}

bool
listeners_stopped(const struct listeners *listeners)
{
	for (size_t i = 0; i < listeners->n; i++)
		if (listeners->all[i].opened &&
		    !acceptor_closed(listeners->all[i].acceptor))
			return false;
	return listeners->stopped;
}

void
listeners_free(struct listeners *listeners)
{
	if (!listeners)
		return;
	for (size_t i = 0; i < listeners->n; i++) {
		if (!listeners->stopped)
			remove_file(&listeners->all[i]);
		acceptor_free(listeners->all[i].acceptor);
	}
	free(listeners->all);
	free(listeners);
}
