/* SPDX-License-Identifier: MIT
 * See bandwidth.h.
 */
#include "model/bandwidth.h"

#include "acl/acl.h"
#include "model/model.h"

uint64_t
bucket_take(struct bucket *bucket, uint64_t rate, uint32_t n, uint64_t now_ns,
    uint64_t catch_up_ns)
{
	uint64_t cost_ns = bandwidth_cost_ns(rate, n), start_ns;
	uint64_t due_ns = atomic_load_relaxed(&bucket->due_ns);

	do
		start_ns = bandwidth_start_ns(due_ns, now_ns, catch_up_ns);
	while (
	    !atomic_cas_relaxed(&bucket->due_ns, &due_ns, start_ns + cost_ns));
	return start_ns;
}

/* The rate may have changed since the bytes were taken, and the bucket may have
 * forgotten them, so due_ns stops at 0. */
void
bucket_give(struct bucket *bucket, uint64_t rate, uint32_t n)
{
	uint64_t cost_ns = bandwidth_cost_ns(rate, n), next;
	uint64_t due_ns = atomic_load_relaxed(&bucket->due_ns);

	do
		next = due_ns > cost_ns ? due_ns - cost_ns : 0;
	while (!atomic_cas_relaxed(&bucket->due_ns, &due_ns, next));
}

/* Sets a rate.  Returns whether it has changed. */
static bool
set_byte_rate(uint64_t *word, uint64_t rate)
{
	bool changed = atomic_load_relaxed(word) != rate;

	atomic_store_relaxed(word, rate);
	return changed;
}

bool
bucket_set_rate(struct bucket *bucket, uint64_t rate)
{
	if (!set_byte_rate(&bucket->rate, rate))
		return false;
	atomic_store_relaxed(&bucket->due_ns, UINT64_C(0));
	return true;
}

static bool
set_shared(
    struct bandwidth *b, enum band_direction d, uint64_t rate, bool *limited)
{
	*limited |= rate > 0;
	return bucket_set_rate(&b->shared[d], rate);
}

static bool
set_list(const struct model *model, struct acl_list **word,
    const struct list_use *use)
{
	struct acl_list *list = use->name ? model->lists[use->list] : NULL;
	bool changed = atomic_load_relaxed(word) != list;

	atomic_store_release(word, list); /* [P32] */
	return changed;
}

/* lists NULL: the limits are for all clients. */
static bool
set_clients(const struct model *model, struct band_clients *clients,
    const struct band_lists *lists)
{
	static const struct band_lists none;
	bool changed;

	if (!lists)
		lists = &none;
	changed = set_list(model, &clients->only, &lists->only);
	return set_list(model, &clients->except, &lists->except) || changed;
}

bool
bandwidth_is_for(
    const struct band_clients *clients, const struct endpoint *client)
{
	const struct acl_list *only = atomic_load_acquire(
	                          &clients->only), /* [P32] */
	    *except = atomic_load_acquire(&clients->except);

	return (!only || acl_list_has(only, client)) &&
	       (!except || !acl_list_has(except, client));
}

/* Sets the limits of a frontend or backend. */
static bool
set_proxy(const struct model *model, struct bandwidth *b,
    const struct bandwidth_spec *spec, bool *limited)
{
	bool changed = false;

	for (enum band_scope s = 0; s < BAND_SCOPES; s++)
		changed |= set_clients(model, &b->clients[s], &spec->lists[s]);

	for (enum band_direction d = 0; d < BAND_DIRECTIONS; d++) {
		*limited |= spec->rate[BAND_SESSION][d] > 0;
		*limited |= spec->rate[BAND_SOURCE][d] > 0;
		changed |=
		    set_byte_rate(&b->session[d], spec->rate[BAND_SESSION][d]);
		changed |=
		    set_byte_rate(&b->source[d], spec->rate[BAND_SOURCE][d]);
		changed |= set_shared(b, d, spec->rate[BAND_PROXY][d], limited);
	}
	return changed;
}

uint64_t
bandwidth_of_server(const struct backend_spec *backend,
    const struct server_spec *server, enum band_direction direction)
{
	uint64_t own = server->bandwidth[direction];

	if (own == BANDWIDTH_OFF)
		return 0;
	return own > 0 ? own : backend->bandwidth.rate[BAND_SERVER][direction];
}

/* Returns the lists of the server's limit; NULL: it has a limit of its own. */
static const struct band_lists *
lists_of_server(const struct backend_spec *backend,
    const struct server_spec *server, enum band_direction direction)
{
	return server->bandwidth[direction] > 0
	           ? NULL
	           : &backend->bandwidth.lists[BAND_SERVER];
}

bool
bandwidth_limits_server(const struct server *server)
{
	const struct backend_spec *b = server->backend->spec;

	return bandwidth_of_server(b, server->spec, BAND_IN) > 0 ||
	       bandwidth_of_server(b, server->spec, BAND_OUT) > 0;
}

static bool
set_server(const struct server *s, bool *limited)
{
	struct bandwidth *b = &s->state->bandwidth;
	const struct backend_spec *of = s->backend->spec;
	bool changed = false;

	for (enum band_direction d = 0; d < BAND_DIRECTIONS; d++) {
		changed |= set_shared(
		    b, d, bandwidth_of_server(of, s->spec, d), limited);
		changed |= set_clients(s->backend->model, &b->clients[d],
		    lists_of_server(of, s->spec, d));
	}
	return changed;
}

bool
bandwidth_follow(const struct model *model, bool *ret_limited)
{
	bool changed = false;

	*ret_limited = false;
	model_for_each_frontend (f, model)
		changed |= set_proxy(model, &f->state->bandwidth,
		    &f->spec->bandwidth, ret_limited);
	model_for_each_backend (b, model)
		changed |= set_proxy(model, &b->state->bandwidth,
		    &b->spec->bandwidth, ret_limited);
	model_for_each_server (s, model)
		changed |= set_server(s, ret_limited);
	return changed;
}

static uint64_t
session_rate(const struct bandwidth *bandwidth, const struct endpoint *client,
    enum band_direction direction)
{
	uint64_t rate = atomic_load_relaxed(&bandwidth->session[direction]);

	return rate > 0 && bandwidth_is_for(
	                       &bandwidth->clients[BAND_SESSION], client)
	           ? rate
	           : 0;
}

uint64_t
bandwidth_of_session(const struct frontend *frontend,
    const struct backend *backend, const struct endpoint *client,
    enum band_direction direction)
{
	uint64_t a =
	    session_rate(&frontend->state->bandwidth, client, direction);
	uint64_t b = backend ? session_rate(&backend->state->bandwidth, client,
	                           direction)
	                     : 0;

	return a == 0 || (b > 0 && b < a) ? b : a;
}
