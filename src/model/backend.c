/* SPDX-License-Identifier: MIT
 * See backend.h.
 */
#include "model/backend.h"

#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/grace.h"
#include "base/log.h"
#include "model/lineup.h"

const struct balance_ops *
balance_ops_of(int kind)
{
	static const struct balance_ops *const kinds[] = {
	    [BALANCE_ROUNDROBIN] = &balance_roundrobin};

	return kinds[kind];
}

void
lineup_free(void *lineup)
{
	struct lineup *l = lineup;

	if (!l)
		return;
	free(l->servers);
	free(l->cycle);
	free(l);
}

static struct lineup *
lineup_new(const struct backend *backend)
{
	struct lineup *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->servers = calloc(backend->spec->servers_n, sizeof(*l->servers));
	if (!l->servers)
		goto fail;
	for (size_t i = 0; i < backend->spec->servers_n; i++) {
		struct server *s = backend->servers[i];

		if (s->up && s->spec->weight > 0)
			l->servers[l->servers_n++] = s;
	}
	if (l->servers_n > 0 &&
	    balance_ops_of(backend->spec->balance)->prepare(l) < 0)
		goto fail;
	return l;
fail:
	lineup_free(l);
	return NULL;
}

/* The backend as a whole goes down with its last server. */
static void
note_usable(struct backend *b, unsigned usable)
{
	uint64_t now = clock_now_ms();

	if (b->usable > 0 && usable == 0) {
		b->times_down++;
		b->changed_ms = now;
		log_error("backend %s has no usable server; its sessions are "
		          "closed until one is back",
		    b->spec->name);
	} else if (b->usable == 0 && usable > 0 && b->times_down > 0) {
		b->down_ms += now - b->changed_ms;
		b->changed_ms = now;
	}
	b->usable = usable;
}

int
backend_rebuild(struct backend *backend)
{
	struct lineup *l = lineup_new(backend);

	if (!l)
		return -ENOMEM;
	note_usable(backend, l->servers_n);
	l = atomic_swap_acq_rel(&backend->lineup, l); /* [P4] */
	grace_retire(backend->grace, lineup_free, l);
	return 0;
}

struct server *
backend_choose(
    struct backend *backend, struct server *const *tried, unsigned tried_n)
{
	const struct lineup *l =
	    atomic_load_acquire(&backend->lineup); /* [P4] */

	if (l->servers_n == 0)
		return NULL;
	return balance_ops_of(backend->spec->balance)
	    ->choose(backend, l, tried, tried_n);
}

struct backend *
backend_new(const struct backend_spec *spec, unsigned id, struct grace *grace)
{
	struct backend *b = aligned_alloc(CACHE_LINE, sizeof(*b));

	if (!b)
		return NULL;
	*b = (struct backend){
	    .spec = spec,
	    .id = id,
	    .grace = grace,
	    .changed_ms = clock_now_ms(),
	    .counters = counters_new(),
	    .servers = calloc(spec->servers_n, sizeof(*b->servers)),
	};
	if (!b->counters || !b->servers)
		goto fail;
	for (size_t i = 0; i < spec->servers_n; i++) {
		b->servers[i] =
		    server_new(&spec->servers[i], b, (unsigned)i + 1);
		if (!b->servers[i])
			goto fail;
	}
	if (backend_rebuild(b) < 0)
		goto fail;
	return b;
fail:
	backend_free(b);
	return NULL;
}

void
backend_free(struct backend *backend)
{
	if (!backend)
		return;
	for (size_t i = 0; backend->servers && i < backend->spec->servers_n;
	     i++)
		server_free(backend->servers[i]);
	free(backend->servers);
	lineup_free(backend->lineup);
	counters_free(backend->counters);
	free(backend);
}
