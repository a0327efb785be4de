/* SPDX-License-Identifier: MIT
 * See relay.h.
 *
 * One direction is written once and run for both: `from` names the side that is
 * read, !from the one that is written.
 */
#include "proxy/relay.h"

#include <errno.h>
#include <sys/socket.h>

#include "lf/pool.h"
#include "net/sock.h"

/* How a direction's part of the turn ended. */
enum flow {
	FLOW_DRY,       /* nothing to read, or nobody to take it */
	FLOW_MORE,      /* the budget is used up */
	FLOW_NO_MEMORY, /* bytes could not be kept: the session must end */
};

bool
spill_construct(void *object, uint32_t index, void *arg)
{
	struct spill *spill = object;

	(void)arg;
	spill->index = index;
	return true;
}

static enum close_reason
reset_reason(enum handle_side side)
{
	return side == HANDLE_CLIENT ? CLOSE_CLIENT_RESET : CLOSE_SERVER_RESET;
}

/* The connection of that side is gone.  What it had sent before can still be
 * read; what was to be written to it is lost with it. */
static void
side_broke(struct session *s, enum handle_side which, struct pool_thread *self)
{
	struct side *side = &s->side[which];

	if (s->reason == CLOSE_DONE)
		s->reason = (uint8_t)reset_reason(which);
	side->broken = true;
	side->readable = side->read_on = true;
	if (s->spill[which]) {
		slab_give(&proxy_of(self)->spills, s->spill[which]->index);
		s->spill[which] = NULL;
	}
}

/* Writes what the side takes; the number of bytes, size if it is broken: they
 * are gone in either case. */
static size_t
write_some(struct session *s, enum handle_side to, const uint8_t *data,
    size_t size, struct pool_thread *self)
{
	struct side *side = &s->side[to];
	size_t done = 0;

	while (done < size && side->writable && !side->broken) {
		ssize_t n =
		    send(side->fd, data + done, size - done, MSG_NOSIGNAL);

		if (n >= 0) {
			done += (size_t)n;
			side->active_ms = turn_now_ms(self);
			/* Less than asked for: the buffer is full, and the
			 * kernel will tell when there is room. */
			side->writable = done == size;
		} else if (errno == EAGAIN) {
			side->writable = false;
		} else if (errno != EINTR) {
			/* EPIPE: a reset after its FIN, which was an end. */
			side->reset = errno != EPIPE;
			side_broke(s, to, self);
		}
	}
	return side->broken ? size : done;
}

/* False as long as something is left. */
static bool
write_spill(struct session *s, enum handle_side to, struct pool_thread *self)
{
	struct spill *spill = s->spill[to];

	if (!spill)
		return true;
	spill->from += (uint32_t)write_some(
	    s, to, spill->data + spill->from, spill->to - spill->from, self);
	if (s->side[to].broken)
		return true; /* side_broke gave the spill back */
	if (spill->from < spill->to)
		return false;
	slab_give(&proxy_of(self)->spills, spill->index);
	s->spill[to] = NULL;
	/* Nobody read the other side meanwhile: its silence begins now. */
	s->side[!to].active_ms = turn_now_ms(self);
	session_set_deadline(s, self);
	return true;
}

static bool
keep(struct session *s, enum handle_side to, const uint8_t *data, size_t size,
    struct pool_thread *self)
{
	uint32_t index;
	struct spill *spill = slab_take(&proxy_of(self)->spills, &index);

	if (!spill)
		return false;
	__builtin_memcpy(spill->data, data, size);
	spill->from = 0;
	spill->to = (uint32_t)size;
	s->spill[to] = spill;
	return true;
}

/* The end of what the side sends: its FIN, or the error that took its place. */
static void
read_ended(struct session *s, enum handle_side from, ssize_t n,
    struct pool_thread *self)
{
	struct side *side = &s->side[from];

	side->readable = false;
	side->eof = true;
	if (n == 0)
		return;
	side->reset = true;
	side_broke(s, from, self);
	side->readable = false;
}

/* A read of less than was asked for has emptied the receive queue, so with
 * edge-triggering it need not be tried again: whatever comes later makes a new
 * event.  Only the end makes none if it has been announced already, and urgent
 * data, at which a read stops (HANDLE_READ_ON). */
static ssize_t
read_some(struct session *s, enum handle_side from, struct pool_thread *self)
{
	struct proxy_thread *t = proxy_thread_of(self);
	struct side *side = &s->side[from];
	ssize_t n;

	do
		n = recv(side->fd, t->buffer, sizeof(t->buffer), 0);
	while (n < 0 && errno == EINTR);
	if (n > 0) {
		side->readable =
		    n == (ssize_t)sizeof(t->buffer) || side->read_on;
		side->received += (uint64_t)n;
		side->active_ms = turn_now_ms(self);
	} else if (n < 0 && errno == EAGAIN) {
		side->readable = false;
		side->read_on = false;
	} else {
		read_ended(s, from, n, self);
	}
	return n;
}

static enum flow
flow(struct session *s, enum handle_side from, struct pool_thread *self)
{
	enum handle_side to = !from;
	struct proxy_thread *t = proxy_thread_of(self);
	struct side *in = &s->side[from], *out = &s->side[to];
	size_t moved = 0;

	if (!write_spill(s, to, self))
		return FLOW_DRY;
	while (in->readable && !in->eof && !out->broken) {
		ssize_t n;
		size_t written;

		if (moved >= RELAY_BUDGET / 2)
			return FLOW_MORE;
		n = read_some(s, from, self);
		if (n <= 0)
			break;
		moved += (size_t)n;
		written = write_some(s, to, t->buffer, (size_t)n, self);
		if (written == (size_t)n)
			continue;
		if (!keep(
		        s, to, t->buffer + written, (size_t)n - written, self))
			return FLOW_NO_MEMORY;
		break;
	}
	return FLOW_DRY;
}

