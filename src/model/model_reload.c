/* SPDX-License-Identifier: MIT
 * How one model follows the other: see model.h.
 */
#include "base/grace.h"
#include "base/log.h"
#include "model/model.h"
#include "model/removed.h"

/* Settles either the servers that track others, or all other servers. */
static void
settle_servers(struct model *model, bool trackers)
{
	for (size_t i = 0; i < model->spec->backends_n; i++) {
		struct backend *b = model->backends[i];

		for (size_t j = 0; j < b->spec->servers_n; j++)
			if ((b->servers[j]->tracked != NULL) == trackers)
				server_settle(b->servers[j]);
	}
}

void
model_publish(struct model *model, const struct model *before)
{
	model->present = true;
	settle_servers(model, false);
	settle_servers(model, true);
	for (size_t i = 0; i < model->spec->backends_n; i++) {
		struct backend *b = model->backends[i];

		backend_publish(b);
		/* The ejected servers may be all that are left. */
		if (b->state->usable == 0 && backend_rebuild(b) < 0)
			log_error("out of memory: backend %s stays without "
			          "the servers that are ejected",
			    b->spec->name);
		backend_report(b);
	}
	removed_revive(model);
	if (before)
		removed_note(model, before);
}

void
model_retire(struct model *model)
{
	model->present = false;
	model->next_retired = model->state->retired;
	model->state->retired = model;
	model->retired_at = grace_stamp(model->grace);
}

/* A session of an even older model may still choose a server from the lineup
 * of a backend that this was the last to have. */
static bool
lends_lineup(const struct model *m)
{
	for (size_t i = 0; i < m->spec->backends_n; i++) {
		const struct backend_state *s = m->backends[i]->state;

		if (s->owner == m && s->refs > 1)
			return true;
	}
	return false;
}

static void
free_retired(void *arg)
{
	model_free(arg);
}

unsigned
model_reclaim(struct model *present)
{
	struct model **link = &present->state->retired;
	unsigned left = 0;

	grace_poll(present->grace);
	while (*link) {
		struct model *m = *link;

		if (!grace_passed(m->grace, m->retired_at) ||
		    atomic_load_acquire(&m->pins) > 0 || /* [P15] */
		    lends_lineup(m)) {
			link = &m->next_retired;
			left++;
			continue;
		}
		*link = m->next_retired;
		grace_retire(m->grace, free_retired, m);
	}
	return left;
}
