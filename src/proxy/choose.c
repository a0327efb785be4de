/* SPDX-License-Identifier: MIT
 * See choose.h.
 */
#include "proxy/choose.h"

#include <stddef.h>
#include <unistd.h>

#include "base/list.h"
#include "lf/pool.h"
#include "net/sock.h"
#include "proxy/attempt.h"
#include "proxy/inspection.h"
#include "proxy/pacing.h"
#include "proxy/session_count.h"
#include "proxy/tls_side.h"
#include "proxy/upstream.h"

#define NOTES                                                                  \
	(NOTE_TIMEOUT | NOTE_KILL | NOTE_MOVE | NOTE_RESUME | NOTE_EXPIRE |    \
	    NOTE_PACE)

/* A chosen server, NULL if there is none, and the number of its lineup. */
struct chosen {
	struct server *server;
	uint64_t lineup;
};

static uint64_t
balance_key(const struct session *s)
{
	const struct backend *b = session_backend(s);
	struct endpoint local = {0};
	const char *name =
	    backend_hashes(b, HASH_KEY_SNI) ? inspect_name(s) : NULL;

	if (backend_hashes(b, HASH_KEY_DESTINATION))
		session_destination(s, &local);
	return backend_key(b, session_client(s), &local, name);
}

static struct source_key
sticky_key(const struct session *s, uint64_t key)
{
	return backend_sticky_key(session_backend(s), session_client(s), key);
}

/* Chooses a server by the backend's algorithm, and takes a slot at it.  The
 * first tried_n of the servers tried so far are passed over while there is
 * another. */
static struct chosen
choose_server(
    const struct session *s, unsigned tried_n, struct pool_thread *self)
{
	struct choice choice = {.tried = s->tried,
	    .tried_n = tried_n,
	    .key = balance_key(s),
	    .random = pool_random(self)};
	struct chosen chosen = {.server = NULL};

	choice.sticky = sticky_key(s, choice.key);
	chosen.server =
	    backend_choose(session_backend(s), &choice, &chosen.lineup);
	return chosen;
}

static bool
was_tried(const struct session *s, const struct server *server)
{
	struct choice tried = {.tried = s->tried, .tried_n = s->tried_n};

	return choice_tried(&tried, server);
}

/* Counts a retry or a redispatch as HAProxy does: a retry for the server that
 * is tried again, a redispatch for the server that is left.  from: the server
 * that is left, or NULL if unknown. */
static void
count_retry(struct session *s, const struct server *next,
    const struct server *from, struct pool_thread *self)
{
	bool again = was_tried(s, next);
	enum counter which = again ? COUNTER_RETRIES : COUNTER_REDISPATCHES;

	if (!again)
		s->redispatched = true;
	session_count_at(s, COUNT_BACKEND | COUNT_SERVER, again ? next : from,
	    which, 1, self);
}

/* Counts the attempt at s->server. */
static struct verdict
connect_chosen(struct session *s, struct pool_thread *self)
{
	const unsigned scopes = COUNT_BACKEND | COUNT_SERVER;
	struct server *server = s->server;

	s->waits = 0;
	s->was_reset = false;
	session_count(s, COUNT_SERVER, COUNTER_SESSIONS, 1, self);
	session_count(s, scopes, COUNTER_SELECTED, 1, self);
	session_count(s, scopes, COUNTER_CONNECTS, 1, self);
	atomic_bump_own(&s->tries, 1);
	if (!was_tried(s, server) && s->tried_n < SESSION_TRIES_MAX)
		s->tried[s->tried_n++] = server->serial;
	return verdict(STEP_CONNECT);
}

/* Begins a retry, which the backend counts until session_end_retry.  Returns
 * false when the retry budget is used up. */
static bool
begin_retry(struct session *s, struct pool_thread *self)
{
	s->retrying = backend_begin_retry(session_backend(s));
	if (!s->retrying)
		session_count(
		    s, COUNT_BACKEND, COUNTER_RETRIES_REFUSED, 1, self);
	return s->retrying;
}

/* Goes over to the backend that is usable now, the wanted one or a fallback, if
 * that is another one.  Returns whether it has.  The session has no server and
 * is in no queue. */
