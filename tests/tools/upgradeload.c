/* SPDX-License-Identifier: MIT
 * Many sessions of all kinds, through an lfproxy whose process changes.
 *
 * Each direction of a session is a sequence of records with a number and bytes
 * that follow from it; the last one says so, and the end of that half comes
 * behind it.  Bytes that are lost, doubled, changed or swapped, and a half that
 * ends early, are found at the first wrong record, by client and server alike.
 *
 *   client                           server
 *   record 0: the kind of session ->
 *                                <-  what the kind asks for
 *   record N, the last; FIN      ->
 *                                <-  the last; FIN
 */
#include <getopt.h>
#include <math.h>
#include <sys/epoll.h>

#include "pace.h"
#include "tool.h"

#define BATCH          256
#define RECORDS_OUT    16
#define BUFFER         16384
#define FIRST_RECORDS  10 /* of a half that ends first */
#define TICK_MS        200
#define BURST_MS       300
#define HOLD_MS        1000  /* a session that was queued is at its server */
#define HEADER_MS      30000 /* until the rest of a PROXY header follows */
#define DIRECT_N       64
#define AGAIN_MS       50
#define FAILURES_SHOWN 20
#define SOURCES        8
#define ONCE_MAX       900 /* at a time: then the pace is lower */

enum kind {
	IDLE,        /* a record at the beginning and at the end */
	MOVING,      /* a record, its answer, a pause */
	ONCE,        /* a record, its answer, the end */
	FLOOD_DOWN,  /* the server sends what is taken; the client reads late */
	FLOOD_UP,    /* the client sends what is taken; the server reads late */
	HALF_CLIENT, /* the client's half ends first */
	HALF_SERVER, /* the server's half ends first */
	QUEUED,      /* at a server that takes few at a time */
	LATE,        /* at a server that does not answer before the end */
	INSPECTED,   /* the proxy waits for the rest of its PROXY header */
	DIRECT,      /* as MOVING, but without the proxy */
	KINDS
};
static const char *const kind_names[KINDS] = {"idle", "moving", "once",
    "flood-down", "flood-up", "half-client", "half-server", "queued", "late",
    "inspected", "direct"};

struct record {
	uint32_t id;
	uint8_t kind, last, up, spare;
	uint64_t number;
	uint64_t fill[6];
};

struct conn {
	int fd; /* -1: none */
	uint32_t id, interest;
	enum kind kind;
	bool connected, established;
	bool reading; /* may read all that comes */
	bool finish;  /* a last record follows those that are due */
	bool put_last, shut, got_last, got_end, in_queue;
	uint8_t halves; /* of its PROXY header, which the client has sent */
	size_t burst;   /* bytes to be read although it is not reading */
	uint64_t due;   /* records to be sent */
	uint64_t put_n; /* records that are sent, or in out */
	uint64_t got_n;
	uint64_t sent, received; /* bytes */
	uint64_t asked_ns;       /* of the record that waits for its answer */
	uint64_t timer;          /* the newest; older ones are void */
	size_t in_n, out_n, out_sent;
	struct conn *next; /* free ones */
	struct record in;
	struct record out[RECORDS_OUT];
};

/* What a timer of the queue is for. */
struct timer {
	struct conn *conn;
	uint64_t number;
};

static struct {
	bool server, cuts;
	uint64_t sessions, rate, period_ms;
	struct tool_addr to, queue, late, inspected, direct;
} opt = {.sessions = 1000, .period_ms = 200};

static struct {
	uint64_t made, ok, wrong, cut, refused, up, down, records;
	uint64_t by_kind[KINDS], failed_kind[KINDS];
	uint64_t established, queue_open, queue_max, once_open, once_max;
} sum;
static struct pace_times answers, beginnings, directs;
static bool counting; /* times */
static bool ending;
static volatile sig_atomic_t told_to_end;
static int epoll_fd;
static uint32_t next_id;
static uint64_t open_n, next_timer;
static struct conn *unused;
static struct conn **by_fd;
static size_t by_fd_n;
static struct pace_queue timers;
static size_t timers_room;

