/* SPDX-License-Identifier: MIT
 * See session_leave.h.
 */
#include "proxy/session_leave.h"

#include <errno.h>

#include "base/clock.h"
#include "lf/pool.h"
#include "net/handover.h"
#include "proxy/inspection.h"
#include "proxy/pacing.h"
#include "proxy/session_count.h"
#include "proxy/session_image.h"
#include "proxy/successor.h"

/* Returns the phase of the image; 0: the session cannot leave now. */
static enum image_phase
image_phase_of(const struct session *s, const struct pool_thread *self)
{
	uint64_t in_state_ms = turn_now_ms(self) - s->state_ms;

	switch ((enum session_state)s->state) {
	case SESSION_FREE:
	case SESSION_ACCEPTED:
	case SESSION_HANDSHAKE:
	case SESSION_LINGERING:
		break;
	case SESSION_HELD:
		if (gate_refuses(s->gate))
			break;
		/* The inspection may have needed only the PROXY header. */
		return s->inspection && s->inspection->steps != 0
		           ? IMAGE_INSPECTS
		           : IMAGE_WAITS;
	case SESSION_INSPECTING:
		return IMAGE_INSPECTS;
	case SESSION_QUEUED:
		/* A session that was granted a server is about to connect. */
		return queue_granted(session_backend(s), &s->waiter)
		           ? 0
		           : IMAGE_WAITS;
	case SESSION_CONNECTING:
	case SESSION_PAUSING:
		return in_state_ms < LEAVE_CONNECT_MS ? 0 : IMAGE_WAITS;
	case SESSION_RELAYING:
		return IMAGE_RELAYS;
	case SESSION_CLIENT_EOF:
		return IMAGE_CLIENT_EOF;
	case SESSION_SERVER_EOF:
		return IMAGE_SERVER_EOF;
	case SESSION_FLUSHING:
		return IMAGE_FLUSHES;
	}
	return 0;
}

/* -- what the successor calls them -- */

static uint32_t
route_number(const struct successor *to, const struct session *s, unsigned r)
{
	char line[SUCCESSOR_LINE_MAX];

	return successor_find(to, successor_route_line(s->frontend, r, line));
}

/* Puts the numbers by which the successor knows the session's frontend,
 * route and server.  Returns false when it does not know all of them. */
static bool
put_numbers(const struct successor *to, const struct session *s,
    struct session_image *image)
{
	char line[SUCCESSOR_LINE_MAX];
	uint64_t *n = image->n;

	n[IMAGE_FRONTEND] =
	    successor_find(to, successor_frontend_line(s->frontend, line));
	if (n[IMAGE_FRONTEND] == 0)
		return false;
	if (session_backend(s)) {
		n[IMAGE_ROUTE] = route_number(to, s, s->route);
		n[IMAGE_WANTED] = s->wanted_route == s->route
		                      ? n[IMAGE_ROUTE]
		                      : route_number(to, s, s->wanted_route);
		if (n[IMAGE_ROUTE] == 0 || n[IMAGE_WANTED] == 0)
			return false;
	}
	if (n[IMAGE_PHASE] < IMAGE_RELAYS)
		return true;
	n[IMAGE_SERVER] =
	    successor_find(to, successor_server_line(s->server, line));
	return n[IMAGE_SERVER] > 0;
}

/* -- the image -- */

static void
put_flag(struct session_image *image, uint64_t flag, bool set)
{
	image->n[IMAGE_FLAGS] |= set ? flag : 0;
}

static uint64_t
side_flags(const struct side *side)
{
	return (side->tcp ? IMAGE_SIDE_TCP : 0) |
	       (side->urgent ? IMAGE_SIDE_URGENT : 0) |
	       (side->splicing ? IMAGE_SIDE_SPLICING : 0) |
	       (side->wrote ? IMAGE_SIDE_WROTE : 0);
}

static void
put_sides(const struct session *s, struct session_image *image)
{
	const struct side *client = &s->side[HANDLE_CLIENT];
	const struct side *server = &s->side[HANDLE_SERVER];
	uint64_t *n = image->n;

	n[IMAGE_SIDE_C] = side_flags(client);
	n[IMAGE_END_C] = client->end;
	n[IMAGE_ACTIVE_C] = client->active_ms;
	n[IMAGE_RECEIVED_C] = client->received;
	if (n[IMAGE_PHASE] < IMAGE_RELAYS)
		return;
	n[IMAGE_SIDE_S] = side_flags(server);
	n[IMAGE_END_S] = server->end;
	n[IMAGE_ACTIVE_S] = server->active_ms;
	n[IMAGE_RECEIVED_S] = server->received;
	n[IMAGE_CONNECTING_MS] = s->connecting_ms;
	n[IMAGE_CONNECTED_MS] = s->connected_ms;
	n[IMAGE_SOURCE_PORT] = s->source_port;
	n[IMAGE_SERVER_PORT] = s->server_port;
}

