/* SPDX-License-Identifier: MIT
 * See conn.h.
 */
#include "tools/upgradeload/conn.h"

#include <sys/epoll.h>

#include "tools/upgradeload/kinds.h"
#include "tools/upgradeload/loop.h"

#define HEADER_MS      30000 /* until the rest of a PROXY header follows */
#define AGAIN_MS       50
#define FAILURES_SHOWN 20

static struct conn *unused;

static struct record
make_record(const struct conn *c, bool up, uint64_t number, bool last)
{
	struct record r = {.id = c->id,
	    .kind = (uint8_t)c->kind,
	    .last = last,
	    .up = up,
	    .number = number};

	for (size_t i = 0; i < sizeof(r.fill) / sizeof(r.fill[0]); i++)
		r.fill[i] = tool_mix(((uint64_t)c->id << 32) + number * 8 + i);
	return r;
}

struct conn *
conn_new(int fd)
{
	struct conn *c = unused;

	if (c)
		unused = c->next;
	else
		c = malloc(sizeof(*c));
	if (!c)
		tool_die(TOOL_SYSTEM, "out of memory");
	memset(c, 0, offsetof(struct conn, in));
	c->fd = fd;
	c->reading = true;
	sum.open++;
	return c;
}

static void
explain(const struct conn *c, const char *what)
{
	static unsigned shown;

	if (shown++ >= FAILURES_SHOWN)
		return;
	fprintf(stderr,
	    "upgradeload: %s %s session %u: %s; %llu records sent, %llu "
	    "received\n",
	    opt.server ? "server of" : "client of", kind_names[c->kind], c->id,
	    what, (unsigned long long)c->put_n, (unsigned long long)c->got_n);
}

void
conn_free(struct conn *c)
{
	sum.open--;
	c->next = unused;
	unused = c;
}

static void
conn_close(struct conn *c)
{
	loop_remove(c);
	close(c->fd);
	c->fd = -1;
	c->timer = 0;
	if (opt.server || c->kind != DIRECT) {
		sum.up += opt.server ? c->received : c->sent;
		sum.down += opt.server ? c->sent : c->received;
	}
	if (c->in_queue)
		sum.queue_open--;
	if (!opt.server && c->kind == ONCE)
		sum.once_open--;
	conn_free(c);
}

/* Another session takes the place of one that was cut. */
static void
replace(enum kind kind)
{
	struct conn *c;

	if (opt.server || ending || kind == ONCE)
		return;
	c = conn_new(-1);
	c->kind = kind;
	loop_set_timer(c, AGAIN_MS);
}

void
conn_fail(struct conn *c, uint64_t *count, const char *what)
{
	enum kind kind = c->kind;

	(*count)++;
	sum.failed_kind[kind]++;
	if (!opt.cuts || count == &sum.wrong || count == &sum.refused)
		explain(c, what);
	conn_close(c);
	if (opt.cuts)
		replace(kind);
}

/* The connection has ended early.  One without a record is of a client that was
 * cut before, or the tool's own. */
static void
cut_conn(struct conn *c, const char *what)
{
	if (opt.server && c->got_n == 0 && c->in_n == 0)
		conn_close(c);
	else
		conn_fail(c, &sum.cut, what);
}

static void
set_interest(struct conn *c)
{
	uint32_t events = 0;
	bool more = c->out_sent < c->out_n || c->put_n < c->due ||
	            (c->finish && !c->put_last);

	if (c->halves == 1)
		more = c->finish;

	if (!c->connected || more)
		events |= EPOLLOUT;
	if (!c->got_end && (c->reading || c->burst > 0))
		events |= EPOLLIN;
	if (events != c->interest)
		loop_set_events(c, events);
}

/* -- sending -- */

static void
put_records(struct conn *c)
{
	c->out_n = c->out_sent = 0;
	while (c->out_n < sizeof(c->out) && c->put_n < c->due)
		c->out[c->out_n / sizeof(c->out[0])] =
		    make_record(c, !opt.server, c->put_n++, false),
		                  c->out_n += sizeof(c->out[0]);
	if (c->out_n == sizeof(c->out) || !c->finish || c->put_last)
		return;
	c->out[c->out_n / sizeof(c->out[0])] =
	    make_record(c, !opt.server, c->put_n++, true);
	c->out_n += sizeof(c->out[0]);
	c->due = c->put_n;
	c->put_last = true;
}

/* A PROXY header, whose second half follows when the session is to end.  The
 * proxy does not count it. */
static const char *const header_halves[2] = {
    "PROXY TCP4 192.0.2.1 ", "192.0.2.2 1000 2000\r\n"};

/* Returns false when the session is over.  A few bytes always fit. */
static bool
send_half(struct conn *c)
{
	const char *half = header_halves[c->halves++];
	ssize_t n = (ssize_t)strlen(half);

	if (send(c->fd, half, (size_t)n, MSG_NOSIGNAL) != n) {
		cut_conn(c, strerror(errno));
		return false;
	}
	if (c->halves == 1)
		loop_set_timer(c, HEADER_MS / 4 + load_random(HEADER_MS));
	return true;
}

