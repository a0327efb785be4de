/* SPDX-License-Identifier: MIT
 * See session_receiver.h.
 */
#include "handover/session_receiver.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/text_out.h"
#include "handover/counters_lines.h"
#include "handover/names_known.h"
#include "handover/sources_sent.h"
#include "net/handover.h"
#include "pools/pools.h"
#include "proxy/accept_limits.h"
#include "proxy/closed_image.h"
#include "proxy/failures_image.h"
#include "proxy/instance.h"
#include "proxy/session_adopt.h"
#include "proxy/successor.h"

struct session_receiver {
	struct instance *instance;
	struct pools *pools;
	struct receiver_hooks hooks;
	struct model *model; /* pinned */
	int channel;         /* -1: the predecessor has ended */
	ev_io io;
	ev_timer tick; /* while RECEIVER_WINDOW sessions wait */
	struct names_known names;
	bool counted;       /* PASSED has come */
	char *lines;        /* NAMES */
	const char *unsent; /* of these; NULL: NAMES_END is sent as well */
	bool reopens;       /* REOPEN is to be sent */
	struct timed_task accept;   /* at the latest */
	struct closed_ring *closed; /* for its records; NULL: none came */
	struct receiver_status status;
};

/* -- the names -- */

static bool
list_names(struct session_receiver *r)
{
	struct text_out out;
	bool ok;

	if (!text_out_open(&out))
		return false;
	ok = names_known_list(&r->names, r->model, out.stream);
	if (!text_out_close(&out))
		return false;
	r->unsent = r->lines = out.text;
	return ok;
}

/* Takes no names over: the predecessor keeps its sessions until they end, and
 * tells all else. */
static void
do_without_names(struct session_receiver *r)
{
	names_known_free(&r->names);
	free(r->lines);
	r->lines = NULL;
	r->unsent = "";
	log_error("the sessions of the former process stay there until they "
	          "end: out of memory");
}

/* Returns 0 if all are sent, -EAGAIN while some are left, or -errno. */
static int
send_names(struct session_receiver *r)
{
	static struct handover m;
	int rc = 0;

	m.version = HANDOVER_VERSION;
	m.n = 0;
	while (rc == 0 && r->unsent) {
		size_t n = handover_put_lines(&m, r->unsent);

		m.kind = n > 0 ? HANDOVER_NAMES : HANDOVER_NAMES_END;
		rc = handover_send(r->channel, &m);
		if (rc == 0)
			r->unsent = n > 0 ? r->unsent + n : NULL;
	}
	return rc;
}

/* Sends REOPEN if it is due, behind the names: a process that still reads names
 * would take it for one of them. */
static void
send_reopen(struct session_receiver *r)
{
	static struct handover m;

	if (!r->reopens || r->unsent)
		return;
	m.kind = HANDOVER_REOPEN;
	m.version = HANDOVER_VERSION;
	(void)handover_send(r->channel, &m);
	r->reopens = false;
}

/* -- the places that the predecessor's sessions have -- */

static bool
has_places(const struct named *name)
{
	return name->server || (name->frontend && name->counters);
}

static void
hold_place(struct named *name)
{
	name->held++;
	if (name->server)
		(void)backend_hold(name->server);
	else
		gauge_up(name->frontend->sessions);
}

static void
release_place(struct named *name)
{
	name->held--;
	if (name->server)
		backend_release(name->server);
	else
		gauge_down(name->frontend->sessions);
}

/* n is bounded by what a process can have. */
static void
hold_places(struct session_receiver *r, struct named *name, uint32_t n)
{
	bool fewer = n < name->held;

	if (n > MAXCONN_MAX)
		n = MAXCONN_MAX;
	while (name->held < n)
		hold_place(name);
	while (name->held > n)
		release_place(name);
	if (fewer && name->frontend)
		acceptors_resume(&r->instance->proxy);
}

