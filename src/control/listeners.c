/* SPDX-License-Identifier: MIT
 * See listeners.h.
 */
#include "control/listeners.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grace.h"
#include "base/list.h"
#include "base/log.h"
#include "control/listener.h"
#include "model/model.h"
#include "net/inherited.h"
#include "net/sock.h"
#include "proxy/acceptor.h"

struct listeners {
	struct proxy *proxy;
	struct grace *grace;
	struct list all;
	struct list spare; /* closed ones, whose acceptors may be used again */
	/* In a preparation: that which was found last.  The next one that is
	 * looked for mostly follows it. */
	struct listener *found;
	bool stopped;
};

#define for_each_listener(l, listeners)                                        \
	list_for_each (l##_node, &(listeners)->all)                            \
		for (struct listener *l = listener_of(l##_node); l; l = NULL)

static struct listener *
listener_of(struct list *node)
{
	return container_of(node, struct listener, node);
}

/* -- the log -- */

/* A line about listeners: a range of ports has one for all of them. */
struct listeners_line {
	const char *what;
	const struct listener *first; /* NULL: no line so far */
	struct addr addr;             /* of the first */
	unsigned last;                /* port */
};

static void
line_end(struct listeners_line *line)
{
	char text[ADDR_TEXT_SIZE], last[8] = "", from[ADDR_TEXT_SIZE + 2] = "";

	if (!line->first)
		return;
	if (line->last != addr_port(&line->addr))
		snprintf(last, sizeof(last), "-%u", line->last & UINT16_MAX);
	if (addr_is_descriptor(&line->first->addr))
		addr_text(
		    &line->first->addr, from + strlen(strcpy(from, ", ")));
	log_info("%s %s%s (frontend %s%s)", line->what,
	    addr_text(&line->addr, text), last, line->first->frontend, from);
	line->first = NULL;
}

/* Adds the listener to the line, or ends that and begins another one.  what:
 * what happens to the listener; a line has one such text. */
static void
line_add(
    struct listeners_line *line, const struct listener *l, const char *what)
{
	struct addr addr = l->held ? l->at : listener_bound_addr(l);
	struct addr next = line->addr;

	addr_set_port(&next, line->last + 1);
	if (line->first && l->in_range && line->what == what &&
	    addr_equal(&addr, &next) &&
	    strcmp(l->frontend, line->first->frontend) == 0) {
		line->last++;
		return;
	}
	line_end(line);
	*line = (struct listeners_line){
	    .what = what, .first = l, .addr = addr, .last = addr_port(&addr)};
}

static void
announce_new(struct listeners *ls)
{
	static const char open[] = "listening on";
	static const char held[] = "disabled, not listening on";
	struct listeners_line line = {.first = NULL};

	for_each_listener (l, ls) {
		if (l->announced)
			continue;
		l->announced = true;
		line_add(&line, l, l->held ? held : open);
		if (!l->in_range)
			listener_warn_of_cut_options(l);
	}
	line_end(&line);
}

/* Closes the listener, and says so in the line. */
static void
stop_listener(struct listeners_line *line, struct listener *l)
{
	static const char what[] = "no longer listening on";

	line_add(line, l, what);
	listener_stop(l);
}

static void
drop_listener(struct listener *l)
{
	list_remove(&l->node);
	listener_free(l);
}

/* Keeps the acceptor for a later listener. */
static void
spare_listener(struct listeners *ls, struct listener *l)
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
		drop_listener(l);
		return a;
	}
	return NULL;
}

/* Takes ownership of fd. */
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

/* Returns the port in network order, 0 for a unix socket. */
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

/* A socket that is to go may hold the port that another needs. */
static void
blame_own(struct listeners *ls, const struct addr *addr, struct err *err)
{
	char text[ADDR_TEXT_SIZE];
	struct err why = *err;

	for_each_listener (l, ls) {
		if (l->closing || l->next || listen_port(addr) == 0 ||
		    listen_port(&l->addr) != listen_port(addr))
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
	/* No client may be accepted on the way to listeners_commit. */
	if (frontend_admin_next(frontend) == FRONTEND_PAUSED)
		listener_hold(l);
	return true;
}

/* Several sockets may have the name of a descriptor, and the listen gets all of
 * them. */
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

/* Returns the listener behind the one that was found last, or NULL. */
static struct listener *
next_of_found(const struct listeners *ls)
{
	return ls->found && ls->found->node.next != &ls->all
	           ? listener_of(ls->found->node.next)
	           : NULL;
}

/* Whether no frontend has claimed the socket, which has that address.  With an
 * owner, only a socket that this frontend has now will do. */
static bool
can_claim(
    const struct listener *l, const struct listen_spec *spec, const char *owner)
{
	return !l->closing && !l->next &&
	       l->both_families == spec->both_families &&
	       addr_equal(&l->addr, &spec->addr) &&
	       (!owner || strcmp(l->frontend, owner) == 0);
}

/* Returns the first socket that can be claimed, or NULL. */
static struct listener *
find_listener(
    struct listeners *ls, const struct listen_spec *spec, const char *owner)
{
	struct listener *next = next_of_found(ls);

	if (next && !addr_has_any_port(&spec->addr) &&
	    can_claim(next, spec, owner))
		return next;
	for_each_listener (l, ls)
		if (can_claim(l, spec, owner))
			return l;
	return NULL;
}

/* Claims the socket of the address for the frontend, if there is one.  Returns
 * the listener or NULL. */
static struct listener *
claim_listener(struct listeners *ls, struct frontend *f,
    const struct listen_spec *spec, const char *owner)
{
	struct listener *found = find_listener(ls, spec, owner);

	if (found) {
		ls->found = found;
		found->next = f;
		found->next_spec = spec;
	}
	return found;
}

/* Claims every socket of the descriptor's name. */
static void
claim_named(struct listeners *ls, struct frontend *f,
    const struct listen_spec *spec, const char *owner)
{
	while (claim_listener(ls, f, spec, owner))
		;
}

/* Returns the socket that is claimed for the address, or NULL. */
static struct listener *
claimed_listener(struct listeners *ls, const struct listen_spec *spec)
{
	struct listener *next = next_of_found(ls);

	if (next && next->next_spec == spec)
		return ls->found = next;
	for_each_listener (l, ls)
		if (l->next_spec == spec)
			return ls->found = l;
	return NULL;
}

/* Takes the sockets of the descriptor's name that other frontends had, too. */
static bool
change_named(struct listeners *ls, struct frontend *f,
    const struct listen_spec *spec, struct err *err)
{
	bool any = false;

	claim_named(ls, f, spec, NULL);
	for_each_listener (l, ls) {
		if (l->next_spec != spec)
			continue;
		if (!listener_change(l, err))
			return false;
		any = true;
	}
	return any || bind_all(ls, f, spec, err);
}

/* A port that the kernel has chosen stays with the frontend that asked for it,
 * so it is not claimed from another one. */
static bool
claim_or_bind(struct listeners *ls, struct frontend *f,
    const struct listen_spec *spec, struct err *err)
{
	struct listener *l;

	if (addr_is_descriptor(&spec->addr))
		return change_named(ls, f, spec, err);
	l = claimed_listener(ls, spec);
	if (!l && !addr_has_any_port(&spec->addr))
		l = claim_listener(ls, f, spec, NULL);
	return l ? listener_change(l, err) : bind_one(ls, f, spec, err);
}

/* Claims what the frontend has now. */
static void
claim_own(
    struct listeners *ls, struct frontend *f, const struct listen_spec *spec)
{
	if (addr_is_descriptor(&spec->addr))
		claim_named(ls, f, spec, f->spec->name);
	else
		(void)claim_listener(ls, f, spec, f->spec->name);
}

/* Undoes the preparation.  Always false. */
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

bool
listeners_prepare(
    struct listeners *listeners, struct model *model, struct err *err)
{
	bool any = !list_empty(&listeners->all);

	listeners->found = NULL;
	/* Other frontends' sockets are claimed only after each frontend has
	 * claimed its own. */
	model_for_each_frontend (f, model)
		for (size_t i = 0; any && i < f->spec->listens_n; i++)
			claim_own(listeners, f, &f->spec->listens[i]);
	model_for_each_frontend (f, model)
		for (size_t i = 0; i < f->spec->listens_n; i++) {
			const struct listen_spec *spec = &f->spec->listens[i];

			/* At the start thousands of sockets may have to be
			 * bound, and none can be claimed. */
			if (!(any ? claim_or_bind(listeners, f, spec, err)
			          : bind_all(listeners, f, spec, err)))
				return fail_prepare(
				    listeners, &spec->place, err);
		}
	announce_new(listeners);
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
		spare_listener(listeners, l);
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
	list_init(&ls->spare);
	if (listeners_prepare(ls, model, err))
		return ls;
	listeners_free(ls);
	return NULL;
}

void
listeners_commit(
    struct listeners *listeners, struct pools *pools, struct changes *changes)
{
	struct listeners_line line = {.first = NULL};

	for_each_listener (l, listeners)
		if (l->next)
			listener_commit(l, pools_of(pools, l->next), changes);
		else if (!l->closing)
			stop_listener(&line, l);
	line_end(&line);
}

void
listeners_follow(struct listeners *listeners, const struct model *model)
{
	for_each_listener (l, listeners) {
		struct frontend *f = model_find_frontend(model, l->frontend);

		/* A listener that is being closed may belong to an earlier
		 * model: a reload does not renew it. */
		if (f && !l->closing)
			acceptor_follow(l->acceptor, f);
	}
}

static bool
is_open_for(const struct listener *l, const struct frontend *frontend)
{
	return l->opened && !l->closing &&
	       strcmp(l->frontend, frontend->spec->name) == 0;
}

void
listeners_pause(struct listeners *listeners, const struct frontend *frontend)
{
	for_each_listener (l, listeners)
		if (is_open_for(l, frontend))
			listener_hold(l);
}

bool
listeners_resume(struct listeners *listeners, const struct frontend *frontend,
    struct err *err)
{
	bool ok = true;

	for_each_listener (l, listeners)
		if (is_open_for(l, frontend))
			ok &= listener_unhold(l, err);
	return ok;
}

void
listeners_shut(struct listeners *listeners, const struct frontend *frontend)
{
	struct listeners_line line = {.first = NULL};

	for_each_listener (l, listeners)
		if (is_open_for(l, frontend))
			stop_listener(&line, l);
	line_end(&line);
}

const struct listener *
listeners_at(const struct listeners *listeners, size_t i)
{
	for_each_listener (l, listeners)
		if (!l->closing && i-- == 0)
			return l;
	return NULL;
}

static void
add_memory(struct memory_use *use, const struct list *all)
{
	list_for_each (node, all) {
		const struct listener *l = listener_of(node);

		use->count++;
		memory_add_block(use, l);
		memory_add_block(use, l->frontend);
		memory_add_block(use, l->acceptor);
	}
}

struct memory_use
listeners_memory(const struct listeners *listeners)
{
	struct memory_use use = {.count = 0};

	memory_add_block(&use, listeners);
	add_memory(&use, &listeners->all);
	add_memory(&use, &listeners->spare);
	return use;
}

void
listeners_sample(struct listeners *listeners)
{
	uint32_t waiting, max;

	for_each_listener (l, listeners)
		if (!l->closing &&
		    sock_backlog(acceptor_fd(l->acceptor), &waiting, &max))
			trend_add(&l->trend, waiting);
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
		if (l->closed && grace_passed(listeners->grace, l->closed_at))
			spare_listener(listeners, l);
	}
}

bool
listeners_use(const struct listeners *listeners, struct pool *pool)
{
	for_each_listener (l, listeners)
		if (l->pool == pool ||
		    acceptor_shard(l->acceptor)->pool == pool)
			return true;
	list_for_each (node, &listeners->spare)
		if (acceptor_busy(listener_of(node)->acceptor))
			return true;
	return false;
}

void
listeners_store(struct listeners *listeners)
{
	for_each_listener (l, listeners)
		listener_store(l);
}

void
listeners_report(const struct listeners *listeners,
    void (*add)(void *to, const struct addr *asked, int fd), void *to)
{
	for_each_listener (l, listeners)
		if (l->opened && !l->closing &&
		    (!l->held || l->addr.sa.sa_family == AF_UNIX ||
		        addr_is_descriptor(&l->addr)))
			add(to, &l->addr, acceptor_fd(l->acceptor));
}

static void
stop_all(struct listeners *listeners, bool remove_files)
{
	if (listeners->stopped)
		return;
	listeners->stopped = true;
	for_each_listener (l, listeners) {
		if (l->closing)
			continue;
		if (remove_files)
			listener_remove_file(l);
		l->closing = true;
		if (l->opened)
			acceptor_stop(l->acceptor);
	}
}

void
listeners_stop(struct listeners *listeners)
{
	stop_all(listeners, true);
}

void
listeners_leave(struct listeners *listeners)
{
	stop_all(listeners, false);
}

bool
listeners_stopped(const struct listeners *listeners)
{
	for_each_listener (l, listeners)
		if (l->opened && !acceptor_closed(l->acceptor))
			return false;
	return listeners->stopped;
}

void
listeners_free(struct listeners *listeners)
{
	if (!listeners)
		return;
	list_splice(&listeners->spare, &listeners->all);
	list_for_each_safe (node, &listeners->all) {
		struct listener *l = listener_of(node);

		if (!l->closing)
			listener_remove_file(l);
		acceptor_free(l->acceptor);
		drop_listener(l);
	}
	free(listeners);
}