static void open_session(enum kind kind);
static void after_records(struct conn *c);

/* -- bytes -- */

static uint64_t
random_below(uint64_t n)
{
	static uint64_t state = 1;

	return tool_mix(state++) % n;
}

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

/* -- sessions -- */

static void
set_timer(struct conn *c, uint64_t after_ms)
{
	struct timer *t = malloc(sizeof(*t));

	if (timers.n == timers_room) {
		timers_room = timers_room > 0 ? 2 * timers_room : 1024;
		timers.heap =
		    realloc(timers.heap, timers_room * sizeof(*timers.heap));
	}
	if (!t || !timers.heap)
		tool_die(TOOL_SYSTEM, "out of memory");
	c->timer = ++next_timer;
	*t = (struct timer){.conn = c, .number = c->timer};
	pace_push(&timers, pace_now_ns() + after_ms * 1000000, t);
}

static struct conn *
new_conn(int fd)
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
	open_n++;
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

static void
close_conn(struct conn *c)
{
	by_fd[c->fd] = NULL;
	close(c->fd);
	c->fd = -1;
	c->timer = 0;
	open_n--;
	if (opt.server || c->kind != DIRECT) {
		sum.up += opt.server ? c->received : c->sent;
		sum.down += opt.server ? c->sent : c->received;
	}
	if (c->in_queue)
		sum.queue_open--;
	if (!opt.server && c->kind == ONCE)
		sum.once_open--;
	c->next = unused;
	unused = c;
}

/* Another session takes the place of one that was cut. */
static void
replace(enum kind kind)
{
	struct conn *c;

	if (opt.server || ending || kind == ONCE)
		return;
	c = new_conn(-1);
	c->kind = kind;
	set_timer(c, AGAIN_MS);
}

static void
fail_conn(struct conn *c, uint64_t *count, const char *what)
{
	enum kind kind = c->kind;

	(*count)++;
	sum.failed_kind[kind]++;
	if (!opt.cuts || count == &sum.wrong || count == &sum.refused)
		explain(c, what);
	close_conn(c);
	if (opt.cuts)
		replace(kind);
}

/* The connection has ended early.  One without a record is of a client that was
 * cut before, or the tool's own. */
static void
cut_conn(struct conn *c, const char *what)
{
	if (opt.server && c->got_n == 0 && c->in_n == 0)
		close_conn(c);
	else
		fail_conn(c, &sum.cut, what);
}

static void
set_interest(struct conn *c)
{
	struct epoll_event ev = {.data.ptr = c};
	bool more = c->out_sent < c->out_n || c->put_n < c->due ||
	            (c->finish && !c->put_last);

	if (c->halves == 1)
		more = c->finish;

	if (!c->connected || more)
		ev.events |= EPOLLOUT;
	if (!c->got_end && (c->reading || c->burst > 0))
		ev.events |= EPOLLIN;
	if (ev.events == c->interest)
		return;
	c->interest = ev.events;
	if (epoll_ctl(epoll_fd, EPOLL_CTL_MOD, c->fd, &ev) < 0)
		tool_die(TOOL_SYSTEM, "epoll_ctl: %s", strerror(errno));
}

static void
watch(struct conn *c)
{
	struct epoll_event ev = {.events = EPOLLIN, .data.ptr = c};

	if ((size_t)c->fd >= by_fd_n)
		tool_die(TOOL_SYSTEM, "descriptor %d is out of range", c->fd);
	by_fd[c->fd] = c;
	if (!c->connected)
		ev.events |= EPOLLOUT;
	c->interest = ev.events;
	if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, c->fd, &ev) < 0)
		tool_die(TOOL_SYSTEM, "epoll_ctl: %s", strerror(errno));
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
		set_timer(c, HEADER_MS / 4 + random_below(HEADER_MS));
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

