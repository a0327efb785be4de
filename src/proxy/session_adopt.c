/* SPDX-License-Identifier: MIT
 * See session_adopt.h.
 */
#include "proxy/session_adopt.h"

#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "lf/shard.h"
#include "model/limit.h"
#include "model/source_ports.h"
#include "net/sock.h"
#include "proxy/inspection.h"
#include "proxy/pacing.h"
#include "proxy/reaper.h"
#include "proxy/relay.h"
#include "proxy/session.h"

/* The descriptors of an image; -1: none. */
struct image_fds {
	int side[2], pipe[2][2];
};

static struct image_fds
sort_fds(const struct session_image *image, const int *fds)
{
	struct image_fds sorted = {{-1, -1}, {{-1, -1}, {-1, -1}}};

	sorted.side[HANDLE_CLIENT] = *fds++;
	if (image->n[IMAGE_PHASE] >= IMAGE_RELAYS)
		sorted.side[HANDLE_SERVER] = *fds++;
	if (image->n[IMAGE_PIPED_C] > 0) {
		memcpy(sorted.pipe[HANDLE_CLIENT], fds, 2 * sizeof(*fds));
		fds += 2;
	}
	if (image->n[IMAGE_PIPED_S] > 0)
		memcpy(sorted.pipe[HANDLE_SERVER], fds, 2 * sizeof(*fds));
	return sorted;
}

/* Resets both connections, and drops what is in the pipes. */
static void
drop_fds(const struct image_fds *fds)
{
	for (int i = 0; i < 2; i++) {
		if (fds->side[i] >= 0)
			sock_close_reset(fds->side[i]);
		for (int k = 0; k < 2; k++)
			if (fds->pipe[i][k] >= 0)
				close(fds->pipe[i][k]);
	}
}

/* Returns a time from a turn of the predecessor, which may have been ahead of
 * the clock here. */
static uint64_t
past_ms(uint64_t ms, uint64_t now_ms)
{
	return ms < now_ms ? ms : now_ms;
}

static bool
has_flag(const struct session_image *image, uint64_t flag)
{
	return image->n[IMAGE_FLAGS] & flag;
}

/* -- what the session has of its own -- */

static void
adopt_side(struct session *s, enum handle_side which, uint64_t flags,
    uint64_t end, uint64_t active_ms, uint64_t received)
{
	struct side *side = &s->side[which];

	side->tcp = flags & IMAGE_SIDE_TCP;
	side->urgent = flags & IMAGE_SIDE_URGENT;
	side->splicing = flags & IMAGE_SIDE_SPLICING;
	side->wrote = flags & IMAGE_SIDE_WROTE;
	side->end = (uint8_t)end;
	side->active_ms = active_ms;
	/* The predecessor has counted these bytes. */
	side->counted = received;
	atomic_store_relaxed(&side->received, received);
	/* Registering the descriptor reports its present state. */
	side->readable = side->writable = false;
}

static void
adopt_sides(struct session *s, const struct session_image *image,
    const struct image_fds *fds, uint64_t now_ms)
{
	const uint64_t *n = image->n;

	adopt_side(s, HANDLE_CLIENT, n[IMAGE_SIDE_C], n[IMAGE_END_C],
	    past_ms(n[IMAGE_ACTIVE_C], now_ms), n[IMAGE_RECEIVED_C]);
	if (fds->side[HANDLE_SERVER] < 0)
		return;
	atomic_store_relaxed(
	    &s->side[HANDLE_SERVER].fd, fds->side[HANDLE_SERVER]);
	adopt_side(s, HANDLE_SERVER, n[IMAGE_SIDE_S], n[IMAGE_END_S],
	    past_ms(n[IMAGE_ACTIVE_S], now_ms), n[IMAGE_RECEIVED_S]);
	s->connecting_ms = past_ms(n[IMAGE_CONNECTING_MS], now_ms);
	s->connected_ms = past_ms(n[IMAGE_CONNECTED_MS], now_ms);
	atomic_store_relaxed(&s->server_port, (uint16_t)n[IMAGE_SERVER_PORT]);
}

static bool
adopt_pipe(struct session *s, enum handle_side to, struct image_fds *fds,
    uint64_t held, struct proxy *proxy)
{
	struct splice_pipe *pipe = splice_pool_adopt(
	    &proxy->pipes, fds->pipe[to][0], fds->pipe[to][1], (uint32_t)held);

	fds->pipe[to][0] = fds->pipe[to][1] = -1;
	s->pending[to].pipe = pipe;
	s->side[to].piped = true;
	return pipe;
}

static bool
adopt_buffer(struct session *s, enum handle_side to,
    const struct session_image *image, struct proxy *proxy)
{
	struct pending *p = pending_take(&proxy->pending_pool);

	if (!p)
		return false;
	memcpy(p->data, image->pending[to], image->pending_size[to]);
	p->from = 0;
	p->to = image->pending_size[to];
	s->pending[to].buffer = p;
	return true;
}

