/* SPDX-License-Identifier: MIT
 * How a model follows the changes of its servers: see model.h.
 */
#include "base/grace.h"
#include "base/log.h"
#include "model/for_each.h"
#include "model/model.h"

static void
follow_changed(struct backend *b)
{
	backend_for_each_server (s, b) {
		if (!s->changed)
			continue;
		s->changed = false;
		for (struct server *t = s->trackers; t; t = t->next_tracker)
			server_follow_tracked(t);
	}
}

/* A tracked server does not track another one, so following ends. */
void
model_update(struct model *model)
{
	while (!list_empty(&model->changed)) {
		struct backend *b =
		    container_of(model->changed.next, struct backend, changed);

		list_remove(&b->changed);
		if (backend_rebuild(b) < 0)
			log_error("out of memory: backend %s keeps choosing "
			          "from its former servers",
			    b->spec->name);
		follow_changed(b);
	}
}

bool
model_end_sessions(struct model *model)
{
	struct server_state **link = &model->state->ending;
	bool ended = false;

	grace_poll(model->grace);
	while (*link) {
		struct server_state *s = *link;

		if (!grace_passed(model->grace, s->end_stamp)) {
			link = &s->next_ending;
			continue;
		}
		*link = s->next_ending;
		atomic_store_relaxed(&s->ended, s->ending);
		s->ending = 0;
		server_state_unref(s);
		ended = true;
	}
	return ended;
}

uint64_t
model_step(struct model *model, uint64_t now_ms)
{
	uint64_t nearest_ms = 0;

	model_for_each_backend (b, model) {
		uint64_t *at_ms = &b->state->next_step_ms;

		if (*at_ms == 0)
			continue;
		if (*at_ms <= now_ms)
			(void)backend_rebuild(b);
		if (*at_ms != 0 && (nearest_ms == 0 || *at_ms < nearest_ms))
			nearest_ms = *at_ms;
	}
	model->state->next_step_ms = nearest_ms;
	return nearest_ms;
}
