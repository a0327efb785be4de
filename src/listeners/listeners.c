/* SPDX-License-Identifier: MIT
 * See listeners.h.
 */
#include "listeners/listeners.h"

#include <stdlib.h>
#include <string.h>

#include "base/grace.h"
#include "listeners/listeners_internal.h"
#include "model/model.h"
#include "net/sock_options.h"
#include "proxy/acceptor.h"

/* Closes the listener, and adds it to the line. */
static void
stop_listener(struct listeners_line *line, struct listener *l)
{
	static const char what[] = "no longer listening on";

	listeners_line_add(line, l, what);
	listener_stop(l);
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
	listeners_line_end(&line);
}

void
listeners_follow(struct listeners *listeners, const struct model *model)
{
	for_each_listener (l, listeners) {
		struct frontend *f = model_find_frontend(model, l->frontend);

		/* A listener that is being closed may belong to an earlier
		 * model, whose frontend must not be renewed. */
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
	listeners_line_end(&line);
}

const struct listener *
listeners_at(const struct listeners *listeners, size_t i)
{
	for_each_listener (l, listeners)
		if (!l->closing && i-- == 0)
			return l;
	return NULL;
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
			listeners_spare(listeners, l);
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
		listeners_drop(l);
	}
	free(listeners);
}
