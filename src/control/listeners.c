/* SPDX-License-Identifier: MIT
 * See listeners.h.
 */
#include "control/listeners.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/grace.h"
#include "base/list.h"
#include "control/listener.h"
#include "net/sock.h"
#include "proxy/acceptor.h"

struct listeners {
	struct proxy *proxy;
	struct grace *grace;
	struct list all;
	/* Acceptors that may be used again: room for all there ever were. */
	struct acceptor **spare;
	size_t spare_n, acceptors_n;
	bool stopped;
};

static struct listener *
listener_of(struct list *node)
{
	return container_of(node, struct listener, node);
}

static void
forget(struct listener *l)
{
	list_remove(&l->node);
	listener_free(l);
}

static struct acceptor *
take_spare(struct listeners *ls)
{
	for (size_t i = 0; i < ls->spare_n; i++) {
		struct acceptor *a = ls->spare[i];

		if (acceptor_busy(a))
			continue;
		ls->spare[i] = ls->spare[--ls->spare_n];
		return a;
	}
	return NULL;
}

/* Takes fd over.  Room for the acceptor among the spare is made first. */
static bool
make_acceptor(struct listeners *ls, struct listener *l, int fd)
{
	struct acceptor **grown;

	l->acceptor = take_spare(ls);
	if (l->acceptor) {
		acceptor_renew(l->acceptor, l->next, listener_number(l), fd);
		return true;
	}
	grown =
	    reallocarray(ls->spare, ls->acceptors_n + 1, sizeof(*ls->spare));
	if (grown)
		ls->spare = grown;
	if (!grown) {
		close(fd);
		return false;
	}
	if (acceptor_new(
	        ls->proxy, l->next, listener_number(l), fd, &l->acceptor) < 0)
		return false;
	ls->acceptors_n++;
	return true;
}

static uint16_t
port_of(const struct addr *addr)
{
	switch (addr->sa.sa_family) {
	case AF_INET:
		return addr->in.sin_port;
	case AF_INET6:
		return addr->in6.sin6_port;
	default:
		return 0;
	}
}

/* A socket that is to go may hold the port that another needs. */
static void
blame_own(struct listeners *ls, const struct addr *addr, struct err *err)
{
	char text[ADDR_TEXT_SIZE];
	struct err why = *err;

	list_for_each (node, &ls->all) {
		const struct listener *l = listener_of(node);

		if (l->closing || l->next || port_of(addr) == 0 ||
		    port_of(&l->addr) != port_of(addr))
			continue;
		err_set(err,
		    "%.300s; this lfproxy still listens on %s, so reload once "
		    "without the new address",
		    why.text, addr_text(&l->addr, text));
		return;
	}
}

static bool
bind_one(struct listeners *ls, struct frontend *frontend,
    const struct listen_spec *spec, struct err *err)
{
	struct listener *l = listener_new(frontend, spec);
	int fd;

	if (!l)
		return err_oom(err);
	fd = listener_bind(l, err);
	if (fd < 0)
		blame_own(ls, &spec->addr, err);
	else if (!make_acceptor(ls, l, fd))
		err_oom(err);
	if (!l->acceptor) {
		listener_free(l);
		return false;
	}
	list_append(&ls->all, &l->node);
	listener_announce(l, fd);
	return true;
}

/* Finds the socket of the address that no frontend has claimed.  With an owner,
 * considers only that frontend's sockets. */
static struct listener *
find(struct listeners *ls, const struct listen_spec *spec, const char *owner)
{
	list_for_each (node, &ls->all) {
		struct listener *l = listener_of(node);

		if (!l->closing && !l->next &&
		    l->both_families == spec->both_families &&
		    addr_equal(&l->addr, &spec->addr) &&
		    (!owner || strcmp(l->frontend, owner) == 0))
			return l;
	}
	return NULL;
}

static bool
claim(struct listener *l, struct frontend *f, const struct listen_spec *spec)
{
	if (!l)
		return false;
	l->next = f;
	l->next_spec = spec;
	return true;
}

/* Claims a socket for the frontend that already has it; other frontends'
 * sockets are claimed later.  A port that the kernel has chosen stays with the
 * frontend that asked for it. */
