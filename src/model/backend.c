/* SPDX-License-Identifier: MIT
 * See backend.h.
 */
#include "model/backend.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/clock.h"
#include "base/events.h"
#include "base/grace.h"
#include "model/backend_servers.h"
#include "model/ejection.h"
#include "model/limit.h"
#include "model/lineup.h"
#include "model/model.h"

/* Notes how many servers are usable.  The backend is down without any. */
static void
note_usable(struct backend *backend, const struct lineup *l)
{
	struct backend_state *b = backend->state;
	unsigned usable = l->active_n + l->backup_n;
	uint64_t now = clock_now_ms();

	if (b->usable > 0 && usable == 0) {
		b->times_down++;
		b->changed_ms = now;
		b->down = true;
	} else if (b->lineup && b->usable == 0 && usable > 0) {
		b->down_ms += now - b->changed_ms;
		b->changed_ms = now;
		b->down = false;
	}
	b->usable = usable;
	b->active = l->active_n;
	b->panic = l->panic;
}

/* Adds an event of the backend, whose name precedes the text. */
#define REPORT(backend, kind, level, text, ...)                                \
	event_add(kind, level, (backend)->spec->name, NULL,                    \
	    "backend %s " text, (backend)->spec->name, ##__VA_ARGS__)

static void
report_usable(const struct backend *backend, const struct lineup *l)
{
	struct backend_state *b = backend->state;

	if (b->told_down == b->down)
		return;
	b->told_down = b->down;
	if (b->down)
		REPORT(backend, EVENT_BACKEND_DOWN, LOG_LEVEL_ERROR,
		    "has no usable server; its sessions %s",
		    l->servers_n > 0 ? "are tried on servers that are down"
		                     : "wait for one until timeout_queue");
	else
		REPORT(backend, EVENT_BACKEND_UP, LOG_LEVEL_INFO,
		    "has a usable server again");
}

static void
report_panic(const struct backend *backend, const struct lineup *l)
{
	struct backend_state *b = backend->state;

	if (b->told_panic == b->panic)
		return;
	b->told_panic = b->panic;
	if (b->panic)
		REPORT(backend, EVENT_BACKEND_PANIC, LOG_LEVEL_ERROR,
		    "is in a panic: fewer than %u %% of its servers are "
		    "usable, so all %u are tried",
		    backend->spec->panic_percent, l->servers_n);
	else
		REPORT(backend, EVENT_BACKEND_CALM, LOG_LEVEL_INFO,
		    "is not in a panic any more: only usable servers are "
		    "chosen");
}

void
backend_report(const struct backend *backend)
{
	const struct lineup *l = atomic_load_relaxed(&backend->state->lineup);

	ejection_report_relented(backend);
	report_usable(backend, l);
	report_panic(backend, l);
	backend_for_each_server (s, backend)
		server_report_ended(s);
}

/* The time until the next attempt when there was no memory for a lineup. */
#define RETRY_MS 1000

/* Schedules the next lineup (model_step); 0: none is due. */
static void
schedule_step(struct backend *backend, uint64_t at_ms)
{
	struct model_state *m = backend->model->state;

	backend->state->next_step_ms = at_ms;
	if (at_ms != 0 && (m->next_step_ms == 0 || at_ms < m->next_step_ms))
		m->next_step_ms = at_ms;
}

/* Tells the plan the present session counts.  A session that came or went while
 * the plan was made may have told the former lineup.  Both sides write first,
 * then read [P16]: the session its count, then which lineup is present; this
 * thread the lineup, then the counts. */
static void
replay_loads(const struct lineup *l)
{
	for (uint32_t i = 0; l->ops->load_changed && i < l->servers_n; i++)
		l->ops->load_changed(l, i);
}

int
backend_prepare(struct backend *backend)
{
	struct lineup *l = lineup_new(backend, clock_now_ms());

	if (!l)
		return -ENOMEM;
	lineup_free(backend->prepared);
	backend->prepared = l;
	return 0;
}

void
backend_publish(struct backend *backend)
{
	struct lineup *l = backend->prepared, *old;
	uint64_t now_ms = clock_now_ms();
	bool was_usable = backend->state->usable > 0;
	bool by_backups = was_usable && backend->state->active == 0;

	backend->prepared = NULL;
	backend->state->owner = backend->model;
	note_usable(backend, l);
	schedule_step(backend, l->next_step_ms);
	lineup_number(
	    l, backend->state->lineup, ++backend->model->state->lineups);
	if (l->ops->begin && l->servers_n > 0)
		l->ops->begin(l, backend->state->lineup);
	old = atomic_swap_seq(&backend->state->lineup, l); /* [P4] */
	if (l->ops->settle && l->servers_n > 0)
		l->ops->settle(l, old);
	replay_loads(l);
	queue_serve(backend->state); /* [P19] */
	queue_lineup_changed(backend->state, l);
	backend_for_each_server (s, backend) {
		s->state->passive.served_time = false;
		server_note_life(s, now_ms);
	}
	if (by_backups && l->active_n > 0)
		backend_note_primaries(backend);
	grace_retire(backend->model->grace, lineup_free, old);
	if (was_usable != (backend->state->usable > 0)) {
		struct model_state *m = backend->model->state;

		m->switched = true;
		m->switch_stamp = grace_stamp(backend->model->grace);
	}
}

int
backend_rebuild(struct backend *backend)
{
	int rc;

	ejection_relent(backend);
	rc = backend_prepare(backend);
	if (rc == 0)
		backend_publish(backend);
	else
		schedule_step(backend, clock_now_ms() + RETRY_MS);
	backend_report(backend);
	return rc;
}

/* Returns whether a session has to queue: no session overtakes those that wait.
 */
static bool
has_to_wait(const struct backend_state *b, const struct lineup *l)
{
	return l->limited && atomic_load_relaxed(&b->queue.waiting.now) > 0;
}

struct server *
backend_choose(
    struct backend *backend, const struct choice *choice, uint64_t *ret_lineup)
{
	const struct backend_state *b = backend->state;
	const struct lineup *l = backend_lineup(backend);

	return has_to_wait(b, l) ? NULL
	                         : lineup_take_slot(l, choice, ret_lineup);
}

bool
backend_awaits_backup(const struct backend *backend, unsigned ejected_n)
{
	const struct lineup *l = backend_lineup(backend);
	bool of_backups = l->servers_n > 0 && l->servers[0]->spec->backup;

	return l->servers_n <= ejected_n &&
	       l->backup_n > (of_backups ? l->servers_n : 0);
}

uint32_t
backend_peek(const struct backend *backend, const struct choice *choice)
{
	const struct backend_state *b = backend->state;
	const struct lineup *l = backend_lineup(backend);

	return has_to_wait(b, l) ? PLACE_NONE : lineup_preview_slot(l, choice);
}

bool
backend_hashes(const struct backend *backend, enum hash_key key)
{
	const struct backend_spec *spec = backend->spec;

	return spec->hash_key == key &&
	       (spec->balance->key == BALANCE_KEY_CONFIGURED ||
	           spec->sticky == STICKY_STAY);
}

/* The key does not depend on the family of the listener: v4-mapped addresses
 * were turned into IPv4. */
uint64_t
backend_key(const struct backend *backend, const struct endpoint *client,
    const struct endpoint *local, const char *name)
{
	if (backend->spec->balance->key == BALANCE_KEY_NONE &&
	    backend->spec->sticky == STICKY_OFF)
		return 0;
	if (backend_hashes(backend, HASH_KEY_SNI) && name && *name)
		return XXH64(name, strlen(name), 0);
	if (backend_hashes(backend, HASH_KEY_DESTINATION))
		return endpoint_hash(local, true);
	return endpoint_hash(
	    client, backend_hashes(backend, HASH_KEY_SOURCE_PORT));
}

struct source_key
backend_sticky_key(
    const struct backend *backend, const struct endpoint *client, uint64_t key)
{
	struct source_key of_hash = {.ip = {0, key}};

	return backend->spec->hash_key == HASH_KEY_SOURCE
	           ? source_key_of(client, 32, 128)
	           : of_hash;
}

uint64_t
backend_hold(struct server *server)
{
	gauge_up(server->sessions);
	lineup_note_load(server);
	return backend_lineup(server->backend)->number;
}

void
backend_release(struct server *server)
{
	struct backend_state *b = server->backend->state;

	gauge_down(server->sessions); /* [P19] */
	lineup_note_load(server);
	queue_serve(b);
}

void
backend_pass(struct server *server)
{
	atomic_add_relaxed(&server->state->passed, 1u);
}

uint32_t
backend_own_sessions(const struct server *server)
{
	uint32_t now = atomic_load_relaxed(&server->sessions->now);
	uint32_t passed = atomic_load_relaxed(&server->state->passed);

	return now > passed ? now - passed : 0;
}

void
backend_release_passed(struct server *server)
{
	uint32_t n = atomic_swap_acq_rel(&server->state->passed, 0u);

	while (n-- > 0)
		backend_release(server);
}

uint32_t
backend_retries_limit(const struct backend *backend)
{
	const struct backend_spec *spec = backend->spec;
	uint64_t sessions = atomic_load_relaxed(&backend->state->sessions.now);
	uint64_t limit = sessions * spec->retry_budget / 100;

	return (uint32_t)(limit > spec->retry_budget_min
	                      ? limit
	                      : spec->retry_budget_min);
}

bool
backend_begin_retry(struct backend *backend)
{
	uint32_t limit = backend_retries_limit(backend);

	/* gauge_up_within takes 0 for no limit. */
	return limit > 0 && gauge_up_within(&backend->state->retries, limit);
}

void
backend_end_retry(struct backend *backend)
{
	gauge_down(&backend->state->retries);
}

static struct backend_state *
backend_state_new(unsigned id)
{
	struct backend_state *s = aligned_alloc(CACHE_LINE, sizeof(*s));

	if (!s)
		return NULL;
	*s = (struct backend_state){
	    .refs = 1,
	    .id = id,
	    .changed_ms = clock_now_ms(),
	    .counters = counters_new(),
	    .timings = timings_new(),
	};
	queue_init(&s->queue);
	if (!s->counters || !s->timings) {
		free(s->counters);
		free(s->timings);
		free(s);
		return NULL;
	}
	return s;
}

static void
backend_state_unref(struct backend_state *state)
{
	if (--state->refs > 0)
		return;
	lineup_free(state->lineup);
	free(state->counters);
	free(state->timings);
	queue_fini(&state->queue);
	free(state);
}

struct server *
backend_find_server(const struct backend *backend, const char *name)
{
	size_t i;

	return name_table_find(SERVER_TABLE(backend->spec), name, &i)
	           ? backend->servers[i]
	           : NULL;
}

/* Returns false when memory is short. */
static bool
make_limits(struct backend *b, const struct backend *before)
{
	if (b->spec->sticky == STICKY_STAY) {
		b->sticky =
		    limits_new_of_sticky(b, before ? before->sticky : NULL);
		if (!b->sticky)
			return false;
	}
	if (!bandwidth_has_sources(&b->spec->bandwidth))
		return true;
	b->limits =
	    limits_new_of_backend(b->spec, before ? before->limits : NULL);
	return b->limits;
}

struct backend *
backend_new(const struct backend_spec *spec, struct model *model,
    const struct backend *before)
{
	struct backend *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	b->spec = spec;
	b->model = model;
	list_init(&b->changed);
	if (before) {
		b->state = before->state;
		b->state->refs++;
	} else {
		b->state = backend_state_new(model->state->next_id++);
	}
	if (!b->state)
		goto fail;
	b->id = b->state->id;
	b->counters = b->state->counters;
	b->sessions = &b->state->sessions;
	if (make_limits(b, before) && backend_make_servers(b, before))
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
	list_remove(&backend->changed);
	if (backend->servers)
		backend_for_each_server (s, backend)
			server_free(s);
	free(backend->servers);
	lineup_free(backend->prepared);
	limits_free(backend->limits);
	limits_free(backend->sticky);
	if (backend->state)
		backend_state_unref(backend->state);
	free(backend);
}