static void
put_inspection(const struct session *s, struct session_image *image)
{
	const struct inspection *p = s->inspection;
	uint64_t *n = image->n;

	if (!p)
		return;
	put_flag(image, IMAGE_INSPECTED, true);
	put_flag(image, IMAGE_ENDED, p->ended);
	put_flag(image, IMAGE_INSPECT_TLS, p->tls);
	put_flag(image, IMAGE_ASKED_TLS, p->asked_tls);
	put_flag(image, IMAGE_ASKED_GSS, p->asked_gss);
	put_flag(image, IMAGE_FIRST_SPOKE, p->spoke);
	n[IMAGE_STEPS] = p->steps;
	n[IMAGE_LISTEN] = p->listen;
	n[IMAGE_LOW_WATER] = p->low_water;
	n[IMAGE_AUTHORITY] = p->authority_len;
	n[IMAGE_HEADER_MS] = p->header_ms;
	n[IMAGE_PROTOCOLS] = p->protocols;
	if (p->proxied) {
		image->source = p->source;
		image->destination = p->destination;
	}
	inspect_read_name(p, image->name);
}

/* Returns how long the session is still held, in ms. */
static uint64_t
held_ms(const struct session *s, const struct pool_thread *self)
{
	uint64_t ends_ms = s->state_ms + s->hold_ms;
	uint64_t now_ms = turn_now_ms(self);

	if (s->state != SESSION_HELD)
		return 0;
	return ends_ms > now_ms ? ends_ms - now_ms : 1;
}

static void
put_facts(const struct session *s, struct session_image *image,
    const struct pool_thread *self)
{
	const struct proxy *proxy = proxy_of(self);
	uint64_t *n = image->n;

	n[IMAGE_ACCEPTED_MS] = s->accepted_ms;
	n[IMAGE_ACCEPTED_WALL_US] = s->accepted_wall_us;
	n[IMAGE_NUMBER] = s->number;
	n[IMAGE_PAID_NS_C] = pacing_paid_ns(s, HANDLE_CLIENT, proxy);
	n[IMAGE_PAID_NS_S] = pacing_paid_ns(s, HANDLE_SERVER, proxy);
	n[IMAGE_HOLD_MS] = held_ms(s, self);
	n[IMAGE_HELD_MS] = s->hold_ms;
	n[IMAGE_CLOSER] = s->closer;
	n[IMAGE_TRIES] = s->tries;
	n[IMAGE_POSITION] = s->waiter.position;
	if (s->state == SESSION_QUEUED)
		n[IMAGE_QUEUED_MS] = turn_now_ms(self) - s->state_ms;
	n[IMAGE_LEFT_NS] = clock_now_ns();
	put_flag(image, IMAGE_REDISPATCHED, s->redispatched);
	put_flag(image, IMAGE_ASKED, s->asked);
	put_flag(image, IMAGE_SPOKE, s->spoke);
	put_flag(image, IMAGE_WAS_RESET, s->was_reset);
	put_flag(image, IMAGE_DELAYED, s->gate == GATE_DELAY);
	image->client = s->client;
	put_sides(s, image);
	put_inspection(s, image);
}

/* Puts the pending data of that side, or the descriptors of the pipe that has
 * them. */
static void
put_pending(const struct session *s, enum handle_side to,
    struct session_image *image, int *fds, size_t *fds_n)
{
	const struct splice_pipe *pipe = s->pending[to].pipe;
	const struct pending *buffer = s->pending[to].buffer;

	if (!session_has_pending(s, to))
		return;
	if (!s->side[to].piped) {
		image->pending[to] = buffer->data + buffer->from;
		image->pending_size[to] = buffer->to - buffer->from;
		return;
	}
	image->n[to == HANDLE_CLIENT ? IMAGE_PIPED_C : IMAGE_PIPED_S] =
	    pipe->held;
	fds[(*fds_n)++] = pipe->read_fd;
	fds[(*fds_n)++] = pipe->write_fd;
}

static bool
send_image(
    const struct session *s, struct session_image *image, struct successor *to)
{
	uint8_t fields[IMAGE_FIELDS_MAX];
	struct iovec parts[IMAGE_PARTS_MAX];
	int fds[IMAGE_FDS_MAX];
	size_t fds_n = 0, parts_n;
	int rc;

	fds[fds_n++] = s->side[HANDLE_CLIENT].fd;
	if (image->n[IMAGE_PHASE] >= IMAGE_RELAYS)
		fds[fds_n++] = s->side[HANDLE_SERVER].fd;
	put_pending(s, HANDLE_CLIENT, image, fds, &fds_n);
	put_pending(s, HANDLE_SERVER, image, fds, &fds_n);
	parts_n = session_image_encode(image, fields, parts);
	rc = handover_send_session(to->channel, parts, parts_n, fds, fds_n);
	if (rc == 0)
		(void)atomic_add_relaxed(&to->passed, 1u);
	else
		atomic_store_relaxed(&to->full, 1u);
	return rc == 0;
}

bool
session_leave(struct session *s, struct pool_thread *self)
{
	struct successor *to =
	    atomic_load_acquire(&proxy_of(self)->successor); /* [P41] */
	struct session_image image = {
	    .n[IMAGE_PHASE] = image_phase_of(s, self)};

	if (to)
		(void)atomic_add_relaxed(&to->told, 1u);
	if (!to || image.n[IMAGE_PHASE] == 0 || s->side[HANDLE_CLIENT].tls ||
	    s->side[HANDLE_SERVER].tls || !put_numbers(to, s, &image))
		return false;
	session_count_bytes(s, self);
	put_facts(s, &image, self);
	return send_image(s, &image, to);
}
