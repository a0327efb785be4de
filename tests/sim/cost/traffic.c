/* SPDX-License-Identifier: MIT
 * See traffic.h.
 */
#include "sim/cost/traffic.h"

#include <stdlib.h>
#include <string.h>

#include "base/ensure.h"
#include "lf/event_handler.h"
#include "sim/cost/cpus.h"
#include "sim/cost/wires.h"
#include "sim/kernel.h"
#include "sim/sim.h"

#define ACCEPTS_PER_TURN 4 /* as proxy/accept.c */
#define EVENTS           64
#define NO_CPU           UINT32_MAX

/* Wires of a session, by its number: the proxy's two ends, then the other end
 * of each. */
enum end { AT_CLIENT, AT_SERVER, OF_CLIENT, OF_SERVER, ENDS };

/* A session is as large as one of the proxy, on cache lines of its own. */
struct session {
	struct event_handler handler; /* first */
	unsigned number;
	unsigned cpu; /* of the last turn, or NO_CPU */
	bool open, connected, request, answer, ends;
	unsigned requests;
	uint64_t asked_ns;
	char rest[384 - sizeof(struct event_handler) - 32];
} CACHE_LINE_ALIGNED;

struct acceptor {
	struct event_handler handler; /* first */
	unsigned wire;
	struct session **backlog; /* clients that want to connect, a ring */
	unsigned first, n;
} CACHE_LINE_ALIGNED;

static struct traffic_options options;
static struct session *sessions;
static struct acceptor *acceptor;
static struct handle_set *clients, *servers; /* on the same CPUs */
static uint64_t serial_ns;                   /* until then the kernel is busy */
static bool measuring;
static uint64_t answers;
static uint32_t *took_ns;
static size_t took_n, took_room;

static unsigned
wire_of(const struct session *s, enum end end)
{
	return s->number * ENDS + end;
}

unsigned
traffic_wires(const struct traffic_options *opts)
{
	return opts->connections * ENDS + 1;
}

static bool
unlucky(unsigned permille)
{
	return permille > 0 && sim_random(1000) < permille;
}

/* -- clients and servers -- */

static void
note_answer(uint64_t ns)
{
	if (!measuring)
		return;
	answers++;
	if (took_n == took_room) {
		took_room = took_room > 0 ? 2 * took_room : 65536;
		took_ns = realloc(took_ns, took_room * sizeof(*took_ns));
		ENSURE(took_ns);
	}
	took_ns[took_n++] = ns < UINT32_MAX ? (uint32_t)ns : UINT32_MAX;
}

static void
connect_client(struct session *s)
{
	struct acceptor *a = acceptor;

	a->backlog[(a->first + a->n++) % options.connections] = s;
	wires_raise(a->wire, HANDLE_READABLE);
}

/* The client sends a request; the first one of a connection comes with it. */
static void
ask(void *arg)
{
	struct session *s = arg;

	s->asked_ns = cpus_now_ns();
	s->request = true;
	if (s->open)
		wires_raise(wire_of(s, AT_CLIENT), HANDLE_READABLE);
	else
		connect_client(s);
}

/* The client has its answer. */
static void
take_answer(struct session *s)
{
	note_answer(cpus_now_ns() - s->asked_ns);
	s->requests++;
	if (options.requests == 0 || s->requests < options.requests) {
		if (options.local)
			ask(s);
		else
			cpus_at(cpus_now_ns() + cpus_about(options.client_ns),
			    ask, s);
		return;
	}
	s->ends = true;
	wires_raise(wire_of(s, AT_CLIENT), HANDLE_READABLE);
}

static void
answer(void *arg)
{
	struct session *s = arg;

	s->answer = true;
	wires_raise(wire_of(s, AT_SERVER), HANDLE_READABLE);
}

/* All clients, or all servers, on one thread. */
static void
serve_events(
    struct handle_set *set, uint64_t each_ns, void (*take)(struct session *s))
{
	struct handle_event events[EVENTS];

