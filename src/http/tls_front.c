/* SPDX-License-Identifier: MIT
 * See tls_front.h.
 */
#include "http/tls_front.h"

#include <errno.h>
#include <openssl/ssl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "http/unsent.h"
#include "net/sock.h"
#include "tls/conn.h"

#define DATA_SIZE (16u * 1024)
#define OUT_SIZE  (TLS_FLIGHT_MAX + TLS_RECORDS_MAX(DATA_SIZE))

/* The most rounds of a front in a turn of the loop. */
#define ROUNDS_MAX 8
#define REST_S     0.001

struct tls_front {
	struct list node;
	struct tls_fronts *fronts;
	struct tls_conn *conn;
	int tcp, plain;
	ev_io tcp_io, plain_io;
	ev_timer deadline, again;
	bool ready;        /* the handshake is over */
	bool tcp_readable; /* as far as is known */
	bool client_ended; /* no more data from the client */
	bool server_ended; /* libmicrohttpd has closed */
	struct unsent out; /* records to the client */
	struct unsent in;  /* data to libmicrohttpd */
};

/* The records and data that a call makes, before a socket has taken them. */
static uint8_t records[OUT_SIZE], client_data[DATA_SIZE];

enum front_step { FRONT_WAITS, FRONT_MOVED, FRONT_OVER };

static void
front_free(struct tls_front *f)
{
	struct tls_fronts *fronts = f->fronts;

	ev_io_stop(fronts->loop, &f->tcp_io);
	ev_io_stop(fronts->loop, &f->plain_io);
	ev_timer_stop(fronts->loop, &f->deadline);
	ev_timer_stop(fronts->loop, &f->again);
	list_remove(&f->node);
	fronts->n--;
	/* A FIN would wait in the kernel for as long as the client does not
	 * read. */
	if (f->out.data)
		sock_close_reset(f->tcp);
	else
		close(f->tcp);
	close(f->plain);
	tls_conn_free(f->conn);
	free(f->out.data);
	free(f->in.data);
	free(f);
}

static void
start_timer(struct tls_front *f, ev_timer *timer, ev_tstamp seconds)
{
	ev_timer_stop(f->fronts->loop, timer);
	ev_timer_set(timer, seconds, 0.);
	ev_timer_start(f->fronts->loop, timer);
}

/* -- the directions -- */

static struct tls_io
front_io(const struct tls_front *f)
{
	return (struct tls_io){.fd = f->tcp,
	    .readable = f->tcp_readable,
	    .out = records,
	    .out_max = sizeof(records)};
}

/* Takes over what a call has done to the socket, and sends its records. */
static bool
took_io(struct tls_front *f, const struct tls_io *io)
{
	f->tcp_readable = io->readable;
	return unsent_add(&f->out, f->tcp, records, io->out_n);
}

/* Returns whether another handshake has computed in this turn of the loop. */
static bool
handshake_has_to_wait(const struct tls_front *f)
{
	return tls_conn_computes_long(f->conn) &&
	       f->fronts->computed_at == ev_now(f->fronts->loop);
}

static enum front_step
shake_hands(struct tls_front *f)
{
	struct tls_io io = front_io(f);
	enum tls_progress progress;

	if (!f->tcp_readable || f->out.data)
		return FRONT_WAITS;
	if (handshake_has_to_wait(f)) {
		start_timer(f, &f->again, REST_S);
		return FRONT_WAITS;
	}
	if (tls_conn_computes_long(f->conn))
		f->fronts->computed_at = ev_now(f->fronts->loop);
	progress = tls_conn_handshake(f->conn, &io);
	/* After a failure, out has an alert. */
	if (!took_io(f, &io) || progress == TLS_PROGRESS_FAILED)
		return FRONT_OVER;
	if (progress == TLS_PROGRESS_DONE) {
		f->ready = true;
		f->tcp_readable |= SSL_has_pending(tls_conn_ssl(f->conn)) == 1;
		ev_timer_stop(f->fronts->loop, &f->deadline);
		return FRONT_MOVED;
	}
	return f->tcp_readable ? FRONT_MOVED : FRONT_WAITS;
}