/* The end that was read on one side becomes our FIN on the other, once
 * everything before it has been written. */
static void
pass_on_end(struct session *s, enum handle_side from, struct pool_thread *self)
{
	struct side *out = &s->side[!from];

	if (!s->side[from].eof || s->spill[!from] || out->shut || out->broken)
		return;
	(void)shutdown(out->fd, SHUT_WR);
	out->shut = true;
	out->active_ms = turn_now_ms(self);
	session_set_state(s,
	    from == HANDLE_CLIENT ? SESSION_CLIENT_EOF : SESSION_SERVER_EOF,
	    self);
}

/* A client that breaks off after its FIN: nothing is left to be read that would
 * tell, and to write there may be nothing for a long time. */
static void
look_for_reset(struct session *s, struct pool_thread *self)
{
	struct side *client = &s->side[HANDLE_CLIENT];
	int error;

	if (!client->error || !client->eof || client->broken)
		return;
	client->error = false;
	error = sock_take_error(client->fd);
	if (error == 0)
		return;
	client->reset = error != EPIPE;
	side_broke(s, HANDLE_CLIENT, self);
}

static bool
finished(const struct session *s, enum handle_side from)
{
	return s->side[from].eof && !s->spill[!from];
}

/* One side is gone.  The other gets what came before; the kernel must have it
 * acknowledged before a reset, which would throw it away. */
static enum turn
end_broken(struct session *s, struct pool_thread *self)
{
	enum handle_side gone =
	    s->side[HANDLE_CLIENT].broken ? HANDLE_CLIENT : HANDLE_SERVER;
	struct side *left = &s->side[!gone];

	if (left->broken ||
	    (finished(s, gone) && sock_unacknowledged(left->fd) == 0))
		return session_close(s, (enum close_reason)s->reason, self);
	if (s->state != SESSION_FLUSHING)
		left->active_ms = turn_now_ms(self);
	session_set_state(s, SESSION_FLUSHING, self);
	return TURN_DONE;
}

static bool
any_broken(const struct session *s)
{
	return s->side[HANDLE_CLIENT].broken || s->side[HANDLE_SERVER].broken;
}

enum turn
relay_step(struct session *session, struct pool_thread *self)
{
	struct session *s = session;
	enum flow up = flow(s, HANDLE_CLIENT, self);
	enum flow down = flow(s, HANDLE_SERVER, self);
	bool more;

	/* Writing to the client may have shown that it is gone; what it had
	 * sent before still belongs to the server. */
	if (any_broken(s) && up == FLOW_DRY)
		up = flow(s, HANDLE_CLIENT, self);
	look_for_reset(s, self);
	if (turn_now_ms(self) - s->counted_ms >= 1000)
		session_count_bytes(s, self);
	if (up == FLOW_NO_MEMORY || down == FLOW_NO_MEMORY)
		return session_close(s, CLOSE_NO_RESOURCE_DATA, self);
	more = up == FLOW_MORE || down == FLOW_MORE;
	if (any_broken(s))
		return more ? TURN_MORE : end_broken(s, self);
	if (finished(s, HANDLE_CLIENT) && finished(s, HANDLE_SERVER))
		return session_close(s, CLOSE_DONE, self);
	/* An end does not wait for the other direction to pause. */
	pass_on_end(s, HANDLE_CLIENT, self);
	pass_on_end(s, HANDLE_SERVER, self);
	return more ? TURN_MORE : TURN_DONE;
}

/* True when the side is to do something: to send, or to take what is there.  It
 * cannot be blamed for silence after its end was read, nor while it is not read
 * because the other side takes nothing.  Of two sides one is always awaited, or
 * both have finished. */
static bool
awaited(const struct session *s, enum handle_side side)
{
	if (s->spill[side] || s->state == SESSION_FLUSHING)
		return true;
	return !s->side[side].eof && !s->spill[!side];
}

uint64_t
relay_side_deadline(const struct session *session, enum handle_side side)
{
	const struct frontend_spec *f = session->frontend->spec;
	const struct backend_spec *b = session->frontend->backend->spec;
	bool fin =
	    session->side[side].shut || session->state == SESSION_FLUSHING;
	uint64_t limit_ms;

	if (!awaited(session, side))
		return UINT64_MAX;
	if (side == HANDLE_CLIENT)
		limit_ms =
		    fin ? f->timeout_client_fin_ms : f->timeout_client_ms;
	else
		limit_ms =
		    fin ? b->timeout_server_fin_ms : b->timeout_server_ms;
	return session->side[side].active_ms + limit_ms;
}

enum turn
relay_timeout(struct session *session, struct pool_thread *self)
{
	struct session *s = session;
	uint64_t now_ms = turn_now_ms(self);
	uint64_t client = relay_side_deadline(s, HANDLE_CLIENT);
	uint64_t server = relay_side_deadline(s, HANDLE_SERVER);

	if (s->state == SESSION_FLUSHING) {
		enum handle_side left = !s->side[HANDLE_CLIENT].broken
		                            ? HANDLE_CLIENT
		                            : HANDLE_SERVER;

		if (relay_side_deadline(s, left) <= now_ms)
			return session_close(
			    s, (enum close_reason)s->reason, self);
		return relay_step(s, self);
	}
	if (client <= now_ms && client <= server)
		return session_close(s, CLOSE_CLIENT_TIMEOUT, self);
	if (server <= now_ms)
		return session_close(s, CLOSE_SERVER_TIMEOUT, self);
	session_set_deadline(s, self);
	return relay_step(s, self);
}
