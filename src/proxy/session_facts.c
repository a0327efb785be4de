/* SPDX-License-Identifier: MIT
 * See session_facts.h.
 */
#include "proxy/session_facts.h"

#include "proxy/inspection.h"
#include "proxy/pacing.h"

/* How often a session is read that changes its generation meanwhile, as a retry
 * does. */
#define LOOKS 16

uint64_t
session_id(uint32_t number, uint64_t accepted_wall_us)
{
	return (accepted_wall_us & UINT32_MAX) << 32 | number;
}

static void
read_waits(const struct proxy *proxy, uint32_t pacing, struct session_facts *f)
{
	const struct pacing *p = pacing_find(proxy, pacing);

	for (int i = 0; i < 2; i++)
		f->waits[i] =
		    p && atomic_load_relaxed(&p->pace[i].state) != PACE_READING;
}

static void
read_owner_fields(
    const struct proxy *proxy, const struct session *s, struct session_facts *f)
{
	const struct inspection *inspection;

	f->state = (enum session_state)atomic_load_acquire(&s->state);
	f->accepted_ms = atomic_load_acquire(&s->accepted_ms);
	f->accepted_wall_us = atomic_load_acquire(&s->accepted_wall_us);
	f->tries = atomic_load_acquire(&s->tries);
	endpoint_get(&s->client, &f->client);
	for (int i = 0; i < 2; i++) {
		f->fd[i] = atomic_load_acquire(&s->side[i].fd);
		f->received[i] = atomic_load_acquire(&s->side[i].received);
	}
	f->server_port = atomic_load_acquire(&s->server_port);
	f->frontend = atomic_load_acquire(&s->frontend);       /* [P21] */
	f->server = atomic_load_acquire(&s->server);           /* [P21] */
	read_waits(proxy, atomic_load_acquire(&s->pacing), f); /* [P21] */
	server_tls_read(s, f->server, &f->server_tls);
	inspection = atomic_load_acquire(&s->inspection); /* [P21] */
	inspect_read_name(inspection, f->sni);
	session_tls_read_shown(inspection, &f->tls);
	f->asked_tls =
	    inspection && atomic_load_relaxed(&inspection->asked_tls);
	inspect_read_client(inspection, &f->client, &f->peer);
}

/* Free slots have no deadline.  The deadline is read after the generation, so
 * the values read belong to that generation or to a later one.  The second read
 * of the generation shows whether it has changed: a thread that stores a later
 * generation's frontend or server has increased the generation before, and
 * stores each with release. */
bool
session_facts_read(
    const struct proxy *proxy, uint32_t index, struct session_facts *ret_facts)
{
	const struct session *s = slab_at(&proxy->sessions, index);
	struct session_facts f;
	uint16_t route;
	uint32_t number;

	for (int i = 0; i < LOOKS; i++) {
		f.generation = claim_generation_acquire(&s->handler.claim);
		f.deadline_ms = atomic_load_acquire(&proxy->deadlines[index]);
		if (f.deadline_ms == 0)
			return false;
		read_owner_fields(proxy, s, &f);
		route = atomic_load_acquire(&s->route);
		number = atomic_load_acquire(&s->number);
		if (claim_generation_acquire(&s->handler.claim) != f.generation)
			continue;
		f.id = session_id(number, f.accepted_wall_us);
		f.index = index;
		f.backend = f.frontend->backends[route];
		*ret_facts = f;
		return true;
	}
	return false;
}

bool
session_facts_again(const struct proxy *proxy, uint32_t index, uint64_t id,
    struct session_facts *ret_facts)
{
	struct session_facts f;

	if (!session_facts_read(proxy, index, &f) || f.id != id)
		return false;
	*ret_facts = f;
	return true;
}

bool
session_facts_find(
    const struct proxy *proxy, uint64_t id, struct session_facts *ret_facts)
{
	uint32_t number = (uint32_t)id, made = slab_made(&proxy->sessions);
	uint32_t index = number - proxy->first_number;

	if (index < made && session_facts_again(proxy, index, id, ret_facts))
		return true;
	for (index = 0; proxy->adopted > 0 && index < made; index++) {
		const struct session *s = slab_at(&proxy->sessions, index);

		if (atomic_load_relaxed(&s->number) == number &&
		    session_facts_again(proxy, index, id, ret_facts))
			return true;
	}
	return false;
}

/* The note is posted for the generation under which the server was read.  A
 * thread that exchanges the server increases the generation, and drops such a
 * note (choose.c). */
bool
session_facts_tell(
    struct proxy *proxy, const struct session_facts *facts, uint32_t note)
{
	struct session *s = slab_at(&proxy->sessions, facts->index);

	return shard_note(&s->handler, facts->generation, note);
}

bool
session_facts_kill(struct proxy *proxy, const struct session_facts *facts)
{
	struct session_facts f = *facts;

	do
		if (session_facts_tell(proxy, &f, NOTE_KILL))
			return true;
	while (session_facts_again(proxy, facts->index, facts->id, &f));
	return false;
}

/* The shard of a free slot may belong to a pool that was freed: read the
 * deadline first.  [P13] */
bool
session_load_read(
    const struct proxy *proxy, uint32_t index, struct session_load *ret_load)
{
	const struct session *s = slab_at(&proxy->sessions, index);
	uint32_t generation;

	if (atomic_load_relaxed(&proxy->deadlines[index]) == 0)
		return false;
	generation = claim_generation_acquire(&s->handler.claim);
	if (atomic_load_acquire(&proxy->deadlines[index]) == 0) /* [P13] */
		return false;
	*ret_load = (struct session_load){
	    .generation = generation,
	    .busy = atomic_load_relaxed(&s->handler.busy),
	    .shard = atomic_load_relaxed(&s->handler.shard),
	    .accepted_ms = atomic_load_relaxed(&s->accepted_ms),
	};
	return true;
}

uint32_t
session_load_busy(const struct proxy *proxy, uint32_t index)
{
	const struct session *s = slab_at(&proxy->sessions, index);

	return atomic_load_relaxed(&s->handler.busy);
}

bool
session_load_shift(struct proxy *proxy, uint32_t index, uint32_t generation)
{
	struct session *s = slab_at(&proxy->sessions, index);

	return shard_note(&s->handler, generation, NOTE_SHIFT);
}

const char *
session_state_name(enum session_state state)
{
	static const char *const names[] = {
#define X(state) [SESSION_##state] = #state,
	    SESSION_STATES_TABLE(X)
#undef X
	};

	return names[state];
}