/* A record of the client has come. */
static void
serve_record(struct conn *c, bool last)
{
	bool first = c->got_n == 1;

	switch (c->kind) {
	case IDLE:
	case MOVING:
	case ONCE:
	case LATE:
	case INSPECTED:
	case DIRECT:
		if (!last)
			c->due = c->got_n;
		break;
	case FLOOD_DOWN:
		c->due = last ? c->put_n : UINT64_MAX;
		break;
	case FLOOD_UP:
		c->due = 1;
		if (first && !ending) {
			c->reading = false;
			if (c->id % 2 == 1)
				set_timer(c, BURST_MS);
		}
		break;
	case HALF_CLIENT:
		if (first)
			c->due = 1;
		if (first && !ending)
			set_timer(c, TICK_MS);
		c->finish = c->finish || ending;
		return;
	case HALF_SERVER:
		c->due = FIRST_RECORDS;
		c->finish = true;
		return;
	case QUEUED:
		if (first)
			set_timer(c,
			    ending ? 0 : HOLD_MS / 2 + random_below(HOLD_MS));
		return;
	case KINDS:
		break;
	}
	c->finish = c->finish || last;
}

/* Whether it gets an answer before others end. */
static bool
is_awaited(enum kind kind)
{
	return kind != ONCE && kind != QUEUED && kind != LATE &&
	       kind != INSPECTED && kind != DIRECT;
}

/* A record of the server has come. */
static void
use_answer(struct conn *c)
{
	uint64_t us = (pace_now_ns() - c->asked_ns) / 1000;

	if (!c->established) {
		c->established = true;
		if (is_awaited(c->kind))
			sum.established++;
		if (c->kind == FLOOD_DOWN && !ending) {
			c->reading = false;
			if (c->id % 2 == 1)
				set_timer(c, BURST_MS);
		}
		if (c->kind == FLOOD_UP && !ending)
			c->due = UINT64_MAX;
		if (c->kind == HALF_CLIENT && !c->finish) {
			c->due = FIRST_RECORDS;
			c->finish = true;
		}
		if (c->kind == HALF_SERVER && !ending)
			set_timer(c, TICK_MS);
	}
	/* It has waited for its turn, and may end. */
	if (c->kind == QUEUED)
		c->finish = true;
	if (c->kind == ONCE && counting && c->got_n == 1)
		pace_note(&beginnings, (uint32_t)us);
	if ((c->kind != MOVING && c->kind != DIRECT) || c->got_last)
		return;
	sum.records++;
	if (counting)
		pace_note(
		    c->kind == DIRECT ? &directs : &answers, (uint32_t)us);
	/* One in eight is brisk. */
	if (!ending)
		set_timer(
		    c, c->id % 8 == 0 ? opt.period_ms / 20 : opt.period_ms);
}

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
		fail_conn(c, &sum.wrong, text);
		return false;
	}
	c->got_n++;
	c->got_last = c->in.last;
	if (opt.server)
		serve_record(c, c->got_last);
	else
		use_answer(c);
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

/* Sends what is due, and ends the session if both halves have ended. */
static void
after_records(struct conn *c)
{
	enum kind kind = c->kind;

	if (c->connected && !send_some(c))
		return;
	if (!c->shut || !c->got_end) {
		set_interest(c);
		return;
	}
	sum.ok++;
	close_conn(c);
	if (kind == QUEUED || kind == INSPECTED)
		replace(kind);
}