	for (;;) {
		int n = handle_set_wait(set, events, EVENTS, -1);

		for (int i = 0; i < n; i++) {
			cpus_spend(cpus_about(each_ns));
			take(&sessions[handle_slot(events[i].handle)]);
		}
	}
}

static void *
client_main(void *arg)
{
	(void)arg;
	for (unsigned i = 0; i < options.connections; i++)
		ask(&sessions[i]);
	serve_events(clients, cpus_costs()->client_ns, take_answer);
	return NULL;
}

static void
answer_locally(struct session *s)
{
	answer(s);
}

static void *
server_main(void *arg)
{
	(void)arg;
	serve_events(servers, cpus_costs()->server_ns, answer_locally);
	return NULL;
}

/* -- sessions -- */

static void
spend_turn(void)
{
	uint64_t now_ns = cpus_now_ns(), serial = cpus_costs()->turn_serial_ns;

	if (serial > 0) {
		if (serial_ns < now_ns)
			serial_ns = now_ns;
		serial_ns += serial;
		cpus_spend(serial_ns - now_ns);
	}
	cpus_spend(cpus_about(cpus_costs()->turn_ns - serial));
}

static void
move_here(struct session *s)
{
	if (s->cpu == cpus_here())
		return;
	if (s->cpu != NO_CPU)
		cpus_spend(cpus_costs()->turn_move_ns);
	s->cpu = cpus_here();
}

static void
close_session(struct session *s)
{
	struct handle_set *set = s->handler.shard->set;

	(void)handle_set_remove(set, (int)wire_of(s, AT_CLIENT));
	(void)handle_set_remove(set, (int)wire_of(s, AT_SERVER));
	shard_leave(&s->handler);
	claim_retire(&s->handler.claim);
	s->open = s->connected = s->ends = false;
	s->requests = 0;
	s->cpu = NO_CPU;
	if (options.local)
		ask(s);
	else
		cpus_at(cpus_now_ns() + cpus_about(options.client_ns), ask, s);
}

static void
pass_request(struct session *s)
{
	s->request = false;
	spend_turn();
	if (options.local)
		wires_raise(wire_of(s, OF_SERVER), HANDLE_READABLE);
	else
		cpus_at(
		    cpus_now_ns() + cpus_about(options.server_ns), answer, s);
}

static void
pass_answer(struct session *s)
{
	s->answer = false;
	spend_turn();
	if (options.local)
		wires_raise(wire_of(s, OF_CLIENT), HANDLE_READABLE);
	else
		take_answer(s);
}

static enum turn
session_turn(
    struct event_handler *handler, uint32_t pending, struct pool_thread *self)
{
	struct session *s = (struct session *)(void *)handler;

	(void)pending;
	(void)self;
	if (unlucky(options.slow_permille))
		sim_sleep(options.slow_ns);
	if (unlucky(options.busy_permille))
		cpus_spend(options.busy_ns);
	move_here(s);
	if (!s->connected)
		cpus_spend(cpus_about(cpus_costs()->connect_ns));
	s->connected = true;
	if (s->request)
		pass_request(s);
	if (s->answer)
		pass_answer(s);
	if (!s->ends)
		return TURN_DONE;
	close_session(s);
	return TURN_RETIRED;
}

static const struct event_handler_ops session_ops = {.turn = session_turn};

/* The caller owns the session. */
static void
open_session(struct session *s, struct shard *shard)
{
	struct event_handler *h = &s->handler;

	s->open = true;
	shard_enter(shard, h);
	(void)handle_set_add(shard->set, (int)wire_of(s, AT_CLIENT),
	    event_handler_handle(h, HANDLE_CLIENT), HANDLE_READABLE);
	(void)handle_set_add(shard->set, (int)wire_of(s, AT_SERVER),
	    event_handler_handle(h, HANDLE_SERVER), HANDLE_READABLE);
}

/* Like session_start in the proxy, lets a thread of the session's own shard
 * connect it. */