static bool
switch_to_usable_route(struct session *s, struct pool_thread *self)
{
	unsigned route = frontend_usable_route(s->frontend, s->wanted_route);

	if (route == s->route)
		return false;
	session_change_backend(s, route, self);
	return true;
}

/* Goes over to the next fallback that has a usable server, because the servers
 * of this backend have failed this session.  Returns whether there is such a
 * fallback. */
static bool
escape_to_fallback(struct session *s, struct pool_thread *self)
{
	unsigned route = frontend_next_route(s->frontend, s->route);

	if (route == s->route)
		return false;
	session_change_backend(s, route, self);
	return true;
}

/* Connects to next, where the session has a slot, if the retry budget allows.
 * from: the server before; NULL if there was none or it is unknown. */
static struct verdict
try_server(struct session *s, struct chosen next, const struct server *from,
    struct pool_thread *self)
{
	session_use_server(s, next.server, next.lineup);
	if (s->tries > 0) {
		if (!begin_retry(s, self)) {
			session_leave_server(s);
			if (escape_to_fallback(s, self))
				return verdict_choose(CAUSE_RETRY_BUDGET);
			return attempt_give_up(s, CAUSE_RETRY_BUDGET, self);
		}
		count_retry(s, next.server, from, self);
	}
	return connect_chosen(s, self);
}

/* Connects to s->server, which the queue has granted.  The retry budget does
 * not apply, whatever was tried before the wait: when a server comes back, all
 * sessions that wait for it are let in at once, and the budget would refuse
 * most of them.  maxconn already bounds the load on the server. */
static struct verdict
try_granted(struct session *s, struct pool_thread *self)
{
	/* The note to leave the server may have been posted before the grant.
	 */
	if (server_end_of(s->server->state, s->lineup) != SERVER_END_NONE)
		return verdict_choose(CAUSE_SERVER_DOWN);
	if (s->tries > 0)
		count_retry(s, s->server, NULL, self);
	return connect_chosen(s, self);
}

/* Returns whether the client has gone: it has reset its connection, or has
 * finished sending and left nothing to send.  A client that has sent something
 * may be half-closed. */
static bool
client_gone(const struct session *s)
{
	const struct side *side = &s->side[HANDLE_CLIENT];

	/* Bytes from the client that no server has got: read before a server
	 * reset the connection, or by the inspection. */
	if (session_has_pending(s, HANDLE_SERVER))
		return false;
	return session_client_reset(s) ||
	       (side->read_on && sock_at_end(side->fd));
}

static void
waiter_choice(const struct waiter *waiter, struct choice *choice)
{
	const struct session *s =
	    (const void *)((const char *)waiter -
	                   offsetof(struct session, waiter));

	*choice = (struct choice){.tried = s->tried,
	    .tried_n = s->tried_n,
	    .key = waiter->key,
	    .sticky = sticky_key(s, waiter->key)};
}

static void
waiter_wake(struct waiter *waiter, uint32_t generation)
{
	struct session *s = container_of(waiter, struct session, waiter);

	(void)shard_note(&s->handler, generation, NOTE_RESUME);
}

static const struct waiter_ops waiter_ops = {
    .choice = waiter_choice, .wake = waiter_wake};

/* Queues the session because all servers are full or none is usable.  cause:
 * why the session closes if it may not wait. */
static struct verdict
wait_for_server(
    struct session *s, enum close_cause cause, struct pool_thread *self)
{
	s->waiter.key = balance_key(s);
	s->waiter.generation = claim_generation(&s->handler.claim);
	s->queued = true;
	switch (queue_wait(session_backend(s), &s->waiter, &waiter_ops)) {
	case WAIT_QUEUED:
		session_set_state(s, SESSION_QUEUED, self);
		return verdict_wait(client_gone(s));
	case WAIT_FULL:
		cause = CAUSE_QUEUE_FULL;
		session_count(s, COUNT_BACKEND, COUNTER_QUEUE_FULL, 1, self);
		break;
	case WAIT_NO_SERVER:
		break;
	}
	s->queued = false;
	return attempt_give_up(s, cause, self);
}

