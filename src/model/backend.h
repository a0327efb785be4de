/* SPDX-License-Identifier: MIT
 * A backend: servers of one kind, and the choice among them.
 *
 * The choice works on a lineup: an immutable array made by the control thread
 * whenever a server's state changes, and swapped in.  Data threads read it
 * inside a grace section (base/grace.h) and never lock.
 */
#ifndef MODEL_BACKEND_H
#define MODEL_BACKEND_H

#include "base/err.h"
#include "base/list.h"
#include "base/trend.h"
#include "model/counters.h"
#include "model/lineup.h"
#include "model/queue.h"
#include "model/server.h"
#include "model/spec.h"
#include "model/timings.h"

struct limits;
struct model;

/* The part that a reload keeps, as long as there is a backend of that name.  A
 * session without a server chooses from the present lineup, even if the lineup
 * is of a later model than the session. */
struct backend_state {
	/* Shared. */
	struct lineup *lineup; /* [P4] released by control, acquired by data */
	struct counters *counters;
	struct timings *timings;
	/* leastconn: the turn of the server that was chosen last; relaxed. */
	uint64_t turn CACHE_LINE_ALIGNED;
	struct gauge sessions CACHE_LINE_ALIGNED;
	struct timing_average average[TIMINGS_AVERAGED];
	struct queue queue CACHE_LINE_ALIGNED;
	struct gauge retries CACHE_LINE_ALIGNED; /* under way */
	struct bandwidth bandwidth;

	/* Control thread only. */
	unsigned refs CACHE_LINE_ALIGNED; /* held by models */
	unsigned id;
	const struct model *owner; /* the model of the lineup's servers */
	unsigned usable;           /* servers that are up and wanted */
	unsigned active;           /* usable, without backups */
	bool panic, told_panic;    /* the lineup has unusable servers as well */
	uint64_t next_step_ms;     /* when the next lineup is due, or 0 */
	uint64_t times_down;       /* no server was usable */
	bool down, told_down;      /* the last server went down */
	uint64_t changed_ms;
	uint64_t down_ms;
	struct rate rate;
	struct trend trend;                   /* of sessions that wait */
	uint64_t queue_full, retries_refused; /* reported as events so far */
};

struct backend {
	const struct backend_spec *spec; /* borrowed from the model's spec */
	unsigned id;                     /* HAProxy's iid */
	struct model *model;
	struct server **servers; /* spec->servers_n of them, then NULL */
	struct backend_state *state;
	struct counters *counters; /* the state's */
	struct gauge *sessions;    /* likewise */
	struct limits *limits;     /* a bandwidth per=client; NULL: none */
	struct limits *sticky;     /* sticky.h; NULL: STICKY_OFF */
	/* Control thread only. */
	struct lineup *prepared; /* made, but not published yet */
	struct list changed;     /* in model.changed: a new lineup is due */
};

/* Makes a backend of the model, and its servers.  The backend keeps the state
 * of `before`, which may be NULL, and its servers keep theirs if their name and
 * address are the same.  Returns NULL when memory is short. */
struct backend *backend_new(const struct backend_spec *spec,
    struct model *model, const struct backend *before);

/* NULL is allowed. */
void backend_free(struct backend *backend);

/* Makes and publishes a lineup, and adds the events that follow from it.  Runs
 * on the control thread.  Returns 0, or -ENOMEM: then the former lineup stays
 * until model_step tries again. */
int backend_rebuild(struct backend *backend);

/* Adds the events that follow from the present lineup, if they have not been
 * added yet: no server is left, a panic, sessions that end. */
void backend_report(const struct backend *backend);

/* Makes a lineup: the first step of backend_rebuild, without events.  Returns 0
 * or -ENOMEM. */
int backend_prepare(struct backend *backend) MUST_CHECK;

/* Publishes the prepared lineup: the second step of backend_rebuild, without
 * events.  Cannot fail.  From then on sessions choose among the servers of this
 * backend's model. */
void backend_publish(struct backend *backend);

