/* SPDX-License-Identifier: MIT
 * A backend of many servers, without a configuration or sockets.
 */
#ifndef UNIT_MODEL_RIG_H
#define UNIT_MODEL_RIG_H

#include "balance/balance.h"
#include "model/model.h"
#include "unit.h"

struct rig {
	struct grace *grace;
	struct model *model;
	struct backend_spec *spec;
	struct backend *backend;
};

/* servers_n servers, named s0, s1, ... in this order or, if reversed, the other
 * way round; weights is NULL for 1 each. */
void rig_init(struct rig *rig, const struct balance_ops *balance,
    unsigned servers_n, const unsigned *weights, bool reversed);
/* Does the same; edit changes the spec before the model is made. */
void rig_init_edited(struct rig *rig, const struct balance_ops *balance,
    unsigned servers_n, void (*edit)(struct backend_spec *spec));
void rig_fini(struct rig *rig);

/* Takes a server out, or in again. */
void rig_set_up(struct rig *rig, unsigned server, bool up);

/* backend_choose, for tests that need no lineup's number. */
static inline struct server *
rig_pick(struct backend *backend, const struct choice *choice)
{
	uint64_t lineup;

	return backend_choose(backend, choice, &lineup);
}

/* The number in the server's name. */
unsigned rig_number(const struct server *server);

/* The server for this key and these random bits, its session kept. */
struct server *rig_choose(struct rig *rig, uint64_t key, uint64_t random);

#endif