static bool
claimed_at_once(
    struct listeners *ls, struct frontend *f, const struct listen_spec *spec)
{
	return claim(find(ls, spec, f->spec->name), f, spec);
}

/* Returns the socket that is claimed for the address, or NULL. */
static struct listener *
claimed(struct listeners *ls, const struct listen_spec *spec)
{
	list_for_each (node, &ls->all)
		if (listener_of(node)->next_spec == spec)
			return listener_of(node);
	return NULL;
}

static bool
claim_or_bind(struct listeners *ls, struct frontend *f,
    const struct listen_spec *spec, struct err *err)
{
	struct listener *l = claimed(ls, spec);

	if (!l &&
	    (spec->addr.sa.sa_family == AF_UNIX || port_of(&spec->addr) != 0)) {
		l = find(ls, spec, NULL);
		(void)claim(l, f, spec);
	}
	return l ? listener_change(l, err) : bind_one(ls, f, spec, err);
}

/* Always false. */
static bool
fail(struct listeners *ls, const struct spec_place *place, struct err *err)
{
	struct err why = *err;

	if (place->file)
		err_set(err, "%.150s:%u: listen: %.340s", place->file,
		    place->line, why.text);
	listeners_cancel(ls);
	return false;
}

bool
listeners_prepare(
    struct listeners *listeners, struct model *model, struct err *err)
{
	bool any = !list_empty(&listeners->all);

	for (size_t i = 0; any && i < model->spec->frontends_n; i++) {
		struct frontend *f = model->frontends[i];

		for (size_t j = 0; j < f->spec->listens_n; j++)
			(void)claimed_at_once(
			    listeners, f, &f->spec->listens[j]);
	}
	for (size_t i = 0; i < model->spec->frontends_n; i++) {
		struct frontend *f = model->frontends[i];

		for (size_t j = 0; j < f->spec->listens_n; j++) {
			const struct listen_spec *spec = &f->spec->listens[j];

			/* At the start thousands of sockets may have to be
			 * bound, and none can be claimed. */
			if (!(any ? claim_or_bind(listeners, f, spec, err)
			          : bind_one(listeners, f, spec, err)))
				return fail(listeners, &spec->place, err);
		}
	}
	return true;
}

void
listeners_cancel(struct listeners *listeners)
{
	list_for_each_safe (node, &listeners->all) {
		struct listener *l = listener_of(node);

		if (l->next)
			listener_put_back(l);
		l->next = NULL;
		l->next_spec = NULL;
		if (l->opened || l->closing)
			continue;
		listener_remove_file(l);
		acceptor_abandon(l->acceptor);
		listeners->spare[listeners->spare_n++] = l->acceptor;
		forget(l);
	}
}

struct listeners *
listeners_bind(struct model *model, struct proxy *proxy, struct err *err)
{
	struct listeners *ls = calloc(1, sizeof(*ls));

	if (!ls) {
		err_oom(err);
		return NULL;
	}
	ls->proxy = proxy;
	ls->grace = model->grace;
	list_init(&ls->all);
	if (listeners_prepare(ls, model, err))
		return ls;
	listeners_free(ls);
	return NULL;
}

void
listeners_commit(
    struct listeners *listeners, struct pools *pools, struct changes *changes)
{
	list_for_each (node, &listeners->all) {
		struct listener *l = listener_of(node);

		if (l->closing)
			continue;
		if (l->next)
			listener_commit(l, pools_of(pools, l->next), changes);
		else
			listener_stop(l);
	}
}

void
listeners_follow(struct listeners *listeners, const struct model *model)
{
	list_for_each (node, &listeners->all) {
		struct listener *l = listener_of(node);
		struct frontend *f = model_find_frontend(model, l->frontend);

		if (f && !l->closed)
			acceptor_follow(l->acceptor, f);
	}
}

static bool
is_of(const struct listener *l, const struct frontend *frontend)
{
	return l->opened && !l->closing &&
	       strcmp(l->frontend, frontend->spec->name) == 0;
}

void
listeners_pause(struct listeners *listeners, const struct frontend *frontend)
{
	list_for_each (node, &listeners->all)
		if (is_of(listener_of(node), frontend))
			listener_hold(listener_of(node));
}