/* Pauses until the lineup changes.  Returns false when a server has joined the
 * lineup since the choice from the lineup with this number. */
static bool
begin_pause(struct session *s, uint64_t lineup)
{
	s->lineup = lineup;
	s->waiter.generation = claim_generation(&s->handler.claim);
	s->pausing =
	    queue_pause(session_backend(s), &s->waiter, &waiter_ops, lineup);
	return s->pausing;
}

/* Connects to a server that was not tried so far, waits for one, or pauses if
 * all were tried.  from: as for try_server.  cause: why the session closes if
 * it may not wait. */
static struct verdict
try_another(struct session *s, const struct server *from,
    enum close_cause cause, struct pool_thread *self)
{
	struct chosen next;

	for (;;) {
		next = choose_server(s, s->tried_n, self);
		if (!next.server && switch_to_usable_route(s, self))
			continue;
		if (!next.server)
			return wait_for_server(s, cause, self);
		if (!was_tried(s, next.server))
			return try_server(s, next, from, self);
		backend_release(next.server);
		if (begin_pause(s, next.lineup))
			break;
	}
	/* A pause that goes on keeps its deadline. */
	if (s->state != SESSION_PAUSING)
		session_set_state(s, SESSION_PAUSING, self);
	return verdict(STEP_WAIT);
}

/* Closes the server's descriptor and leaves the server.  The session gets a new
 * generation, and the client is registered again under it, because events of
 * the old descriptor that are still under way must not be taken for events of
 * the next server.  Returns 0 or -errno. */
static int
disconnect_server(struct session *s, struct pool_thread *self)
{
	struct side *side = &s->side[HANDLE_SERVER];
	int rc = 0;

	pacing_leave_server(s, self);
	if (side->fd >= 0) {
		claim_renew(&s->handler.claim, NOTES);
		tls_side_free(side);
		close(side->fd);
		upstream_closed(s);
		side_reset(side, -1, side->active_ms);
		/* The end that was noted was not the next server's. */
		s->closer &= CLOSER_CLIENT;
		rc = handle_set_reactivate(s->handler.shard->set,
		    s->side[HANDLE_CLIENT].fd,
		    event_handler_handle(&s->handler, HANDLE_CLIENT),
		    HANDLE_READABLE | HANDLE_WRITABLE | HANDLE_READ_CLOSED);
	}
	session_leave_server(s);
	return rc;
}

/* Closes the session, whose client could not be registered again. */
static struct verdict
client_lost(struct session *s, int error, struct pool_thread *self)
{
	(void)exhaustion_note(&proxy_of(self)->exhaustion, error,
	    "a session that was to be retried is ended");
	return attempt_give_up(s, CAUSE_NO_RESOURCE, self);
}

struct verdict
choose_step(struct session *s, enum close_cause cause, struct pool_thread *self)
{
	const struct server *from = s->server;
	int rc;

	if (from) {
		bool is_over = s->tries > session_backend(s)->spec->retries;

		session_end_retry(s);
		if (is_over &&
		    frontend_next_route(s->frontend, s->route) == s->route)
			return attempt_give_up(s, cause, self);
		rc = disconnect_server(s, self);
		if (rc < 0)
			return client_lost(s, -rc, self);
		if (is_over && escape_to_fallback(s, self))
			from = NULL;
	}
	return try_another(s, from, cause, self);
}

struct verdict
choose_queued(struct session *s, struct pool_thread *self)
{
	if (queue_granted(session_backend(s), &s->waiter)) {
		(void)session_leave_queue(s);
		return try_granted(s, self);
	}
	return verdict_wait(client_gone(s));
}

struct verdict
choose_elsewhere(struct session *s, struct pool_thread *self)
{
	bool waits = s->state == SESSION_QUEUED ||
	             (s->state == SESSION_PAUSING && !s->server);

	if (!waits ||
	    frontend_usable_route(s->frontend, s->wanted_route) == s->route)
		return verdict(STEP_WAIT);
	session_end_pause(s);
	if (session_leave_queue(s))
		return try_granted(s, self);
	(void)switch_to_usable_route(s, self);
	return try_another(s, NULL, CAUSE_NO_SERVER, self);
}