static void
take_counts(struct session_receiver *r, struct handover *m)
{
	const char *text = m->text;
	unsigned number, n;
	int used;

	while (sscanf(text, "%u %u\n%n", &number, &n, &used) == 2) {
		struct named *name = names_known_find(&r->names, number);

		if (name && has_places(name))
			hold_places(r, name, n);
		text += used;
	}
}

/* -- what the predecessor has counted, noted, and is told -- */

static void
take_counters(struct session_receiver *r, struct handover *m)
{
	counters_read_numbered(&r->names, m->text);
}

static void
take_later(struct session_receiver *r, struct handover *m)
{
	r->hooks.take_later(r->hooks.arg, m->text);
}

static void
take_sources(struct session_receiver *r, struct handover *m)
{
	sources_take(r->instance->model, m->text);
}

static void
take_reopen(struct session_receiver *r, struct handover *m)
{
	(void)r;
	(void)m;
	log_reopen();
}

/* -- records of sessions that have ended there -- */

static void
take_closed(struct session_receiver *r, struct handover *m)
{
	struct closed_session closed;

	if (!r->closed)
		r->closed = closed_ring_take(&r->instance->proxy.closed);
	if (r->closed && closed_image_decode(m->data, m->size, &closed))
		closed_ring_put(r->closed, &closed);
}

static void
take_failures(struct session_receiver *r, struct handover *m)
{
	static struct failure_kind kind;

	if (failures_image_decode(m->data, m->size, &kind))
		failures_merge(&r->instance->proxy.failures, &kind);
}

/* -- the sessions -- */

/* The pool of the frontend as it is now: that of the model at the beginning may
 * have been removed. */
static struct pool *
pool_for(const struct session_receiver *r, const struct frontend *f)
{
	const struct frontend *now =
	    model_find_frontend(r->instance->model, f->spec->name);

	return now ? pools_of(r->pools, now) : pools_at(r->pools, 0);
}

static bool
find_all(const struct session_receiver *r, const struct session_image *image,
    struct adoption *ret_as, struct err *err)
{
	const struct named *frontend =
	    names_known_find(&r->names, image->n[IMAGE_FRONTEND]);
	const struct named *server =
	    names_known_find(&r->names, image->n[IMAGE_SERVER]);
	struct adoption *as = ret_as;

	if (!frontend || !frontend->frontend ||
	    !names_known_find_route(&r->names, frontend->frontend,
	        image->n[IMAGE_ROUTE], &as->route) ||
	    !names_known_find_route(&r->names, frontend->frontend,
	        image->n[IMAGE_WANTED], &as->wanted_route) ||
	    (image->n[IMAGE_SERVER] > 0 && (!server || !server->server)))
		return err_set(err, "its numbers are of nothing here");
	as->frontend = frontend->frontend;
	as->counted = frontend->held > 0;
	as->pool = pool_for(r, frontend->frontend);
	as->server = server ? server->server : NULL;
	as->held = server && server->held > 0;
	return true;
}

static bool
adopt_session(
    struct session_receiver *r, const struct handover *m, struct err *err)
{
	struct session_image image;
	struct adoption as = {.frontend = NULL};

	if (!session_image_decode(m->data, m->size, m->n, &image, err) ||
	    !find_all(r, &image, &as, err)) {
		handover_drop(m);
		return false;
	}
	if (!session_adopt(&r->instance->proxy, &image, m->fds, &as, err))
		return false;
	/* The places are the session's now. */
	if (as.held)
		names_known_find(&r->names, image.n[IMAGE_SERVER])->held--;
	if (as.counted)
		names_known_find(&r->names, image.n[IMAGE_FRONTEND])->held--;
	return true;
}

static void
note_refused(struct session_receiver *r, const char *why)
{
	static struct log_limit limit;

	r->status.refused++;
	log_limited(&limit, LOG_LEVEL_WARNING,
	    "a session of the former process is reset: %s", why);
}

