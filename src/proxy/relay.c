/* SPDX-License-Identifier: MIT
 * See relay.h.
 *
 * The same code runs for both directions: `from` names the side that is read,
 * !from the side that is written.
 */
#include "proxy/relay.h"

#include <errno.h>
#include <sys/socket.h>

#include "lf/pool.h"
#include "net/sock.h"
#include "proxy/pacing.h"
#include "proxy/relay_internal.h"
#include "proxy/session_count.h"
#include "proxy/session_deadline.h"

/* How a direction's part of the turn ended. */
enum flow {
	/* Nothing to read, the other side takes nothing, or the direction waits
	 * for bandwidth. */
	FLOW_DRY,
	FLOW_MORE,      /* the budget is used up */
	FLOW_NO_MEMORY, /* bytes could not be kept: the session must end */
};

static enum close_cause
reset_cause(enum handle_side side)
{
	return side == HANDLE_CLIENT ? CAUSE_CLIENT_GONE : CAUSE_SERVER_RESET;
}

void
relay_drop_pending_of(
    struct session *s, enum handle_side to, struct proxy *proxy)
{
	if (!session_has_pending(s, to))
		return;
	if (s->side[to].piped)
		splice_pool_give(&proxy->pipes, s->pending[to].pipe);
	else
		pending_give(&proxy->pending_pool, s->pending[to].buffer);
	s->pending[to].buffer = NULL;
}

void
relay_drop_pending(struct session *s, struct proxy *proxy)
{
	relay_drop_pending_of(s, HANDLE_CLIENT, proxy);
	relay_drop_pending_of(s, HANDLE_SERVER, proxy);
}

/* Notes that the side is broken, and drops its pending data, except those of a
 * server that has got nothing: they may be written to another server. */
static void
note_broken(struct session *s, enum handle_side which, struct pool_thread *self)
{
	struct side *side = &s->side[which];

	if (s->cause == CAUSE_DONE)
		s->cause = (uint8_t)reset_cause(which);
	if (which == HANDLE_CLIENT || side->wrote)
		relay_drop_pending_of(s, which, proxy_of(self));
}

void
relay_write_failed(
    struct session *s, enum handle_side to, struct pool_thread *self)
{
	struct side *side = &s->side[to];

	side_note(side, EVENT_WRITE_FAILED);
	side->readable = side->read_on = true;
	note_broken(s, to, self);
}

/* Writes as much as the side takes.  Returns the number of bytes, or size if
 * the side is broken: the bytes are lost then.  If our FIN follows in this
 * turn, MSG_MORE lets the kernel hold back the last partial segment and send it
 * with the FIN. */
static size_t
write_some(struct session *s, enum handle_side to, const uint8_t *data,
    size_t size, struct pool_thread *self)
{
	struct side *side = &s->side[to], *from = &s->side[!to];
	bool last = side_at_eof(from) && !side_is_broken(from);
	int flags = MSG_NOSIGNAL | (last ? MSG_MORE : 0);
	size_t done = 0;

	while (done < size && side->writable && !side_is_broken(side)) {
		ssize_t n = send(side->fd, data + done, size - done, flags);

		if (n >= 0) {
			done += (size_t)n;
			side->wrote = true;
			side->active_ms = turn_now_ms(self);
			/* A short write: the socket's buffer is full, and the
			 * kernel reports when there is room. */
			side->writable = done == size;
		} else if (errno == EAGAIN || errno == EINPROGRESS) {
			/* EINPROGRESS: Fast Open, see upstream_send_header. */
			side->writable = false;
		} else if (errno != EINTR) {
			relay_write_failed(s, to, self);
		}
	}
	return side_is_broken(side) ? size : done;
}

/* Writes pending data in TLS records, and replaces the data by the records that
 * the side does not take.  The client has sent these data before this server
 * was connected. */
static void
seal_pending(struct session *s, enum handle_side to, struct pool_thread *self)
{
	const uint8_t *records = proxy_thread_of(self)->records;
	struct pending *pending = s->pending[to].buffer;
	size_t done, n = relay_tls_seal(s, to, pending->data + pending->from,
	                 pending->to - pending->from, self);

	if (n == 0)
		return;
	done = write_some(s, to, records, n, self);
	/* The data stay as they are, for another server, if this one has got
	 * nothing. */
	if (side_is_broken(&s->side[to]))
		return;
	__builtin_memcpy(pending->data, records + done, n - done);
	pending->from = 0;
	pending->to = (uint32_t)(n - done);
	/* Records for this server cannot be sent to another one. */
	s->side[to].sealed = s->side[to].wrote = true;
}

