/* SPDX-License-Identifier: MIT
 * See model_memory.h.
 */
#include "model/model_memory.h"

#include "model/limit.h"
#include "model/removed.h"
#include "model/rules.h"
#include "model/source_facts.h"

/* Adds an object that has these blocks; the object is the first. */
#define ADD_OBJECT(use, ...)                                                   \
	add_object(use, (const void *const[]){__VA_ARGS__},                    \
	    sizeof((const void *const[]){__VA_ARGS__}) / sizeof(void *))

static void
add_object(struct memory_use *use, const void *const *blocks, size_t n)
{
	use->count++;
	for (size_t i = 0; i < n; i++)
		memory_add_block(use, blocks[i]);
}

static void
add_lineup(struct memory_use *use, const struct lineup *l)
{
	if (l)
		ADD_OBJECT(use, l, l->plan, l->moved);
}

/* Adds what the model has without the states, which models share. */
static void
add_own(struct model_memory *m, const struct model *model)
{
	memory_add_block(&m->backends, model);
	memory_add_block(&m->backends, model->backends);
	memory_add_block(&m->frontends, model->frontends);
	spec_memory(model->spec, &m->spec);
	model_for_each_frontend (f, model) {
		ADD_OBJECT(&m->frontends, f, f->split, f->access, f->logs,
		    f->fallbacks, f->told_routes);
		rules_memory(f->rules, &m->frontends);
	}
	model_for_each_backend (b, model)
		ADD_OBJECT(&m->backends, b, b->servers);
	model_for_each_server (s, model) {
		ADD_OBJECT(&m->servers, s);
		if (s->ports)
			ADD_OBJECT(&m->ports, s->ports);
	}
}

static void
add_server_state(struct memory_use *use, const struct server_state *s)
{
	memory_add_block(use, s);
	memory_add_block(use, s->addr);
}

/* Adds the tables of limits, which former models may share. */
static void
add_tables(struct memory_use *use, const struct limits *limits)
{
	memory_add_block(use, limits);
	for (size_t i = 0; limits && i < limits->n; i++) {
		memory_add_block(use, limits->all[i].name);
		if (!limits->all[i].shared)
			source_table_memory(limits->all[i].table, use);
	}
}

static void
add_states(struct model_memory *m, const struct model *model)
{
	memory_add_block(&m->backends, model->state);
	model_for_each_frontend (f, model) {
		memory_add_block(&m->frontends, f->state);
		ADD_OBJECT(&m->counters, f->counters);
		add_tables(&m->tables, f->limits);
	}
	model_for_each_backend (b, model) {
		memory_add_block(&m->backends, b->state);
		ADD_OBJECT(&m->counters, b->counters);
		add_tables(&m->tables, b->limits);
		add_tables(&m->tables, b->sticky);
		memory_add_block(&m->histograms, b->state->timings);
		m->histograms.count += TIMINGS;
		add_lineup(&m->lineups, b->state->lineup);
		add_lineup(&m->lineups, b->prepared);
	}
	model_for_each_server (s, model) {
		add_server_state(&m->servers, s->state);
		ADD_OBJECT(&m->counters, s->counters);
	}
}

static void
add_retired(struct memory_use *use, const struct model *retired)
{
	struct model_memory m = {.spec = {.count = 0}};

	for (; retired; retired = retired->next_retired) {
		add_own(&m, retired);
		use->count++;
	}
	use->heap += m.spec.heap + m.frontends.heap + m.backends.heap +
	             m.servers.heap + m.ports.heap;
}

static void
add_removed(struct memory_use *use, const struct removed_servers *removed)
{
	memory_add_block(use, removed->all);
	for (size_t i = 0; i < removed->n; i++) {
		const struct removed_server *r = removed->all[i];

		ADD_OBJECT(
		    use, r, r->backend, r->name, r->host, r->state->counters);
		add_server_state(use, r->state);
	}
}

void
model_memory(const struct model *model, struct model_memory *ret_memory)
{
	*ret_memory = (struct model_memory){.spec = {.count = 0}};
	add_own(ret_memory, model);
	add_states(ret_memory, model);
	memory_add_block(&ret_memory->lists, model->lists);
	for (struct acl_list **l = model->lists; *l; l++)
		acl_list_memory(*l, &ret_memory->lists);
	add_retired(&ret_memory->retired, model->state->retired);
	add_removed(&ret_memory->removed, &model->state->removed);
}
