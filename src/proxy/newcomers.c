/* SPDX-License-Identifier: MIT
 * See newcomers.h.
 */
#include "proxy/newcomers.h"

#include "net/sock.h"
#include "proxy/session.h"

void
newcomers_enter(struct session *s, uint64_t now_ms)
{
	struct frontend_state *f = s->frontend->state;
	struct newcomer *n = &s->newcomer;

	lock_acquire(&f->newcomers_lock);
	list_remove(&n->node);
	n->since_ms = now_ms;
	n->handshake = s->handshaking;
	list_append(&f->newcomers, &n->node);
	lock_release(&f->newcomers_lock);
}

void
newcomers_leave(struct session *s)
{
	struct frontend_state *f = s->frontend->state;

	lock_acquire(&f->newcomers_lock);
	list_remove(&s->newcomer.node);
	lock_release(&f->newcomers_lock);
}

static bool
is_listed(const struct session *s)
{
	struct frontend_state *f = s->frontend->state;
	bool listed;

	lock_acquire(&f->newcomers_lock);
	listed = !list_empty(&s->newcomer.node);
	lock_release(&f->newcomers_lock);
	return listed;
}

bool
newcomers_is_evicted(const struct session *s)
{
	/* A client that has done its part has begun another wait. */
	if (!session_awaits_client(s) || is_listed(s))
		return false;
	/* The bytes of an inspection stay unread until it is complete. */
	return s->state == SESSION_INSPECTING ||
	       sock_unread(s->side[HANDLE_CLIENT].fd) == 0;
}

/* Returns the newcomer that has waited longest, or NULL.  Caller holds the
 * list's lock. */
static struct newcomer *
find_oldest(const struct frontend_state *f, bool handshakes)
{
	list_for_each (node, &f->newcomers) {
		struct newcomer *n = container_of(node, struct newcomer, node);

		if (!handshakes || n->handshake)
			return n;
	}
	return NULL;
}

static uint64_t
oldest_since_ms(struct frontend_state *f)
{
	const struct newcomer *n;
	uint64_t since_ms;

	lock_acquire(&f->newcomers_lock);
	n = find_oldest(f, false);
	since_ms = n ? n->since_ms : UINT64_MAX;
	lock_release(&f->newcomers_lock);
	return since_ms;
}

/* Returns the frontend whose newcomer has waited longest, or NULL. */
static const struct frontend *
find_frontend(const struct model *model)
{
	const struct frontend *found = NULL;
	uint64_t oldest_ms = UINT64_MAX;

	for (size_t i = 0; model->frontends[i]; i++) {
		uint64_t since_ms = oldest_since_ms(model->frontends[i]->state);

		if (since_ms < oldest_ms) {
			oldest_ms = since_ms;
			found = model->frontends[i];
		}
	}
	return found;
}

enum eviction
newcomers_evict(const struct newcomers *from, uint64_t now_ms)
{
	const struct frontend *f =
	    from->frontend ? from->frontend : find_frontend(from->model);
	struct session *s = NULL;
	uint32_t generation = 0;
	struct newcomer *n;

	if (!f)
		return EVICTION_NONE;
	lock_acquire(&f->state->newcomers_lock);
	n = find_oldest(f->state, from->handshakes);
	if (n && n->since_ms + NEWCOMER_GRACE_MS <= now_ms) {
		/* A session leaves the list before its generation ends. */
		s = container_of(n, struct session, newcomer);
		generation = claim_generation(&s->handler.claim);
		list_remove(&n->node);
	}
	lock_release(&f->state->newcomers_lock);
	if (s)
		(void)shard_note(&s->handler, generation, NOTE_EVICT);
	return s ? EVICTION_BEGUN : n ? EVICTION_LATER : EVICTION_NONE;
}