/* Writes the pending bytes.  Returns false as long as some are left. */
static bool
write_buffer(struct session *s, enum handle_side to, struct pool_thread *self)
{
	struct pending *pending = s->pending[to].buffer;
	size_t n;

	if (side_is_broken(&s->side[to]))
		return true;
	if (s->side[to].tls && !s->side[to].sealed)
		seal_pending(s, to, self);
	if (side_is_broken(&s->side[to]))
		return true;
	if (s->side[to].tls && !s->side[to].sealed)
		return false;
	n = write_some(s, to, pending->data + pending->from,
	    pending->to - pending->from, self);
	if (side_is_broken(&s->side[to]))
		return true; /* pending may be another session's by now */
	pending->from += (uint32_t)n;
	if (pending->from < pending->to)
		return false;
	relay_drop_pending_of(s, to, proxy_of(self));
	return true;
}

/* Writes the pending bytes.  Returns false as long as some are left. */
static bool
write_pending(struct session *s, enum handle_side to, struct pool_thread *self)
{
	if (!session_has_pending(s, to))
		return true;
	if (!(s->side[to].piped ? relay_splice_pending(s, to, self)
	                        : write_buffer(s, to, self)))
		return false;
	if (side_is_broken(&s->side[to]))
		return true;
	/* The other side was not read meanwhile, so its silence begins now. */
	s->side[!to].active_ms = turn_now_ms(self);
	/* A deadline that has passed may be that of a line of the access log.
	 * Setting the deadline would skip that line. */
	if (!session_deadline_passed(s, self))
		session_set_deadline(s, self);
	return true;
}

static bool
save_pending(struct session *s, enum handle_side to, const uint8_t *data,
    size_t size, struct pool_thread *self)
{
	struct pending *pending = pending_take(&proxy_of(self)->pending_pool);

	if (!pending) {
		(void)exhaustion_note(&proxy_of(self)->exhaustion, ENOMEM,
		    "a session is ended, as its data cannot be kept");
		return false;
	}
	__builtin_memcpy(pending->data, data, size);
	pending->from = 0;
	pending->to = (uint32_t)size;
	s->pending[to].buffer = pending;
	s->side[to].piped = s->side[to].sealed = false;
	return true;
}

bool
relay_send_records(struct session *s, enum handle_side to, size_t size,
    struct pool_thread *self)
{
	const uint8_t *records = proxy_thread_of(self)->records;
	struct pending *pending = s->pending[to].buffer;
	size_t done = 0;

	if (!pending) {
		done = write_some(s, to, records, size, self);
		if (done == size)
			return true;
		if (!save_pending(s, to, records + done, size - done, self))
			return false;
		s->side[to].sealed = s->side[to].wrote = true;
		return true;
	}
	/* These records go before data that wait for the side to complete a
	 * message. */
	if (!s->side[to].sealed)
		return write_some(s, to, records, size, self) == size;
	if (size > PENDING_SIZE - pending->to)
		return false;
	__builtin_memcpy(pending->data + pending->to, records, size);
	pending->to += (uint32_t)size;
	return true;
}

void
relay_read_ended(struct session *s, enum handle_side from,
    enum side_event event, struct pool_thread *self)
{
	struct side *side = &s->side[from];

	side_note(side, event);
	side->readable = false;
	if (event == EVENT_READ_FAILED)
		note_broken(s, from, self);
}

/* Receives as recv does.  A read from a unix socket also ends behind bytes that
 * came with descriptors, though more bytes may follow.  The descriptors are not
 * passed on; MSG_CTRUNC shows that there were some. */
static ssize_t
receive(struct side *side, uint8_t *data, size_t size)
{
	struct iovec bytes = {.iov_base = data, .iov_len = size};
	struct msghdr msg = {.msg_iov = &bytes, .msg_iovlen = 1};
	ssize_t n;

	if (side->tcp)
		return recv(side->fd, data, size, 0);
	n = recvmsg(side->fd, &msg, 0);
	if (n > 0 && msg.msg_flags & MSG_CTRUNC)
		side->read_on = true;
	return n;
}

/* Reads up to size bytes from a side with TLS. */
static ssize_t
read_tls(struct session *s, enum handle_side from, size_t size,
    struct pool_thread *self)
{
	struct side *side = &s->side[from];
	size_t records;
	ssize_t n = relay_tls_read(s, from, size, self, &records);

	/* After the announcement of our end no record may follow. */
	if (records > 0 && !side->notified &&
	    !relay_send_records(s, from, records, self))
		n = -ECONNRESET;
	if (n > 0) {
		if (from == HANDLE_SERVER && side->received == 0)
			passive_note_answer(&s->server->state->passive);
		session_received(s, from, (uint64_t)n, turn_now_ms(self));
	} else if (n == -EAGAIN) {
		if (!side->readable)
			side->read_on = side->urgent = false;
	} else {
		uint8_t cause = s->cause;

		relay_read_ended(
		    s, from, n == 0 ? EVENT_READ_FIN : EVENT_READ_FAILED, self);
		/* Many peers just close when they were told of our end.  That
		 * is not counted as their error, but the other side gets a
		 * reset, because it may miss data. */
		if (n == -EPIPE)
			s->cause = cause;
	}
	return n;
}

