/* SPDX-License-Identifier: MIT
 * See model_memory.h.
 */
#include "model/model_memory.h"

#include "model/removed.h"

/* The memory of one model, without the states, which models share. */
struct own {
	struct memory_use *spec, *frontends, *backends, *servers, *ports;
};

static void
add_lineup(struct memory_use *use, const struct lineup *l)
{
	if (!l)
		return;
	use->count++;
	memory_add_block(use, l);
	memory_add_block(use, l->servers);
	memory_add_block(use, l->states);
	memory_add_block(use, l->weights);
	memory_add_block(use, l->limits);
	memory_add_block(use, l->places);
	memory_add_block(use, l->since);
	memory_add_block(use, l->plan);
	memory_add_block(use, l->moved);
}

/* -- what a model has of its own -- */

static void
add_own_frontend(const struct own *own, const struct frontend *f)
{
	own->frontends->count++;
	memory_add_block(own->frontends, f);
	memory_add_block(own->frontends, f->split);
	memory_add_block(own->frontends, f->sni);
	memory_add_block(own->frontends, f->logs);
}

static void
add_own_server(const struct own *own, const struct server *s)
{
	own->servers->count++;
	memory_add_block(own->servers, s);
	if (!s->ports)
		return;
	own->ports->count++;
	memory_add_block(own->ports, s->ports);
}

static void
add_own(const struct own *own, const struct model *m)
{
	memory_add_block(own->backends, m);
	memory_add_block(own->backends, m->backends);
	memory_add_block(own->frontends, m->frontends);
	spec_memory(m->spec, own->spec);
	for (size_t i = 0; i < m->spec->frontends_n; i++)
		add_own_frontend(own, m->frontends[i]);
	for (size_t i = 0; i < m->spec->backends_n; i++) {
		const struct backend *b = m->backends[i];

		own->backends->count++;
		memory_add_block(own->backends, b);
		memory_add_block(own->backends, b->servers);
		for (size_t j = 0; j < b->spec->servers_n; j++)
			add_own_server(own, b->servers[j]);
	}
}

/* -- states -- */

static void
add_counters(struct memory_use *use, const struct counters *counters)
{
	use->count++;
	memory_add_block(use, counters);
}

static void
add_backend_state(struct model_memory *m, const struct backend *b)
{
	memory_add_block(&m->backends, b->state);
	add_counters(&m->counters, b->state->counters);
	m->histograms.count += TIMING_CHECK + 1;
	memory_add_block(&m->histograms, b->state->timings);
	add_lineup(&m->lineups, b->state->lineup);
	add_lineup(&m->lineups, b->prepared);
}

static void
add_server_state(struct memory_use *use, struct memory_use *counters,
    const struct server_state *s)
{
	memory_add_block(use, s);
	memory_add_block(use, s->addr);
	add_counters(counters, s->counters);
}

static void
add_states(struct model_memory *m, const struct model *model)
{
	memory_add_block(&m->backends, model->state);
	for (size_t i = 0; i < model->spec->frontends_n; i++) {
		const struct frontend_state *f = model->frontends[i]->state;

		memory_add_block(&m->frontends, f);
		add_counters(&m->counters, f->counters);
	}
	for (size_t i = 0; i < model->spec->backends_n; i++) {
		const struct backend *b = model->backends[i];

		add_backend_state(m, b);
		for (size_t j = 0; j < b->spec->servers_n; j++)
			add_server_state(
			    &m->servers, &m->counters, b->servers[j]->state);
	}
}

/* -- what is left of former models -- */

static void
add_retired(struct memory_use *use, const struct model *retired)
{
	for (; retired; retired = retired->next_retired) {
		const struct own all = {use, use, use, use, use};
		uint64_t count = use->count + 1;

		add_own(&all, retired);
		use->count = count;
	}
}

static void
add_removed(struct memory_use *use, const struct removed_server *r)
{
	for (; r; r = r->next) {
		struct memory_use counters = {.count = 0};

		memory_add_block(use, r);
		memory_add_block(use, r->backend);
		memory_add_block(use, r->name);
		add_server_state(use, &counters, r->state);
		use->heap += counters.heap;
		use->count++;
	}
}

void
model_memory(const struct model *model, struct model_memory *ret_memory)
{
	struct model_memory *m = ret_memory;
	const struct own own = {
	    &m->spec, &m->frontends, &m->backends, &m->servers, &m->ports};

	*m = (struct model_memory){.spec = {.count = 0}};
	add_own(&own, model);
	add_states(m, model);
	add_retired(&m->retired, model->state->retired);
	add_removed(&m->removed, model->state->removed);
}