static bool
adopt_pending(struct session *s, const struct session_image *image,
    struct image_fds *fds, struct proxy *proxy)
{
	static const enum image_number piped[2] = {
	    [HANDLE_CLIENT] = IMAGE_PIPED_C, [HANDLE_SERVER] = IMAGE_PIPED_S};

	for (int to = 0; to < 2; to++) {
		uint64_t held = image->n[piped[to]];

		if (held > 0 &&
		    !adopt_pipe(s, (enum handle_side)to, fds, held, proxy))
			return false;
		if (image->pending_size[to] > 0 &&
		    !adopt_buffer(s, (enum handle_side)to, image, proxy))
			return false;
	}
	return true;
}

static bool
adopt_inspection(
    struct session *s, const struct session_image *image, struct proxy *proxy)
{
	const uint64_t *n = image->n;
	struct inspection *p;

	if (!has_flag(image, IMAGE_INSPECTED))
		return true;
	if (!inspect_begin(
	        s, (unsigned)n[IMAGE_LISTEN], (unsigned)n[IMAGE_STEPS], proxy))
		return false;
	p = s->inspection;
	p->ended = has_flag(image, IMAGE_ENDED);
	p->tls = has_flag(image, IMAGE_INSPECT_TLS);
	p->asked_gss = has_flag(image, IMAGE_ASKED_GSS);
	p->spoke = has_flag(image, IMAGE_FIRST_SPOKE);
	atomic_store_relaxed(&p->asked_tls, has_flag(image, IMAGE_ASKED_TLS));
	p->low_water = (uint16_t)n[IMAGE_LOW_WATER];
	p->header_ms = n[IMAGE_HEADER_MS];
	p->protocols = n[IMAGE_PROTOCOLS];
	if (*image->name)
		inspect_note_name(p, image->name);
	if (n[IMAGE_AUTHORITY] <= p->name_len)
		p->authority_len = (uint8_t)n[IMAGE_AUTHORITY];
	if (image->source.family == 0)
		return true;
	p->source = image->source;
	p->destination = image->destination;
	atomic_store_release(&p->proxied, true); /* [P21] */
	return true;
}

static void
adopt_facts(
    struct session *s, const struct session_image *image, uint64_t now_ms)
{
	const uint64_t *n = image->n;

	atomic_store_relaxed(
	    &s->accepted_ms, past_ms(n[IMAGE_ACCEPTED_MS], now_ms));
	atomic_store_relaxed(&s->accepted_wall_us, n[IMAGE_ACCEPTED_WALL_US]);
	atomic_store_relaxed(&s->number, (uint32_t)n[IMAGE_NUMBER]);
	atomic_store_relaxed(&s->tries, (uint8_t)n[IMAGE_TRIES]);
	s->gate = has_flag(image, IMAGE_DELAYED) ? GATE_DELAY : GATE_ADMIT;
	s->closer = (uint8_t)n[IMAGE_CLOSER];
	s->waiter.position = (uint32_t)n[IMAGE_POSITION];
	if (s->waiter.position > 0)
		s->waiter.since_us = n[IMAGE_ACCEPTED_WALL_US];
	s->redispatched = has_flag(image, IMAGE_REDISPATCHED);
	s->asked = has_flag(image, IMAGE_ASKED);
	s->spoke = has_flag(image, IMAGE_SPOKE);
	s->was_reset = has_flag(image, IMAGE_WAS_RESET);
	if (side_is_broken(&s->side[HANDLE_CLIENT]))
		s->cause = CAUSE_CLIENT_GONE;
	else if (side_is_broken(&s->side[HANDLE_SERVER]))
		s->cause = CAUSE_SERVER_RESET;
}

/* -- what it has of the model -- */

/* Returns whether the client counts in the limits.  A client that a PROXY
 * header has still to name counts once the header has come. */
static bool
is_judged(const struct session *s)
{
	return !s->inspection || !(s->inspection->steps & INSPECT_PROXY);
}

/* Makes the session belong to its model: pins the model, and counts the session
 * in gauges, limits and at its server.  Sums that the predecessor has counted
 * are sent separately. */
static void
enter_model(struct session *s, const struct session_image *image,
    const struct adoption *as)
{
	struct frontend *f = s->frontend;
	uint16_t port = (uint16_t)image->n[IMAGE_SOURCE_PORT];

	model_pin(f->model);
	gauge_up(&f->model->state->sessions);
	if (!as->counted)
		gauge_up(f->sessions);
	if (f->limits && is_judged(s))
		s->limits =
		    limits_rejoin(f->limits, session_client(s), clock_now_ns());
	s->wanted_route = (uint16_t)as->wanted_route;
	atomic_store_relaxed(&s->route, (uint16_t)as->route);
	if (session_backend(s))
		gauge_up(session_backend(s)->sessions);
	if (!as->server)
		return;
	s->lineup = as->held ? backend_lineup(as->server->backend)->number
	                     : backend_hold(as->server);
	server_pin(as->server);
	atomic_store_release(&s->server, as->server); /* [P21] */
	if (port > 0 && as->server->ports &&
	    source_ports_take_this(as->server->ports, port))
		s->source_port = port;
}

