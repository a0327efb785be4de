/* SPDX-License-Identifier: MIT
 * The model: the objects that the configuration describes.
 *
 * A model is made from one spec; a reload makes the next one.  Only the servers
 * of its backends may change (backend_servers.h).  The states hold what has to
 * outlast a reload (counters, health, the lineup): frontends, backends and
 * servers of the new model take over the states of those with the same name.
 *
 *   model_new --> PREPARED --model_publish--> PRESENT --model_retire--> RETIRED
 *                     |                                                    |
 *                     +--model_free                   model_reclaim, freed <+
 *
 * PREPARED   only its maker knows it.
 * PRESENT    new sessions belong to it, and follow its spec as long as they
 *            last.
 * RETIRED    no new session belongs to it; freed after its last session.
 *
 * A session pins its own model, and the model of its server if that is another
 * one, inside the grace section in which it found them.  Therefore a retired
 * model gets no further pins once a grace period has passed.  After the last
 * pin was given back one more grace period passes before the model is freed,
 * because the thread that gave the pin back may still read the model.
 *
 * Models are built and freed on the control thread.
 */
#ifndef MODEL_MODEL_H
#define MODEL_MODEL_H

#include "acl/acl.h"
#include "base/log.h"
#include "model/backend.h"
#include "model/frontend.h"
#include "model/removed.h"
#include "model/spec.h"

struct grace;

/* State that all models of the process share. */
struct model_state {
	struct gauge sessions CACHE_LINE_ALIGNED; /* of all frontends */

	/* Any thread calls this function when a server has a notice for the
	 * control thread (passive.h).  May be NULL.  Set before threads start.
	 */
	void (*notify)(void *arg);
	void *notify_arg;

	/* Control thread only. */
	unsigned refs CACHE_LINE_ALIGNED;
	unsigned next_id; /* the next unused iid */
	struct rate rate;
	uint64_t lineups; /* published so far: the latest one's number */
	uint64_t started_ms;
	uint64_t started_wall_us;
	struct model *retired;
	struct removed_servers removed;
	struct server_state *ending; /* servers whose sessions are to end */
	uint64_t next_step_ms;       /* when to call model_step; 0: never */
	/* A backend has lost its last usable server, or has one again; sessions
	 * are told once grace_passed(switch_stamp) is true. */
	bool switched;
	uint64_t switch_stamp;
};

struct model {
	struct spec *spec; /* owned */
	struct grace *grace;
	struct frontend **frontends; /* NULL ends them */
	struct backend **backends;   /* likewise */
	struct acl_list **lists;     /* likewise; in the order of the spec */
	struct log_message_targets messages; /* closed with the model */
	struct model_state *state;
	struct list changed; /* backends that need a new lineup */
	struct loops *loops; /* of the servers' present addresses */
	struct server *gone; /* its former servers (backend_servers.h) */
	struct model *next_retired;
	bool present;
	uint64_t retired_at;              /* grace_stamp */
	uint32_t pins CACHE_LINE_ALIGNED; /* shared: see above */
};

/* Loops: f is a struct frontend *, b a struct backend *, s a struct server *.
 */
