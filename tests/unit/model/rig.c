/* SPDX-License-Identifier: MIT
 * See rig.h.
 */
#include "rig.h"

#include <stdlib.h>

#include "base/grace.h"
#include "servers.h"

static void
init(struct rig *rig, const struct balance_ops *balance, unsigned servers_n,
    const unsigned *weights, bool reversed,
    void (*edit)(struct backend_spec *spec))
{
	struct spec *spec = calloc(1, sizeof(*spec));

	assert_non_null(spec);
	*rig = (struct rig){
	    .grace = grace_new(), .spec = calloc(1, sizeof(*rig->spec))};
	assert_non_null(rig->grace);
	assert_non_null(rig->spec);
	spec->backends = rig->spec;
	spec->backends_n = 1;
	*rig->spec = (struct backend_spec){.name = strdup("app"),
	    .balance = balance,
	    .check = {.kind = CHECK_CONNECT}};
	make_servers(rig->spec, servers_n);
	for (unsigned i = 0; i < servers_n; i++) {
		unsigned number = reversed ? servers_n - 1 - i : i;
		struct server_spec *s = rig->spec->servers[i];

		assert_true(asprintf(&s->name, "s%u", number) > 0);
		s->weight = weights ? weights[number] : 1;
	}
	if (edit)
		edit(rig->spec);
	rig->model = model_new(spec, rig->grace, NULL);
	assert_non_null(rig->model);
	rig->backend = rig->model->backends[0];
}

void
rig_init(struct rig *rig, const struct balance_ops *balance, unsigned servers_n,
    const unsigned *weights, bool reversed)
{
	init(rig, balance, servers_n, weights, reversed, NULL);
}

void
rig_init_edited(struct rig *rig, const struct balance_ops *balance,
    unsigned servers_n, void (*edit)(struct backend_spec *spec))
{
	init(rig, balance, servers_n, NULL, false, edit);
}

void
rig_fini(struct rig *rig)
{
	model_free(rig->model);
	grace_free(rig->grace);
}

unsigned
rig_number(const struct server *server)
{
	return (unsigned)atoi(server->spec->name + 1);
}

void
rig_set_up(struct rig *rig, unsigned server, bool up)
{
	for (size_t i = 0; i < rig->spec->servers_n; i++)
		if (rig_number(rig->backend->servers[i]) == server)
			rig->backend->servers[i]->state->up = up;
	assert_int_equal(backend_rebuild(rig->backend), 0);
}

struct server *
rig_choose(struct rig *rig, uint64_t key, uint64_t random)
{
	struct choice choice = {.key = key, .random = random};

	return rig_pick(rig->backend, &choice);
}