static enum front_step
read_client(struct tls_front *f)
{
	struct tls_io io = front_io(f);
	ssize_t n;

	if (f->in.data || f->out.data || f->client_ended || !f->tcp_readable)
		return FRONT_WAITS;
	n = tls_conn_read(f->conn, &io, client_data, sizeof(client_data));
	if (!took_io(f, &io))
		return FRONT_OVER;
	if (n == -EAGAIN)
		return io.readable ? FRONT_MOVED : FRONT_WAITS;
	if (n < 0 || !unsent_add(&f->in, f->plain, client_data, (size_t)n))
		return FRONT_OVER;
	f->client_ended = n == 0;
	if (f->client_ended)
		(void)shutdown(f->plain, SHUT_WR);
	return FRONT_MOVED;
}

static enum front_step
read_server(struct tls_front *f)
{
	struct tls_io io = front_io(f);
	uint8_t data[DATA_SIZE];
	ssize_t n;

	if (f->out.data || f->server_ended)
		return FRONT_WAITS;
	n = recv(f->plain, data, sizeof(data), 0);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? FRONT_WAITS
		                                         : FRONT_OVER;
	if (n == 0) {
		f->server_ended = true;
		start_timer(f, &f->deadline, TLS_FRONT_TIMEOUT_S);
		if (!tls_conn_end(f->conn, &io))
			return FRONT_OVER;
	} else if (tls_conn_write(
	               f->conn, &io, data, (size_t)n, clock_now_ms()) < 0) {
		return FRONT_OVER;
	}
	return took_io(f, &io) ? FRONT_MOVED : FRONT_OVER;
}

/* -- turns -- */

static void
watch(struct ev_loop *loop, ev_io *io, int fd, int events)
{
	if (ev_is_active(io) && (io->events & (EV_READ | EV_WRITE)) == events)
		return;
	ev_io_stop(loop, io);
	ev_io_set(io, fd, events);
	if (events)
		ev_io_start(loop, io);
}

/* Returns whether the deadline is that of unsent records.  The handshake and
 * the end have fixed deadlines. */
static bool
deadline_is_of_records(const struct tls_front *f)
{
	return f->ready && !f->server_ended;
}

static void
watch_front(struct tls_front *f)
{
	bool in = !f->tcp_readable && !f->client_ended && !f->in.data;

	if (deadline_is_of_records(f) && !f->out.data)
		ev_timer_stop(f->fronts->loop, &f->deadline);
	else if (!ev_is_active(&f->deadline))
		start_timer(f, &f->deadline, TLS_FRONT_TIMEOUT_S);
	watch(f->fronts->loop, &f->tcp_io, f->tcp,
	    (in ? EV_READ : 0) | (f->out.data ? EV_WRITE : 0));
	watch(f->fronts->loop, &f->plain_io, f->plain,
	    (f->ready && !f->out.data && !f->server_ended ? EV_READ : 0) |
	        (f->in.data ? EV_WRITE : 0));
}

/* Returns whether the connection is over. */
static bool
step_front(struct tls_front *f, bool *ret_moved)
{
	enum front_step steps[2] = {FRONT_WAITS, FRONT_WAITS};

	*ret_moved = false;
	if ((f->out.data && !unsent_send(&f->out, f->tcp)) ||
	    (f->in.data && !unsent_send(&f->in, f->plain)))
		return true;
	if (f->server_ended)
		return !f->out.data;
	if (!f->ready) {
		steps[0] = shake_hands(f);
	} else {
		steps[0] = read_client(f);
		if (steps[0] != FRONT_OVER)
			steps[1] = read_server(f);
	}
	*ret_moved = steps[0] == FRONT_MOVED || steps[1] == FRONT_MOVED;
	return steps[0] == FRONT_OVER || steps[1] == FRONT_OVER;
}