/* Returns the number of usable servers, ejected ones included if they are about
 * to return because no other server is usable.  Runs on the control thread. */
unsigned backend_usable_n(const struct backend *backend);

/* Returns the server of that name, or NULL.  Runs on the control thread. */
struct server *backend_find_server(
    const struct backend *backend, const char *name);

/* Returns the present lineup.  Data threads, in a grace section; the control
 * thread. */
static inline const struct lineup *
backend_lineup(const struct backend *backend)
{
	return atomic_load_acquire(&backend->state->lineup); /* [P4] */
}

/* Returns whether the lineup has servers, full or not.  Threads as above. */
static inline bool
backend_has_servers(const struct backend *backend)
{
	return backend_lineup(backend)->servers_n > 0;
}

/* Returns whether a server of the backend is usable, full or not; servers that
 * only a panic adds are not usable.  Threads as above. */
static inline bool
backend_has_usable(const struct backend *backend)
{
	const struct lineup *l = backend_lineup(backend);

	return l->active_n + l->backup_n > 0;
}

/* Returns the server for a session, or NULL if no server is usable, all are
 * full, or other sessions wait: then the session calls queue_wait.  The session
 * counts as one of the server's until backend_release.  *ret_lineup is the
 * number of the lineup (server_end_of).  Data threads, in a grace section. */
struct server *backend_choose(struct backend *backend,
    const struct choice *choice, uint64_t *ret_lineup) MUST_CHECK;

/* Returns the place in the present lineup of the server that backend_choose
 * would return, or PLACE_NONE if it would return NULL.  Changes nothing.  Runs
 * on the control thread. */
uint32_t backend_peek(
    const struct backend *backend, const struct choice *choice);

/* Returns whether the backend hashes that property of a session, or sources
 * stick by it. */
bool backend_hashes(const struct backend *backend, enum hash_key key);

/* Returns the key (struct choice) of a client.  local, the address that it has
 * connected to, may be NULL unless the backend hashes HASH_KEY_DESTINATION.
 * name, its TLS server name, is NULL or "" if it gave none, and may be NULL
 * unless the backend hashes HASH_KEY_SNI. */
uint64_t backend_key(const struct backend *backend,
    const struct endpoint *client, const struct endpoint *local,
    const char *name);

/* Returns the key in the backend's table of choices.  key: that of
 * backend_key. */
struct source_key backend_sticky_key(
    const struct backend *backend, const struct endpoint *client, uint64_t key);

/* Returns whether ejecting that many servers of the lineup would leave none,
 * and make a usable backup join.  Runs on data threads, in a grace section. */
bool backend_awaits_backup(const struct backend *backend, unsigned ejected_n);

/* Counts a session that another process has connected to the server as one of
 * the server's sessions, even beyond its maxconn.  Returns the number of the
 * present lineup.  Runs on the control thread, or on data threads in a grace
 * section. */
uint64_t backend_hold(struct server *server);

/* Ends the count of a session that leaves the server, and gives its slot to the
 * first session in the queue.  Any thread, in a grace section. */
void backend_release(struct server *server);

/* Notes that another process goes on with a session of the server.  The session
 * still counts here, so that its slot is not given to a session that waits.
 * Any thread. */
void backend_pass(struct server *server);

/* Returns the number of sessions of the server without those of backend_pass.
 * Any thread. */
uint32_t backend_own_sessions(const struct server *server);

/* Releases the slots of the sessions that were passed to another process.  Runs
 * on the control thread. */
void backend_release_passed(struct server *server);

/* Returns how many retries the budget allows at the present number of sessions.
 * Any thread. */
uint32_t backend_retries_limit(const struct backend *backend);

/* Begins a retry if the budget allows one more: at a time, retry_budget percent
 * of the backend's sessions may be retries, but at least retry_budget_min of
 * them.  Returns true if the retry has begun; the caller then calls
 * backend_end_retry.  Any thread. */
bool backend_begin_retry(struct backend *backend) MUST_CHECK;

/* Ends a retry that backend_begin_retry has begun.  Any thread. */
void backend_end_retry(struct backend *backend);

#endif