/* Reads up to room bytes.  Returns the number of bytes; 0 or less: none were
 * read.
 *
 * A read of fewer bytes than were asked for has emptied the receive queue, so
 * with edge-triggering it need not be repeated: whatever comes later makes a
 * new event.  Two things make no new event, and set read_on: an end that was
 * announced already, and urgent data, at which a read stops (HANDLE_READ_ON).
 * A read that room has cut short tells nothing about the size of the peer's
 * writes, so it does not count for splicing. */
static ssize_t
read_some(struct session *s, enum handle_side from, size_t room,
    struct pool_thread *self)
{
	struct proxy_thread *t = proxy_thread_of(self);
	struct side *side = &s->side[from];
	size_t size = room < sizeof(t->buffer) ? room : sizeof(t->buffer);
	ssize_t n;

	if (side->tls)
		return read_tls(s, from, size, self);
	do
		n = receive(side, t->buffer, size);
	while (n < 0 && errno == EINTR);
	if (n > 0) {
		bool full = (size_t)n == size;

		if (side->fin_queued && !full)
			side_note(side, EVENT_READ_FIN);
		side->readable = full || side->read_on;
		if (from == HANDLE_SERVER && side->received == 0)
			passive_note_answer(&s->server->state->passive);
		session_received(s, from, (uint64_t)n, turn_now_ms(self));
		if (s->frontend->spec->splice != SPLICE_OFF &&
		    !s->side[!from].tls && !(full && size == room))
			relay_splice_note(side, (size_t)n);
	} else if (n < 0 && errno == EAGAIN) {
		side->readable = false;
		side->read_on = side->urgent = false;
	} else {
		relay_read_ended(
		    s, from, n == 0 ? EVENT_READ_FIN : EVENT_READ_FAILED, self);
	}
	return n;
}

/* Writes what was read from the other side, and keeps as pending data what the
 * side does not take.  Returns false when memory is short. */
static bool
pass_on(struct session *s, enum handle_side to, const uint8_t *data,
    size_t size, struct pool_thread *self)
{
	struct side *side = &s->side[to];
	size_t done = 0;

	if (side->tls) {
		size_t n = relay_tls_seal(s, to, data, size, self);

		if (n > 0 && !relay_send_records(s, to, n, self))
			return false;
		done = n > 0 || side_is_broken(side) ? size : 0;
	} else {
		done = write_some(s, to, data, size, self);
	}
	if (to == HANDLE_SERVER && side_is_broken(side) && !side->wrote)
		done = 0; /* for another server */
	return done == size ||
	       save_pending(s, to, data + done, size - done, self);
}

/* Copies up to room bytes once.  Returns the number of bytes read, or -ENOMEM.
 * 0: the read found nothing, the end, or records without data, after which the
 * side stays readable. */
static ssize_t
copy(struct session *s, enum handle_side from, size_t room,
    struct pool_thread *self)
{
	struct proxy_thread *t = proxy_thread_of(self);
	ssize_t n = read_some(s, from, room, self);

	if (n <= 0)
		return 0;
	return pass_on(s, !from, t->buffer, (size_t)n, self) ? n : -ENOMEM;
}

/* Moves bytes in one direction. */
static enum flow
move(struct session *s, enum handle_side from, struct pool_thread *self)
{
	struct side *in = &s->side[from], *out = &s->side[!from];
	size_t copied = 0, spliced = 0;

	if (!write_pending(s, !from, self))
		return FLOW_DRY;
	while (in->readable && !side_at_eof(in) && !side_is_broken(out) &&
	       !session_has_pending(s, !from)) {
		size_t room = SIZE_MAX;
		ssize_t n;

		if (copied >= RELAY_COPY_BUDGET ||
		    spliced >= RELAY_SPLICE_BUDGET)
			return FLOW_MORE;
		if (s->pacing)
			room = pacing_room(s, from, self);
		if (room == 0)
			return FLOW_DRY;
		/* The side may have begun to splice when an earlier server,
		 * without TLS, was connected. */
		if (in->splicing && !out->tls) {
			size_t piped = relay_splice(s, from, room, self);

			if (s->pacing)
				pacing_read(s, from, piped, self);
			session_count(
			    s, COUNT_FRONTEND, COUNTER_SPLICED, piped, self);
			spliced += piped;
			continue;
		}
		n = copy(s, from, room, self);
		if (n < 0)
			return FLOW_NO_MEMORY;
		if (s->pacing)
			pacing_read(s, from, (size_t)n, self);
		/* Count records without data as a full buffer: they cost no
		 * less. */
		copied += n > 0 ? (size_t)n : RELAY_BUFFER;
	}
	return FLOW_DRY;
}