static void
run_front(struct tls_front *f)
{
	struct tls_fronts *fronts = f->fronts;
	bool moved = true;

	for (int i = 0; i < ROUNDS_MAX && moved; i++) {
		bool over = step_front(f, &moved);

		if (moved) {
			list_remove(&f->node);
			list_append(&fronts->all, &f->node);
		}
		if (!over)
			continue;
		front_free(f);
		fronts->ended(fronts->arg);
		return;
	}
	watch_front(f);
	if (moved)
		start_timer(f, &f->again, REST_S);
}

static void
on_front_tcp(struct ev_loop *loop, ev_io *io, int events)
{
	struct tls_front *f = io->data;

	/* The client has read some of the records: their time starts again. */
	if ((events & EV_WRITE) && deadline_is_of_records(f))
		ev_timer_stop(loop, &f->deadline);
	if (events & EV_READ)
		f->tcp_readable = true;
	run_front(f);
}

static void
on_front_plain(struct ev_loop *loop, ev_io *io, int events)
{
	(void)loop;
	(void)events;
	run_front(io->data);
}

static void
on_front_again(struct ev_loop *loop, ev_timer *timer, int events)
{
	(void)loop;
	(void)events;
	run_front(timer->data);
}

static void
on_front_deadline(struct ev_loop *loop, ev_timer *timer, int events)
{
	struct tls_front *f = timer->data;
	struct tls_fronts *fronts = f->fronts;

	(void)loop;
	(void)events;
	front_free(f);
	fronts->ended(fronts->arg);
}

/* -- life -- */

void
tls_fronts_init(struct tls_fronts *fronts, struct ev_loop *loop,
    void (*ended)(void *arg), void *arg)
{
	*fronts = (struct tls_fronts){.loop = loop, .ended = ended, .arg = arg};
	list_init(&fronts->all);
}

static struct tls_front *
front_alloc(struct tls_context *context)
{
	struct tls_front *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->conn = tls_conn_new(context);
	if (f->conn && tls_conn_begin(f->conn, TLS_ACCEPTS))
		return f;
	tls_conn_free(f->conn);
	free(f);
	return NULL;
}

/* Closes the front that moved no data for the longest time if the table is
 * full. */
static void
make_room(struct tls_fronts *fronts)
{
	static struct log_limit limit;

	if (fronts->n < TLS_FRONTS_MAX)
		return;
	log_limited(&limit, LOG_LEVEL_WARNING,
	    "http: %u TLS connections are open: closed the one without "
	    "progress for longest to make room for a new one",
	    fronts->n);
	front_free(container_of(fronts->all.next, struct tls_front, node));
}

int
tls_front_new(struct tls_fronts *fronts, struct tls_context *context, int fd)
{
	struct tls_front *f;
	int pair[2];

	make_room(fronts);
	f = front_alloc(context);
	if (!f ||
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0,
	        pair) < 0) {
		if (f)
			tls_conn_free(f->conn);
		free(f);
		close(fd);
		return -1;
	}
	f->fronts = fronts;
	f->tcp = fd;
	f->plain = pair[0];
	ev_init(&f->tcp_io, on_front_tcp);
	ev_init(&f->plain_io, on_front_plain);
	ev_init(&f->deadline, on_front_deadline);
	ev_init(&f->again, on_front_again);
	f->tcp_io.data = f->plain_io.data = f->deadline.data = f->again.data =
	    f;
	list_append(&fronts->all, &f->node);
	fronts->n++;
	watch_front(f);
	return pair[1];
}

void
tls_fronts_close(struct tls_fronts *fronts)
{
	list_for_each_safe (node, &fronts->all)
		front_free(container_of(node, struct tls_front, node));
}