/* Notes how many sessions are to come, for which new ones leave room. */
static void
expect(struct session_receiver *r, uint32_t n)
{
	struct proxy *proxy = &r->instance->proxy;
	uint32_t before = atomic_load_relaxed(&proxy->expected);

	(void)atomic_swap_seq(&proxy->expected, n); /* [P12] */
	if (n < before)
		acceptors_resume(proxy);
}

static void
take_session(struct session_receiver *r, struct handover *m)
{
	uint32_t expected = atomic_load_relaxed(&r->instance->proxy.expected);
	struct err err;

	if (adopt_session(r, m, &err))
		r->status.taken++;
	else
		note_refused(r, err.text);
	/* Afterwards: else a new client could take the room in between. */
	if (expected > 0)
		expect(r, expected - 1);
}

/* -- new sessions -- */

/* Accepts all new clients: the sessions that could come have come.  A client
 * that came before could have taken the place of one of them in the limits of a
 * source. */
static void
begin_to_accept(struct session_receiver *r)
{
	timed_task_cancel(&r->accept);
	r->hooks.accept(r->hooks.arg, TAKEOVER_DONE);
}

/* The first number is of those that are about to come, a later one of those
 * that could not.  A client that came before the first one would get a place
 * that a session of the predecessor still has. */
static void
take_passed(struct session_receiver *r, struct handover *m)
{
	bool all_came = r->counted;

	r->counted = true;
	r->status.left = (uint32_t)strtoul(m->text, NULL, 10);
	expect(r, all_came ? 0 : r->status.left);
	if (all_came || r->status.left == 0) {
		begin_to_accept(r);
		return;
	}
	r->hooks.accept(r->hooks.arg, TAKEOVER_OF_SESSIONS);
	timed_task_schedule(&r->accept, clock_now_ms() + RECEIVER_COME_MS);
}

static void
on_accept_deadline(struct timed_task *task, uint64_t now_ms)
{
	(void)now_ms;
	begin_to_accept(container_of(task, struct session_receiver, accept));
}

/* -- the end -- */

/* Returns how long that share of the sessions paused at most. */
static double
longest_pause_ms(const struct session_receiver *r, double share)
{
	const struct histogram *pauses = &r->instance->proxy.pauses;

	return (double)histogram_quantile_ns(pauses, share) / 1e6;
}

static void
end_receiver(struct session_receiver *r)
{
	struct ev_loop *loop = r->instance->loop;

	if (r->channel < 0)
		return;
	begin_to_accept(r);
	ev_io_stop(loop, &r->io);
	ev_timer_stop(loop, &r->tick);
	ev_ref(loop);
	close(r->channel);
	r->channel = -1;
	r->status.left = 0;
	expect(r, 0);
	for (size_t i = 0; i < r->names.n; i++)
		hold_places(r, &r->names.all[i], 0);
	if (r->closed)
		closed_ring_give(r->closed);
	names_known_free(&r->names);
	model_unpin(r->model);
	free(r->lines);
	r->lines = NULL;
	log_info("the former process has ended; %u of its sessions went on "
	         "here; the longest pause was %.1f ms, p99.9 %.1f ms",
	    r->status.taken, longest_pause_ms(r, 1),
	    longest_pause_ms(r, 0.999));
}

/* By the kind of the message; NULL: the message is not for this side.  Each may
 * change the text, and owns the descriptors of a SESSION. */
static void (*const takers[HANDOVER_KINDS])(
    struct session_receiver *r, struct handover *m) = {
    [HANDOVER_LATER] = take_later,
    [HANDOVER_COUNTERS] = take_counters,
    [HANDOVER_COUNTS] = take_counts,
    [HANDOVER_PASSED] = take_passed,
    [HANDOVER_SESSION] = take_session,
    [HANDOVER_SOURCES] = take_sources,
    [HANDOVER_CLOSED] = take_closed,
    [HANDOVER_FAILURES] = take_failures,
    [HANDOVER_REOPEN] = take_reopen,
};

