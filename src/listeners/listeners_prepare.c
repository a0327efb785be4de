/* SPDX-License-Identifier: MIT
 * The sockets of a new configuration: those that are listened on already are
 * claimed, the others are bound.
 */
#include <stdio.h>
#include <string.h>

#include "config/keys.h"
#include "listeners/listeners_internal.h"
#include "model/model.h"
#include "net/inherited.h"
#include "proxy/acceptor.h"

void
listeners_drop(struct listener *l)
{
	list_remove(&l->node);
	listener_free(l);
}

void
listeners_spare(struct listeners *ls, struct listener *l)
{
	l->closing = true;
	list_remove(&l->node);
	list_append(&ls->spare, &l->node);
}

static struct acceptor *
take_spare_acceptor(struct listeners *ls)
{
	list_for_each (node, &ls->spare) {
		struct listener *l = listener_of(node);
		struct acceptor *a = l->acceptor;

		if (acceptor_busy(a))
			continue;
		listeners_drop(l);
		return a;
	}
	return NULL;
}

/* Gives the listener an acceptor for fd, and takes ownership of fd.  Returns
 * false when memory is short. */
static bool
make_acceptor(struct listeners *ls, struct listener *l, int fd)
{
	l->acceptor = take_spare_acceptor(ls);
	if (!l->acceptor)
		return acceptor_new(ls->proxy, l->next, listener_number(l), fd,
		           &l->acceptor) == 0;
	acceptor_renew(l->acceptor, l->next, listener_number(l), fd);
	return true;
}

/* Returns the port in network byte order, or 0 for a unix socket. */
static uint16_t
listen_port(const struct addr *addr)
{
	_Static_assert(offsetof(struct sockaddr_in, sin_port) ==
	                   offsetof(struct sockaddr_in6, sin6_port),
	    "the port of both families");

	return addr->sa.sa_family == AF_INET || addr->sa.sa_family == AF_INET6
	           ? addr->in.sin_port
	           : 0;
}

/* Adds a hint to err if a socket that is to go holds the port of the address: a
 * socket of this process, or of the one that it takes over from. */