static void
adopt_pace(
    struct session *s, const struct session_image *image, struct proxy *proxy)
{
	const uint64_t paid_ns[2] = {
	    [HANDLE_CLIENT] = image->n[IMAGE_PAID_NS_C],
	    [HANDLE_SERVER] = image->n[IMAGE_PAID_NS_S],
	};

	if (s->server && atomic_load_relaxed(&proxy->pacer.limited))
		pacing_adopt(s, paid_ns, proxy);
}

static enum session_state
adopted_state(const struct session_image *image)
{
	if (image->n[IMAGE_HOLD_MS] > 0)
		return SESSION_HELD;
	switch ((enum image_phase)image->n[IMAGE_PHASE]) {
	case IMAGE_WAITS:
		break;
	case IMAGE_INSPECTS:
		return SESSION_INSPECTING;
	case IMAGE_RELAYS:
		return SESSION_RELAYING;
	case IMAGE_CLIENT_EOF:
		return SESSION_CLIENT_EOF;
	case IMAGE_SERVER_EOF:
		return SESSION_SERVER_EOF;
	case IMAGE_FLUSHES:
		return SESSION_FLUSHING;
	}
	return SESSION_ACCEPTED;
}

/* Sets the state, and the time since when the session is in it: the wait in a
 * queue, and a delay, began in the predecessor.  An older process tells only
 * what is left of a delay. */
static void
adopt_state(
    struct session *s, const struct session_image *image, uint64_t now_ms)
{
	uint64_t left_ms = image->n[IMAGE_HOLD_MS];
	uint64_t held_ms = image->n[IMAGE_HELD_MS];
	uint64_t began_ms = image->n[IMAGE_QUEUED_MS];

	if (held_ms < left_ms)
		held_ms = left_ms;
	if (left_ms > 0)
		began_ms = held_ms - left_ms;
	s->hold_ms = (uint32_t)held_ms;
	s->state_ms = now_ms - past_ms(began_ms, now_ms);
	atomic_store_relaxed(&s->state, (uint8_t)adopted_state(image));
}

/* Registers the descriptors.  This thread owns the session, so events of the
 * descriptors wait for the first turn. */
static bool
watch_sides(struct session *s, struct err *err)
{
	for (int i = 0; i < 2; i++) {
		int rc = s->side[i].fd < 0
		             ? 0
		             : session_watch(s, (enum handle_side)i);

		if (rc < 0)
			return err_set(err,
			    "a connection cannot be watched: %s",
			    strerror(-rc));
	}
	return true;
}

/* Gives back what the session has, before it belongs to its model. */
static void
undo_adoption(struct session *s, struct image_fds *fds, struct proxy *proxy)
{
	claim_retire(&s->handler.claim);
	for (int i = 0; i < 2; i++) {
		if (s->side[i].fd >= 0)
			(void)handle_set_remove(
			    s->handler.shard->set, s->side[i].fd);
		atomic_store_relaxed(&s->side[i].fd, -1);
	}
	drop_fds(fds);
	relay_drop_pending(s, proxy);
	inspect_end(s, proxy);
	shard_leave(&s->handler);
	slab_give(&proxy->sessions, s->index);
}

bool
session_adopt(struct proxy *proxy, const struct session_image *image,
    const int *fds, const struct adoption *as, struct err *err)
{
	struct image_fds sorted = sort_fds(image, fds);
	uint64_t now_ms = clock_now_ms();
	struct session *s;
	uint32_t index;

	s = slab_take(&proxy->sessions, &index);
	if (!s) {
		drop_fds(&sorted);
		return err_set(
		    err, "there is room for no more sessions (maxconn)");
	}
	claim_open(&s->handler.claim);
	shard_enter(pool_home_of(as->pool, s->handler.slot), &s->handler);
	session_clear(s, as->frontend, sorted.side[HANDLE_CLIENT],
	    &image->client, now_ms);
	adopt_sides(s, image, &sorted, now_ms);
	adopt_facts(s, image, now_ms);
	if (s->number == 0)
		atomic_store_relaxed(&s->number, proxy_number(proxy, s->index));
	err_oom(err);
	if (!adopt_pending(s, image, &sorted, proxy) ||
	    !adopt_inspection(s, image, proxy) || !watch_sides(s, err)) {
		undo_adoption(s, &sorted, proxy);
		return false;
	}
	enter_model(s, image, as);
	adopt_pace(s, image, proxy);
	adopt_state(s, image, now_ms);
	s->holding = s->state == SESSION_HELD &&
	             held_room_take(proxy, s->frontend, session_client(s));
	s->connecting_ns = image->n[IMAGE_LEFT_NS];
	proxy->adopted++;
	event_handler_note(&s->handler, NOTE_ADOPT);
	proxy_set_deadline(proxy, s->index, now_ms + 1); /* [P13] */
	shard_submit(&s->handler);
	return true;
}
