/* SPDX-License-Identifier: MIT
 * The model: everything the configuration describes, alive.
 *
 * A model is made from one spec and does not change; a reload makes the next
 * one.  What has to outlast a reload (counters, health, the lineup) is in the
 * states, which the new model's frontends, backends and servers take over from
 * those of the same name.
 *
 *   model_new --> PREPARED --model_publish--> PRESENT --model_retire--> RETIRED
 *                     |                                                    |
 *                     +--model_free                   model_reclaim, freed <+
 *
 * PREPARED   nobody but its maker knows it.
 * PRESENT    sessions are born under it, and so its spec is what they live by
 *            for as long as they last.
 * RETIRED    none is any more; it goes when the last of its sessions has ended.
 *
 * How the end is known: a session pins the model it was born under, and that of
 * its server when that is another, always inside the grace section in which it
 * found them.  So a model that was unpublished, and then a grace period ago,
 * gets no further pins; and after its last pin was given back one more grace
 * period passes until it is freed, for whoever gave it back.
 *
 * Built and freed on the control thread.
 */
#ifndef MODEL_MODEL_H
#define MODEL_MODEL_H

#include "model/backend.h"
#include "model/frontend.h"
#include "model/spec.h"

struct grace;
struct removed_server;

/* What all models of the process share. */
struct model_state {
	struct gauge sessions CACHE_LINE_ALIGNED; /* of all frontends */

	/* Set before threads start.  Any thread: a server has a notice for the
	 * control thread (passive.h); NULL: nobody wants to know. */
	void (*notify)(void *arg);
	void *notify_arg;

	/* Control thread only. */
	unsigned refs CACHE_LINE_ALIGNED;
	unsigned next_id; /* an iid that no proxy has had */
	struct rate rate;
	uint64_t lineups; /* published so far: the latest one's number */
	uint64_t started_ms;
	uint64_t started_wall_us;
	struct model *retired;
	struct removed_server *removed;
	struct server_state *ending; /* their sessions are to end */
	uint64_t next_step_ms; /* when to call model_step, 0: no need to */
};

struct model {
	struct spec *spec; /* owned */
	struct grace *grace;
	struct frontend **frontends;
	struct backend **backends;
	struct model_state *state;
	struct list changed; /* backends that need a new lineup */
	struct model *next_retired;
	bool present;
	uint64_t retired_at;              /* grace_stamp */
	uint32_t pins CACHE_LINE_ALIGNED; /* shared: see above */
};

/* A PREPARED model that takes over what stays from the PRESENT one; without
 * one (NULL) it is PRESENT at once.  Takes the spec over, also on failure; NULL
 * when memory is short. */
struct model *model_new(
    struct spec *spec, struct grace *grace, const struct model *before);

/* Makes it PRESENT: sessions that choose a server from here on find those of
 * this model.  Servers of before that it lacks are removed: their sessions may
 * go on for the backend's timeout_drain.  The caller sees to it that frontends
 * are found as well, and then retires the other. */
void model_publish(struct model *model, const struct model *before);
void model_retire(struct model *model);

/* Now and then: frees RETIRED models whose sessions have ended.  The number of
 * those that are left. */
unsigned model_reclaim(struct model *present);

/* Makes the lineups of the backends that were marked (server_change.h), and has
 * the servers that track a changed one follow.  Runs on the control thread.
 * Call it at the end of each change, before its effect may be observed; the
 * control loop calls it as well, before it waits.  Without a mark it is one
 * comparison. */
void model_update(struct model *model);

/* As long as model_state.ending has servers: takes out those whose sessions all
 * know that they have chosen them.  True when these sessions are to be told to
 * look (server_state.ended). */
bool model_end_sessions(struct model *model);

/* When model_state.next_step_ms has come: makes the lineups that are due, for
 * the next step of a slow start, for what was put off (balance/hash.c), and
 * where memory was short.
 * When to call it again; 0: none is left. */
uint64_t model_step(struct model *model, uint64_t now_ms);

/* A PREPARED model, or the PRESENT one with all RETIRED ones when no thread
 * runs any more.  NULL is fine. */
void model_free(struct model *model);

/* By name; NULL: there is none. */
struct frontend *model_find_frontend(
    const struct model *model, const char *name);
struct backend *model_find_backend(const struct model *model, const char *name);

/* Data threads, inside the grace section in which the model was found. */
static inline void
model_pin(struct model *model)
{
	atomic_add_relaxed(&model->pins, 1u);
}

/* Data threads, in a grace section; until its end the model may be read. */
static inline void
model_unpin(struct model *model)
{
	(void)atomic_sub_acq_rel(&model->pins, 1u); /* [P15] */
}

static inline void
model_notify(const struct model *model)
{
	if (model->state->notify)
		model->state->notify(model->state->notify_arg);
}

/* Control thread, once a second: the rates, and events of what data threads
 * have only counted. */
void model_tick(struct model *model);

/* Control thread, every TREND_STEP_S: a sample for each trend of a state. */
void model_sample(struct model *model);

/* Control thread: peaks become what there is now, and with all every counter
 * begins anew. */
void model_clear_counters(struct model *model, bool all);

#endif