/* Returns false when there is nothing to read now, or never again. */
static bool
take_message(struct session_receiver *r)
{
	static struct handover m;
	int rc = handover_receive(r->channel, &m);

	if (rc == -EAGAIN)
		return false;
	/* A newer version may have kinds that this one does not know. */
	if (rc == -EBADMSG && m.kind == HANDOVER_SESSION)
		note_refused(r, "not all of its descriptors have come");
	if (rc == -EBADMSG)
		return true;
	if (rc <= 0) {
		end_receiver(r);
		return false;
	}
	if (takers[m.kind])
		takers[m.kind](r, &m);
	else
		handover_drop(&m);
	return true;
}

static bool
window_is_full(const struct session_receiver *r)
{
	const struct proxy *proxy = &r->instance->proxy;

	return proxy->adopted - atomic_load_relaxed(&proxy->adopted_turns) >=
	       RECEIVER_WINDOW;
}

static void
take_messages(struct session_receiver *r)
{
	uint64_t until_ns = clock_now_ns() + RECEIVER_TURN_NS;

	while (!window_is_full(r))
		if (!take_message(r) || clock_now_ns() >= until_ns)
			return;
	ev_io_stop(r->instance->loop, &r->io);
	ev_timer_again(r->instance->loop, &r->tick);
}

static void
receiver_on_tick(struct ev_loop *loop, ev_timer *tick, int events)
{
	struct session_receiver *r = tick->data;

	(void)events;
	if (window_is_full(r))
		return;
	ev_timer_stop(loop, tick);
	ev_io_start(loop, &r->io);
	take_messages(r);
}

static void
receiver_on_channel(struct ev_loop *loop, ev_io *io, int events)
{
	struct session_receiver *r = io->data;

	if (events & EV_WRITE && send_names(r) != -EAGAIN) {
		ev_io_stop(loop, io);
		ev_io_set(io, r->channel, EV_READ);
		ev_io_start(loop, io);
		send_reopen(r);
	}
	if (events & EV_READ)
		take_messages(r);
}

struct session_receiver *
session_receiver_new(struct instance *instance, struct pools *pools,
    const struct receiver_hooks *hooks, int channel)
{
	struct session_receiver *r = calloc(1, sizeof(*r));

	if (!r) {
		close(channel);
		return NULL;
	}
	r->instance = instance;
	r->pools = pools;
	r->hooks = *hooks;
	r->model = instance->model;
	r->channel = channel;
	if (!list_names(r))
		do_without_names(r);
	model_pin(r->model);
	timed_task_init(&r->accept, &instance->timer, on_accept_deadline);
	timed_task_schedule(&r->accept, clock_now_ms() + RECEIVER_ACCEPT_MS);
	ev_io_init(&r->io, receiver_on_channel, channel, EV_READ | EV_WRITE);
	r->io.data = r;
	ev_timer_init(&r->tick, receiver_on_tick, 0, RECEIVER_TICK_MS / 1e3);
	r->tick.data = r;
	ev_io_start(instance->loop, &r->io);
	ev_unref(instance->loop);
	return r;
}

void
session_receiver_free(struct session_receiver *receiver)
{
	if (!receiver)
		return;
	end_receiver(receiver);
	free(receiver);
}

bool
session_receiver_is_open(const struct session_receiver *receiver)
{
	return receiver && receiver->channel >= 0;
}

void
session_receiver_reopen(struct session_receiver *receiver)
{
	if (!session_receiver_is_open(receiver))
		return;
	receiver->reopens = true;
	send_reopen(receiver);
}

struct receiver_status
session_receiver_status(const struct session_receiver *receiver)
{
	struct receiver_status status = {0};
	const struct histogram *pauses;

	if (!receiver)
		return status;
	status = receiver->status;
	pauses = &receiver->instance->proxy.pauses;
	status.pause_p999_ns = histogram_quantile_ns(pauses, 0.999);
	status.pause_max_ns = atomic_load_relaxed(&pauses->max_ns);
	status.long_pauses =
	    atomic_load_relaxed(&receiver->instance->proxy.long_pauses);
	return status;
}