static void
blame_own(struct listeners *ls, const struct addr *addr, struct err *err)
{
	uint16_t port = listen_port(addr);
	const struct addr *former;
	char text[ADDR_TEXT_SIZE];
	struct err why = *err;

	if (port == 0)
		return;
	for_each_listener (l, ls) {
		if (l->closing || l->next || listen_port(&l->addr) != port)
			continue;
		err_set(err,
		    "%.300s; this lfproxy still listens on %s, so reload once "
		    "without the new address",
		    why.text, addr_text(&l->addr, text));
		return;
	}
	for (size_t i = 0; (former = inherited_at(i)); i++) {
		if (listen_port(former) != port)
			continue;
		err_set(err,
		    "%.300s; the lfproxy before this one still listens on %s, "
		    "so upgrade once without the new address",
		    why.text, addr_text(former, text));
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
	/* Hold the listener now, so that no client is accepted before
	 * listeners_commit. */
	if (frontend_admin_next(frontend) == FRONTEND_PAUSED)
		listener_hold(l);
	return true;
}

/* Binds the address.  Several sockets may have the name of a descriptor: the
 * listen gets all of them. */
static bool
bind_all(struct listeners *ls, struct frontend *frontend,
    const struct listen_spec *spec, struct err *err)
{
	do {
		if (!bind_one(ls, frontend, spec, err))
			return false;
	} while (addr_is_descriptor(&spec->addr) &&
	         inherited_has(&spec->addr, false));
	return true;
}

/* -- finding listeners by address -- */

/* The name of a listener in by_addr.  A port that the kernel has chosen stays
 * with the frontend that asked for it, so its name has the frontend. */
#define BY_ADDR_SIZE (LISTEN_TEXT_SIZE + NAME_MAX_LEN + 1)

static const char *
name_by_addr(const struct addr *addr, bool both_families, const char *frontend,
    char out[BY_ADDR_SIZE])
{
	size_t len = strlen(listen_text(addr, both_families, out));

	if (addr_has_any_port(addr))
		snprintf(out + len, BY_ADDR_SIZE - len, " %s", frontend);
	return out;
}

/* Lists the open listeners by their addresses.  Returns false when memory is
 * short. */
static bool
list_addrs(struct listeners *ls)
{
	char name[BY_ADDR_SIZE];
	struct listener *last;

	for_each_listener (l, ls) {
		l->twin = NULL;
		if (l->closing)
			continue;
		name_by_addr(&l->addr, l->both_families, l->frontend, name);
		last = text_table_find(&ls->by_addr, name);
		if (!last && !text_table_add(&ls->by_addr, name, l))
			return false;
		while (last && last->twin)
			last = last->twin;
		if (last)
			last->twin = l;
	}
	return true;
}

/* Returns the first of the listeners that had the address before the
 * preparation, or NULL; twin is the next one.  Several sockets may have one
 * name, and several ports of a frontend may be the kernel's choice. */
static struct listener *
listeners_of(const struct listeners *ls, const struct frontend *f,
    const struct listen_spec *spec)
{
	char name[BY_ADDR_SIZE];

	return text_table_find(
	    &ls->by_addr, name_by_addr(&spec->addr, spec->both_families,
	                      f->spec->name, name));
}

/* Claims the first socket of the address that no frontend has claimed.  With an
 * owner, only a socket that this frontend has now is claimed.  Returns the
 * listener, or NULL if there is none. */
static struct listener *
claim_listener(struct listeners *ls, struct frontend *f,
    const struct listen_spec *spec, const char *owner)
{
	struct listener *l = listeners_of(ls, f, spec);

	while (l && (l->next || !addr_equal(&l->addr, &spec->addr) ||
	                (owner && strcmp(l->frontend, owner) != 0)))
		l = l->twin;
	if (l) {
		l->next = f;
		l->next_spec = spec;
	}
	return l;
}

/* Claims every socket with the name of the descriptor. */
static void
claim_named(struct listeners *ls, struct frontend *f,
    const struct listen_spec *spec, const char *owner)
{
	while (claim_listener(ls, f, spec, owner))
		;
}

/* Returns the first socket that is claimed for the address, or NULL. */
static struct listener *
claimed_listener(struct listeners *ls, const struct frontend *f,
    const struct listen_spec *spec)
{
	struct listener *l = listeners_of(ls, f, spec);

	while (l && l->next_spec != spec)
		l = l->twin;
	return l;
}

/* Claims the sockets with the name of the descriptor, also those that other
 * frontends had, and changes their options. */
static bool
change_named(struct listeners *ls, struct frontend *f,
    const struct listen_spec *spec, struct err *err)
{
	bool any = false;

	claim_named(ls, f, spec, NULL);
	for (struct listener *l = listeners_of(ls, f, spec); l; l = l->twin) {
		if (l->next_spec != spec)
			continue;
		if (!listener_change(l, err))
			return false;
		any = true;
	}
	return any || bind_all(ls, f, spec, err);
}

/* Claims the socket of the address, or binds one.  A port that the kernel has
 * chosen stays with the frontend that asked for it, so another frontend does
 * not claim it. */
static bool
claim_or_bind(struct listeners *ls, struct frontend *f,
    const struct listen_spec *spec, struct err *err)
{
	struct listener *l;

	if (addr_is_descriptor(&spec->addr))
		return change_named(ls, f, spec, err);
	l = claimed_listener(ls, f, spec);
	if (!l && !addr_has_any_port(&spec->addr))
		l = claim_listener(ls, f, spec, NULL);
	return l ? listener_change(l, err) : bind_one(ls, f, spec, err);
}

/* Claims the sockets of the address that the frontend has now. */
static void
claim_own(
    struct listeners *ls, struct frontend *f, const struct listen_spec *spec)
{
	if (addr_is_descriptor(&spec->addr))
		claim_named(ls, f, spec, f->spec->name);
	else
		(void)claim_listener(ls, f, spec, f->spec->name);
}

/* Undoes the preparation, and adds the place in the file to err.  Always
 * returns false. */
static bool
fail_prepare(
    struct listeners *ls, const struct spec_place *place, struct err *err)
{
	struct err why = *err;

	if (place->file)
		err_set(err, "%.150s:%u: listen: %.340s", place->file,
		    place->line, why.text);
	listeners_cancel(ls);
	return false;
}

/* Claims or binds a socket for each listen of the model. */
static bool
prepare_listeners(
    struct listeners *listeners, struct model *model, struct err *err)
{
	bool any = !list_empty(&listeners->all);

	if (!list_addrs(listeners))
		return err_oom(err);
	/* A frontend claims other frontends' sockets only after each frontend
	 * has claimed its own. */
	model_for_each_frontend (f, model)
		for (size_t i = 0; any && i < f->spec->listens_n; i++)
			claim_own(listeners, f, &f->spec->listens[i]);
	model_for_each_frontend (f, model)
		for (size_t i = 0; i < f->spec->listens_n; i++) {
			const struct listen_spec *spec = &f->spec->listens[i];

			/* At the start no socket can be claimed, and there may
			 * be thousands to bind. */
			if (!(any ? claim_or_bind(listeners, f, spec, err)
			          : bind_all(listeners, f, spec, err)))
				return fail_prepare(
				    listeners, &spec->place, err);
		}
	listeners_announce(listeners);
	return true;
}

bool
listeners_prepare(
    struct listeners *listeners, struct model *model, struct err *err)
{
	bool ok = prepare_listeners(listeners, model, err);

	text_table_clear(&listeners->by_addr);
	return ok;
}

bool
listeners_register(
    struct listeners *listeners, struct pools *pools, struct err *err)
{
	for_each_listener (l, listeners) {
		if (!l->next || l->opened ||
		    listener_register(l, pools_of(pools, l->next), err))
			continue;
		listeners_cancel(listeners);
		return false;
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
		listeners_spare(listeners, l);
	}
}