static void
on_conn(struct conn *c, uint32_t events)
{
	if (!c->connected && events & (EPOLLOUT | EPOLLERR | EPOLLHUP)) {
		socklen_t size = sizeof(int);
		int error = 0;

		getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &error, &size);
		if (error != 0) {
			fail_conn(c,
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
	after_records(c);
}

/* -- timers -- */

static void
on_timer(struct conn *c)
{
	if (c->fd < 0) {
		enum kind kind = c->kind;

		open_n--;
		c->next = unused;
		unused = c;
		if (!ending)
			open_session(kind);
		return;
	}
	switch (c->kind) {
	case MOVING:
	case DIRECT:
		if (c->finish)
			return;
		c->due++;
		c->asked_ns = pace_now_ns();
		break;
	case FLOOD_UP:
	case FLOOD_DOWN:
		c->burst = 1 + random_below(2 * BUFFER);
		if (!c->reading)
			set_timer(c, BURST_MS);
		break;
	case HALF_CLIENT:
	case HALF_SERVER:
		if (c->finish)
			return;
		c->due++;
		set_timer(c, TICK_MS);
		break;
	case QUEUED:
		c->finish = true;
		if (c->in_queue)
			sum.queue_open--;
		c->in_queue = false;
		break;
	case INSPECTED:
		c->finish = true;
		break;
	case IDLE:
	case ONCE:
	case LATE:
	case KINDS:
		return;
	}
	after_records(c);
}

/* Returns how long epoll may wait. */
static int
run_timers(void)
{
	uint64_t now_ns = pace_now_ns(), left_ns;

	while (timers.n > 0 && timers.heap[0].at_ns <= now_ns) {
		struct timer *t = pace_pop(&timers);
		bool is_newest = t->conn->timer == t->number;
		struct conn *c = t->conn;

		free(t);
		if (is_newest)
			on_timer(c);
	}
	if (timers.n == 0)
		return 100;
	left_ns = timers.heap[0].at_ns - now_ns;
	return left_ns > 100000000 ? 100 : (int)((left_ns + 999999) / 1000000);
}

/* -- sockets -- */

/* Segments as of a network: else a loop-back socket takes megabytes. */
static void
set_options(int fd, bool flood)
{
	int one = 1, segment = 1400, size = 32768;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	if (!flood)
		return;
	setsockopt(fd, IPPROTO_TCP, TCP_MAXSEG, &segment, sizeof(segment));
	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
}

/* Another source for each session: else TIME-WAIT takes all ports.  ONCE has
 * sources of its own, by which other programs can tell these sessions. */
static void
bind_source(int fd, uint32_t id, enum kind kind)
{
	struct sockaddr_in from = {.sin_family = AF_INET};
	uint32_t first = INADDR_LOOPBACK + 1 + (kind == ONCE ? SOURCES : 0);
	int one = 1;

	from.sin_addr.s_addr = htonl(first + id % SOURCES);
	setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &one, sizeof(one));
	if (bind(fd, (struct sockaddr *)&from, sizeof(from)) < 0)
		tool_die(TOOL_SYSTEM, "bind: %s", strerror(errno));
}

static void
open_session(enum kind kind)
{
	const struct tool_addr *to = kind == QUEUED      ? &opt.queue
	                             : kind == LATE      ? &opt.late
	                             : kind == INSPECTED ? &opt.inspected
	                             : kind == DIRECT    ? &opt.direct
	                                                 : &opt.to;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	struct conn *c;

	if (fd < 0)
		tool_die(TOOL_SYSTEM, "socket: %s", strerror(errno));
	c = new_conn(fd);
	c->id = next_id++;
	c->kind = kind;
	set_options(fd, kind == FLOOD_DOWN || kind == FLOOD_UP);
	bind_source(fd, c->id, kind);
	c->due = 1;
	c->finish = kind == ONCE;
	if (c->finish)
		c->due = 0;
	c->asked_ns = pace_now_ns();
	sum.made += kind != DIRECT;
	sum.by_kind[kind]++;
	if (kind == ONCE && ++sum.once_open > sum.once_max)
		sum.once_max = sum.once_open;
	if (connect(fd, &to->sa, to->len) < 0 && errno != EINPROGRESS) {
		fail_conn(c, errno == ECONNREFUSED ? &sum.refused : &sum.cut,
		    strerror(errno));
		return;
	}
	watch(c);
}

static void
accept_all(int listener, bool queue)
{
	int fd;

	while ((fd = accept4(
	            listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
		struct conn *c = new_conn(fd);

		set_options(fd, false);
		c->connected = true;
		c->in_queue = queue;
		if (queue && ++sum.queue_open > sum.queue_max)
			sum.queue_max = sum.queue_open;
		watch(c);
	}
	if (errno != EAGAIN && errno != ECONNABORTED)
		tool_die(TOOL_SYSTEM, "accept: %s", strerror(errno));
}

/* -- the end -- */

static void
end_session(struct conn *c)
{
	c->reading = true;
	switch (c->kind) {
	case IDLE:
	case MOVING:
	case LATE:
	case INSPECTED:
	case DIRECT:
	case HALF_SERVER:
		c->finish = c->finish || !opt.server;
		break;
	case FLOOD_UP:
		if (opt.server)
			break;
		c->due = c->put_n;
		c->finish = true;
		break;
	case FLOOD_DOWN:
		c->finish = c->finish || !opt.server;
		break;
	case HALF_CLIENT:
		c->finish = c->got_n > 0;
		break;
	case QUEUED:
		if (opt.server && c->got_n > 0)
			set_timer(c, 0);
		break;
	case ONCE:
	case KINDS:
		break;
	}
	after_records(c);
}

static void
print_times(const char *name, struct pace_times *t)
{
	size_t n = t->n;

	printf("%s {\"n\": %zu, ", name, n);
	pace_print(t);
	printf("}\n");
}

static void
print_sums(void)
{
	printf("ok=%llu wrong=%llu cut=%llu refused=%llu made=%llu up=%llu "
	       "down=%llu queue_max=%llu once_max=%llu\n",
	    (unsigned long long)sum.ok, (unsigned long long)sum.wrong,
	    (unsigned long long)sum.cut, (unsigned long long)sum.refused,
	    (unsigned long long)sum.made, (unsigned long long)sum.up,
	    (unsigned long long)sum.down, (unsigned long long)sum.queue_max,
	    (unsigned long long)sum.once_max);
	for (int i = 0; i < KINDS; i++)
		printf("%s%s=%llu/%llu", i > 0 ? " " : "", kind_names[i],
		    (unsigned long long)sum.failed_kind[i],
		    (unsigned long long)sum.by_kind[i]);
	printf("\n");
	if (!opt.server) {
		print_times("answers", &answers);
		print_times("beginnings", &beginnings);
		print_times("directs", &directs);
	}
	fflush(stdout);
}

/* -- the server -- */

static void
on_usr1(int sig)
{
	(void)sig;
	told_to_end = 1;
}

/* Whether SIGUSR1 has come; see tool_goes_on. */
static bool
is_to_end(void)
{
	sigset_t pending;

	sigpending(&pending);
	return told_to_end || sigismember(&pending, SIGUSR1);
}

static int
open_listener(const char *address, int backlog, const char *what)
{
	struct tool_addr a = {.len = sizeof(a.storage)};
	int fd = tool_bind(address);

	if (listen(fd, backlog) < 0 || getsockname(fd, &a.sa, &a.len) < 0)
		tool_die(TOOL_SYSTEM, "listen: %s", strerror(errno));
	printf("%s 127.0.0.1:%u\n", what,
	    ntohs(((struct sockaddr_in *)(void *)&a.storage)->sin_port));
	fflush(stdout);
	return fd;
}

static int fillers[64];
static size_t fillers_n;

/* Connects to the listener until a connection is not answered any more. */
static void
fill_backlog(int listener)
{
	struct tool_addr a = {.len = sizeof(a.storage)};
	struct timespec wait = {.tv_nsec = 100 * 1000 * 1000};

	getsockname(listener, &a.sa, &a.len);
	while (fillers_n < sizeof(fillers) / sizeof(fillers[0])) {
		int fd = socket(
		    AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
		struct tcp_info info;
		socklen_t len = sizeof(info);

		if (fd < 0 ||
		    (connect(fd, &a.sa, a.len) < 0 && errno != EINPROGRESS))
			tool_die(TOOL_SYSTEM, "connect: %s", strerror(errno));
		nanosleep(&wait, NULL);
		getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len);
		if (info.tcpi_state == TCP_SYN_SENT) {
			close(fd);
			return;
		}
		fillers[fillers_n++] = fd;
	}
	tool_die(TOOL_SYSTEM, "the backlog does not fill");
}

/* The places of listeners in the events. */
static struct conn at_main, at_queue, at_late;

static void
watch_listener(int fd, struct conn *at)
{
	struct epoll_event ev = {.events = EPOLLIN, .data.ptr = at};

	at->fd = fd;
	if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &ev) < 0)
		tool_die(TOOL_SYSTEM, "epoll_ctl: %s", strerror(errno));
}

static void
end_all(void)
{
	ending = true;
	for (size_t fd = 0; fd < by_fd_n; fd++)
		if (by_fd[fd])
			end_session(by_fd[fd]);
}

static void
serve_events(const sigset_t *mask, int timeout)
{
	struct epoll_event events[BATCH];
	int n = epoll_pwait(epoll_fd, events, BATCH, timeout, mask);

	for (int i = 0; i < n; i++) {
		struct conn *c = events[i].data.ptr;

		if (c == &at_main || c == &at_queue || c == &at_late)
			accept_all(c->fd, c == &at_queue);
		else if (c->fd >= 0)
			on_conn(c, events[i].events);
	}
}

static int
run_server(void)
{
	sigset_t mask = tool_catch_stop();
	int late;

	watch_listener(open_listener("127.0.0.1:0", 4096, "queue"), &at_queue);
	late = open_listener("127.0.0.1:0", 0, "late");
	fill_backlog(late);
	watch_listener(tool_listen("0.0.0.0:0", 4096), &at_main);
	while (tool_goes_on()) {
		serve_events(&mask, run_timers());
		if (ending || !is_to_end())
			continue;
		end_all();
		if (listen(late, 4096) < 0)
			tool_die(TOOL_SYSTEM, "listen: %s", strerror(errno));
		watch_listener(late, &at_late);
		while (fillers_n > 0)
			close(fillers[--fillers_n]);
	}
	printf("open=%llu ", (unsigned long long)open_n);
	print_sums();
	return sum.wrong + (opt.cuts ? 0 : sum.cut) > 0 ? TOOL_FAILED : TOOL_OK;
}

/* -- the client -- */

/* Returns the kind of session i.  90 of a hundred are idle; 12 of these wait
 * for a server and 12 for the rest of a PROXY header, and own one descriptor of
 * the proxy. */
static enum kind
kind_of(uint64_t i)
{
	uint64_t of_hundred = i % 100;
	bool odd = i / 100 % 2 == 1;

	if (of_hundred == 99)
		return odd ? FLOOD_UP : FLOOD_DOWN;
	if (of_hundred == 98)
		return odd ? HALF_SERVER : HALF_CLIENT;
	if (of_hundred == 97)
		return odd ? MOVING : LATE;
	if (of_hundred >= 90)
		return MOVING;
	if (of_hundred >= 78)
		return QUEUED;
	return of_hundred >= 66 ? INSPECTED : IDLE;
}

/* Opens as many as are due at that rate; returns how many there are then. */
static uint64_t
open_at_rate(uint64_t opened, uint64_t until, uint64_t rate, uint64_t began_ns,
    bool once)
{
	uint64_t due = (pace_now_ns() - began_ns) * rate / PACE_NS;

	due = due < until ? due : until;
	for (; opened < due && (!once || sum.once_open < ONCE_MAX); opened++)
		open_session(once ? ONCE : kind_of(opened));
	return opened;
}

static int
run_client(void)
{
	sigset_t mask = tool_catch_stop();
	uint64_t began_ns = pace_now_ns(), opened = 0, once = 0, awaited = 0;
	uint64_t ended_ns = 0;

	for (uint64_t i = 0; i < opt.sessions; i++)
		awaited += is_awaited(kind_of(i));
	for (int i = 0; opt.direct.len > 0 && i < DIRECT_N; i++)
		open_session(DIRECT);
	while (tool_goes_on() && !(ending && open_n == 0)) {
		int timeout = run_timers();

		if (opened < opt.sessions && !ending)
			opened = open_at_rate(
			    opened, opt.sessions, 2000, began_ns, false);
		else if (counting && !ending && opt.rate > 0)
			once = open_at_rate(
			    once, UINT64_MAX, opt.rate, began_ns, true);
		serve_events(&mask, ending || timeout < 1 ? timeout : 1);
		if (!counting && !ending && sum.established >= awaited) {
			printf("established %llu\n",
			    (unsigned long long)opt.sessions);
			fflush(stdout);
			counting = true;
			began_ns = pace_now_ns();
		}
		if (!ending && is_to_end()) {
			ended_ns = pace_now_ns();
			counting = false;
			end_all();
		}
	}
	printf("open=%llu pace=%.0f ", (unsigned long long)open_n,
	    ended_ns > began_ns
	        ? (double)once * 1e9 / (double)(ended_ns - began_ns)
	        : 0.0);
	print_sums();
	return sum.wrong + sum.refused + (opt.cuts ? 0 : sum.cut) > 0
	           ? TOOL_FAILED
	           : TOOL_OK;
}

static int
usage(FILE *out)
{
	fputs(
	    "usage: upgradeload server [--cuts] [--deadline SECONDS]\n"
	    "       upgradeload client ADDRESS QUEUE LATE HEADER [--sessions "
	    "N]\n"
	    "           [--rate N] [--period MS] [--direct ADDRESS] [--cuts]\n"
	    "           [--deadline SECONDS]\n"
	    "The server prints `queue ADDRESS`, of servers that take few\n"
	    "sessions at a time, `late ADDRESS`, where a SYN gets no answer\n"
	    "before SIGUSR1, and `listening on ADDRESS` for the others.\n"
	    "The client prints `established N`, then makes N sessions a "
	    "second\n"
	    "besides those.  HEADER expects a PROXY header, whose second half\n"
	    "comes late.  --direct: some sessions go to the server's own\n"
	    "address, and their times are printed beside the others'.\n"
	    "SIGUSR1 lets all sessions end.  --cuts: sessions\n"
	    "may be cut, and others take their places.\n",
	    out);
	return out == stdout ? TOOL_OK : TOOL_USAGE;
}

int
main(int argc, char **argv)
{
	static const struct option options[] = {
	    {"sessions", required_argument, NULL, 's'},
	    {"rate", required_argument, NULL, 'r'},
	    {"period", required_argument, NULL, 'p'},
	    {"direct", required_argument, NULL, 'd'},
	    {"cuts", no_argument, NULL, 'c'},
	    {"deadline", required_argument, NULL, 't'},
	    {"help", no_argument, NULL, 'h'},
	    {NULL, 0, NULL, 0},
	};
	struct rlimit limit;
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) >= 0) {
		if (option == 's')
			opt.sessions = tool_number(optarg, 1000000);
		else if (option == 'r')
			opt.rate = tool_number(optarg, 1000000);
		else if (option == 'p')
			opt.period_ms = tool_number(optarg, 100000);
		else if (option == 'd')
			opt.direct = tool_addr(optarg);
		else if (option == 'c')
			opt.cuts = true;
		else if (option == 't')
			tool_set_deadline(tool_number(optarg, 100000));
		else
			return usage(option == 'h' ? stdout : stderr);
	}
	tool_raise_descriptors();
	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		tool_die(TOOL_SYSTEM, "getrlimit: %s", strerror(errno));
	by_fd_n = limit.rlim_cur < 1000000 ? limit.rlim_cur : 1000000;
	by_fd = calloc(by_fd_n, sizeof(struct conn *));
	epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (!by_fd || epoll_fd < 0)
		tool_die(TOOL_SYSTEM, "epoll: %s", strerror(errno));
	signal(SIGUSR1, on_usr1);
	opt.server = argc - optind == 1 && strcmp(argv[optind], "server") == 0;
	if (opt.server)
		return run_server();
	if (argc - optind != 5 || strcmp(argv[optind], "client") != 0)
		return usage(stderr);
	opt.to = tool_addr(argv[optind + 1]);
	opt.queue = tool_addr(argv[optind + 2]);
	opt.late = tool_addr(argv[optind + 3]);
	opt.inspected = tool_addr(argv[optind + 4]);
	return run_client();
}