#define model_for_each_frontend(f, model)                                      \
	for (struct frontend **f##_at = (model)->frontends, *f;                \
	     (f = *f##_at) != NULL; f##_at++)
#define model_for_each_backend(b, model)                                       \
	for (struct backend **b##_at = (model)->backends, *b;                  \
	     (b = *b##_at) != NULL; b##_at++)
#define backend_for_each_server(s, backend)                                    \
	for (struct server **s##_at = (backend)->servers, *s;                  \
	     (s = *s##_at) != NULL; s##_at++)

/* `break` does not leave this loop, so a body returns instead. */
#define model_for_each_server(s, model)                                        \
	model_for_each_backend (s##_backend, model)                            \
		backend_for_each_server (s, s##_backend)

/* b is a const struct backend_spec *, s a const struct server_spec *; the same
 * holds for `break`. */
#define spec_for_each_server(b, s, spec)                                       \
	for (const struct backend_spec *b = (spec)->backends;                  \
	     b < (spec)->backends + (spec)->backends_n; b++)                   \
		for (struct server_spec *const *s##_at = b->servers;           \
		     s##_at < b->servers + b->servers_n; s##_at++)             \
			for (const struct server_spec *s = *s##_at; s; s = NULL)

/* Makes a PREPARED model that shares the states that stay with `before`, the
 * PRESENT one; without one (NULL) the model is PRESENT at once.  Takes
 * ownership of the spec, also on failure.  Returns NULL when memory is short.
 */
struct model *model_new(
    struct spec *spec, struct grace *grace, const struct model *before);

/* Makes the model PRESENT: sessions that choose a server from now on find the
 * servers of this model.  Servers that only `before` has are removed
 * (removed.h).  The caller then publishes the frontends, and retires `before`.
 */
void model_publish(struct model *model, const struct model *before);

/* Makes the model RETIRED: model_reclaim frees it when its sessions have ended.
 */
void model_retire(struct model *model);

/* Frees RETIRED models whose sessions have ended, and servers of the present
 * model that have gone and are not used any more.  The control thread calls it
 * now and then.  Returns the number of RETIRED models left. */
unsigned model_reclaim(struct model *present);

/* Makes the lineups of the backends that were marked (server_change.h), and
 * passes each change on to the servers that track the changed one.  Runs on the
 * control thread.  Call it at the end of each change, before its effect may be
 * observed; the control loop calls it as well, before it waits.  Without a
 * marked backend the call costs one comparison. */
void model_update(struct model *model);

/* Ends the switch that model_state.switched notes, once no thread reads the
 * former lineup any more, and adds events for fallbacks that begin or end to
 * serve.  Called until switched is false.  Returns true if it has ended the
 * switch and the model has fallbacks: the caller then tells sessions that wait
 * to look for one. */
bool model_end_switch(struct model *model);

/* Removes from model_state.ending the servers whose sessions have all noted
 * which server they chose, and sets server_state.ended of these servers.
 * Called until the list is empty.  Returns true if it has removed a server: the
 * caller then tells all sessions to look at server_state.ended. */
bool model_end_sessions(struct model *model);

/* Makes the lineups that are due: for the next step of a slow start or a fade,
 * for a table that was put off (balance/hash.c), or because memory was short.
 * Called at model_state.next_step_ms.  Returns when to call it again
 * (clock_now_ms); 0: never. */
uint64_t model_step(struct model *model, uint64_t now_ms);

/* Frees a PREPARED model, or the PRESENT one with all RETIRED ones when no
 * thread runs any more.  NULL is allowed. */
void model_free(struct model *model);

/* Returns the frontend of that name, or NULL. */
struct frontend *model_find_frontend(
    const struct model *model, const char *name);

/* Returns the backend of that name, or NULL. */
struct backend *model_find_backend(const struct model *model, const char *name);

/* Returns the address list of that name, or NULL. */
struct acl_list *model_find_list(const struct model *model, const char *name);

/* Pins the model.  Runs on data threads, inside the grace section in which the
 * model was found. */
static inline void
model_pin(struct model *model)
{
	atomic_add_relaxed(&model->pins, 1u);
}

/* Gives a pin back.  Runs on data threads, in a grace section.  The model may
 * be read until that section ends. */
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

/* Updates the rates, and adds events for what data threads have counted.  Runs
 * on the control thread once a second. */
void model_tick(struct model *model);

/* Adds a sample to each trend.  Runs on the control thread every TREND_STEP_S.
 */
void model_sample(struct model *model);

/* Resets the peaks to the present values and, with all, every counter to 0.
 * Runs on the control thread. */
void model_clear_counters(struct model *model, bool all);

#endif