/* Sends what is due of the header.  Returns false when the session is over. */
static bool
send_header(struct conn *c)
{
	return (c->halves > 0 || send_half(c)) &&
	       (c->halves > 1 || !c->finish || send_half(c));
}

/* Returns false when the session is over. */
static bool
send_some(struct conn *c)
{
	bool with_header = !opt.server && c->kind == INSPECTED;

	if (with_header && !send_header(c))
		return false;
	if (with_header && c->halves == 1)
		return true;
	for (int turn = 0; turn < 8; turn++) {
		ssize_t n;

		if (c->out_sent == c->out_n)
			put_records(c);
		if (c->out_n == 0)
			break;
		n = send(c->fd, (char *)c->out + c->out_sent,
		    c->out_n - c->out_sent, MSG_NOSIGNAL);
		if (n < 0 && errno == EAGAIN)
			return true;
		if (n < 0) {
			cut_conn(c, strerror(errno));
			return false;
		}
		c->sent += (uint64_t)n;
		c->out_sent += (size_t)n;
	}
	if (c->put_last && !c->shut && c->out_sent == c->out_n) {
		shutdown(c->fd, SHUT_WR);
		c->shut = true;
	}
	return true;
}

/* -- receiving -- */

/* Returns false when the session is over. */
static bool
take_record(struct conn *c)
{
	struct record want;
	char text[160];

	c->in_n = 0;
	if (opt.server && c->got_n == 0 && c->in.kind < KINDS) {
		c->id = c->in.id;
		c->kind = c->in.kind;
		sum.by_kind[c->kind]++;
	}
	want = make_record(c, opt.server, c->got_n, c->in.last != 0);
	if (c->got_last || memcmp(&c->in, &want, sizeof(want)) != 0) {
		snprintf(text, sizeof(text),
		    "wrong: %s record %llu of session %u instead of %llu",
		    c->got_last ? "after the last, " : "",
		    (unsigned long long)c->in.number, c->in.id,
		    (unsigned long long)c->got_n);
		conn_fail(c, &sum.wrong, text);
		return false;
	}
	c->got_n++;
	c->got_last = c->in.last;
	if (opt.server)
		kind_serve(c, c->got_last);
	else
		kind_use_answer(c);
	return true;
}

static bool
take_bytes(struct conn *c, const char *from, size_t n)
{
	while (n > 0) {
		size_t room = sizeof(c->in) - c->in_n;
		size_t part = n < room ? n : room;

		memcpy((char *)&c->in + c->in_n, from, part);
		c->in_n += part;
		from += part;
		n -= part;
		if (c->in_n == sizeof(c->in) && !take_record(c))
			return false;
	}
	return true;
}

/* Returns false when the session is over. */
static bool
receive(struct conn *c)
{
	static char buffer[BUFFER];
	size_t room = c->reading ? sizeof(buffer) : c->burst;
	ssize_t n;

	if (c->got_end || room == 0)
		return true;
	n = recv(
	    c->fd, buffer, room < sizeof(buffer) ? room : sizeof(buffer), 0);
	if (n < 0 && errno == EAGAIN)
		return true;
	if (n < 0 || (n == 0 && !c->got_last)) {
		cut_conn(c, n < 0 ? strerror(errno) : "an early end");
		return false;
	}
	if (n == 0) {
		c->got_end = true;
		return true;
	}
	c->received += (uint64_t)n;
	c->burst -= c->burst < (size_t)n ? c->burst : (size_t)n;
	return take_bytes(c, buffer, (size_t)n);
}

void
conn_advance(struct conn *c)
{
	enum kind kind = c->kind;

	if (c->connected && !send_some(c))
		return;
	if (!c->shut || !c->got_end) {
		set_interest(c);
		return;
	}
	sum.ok++;
	conn_close(c);
	if (kind == QUEUED || kind == INSPECTED)
		replace(kind);
}

void
conn_on_events(struct conn *c, uint32_t events)
{
	if (!c->connected && events & (EPOLLOUT | EPOLLERR | EPOLLHUP)) {
		socklen_t size = sizeof(int);
		int error = 0;

		getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &error, &size);
		if (error != 0) {
			conn_fail(c,
			    error == ECONNREFUSED ? &sum.refused : &sum.cut,
			    strerror(error));
			return;
		}
		c->connected = true;
	}
	/* epoll says so again and again. */
	if (events & (EPOLLERR | EPOLLHUP))
		c->reading = true;
	if (events & (EPOLLIN | EPOLLERR | EPOLLHUP) && !receive(c))
		return;
	conn_advance(c);
}

void
conn_set_options(int fd, bool flood)
{
	int one = 1, segment = 1400, size = 32768;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	if (!flood)
		return;
	setsockopt(fd, IPPROTO_TCP, TCP_MAXSEG, &segment, sizeof(segment));
	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
}