/* Moves bytes in one direction, within the session's bandwidth. */
static enum flow
flow(struct session *s, enum handle_side from, struct pool_thread *self)
{
	enum flow ended;

	if (!s->pacing)
		return move(s, from, self);
	pacing_resume(s, from, self);
	ended = move(s, from, self);
	if (ended == FLOW_DRY)
		pacing_pause(s, from, self);
	return ended;
}

/* Looks for a reset of a side that lfproxy does not read any more, because the
 * side has sent its FIN or the other side is gone.  No read would report the
 * reset, and no write may occur for a long time. */
static void
look_for_reset(
    struct session *s, enum handle_side which, struct pool_thread *self)
{
	struct side *side = &s->side[which];

	if (!side->error || side_is_broken(side) ||
	    !(side_at_eof(side) || side_is_broken(&s->side[!which])))
		return;
	side->error = false;
	if (sock_take_error(side->fd) != 0)
		relay_write_failed(s, which, self);
}

/* Returns whether the server has reset or closed the connection before a byte
 * went either way. */
static bool
server_ended_unused(const struct session *s)
{
	const struct side *server = &s->side[HANDLE_SERVER];

	return side_has_ended(server) && !server->wrote &&
	       server->received == 0;
}

/* Returns whether the client still needs a server: it is connected, and has not
 * finished sending with nothing left for a server. */
static bool
client_wants_server(const struct session *s)
{
	const struct side *client = &s->side[HANDLE_CLIENT];

	return !(client->end & (END_SHUT | END_BROKEN)) &&
	       s->state != SESSION_FLUSHING &&
	       !relay_finished(s, HANDLE_CLIENT);
}

static void
note_first_end(struct session *s)
{
	if (s->closer != CLOSER_PROXY)
		return;
	if (side_has_ended(&s->side[HANDLE_CLIENT]))
		s->closer |= CLOSER_CLIENT;
	if (side_has_ended(&s->side[HANDLE_SERVER]))
		s->closer |= CLOSER_SERVER;
}

/* Returns whether pending data have not been made into TLS records yet. */
static bool
waits_to_seal(const struct session *s, enum handle_side to)
{
	return session_has_pending(s, to) && s->side[to].tls &&
	       !s->side[to].sealed;
}

/* Returns whether TLS with that side has ended because memory was short, which
 * is reported. */
static bool
tls_lacks_memory(const struct session *s, enum handle_side which,
    const struct pool_thread *self)
{
	const struct tls_conn *tls = s->side[which].tls;

	return tls && tls_conn_lacks_memory(tls) &&
	       exhaustion_note(&proxy_of(self)->exhaustion, ENOMEM,
	           "the TLS connection of a session failed");
}

static uint64_t
uncounted_bytes(const struct session *s)
{
	const struct side *c = &s->side[HANDLE_CLIENT],
	                  *d = &s->side[HANDLE_SERVER];

	return c->received - c->counted + d->received - d->counted;
}

struct verdict
relay_step(struct session *s, struct pool_thread *self)
{
	enum flow up = flow(s, HANDLE_CLIENT, self);
	enum flow down = flow(s, HANDLE_SERVER, self);

	/* Writing to the client may have shown that it is gone; what it had
	 * sent before still goes to the server.  And the server may have
	 * completed a message that data for it had to wait for. */
	if ((relay_any_broken(s) || waits_to_seal(s, HANDLE_SERVER)) &&
	    up == FLOW_DRY)
		up = flow(s, HANDLE_CLIENT, self);
	look_for_reset(s, HANDLE_CLIENT, self);
	look_for_reset(s, HANDLE_SERVER, self);
	note_first_end(s);
	if ((uint32_t)turn_now_ms(self) - s->counted_ms >= 1000 ||
	    uncounted_bytes(s) >= TALKERS_BYTES)
		session_count_bytes(s, self);
	if (up == FLOW_NO_MEMORY || down == FLOW_NO_MEMORY ||
	    tls_lacks_memory(s, HANDLE_CLIENT, self) ||
	    tls_lacks_memory(s, HANDLE_SERVER, self))
		return verdict_close(CAUSE_NO_RESOURCE);
	if (server_ended_unused(s))
		return client_wants_server(s) ? verdict(STEP_REPLACE)
		                              : relay_keep_server(s, self);
	return relay_pass_on_ends(
	    s, up == FLOW_MORE || down == FLOW_MORE, self);
}