bool
listeners_resume(struct listeners *listeners, const struct frontend *frontend,
    struct err *err)
{
	bool ok = true;

	list_for_each (node, &listeners->all)
		if (is_of(listener_of(node), frontend))
			ok &= listener_unhold(listener_of(node), err);
	return ok;
}

void
listeners_shut(struct listeners *listeners, const struct frontend *frontend)
{
	list_for_each (node, &listeners->all)
		if (is_of(listener_of(node), frontend))
			listener_stop(listener_of(node));
}

bool
listeners_at(
    const struct listeners *listeners, size_t i, struct listener_view *ret_view)
{
	list_for_each (node, &listeners->all) {
		const struct listener *l = listener_of(node);

		if (l->closing || i-- > 0)
			continue;
		*ret_view = (struct listener_view){.frontend = l->frontend,
		    .addr = &l->addr,
		    .both_families = l->both_families,
		    .held = l->held,
		    .fd = acceptor_fd(l->acceptor),
		    .trend = &l->trend};
		return true;
	}
	return false;
}

struct memory_use
listeners_memory(const struct listeners *listeners)
{
	struct memory_use use = {.count = listeners->spare_n};

	memory_add_block(&use, listeners);
	memory_add_block(&use, listeners->spare);
	for (size_t i = 0; i < listeners->spare_n; i++)
		memory_add_block(&use, listeners->spare[i]);
	list_for_each (node, &listeners->all) {
		const struct listener *l = listener_of(node);

		use.count++;
		memory_add_block(&use, l);
		memory_add_block(&use, l->frontend);
		memory_add_block(&use, l->acceptor);
	}
	return use;
}

void
listeners_sample(struct listeners *listeners)
{
	list_for_each (node, &listeners->all) {
		struct listener *l = listener_of(node);
		uint32_t waiting, max;

		if (!l->closing &&
		    sock_backlog(acceptor_fd(l->acceptor), &waiting, &max))
			trend_add(&l->trend, waiting);
	}
}

void
listeners_tick(struct listeners *listeners)
{
	list_for_each_safe (node, &listeners->all) {
		struct listener *l = listener_of(node);

		if (!l->closing || listeners->stopped)
			continue;
		if (!l->closed && acceptor_closed(l->acceptor)) {
			l->closed = true;
			l->closed_at = grace_stamp(listeners->grace);
		}
		if (!l->closed || !grace_passed(listeners->grace, l->closed_at))
			continue;
		listeners->spare[listeners->spare_n++] = l->acceptor;
		forget(l);
	}
}

bool
listeners_use(const struct listeners *listeners, struct pool *pool)
{
	list_for_each (node, &listeners->all) {
		const struct listener *l = listener_of(node);

		if (l->pool == pool ||
		    acceptor_shard(l->acceptor)->pool == pool)
			return true;
	}
	for (size_t i = 0; i < listeners->spare_n; i++)
		if (acceptor_busy(listeners->spare[i]))
			return true;
	return false;
}

void
listeners_stop(struct listeners *listeners)
{
	if (listeners->stopped)
		return;
	listeners->stopped = true;
	list_for_each (node, &listeners->all) {
		struct listener *l = listener_of(node);

		if (l->closing)
			continue;
		listener_remove_file(l);
		l->closing = true;
		if (l->opened)
			acceptor_stop(l->acceptor);
	}
}

bool
listeners_stopped(const struct listeners *listeners)
{
	list_for_each (node, &listeners->all) {
		const struct listener *l = listener_of(node);

		if (l->opened && !acceptor_closed(l->acceptor))
			return false;
	}
	return listeners->stopped;
}

void
listeners_free(struct listeners *listeners)
{
	if (!listeners)
		return;
	list_for_each_safe (node, &listeners->all) {
		struct listener *l = listener_of(node);

		if (!l->closing)
			listener_remove_file(l);
		acceptor_free(l->acceptor);
		forget(l);
	}
	for (size_t i = 0; i < listeners->spare_n; i++)
		acceptor_free(listeners->spare[i]);
	free(listeners->spare);
	free(listeners);
}