struct verdict
choose_queue_timeout(struct session *s, struct pool_thread *self)
{
	return session_leave_queue(s)
	           ? try_granted(s, self)
	           : attempt_give_up(s, CAUSE_SERVER_TIMEOUT, self);
}

struct verdict
choose_pausing(struct session *s, struct pool_thread *self)
{
	struct backend *b = session_backend(s);

	if (s->pausing && queue_is_called(b, &s->waiter)) {
		session_end_pause(s);
		s->tried_n = (uint8_t)lineup_forgive(backend_lineup(b),
		    s->lineup, s->tried, s->tried_n, s->ejected_n);
		return try_another(s, NULL, CAUSE_CONNECT_FAILED, self);
	}
	return verdict_wait(session_client_reset(s));
}

/* Chooses again after all servers were tried.  A server that was tried before
 * is taken now, unless it has reset an established connection, or was ejected
 * because of this session while another server is available. */
struct verdict
choose_pause_over(struct session *s, struct pool_thread *self)
{
	struct chosen next;

	session_end_pause(s);
	next = choose_server(s, s->tried_n, self);
	if (next.server && s->was_reset && was_tried(s, next.server)) {
		backend_release(next.server);
		return attempt_end(s, CAUSE_SERVER_RESET);
	}
	if (next.server && s->ejected_n > 0 && was_tried(s, next.server)) {
		backend_release(next.server);
		next = choose_server(s, s->ejected_n, self);
	}
	if (!next.server && switch_to_usable_route(s, self))
		return try_another(s, NULL, CAUSE_CONNECT_FAILED, self);
	if (!next.server)
		return wait_for_server(s, CAUSE_CONNECT_FAILED, self);
	return try_server(s, next, NULL, self);
}

/* Returns whether an established connection may be tried again elsewhere. */
static bool
may_replace(const struct session *s, bool reset)
{
	const struct backend_spec *spec = session_backend(s)->spec;

	return spec->retry_on >= (reset ? RETRY_ON_RESET : RETRY_ON_CLOSE) &&
	       s->tries <= spec->retries;
}

/* Leaves a server to which the session was connected.  Returns 0 or -errno. */
static int
leave_established(struct session *s, struct pool_thread *self)
{
	s->cause = CAUSE_DONE;
	s->connected_ms = 0;
	return disconnect_server(s, self);
}

/* Replaces s->server by next, where the session has a slot.  The retry has
 * begun. */
static struct verdict
replace_server(struct session *s, struct chosen next, struct pool_thread *self)
{
	const struct server *from = s->server;
	int rc = leave_established(s, self);
	struct verdict v;

	session_use_server(s, next.server, next.lineup);
	count_retry(s, next.server, from, self);
	v = connect_chosen(s, self);
	return rc < 0 ? client_lost(s, -rc, self) : v;
}

/* Leaves the server, and pauses until the control thread has published a backup
 * for it: the server is ejected because of its reset. */
static struct verdict
wait_for_backup(struct session *s, struct pool_thread *self)
{
	const struct server *from = s->server;
	int rc = leave_established(s, self);

	if (rc < 0)
		return client_lost(s, -rc, self);
	return try_another(s, from, CAUSE_SERVER_RESET, self);
}

struct verdict
choose_replacement(struct session *s, struct pool_thread *self)
{
	bool reset = side_is_broken(&s->side[HANDLE_SERVER]), tried;
	struct chosen next;

	if (!may_replace(s, reset))
		return verdict(STEP_KEEP);
	if (reset && !s->was_reset) {
		/* Noted so that the end of the session does not count the reset
		 * again. */
		s->was_reset = true;
		if (server_note_failure(s->server, FAILURE_RESET, 0))
			attempt_note_ejected(s);
	}
	next = choose_server(s, s->tried_n, self);
	if (!next.server)
		return verdict(STEP_KEEP);
	tried = was_tried(s, next.server);
	if (!tried && begin_retry(s, self))
		return replace_server(s, next, self);
	backend_release(next.server);
	if (!tried || !backend_awaits_backup(session_backend(s), s->ejected_n))
		return verdict(STEP_KEEP);
	return wait_for_backup(s, self);
}