static void
accept_one(struct acceptor *a, struct pool_thread *self)
{
	struct session *s = a->backlog[a->first];

	a->first = (a->first + 1) % options.connections;
	a->n--;
	cpus_spend(cpus_about(cpus_costs()->accept_ns));
	claim_open(&s->handler.claim);
	open_session(s, pool_place(self->pool, self));
	if (s->handler.shard != a->handler.shard ||
	    event_handler_run(&s->handler, self) == TURN_MORE)
		shard_submit(&s->handler);
}

static enum turn
acceptor_turn(
    struct event_handler *handler, uint32_t pending, struct pool_thread *self)
{
	struct acceptor *a = (struct acceptor *)(void *)handler;

	(void)pending;
	for (int i = 0; i < ACCEPTS_PER_TURN; i++) {
		if (a->n == 0)
			return TURN_DONE;
		accept_one(a, self);
	}
	return TURN_MORE;
}

static const struct event_handler_ops acceptor_ops = {.turn = acceptor_turn};

/* -- start and figures -- */

static void *
make(size_t n, size_t size)
{
	void *p = aligned_alloc(CACHE_LINE, n * size);

	ENSURE(p);
	memset(p, 0, n * size);
	return p;
}

static void
start_acceptor(struct pool *pool)
{
	struct event_handler *h;

	acceptor = make(1, sizeof(*acceptor));
	acceptor->wire = options.connections * ENDS;
	acceptor->backlog = calloc(options.connections, sizeof(void *));
	ENSURE(acceptor->backlog);
	h = &acceptor->handler;
	ENSURE(event_handler_init(h, &acceptor_ops, HANDLE_LISTENER));
	claim_open(&h->claim);
	shard_enter(pool_shard(pool, 0), h);
	(void)handle_set_add(h->shard->set, (int)acceptor->wire,
	    event_handler_handle(h, HANDLE_LISTENER), HANDLE_READABLE);
	ENSURE(claim_drop(&h->claim));
}

/* Kept-alive sessions are open from the start, evenly over the shards, as
 * placing by load leaves them. */
static void
start_session(unsigned i, struct pool *pool)
{
	struct session *s = &sessions[i];

	s->number = i;
	s->cpu = NO_CPU;
	ENSURE(event_handler_init(&s->handler, &session_ops, HANDLE_CLIENT));
	ENSURE(s->handler.slot == i);
	if (options.requests > 0)
		return;
	s->connected = true;
	claim_open(&s->handler.claim);
	open_session(s, pool_shard(pool, i % pool_shards(pool)));
	ENSURE(claim_drop(&s->handler.claim));
}

static void
start_local(void)
{
	ENSURE(wires_new_set(NULL, &clients) == 0 &&
	       wires_new_set(NULL, &servers) == 0);
	for (unsigned i = 0; i < options.connections; i++) {
		const struct session *s = &sessions[i];
		handle_t handle = handle_make(0, i, HANDLE_CLIENT);

		(void)handle_set_add(clients, (int)wire_of(s, OF_CLIENT),
		    handle, HANDLE_READABLE);
		(void)handle_set_add(servers, (int)wire_of(s, OF_SERVER),
		    handle, HANDLE_READABLE);
	}
	(void)sim_start(server_main, NULL);
	(void)sim_start(client_main, NULL);
}

void
traffic_start(const struct traffic_options *opts, struct pool *pool)
{
	options = *opts;
	sessions = make(options.connections, sizeof(*sessions));
	for (unsigned i = 0; i < options.connections; i++)
		start_session(i, pool);
	start_acceptor(pool);
	if (options.local) {
		start_local();
		return;
	}
	for (unsigned i = 0; i < options.connections; i++)
		cpus_at(cpus_now_ns() + sim_random(2 * options.client_ns + 1),
		    ask, &sessions[i]);
}

void
traffic_measure(void)
{
	measuring = true;
}

static int
compare_times(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

struct traffic_figures
traffic_figures(void)
{
	struct traffic_figures f = {.answers = answers};

	measuring = false;
	if (took_n == 0)
		return f;
	qsort(took_ns, took_n, sizeof(*took_ns), compare_times);
	f.p50_ns = took_ns[took_n / 2];
	f.p99_ns = took_ns[took_n - took_n / 100 - 1];
	return f;
}
