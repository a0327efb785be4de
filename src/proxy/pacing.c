/* SPDX-License-Identifier: MIT
 * See pacing.h.
 */
#include "proxy/pacing.h"

#include <errno.h>

#include "base/clock.h"
#include "model/limit.h"
#include "proxy/inspection.h"
#include "proxy/session_count.h"

/* A direction may catch up with lost time for this long after a wait, also when
 * it has read all that there was: TCP has slowed down its sender, which needs a
 * moment to speed up. */
#define WAITED_RECENTLY_NS (UINT64_C(50) * 1000000)

/* The shared buckets of a direction: the bits of pace.counted. */
enum {
	OF_FRONTEND,
	OF_BACKEND,
	OF_SERVER,
	OF_SOURCE,
	OF_SOURCE_AT_BACKEND,
	OF_CLIENT_RANGE,
	BUCKETS
};

/* A backend has one limit, its bandwidth per=client. */
#define ONLY_LIMIT ((uint16_t)1)

/* The buckets that limit a direction, NULL where there is no limit, and their
 * rates. */
struct buckets {
	struct bucket *at[BUCKETS];
	uint64_t rate[BUCKETS];
	uint64_t own_rate;
	bool limited;
	/* A limit is for the clients of a list, which may change at any time.
	 */
	bool listed;
	uint8_t client_place; /* of the bucket OF_CLIENT_RANGE, 0: none */
};

static void
put_bucket(
    struct buckets *b, unsigned which, struct bucket *bucket, uint64_t rate)
{
	b->at[which] = rate > 0 ? bucket : NULL;
	b->rate[which] = rate;
	b->limited |= rate > 0;
}

/* Returns whether limits with a rate above 0 are for the client. */
static bool
is_for(struct buckets *b, const struct band_clients *clients,
    const struct endpoint *client)
{
	b->listed |= atomic_load_relaxed(&clients->only) ||
	             atomic_load_relaxed(&clients->except);
	return bandwidth_is_for(clients, client);
}

/* Adds a bucket that all sessions of a list's clients share, or those of all
 * clients. */
static void
find_bucket(struct buckets *b, unsigned which, struct bucket *bucket,
    const struct band_clients *clients, const struct endpoint *client)
{
	uint64_t rate = atomic_load_relaxed(&bucket->rate);

	if (rate > 0 && is_for(b, clients, client))
		put_bucket(b, which, bucket, rate);
}

static struct pacing *
own_record(const struct session *s, const struct pool_thread *self)
{
	return pacing_find(proxy_of(self), s->pacing);
}

/* Adds the bucket of the client's source at a frontend or backend.  of: the
 * limits there.  source: the buckets of the client's source there; without them
 * the session counts as a source of its own. */
static void
find_source_bucket(struct buckets *b, unsigned which,
    const struct bandwidth *of, struct bucket *source,
    const struct endpoint *client, unsigned from)
{
	uint64_t rate = atomic_load_relaxed(&of->source[from]);

	if (rate == 0 || !is_for(b, &of->clients[BAND_SOURCE], client))
		return;
	if (source)
		put_bucket(b, which, &source[from], rate);
	else if (b->own_rate == 0 || rate < b->own_rate)
		b->own_rate = rate;
}

/* Adds the bucket of the client's range, if an operator has limited one. */
static void
find_client_bucket(struct buckets *b, struct client_bands *bands,
    const struct endpoint *client, unsigned from)
{
	struct bucket *bucket;

	b->client_place = client_bands_place(bands, client);
	if (b->client_place == 0)
		return;
	bucket = &client_bands_buckets(bands, b->client_place)[from];
	put_bucket(
	    b, OF_CLIENT_RANGE, bucket, atomic_load_relaxed(&bucket->rate));
}

static bool
has_session_list(const struct bandwidth *b)
{
	const struct band_clients *c = &b->clients[BAND_SESSION];

	return atomic_load_relaxed(&c->only) || atomic_load_relaxed(&c->except);
}

/* Returns the buckets of a direction.  p: the session's record, or NULL if it
 * has none so far.  A session without a server is under no limit, because it
 * reads nothing. */
static struct buckets
find_buckets(const struct session *s, const struct pacing *p, unsigned from,
    struct proxy *proxy)
{
	const struct endpoint *client = session_client(s);
	struct bandwidth *frontend = &s->frontend->state->bandwidth;
	struct bandwidth *backend, *server;
	struct buckets b = {.limited = false};

	if (!s->server)
		return b;
	backend = &session_backend(s)->state->bandwidth;
	server = &s->server->state->bandwidth;
	find_bucket(&b, OF_FRONTEND, &frontend->shared[from],
	    &frontend->clients[BAND_PROXY], client);
	find_bucket(&b, OF_BACKEND, &backend->shared[from],
	    &backend->clients[BAND_PROXY], client);
	find_bucket(&b, OF_SERVER, &server->shared[from],
	    &server->clients[from], client);
	b.own_rate = bandwidth_of_session(
	    s->frontend, session_backend(s), client, (enum band_direction)from);
	b.listed |= has_session_list(frontend) || has_session_list(backend);
	find_source_bucket(
	    &b, OF_SOURCE, frontend, p ? p->source : NULL, client, from);
	find_source_bucket(&b, OF_SOURCE_AT_BACKEND, backend,
	    p ? p->at_backend : NULL, client, from);
	find_client_bucket(&b, &proxy->client_bands, client, from);
	b.limited |= b.own_rate > 0;
	return b;
}

/* -- the record -- */

static struct bucket *
source_buckets(const struct session *s)
{
	return s->limits == 0 ? NULL
	                      : limits_buckets(s->frontend->limits, s->limits,
	                            session_client(s));
}

static void
record_init(struct pacing *p, struct session *s, uint32_t index)
{
	for (unsigned i = 0; i < 2; i++) {
		struct pace *pace = &p->pace[i];

		pace->own_rate = pace->own_due_ns = 0;
		pace->granted = 0;
		atomic_store_relaxed(&pace->state, (uint8_t)PACE_READING);
		pace->from = (uint8_t)i;
		pace->counted = pace->client_place = 0;
		pace->waited_ns = 0;
	}
	p->session = s;
	p->source = source_buckets(s);
	p->at_backend = NULL;
	p->index = index;
	atomic_store_relaxed(&p->refs, (uint16_t)1);
	atomic_store_relaxed(&p->closed, false);
}

/* Enters the limits of the backend, so that its table keeps the buckets of the
 * client's source while the record points to them. */
static void
join_backend(struct pacing *p, const struct session *s)
{
	const struct limits *limits = session_backend(s)->limits;
	const struct endpoint *client = session_client(s);
	struct limit_answer answer;

	if (!limits || p->at_backend)
		return;
	answer = limits_enter(limits, client, clock_now_ns());
	p->at_backend = limits_buckets(limits, answer.counted, client);
}

/* Leaves the limits of the backend.  No direction may wait for their buckets
 * any more. */
static void
leave_backend(struct pacing *p, const struct session *s)
{
	if (!p->at_backend)
		return;
	limits_leave(session_backend(s)->limits, ONLY_LIMIT, session_client(s));
	p->at_backend = NULL;
}

/* Makes a record for the session.  Returns false when memory is short. */
static bool
record_new(struct session *s, struct proxy *proxy)
{
	struct pacing *p;
	uint32_t index;

	p = slab_take(&proxy->pacer.records, &index);
	if (!p) {
		(void)exhaustion_note(&proxy->exhaustion, ENOMEM,
		    "a session with a limit on its bandwidth is ended");
		return false;
	}
	record_init(p, s, index);
	join_backend(p, s);
	atomic_store_release(&s->pacing, index + 1); /* [P21] */
	return true;
}

/* Returns whether a limit is for the client, or may be for it later. */
static bool
may_wait(const struct session *s, unsigned from, struct proxy *proxy)
{
	struct buckets b = find_buckets(s, NULL, from, proxy);

	return b.limited || b.listed;
}

bool
pacing_begin(struct session *s, struct pool_thread *self)
{
	struct proxy *proxy = proxy_of(self);

	if (!atomic_load_relaxed(&proxy->pacer.limited))
		return true;
	if (s->pacing) {
		join_backend(own_record(s, self), s);
		return true;
	}
	if (!may_wait(s, HANDLE_CLIENT, proxy) &&
	    !may_wait(s, HANDLE_SERVER, proxy))
		return true;
	return record_new(s, proxy);
}

/* -- between processes -- */

/* Does not count bytes that were taken from the bucket and not read. */
uint64_t
pacing_paid_ns(
    const struct session *s, enum handle_side from, const struct proxy *proxy)
{
	const struct pacing *p = pacing_find(proxy, s->pacing);
	const struct pace *pace = p ? &p->pace[from] : NULL;

	if (!pace || pace->own_rate == 0)
		return 0;
	return pace->own_due_ns -
	       bandwidth_cost_ns(pace->own_rate, pace->granted);
}

void
pacing_adopt(struct session *s, const uint64_t paid_ns[2], struct proxy *proxy)
{
	uint64_t last_ns =
	    clock_now_ns() + bandwidth_cost_ns(BANDWIDTH_MIN, PORTION_MIN);

	for (unsigned i = 0; i < 2; i++) {
		struct buckets b = find_buckets(s, NULL, i, proxy);
		struct pace *pace;

		if (paid_ns[i] == 0 || b.own_rate == 0 ||
		    (!s->pacing && !record_new(s, proxy)))
			continue;
		pace = &pacing_find(proxy, s->pacing)->pace[i];
		pace->own_rate = b.own_rate;
		pace->own_due_ns = paid_ns[i] < last_ns ? paid_ns[i] : last_ns;
	}
}

/* -- what was taken -- */

static void
stop_counting(struct pace *pace, const struct session *s, struct proxy *proxy)
{
	struct bucket *of[BUCKETS];

	if (!pace->counted)
		return;
	of[OF_FRONTEND] = s->frontend->state->bandwidth.shared;
	of[OF_BACKEND] = session_backend(s)->state->bandwidth.shared;
	of[OF_SERVER] = s->server->state->bandwidth.shared;
	of[OF_SOURCE] = pacing_of(pace)->source;
	of[OF_SOURCE_AT_BACKEND] = pacing_of(pace)->at_backend;
	if (pace->client_place > 0)
		of[OF_CLIENT_RANGE] = client_bands_buckets(
		    &proxy->client_bands, pace->client_place);
	for (unsigned i = 0; i < BUCKETS; i++)
		if (pace->counted & 1u << i)
			(void)atomic_sub_relaxed(
			    &of[i][pace->from].waiting, 1u);
	pace->counted = 0;
}

static void
give_back(struct pace *pace, const struct session *s, struct proxy *proxy)
{
	struct buckets b;

	if (pace->granted == 0)
		return;
	b = find_buckets(s, pacing_of(pace), pace->from, proxy);
	for (unsigned i = 0; i < BUCKETS; i++)
		if (b.at[i])
			bucket_give(b.at[i], b.rate[i], pace->granted);
	if (pace->own_rate > 0)
		pace->own_due_ns -=
		    bandwidth_cost_ns(pace->own_rate, pace->granted);
	pace->granted = 0;
}

void
pacing_leave_server(struct session *s, struct pool_thread *self)
{
	struct pacing *p = own_record(s, self);

	for (unsigned i = 0; p && i < 2; i++) {
		stop_counting(&p->pace[i], s, proxy_of(self));
		give_back(&p->pace[i], s, proxy_of(self));
	}
	if (p)
		leave_backend(p, s);
}

void
pacing_end(struct session *s, struct pool_thread *self)
{
	struct pacing *p = own_record(s, self);

	if (!p)
		return;
	pacing_leave_server(s, self);
	atomic_store_relaxed(&s->pacing, 0u);
	atomic_store_release(&p->closed, true); /* [P40] */
	pacing_unref(&proxy_of(self)->pacer, p);
}

/* -- taking -- */

static uint32_t
portion_of(const struct buckets *b)
{
	uint32_t portion = UINT32_MAX, n;

	if (b->own_rate > 0)
		portion = bandwidth_portion(b->own_rate, 0);
	for (unsigned i = 0; i < BUCKETS; i++) {
		if (!b->at[i])
			continue;
		n = bandwidth_portion(
		    b->rate[i], atomic_load_relaxed(&b->at[i]->waiting));
		if (n < portion)
			portion = n;
	}
	return portion;
}

/* Takes the portion from the session's own bucket.  Returns the time from which
 * it may be read. */
static uint64_t
take_own(struct pace *pace, uint64_t rate, uint64_t now_ns, uint64_t catch_up)
{
	uint64_t start_ns;

	if (rate != pace->own_rate)
		pace->own_due_ns = 0;
	pace->own_rate = rate;
	if (rate == 0)
		return 0;
	start_ns = bandwidth_start_ns(pace->own_due_ns, now_ns, catch_up);
	pace->own_due_ns = start_ns + bandwidth_cost_ns(rate, pace->granted);
	return start_ns;
}

/* Takes a portion from each bucket, and sets pace->due_ns to the latest of the
 * times from which they allow to read it.  Returns the set of buckets to wait
 * for: those that are not due, and those that other directions wait for, though
 * they may be due.  Without the latter, a direction that is in its turn when a
 * bucket has time to catch up with would get all of that time. */
static uint8_t
take(struct pace *pace, const struct buckets *b, uint64_t now_ns)
{
	uint64_t catch_up = now_ns - pace->waited_ns < WAITED_RECENTLY_NS
	                        ? CATCH_UP_WAITED_NS
	                        : CATCH_UP_NS;
	uint8_t wait = 0;

	pace->granted = portion_of(b);
	pace->due_ns = take_own(pace, b->own_rate, now_ns, catch_up);
	for (unsigned i = 0; i < BUCKETS; i++) {
		uint64_t start_ns;

		if (!b->at[i])
			continue;
		start_ns = bucket_take(
		    b->at[i], b->rate[i], pace->granted, now_ns, catch_up);
		if (start_ns > pace->due_ns)
			pace->due_ns = start_ns;
		if (start_ns > now_ns ||
		    atomic_load_relaxed(&b->at[i]->waiting) > 0)
			wait |= (uint8_t)(1u << i);
	}
	return wait;
}

static void
begin_wait(struct pace *pace, const struct buckets *b, uint8_t wait,
    uint64_t now_ns, struct pool_thread *self)
{
	struct pacing *p = pacing_of(pace);

	for (unsigned i = 0; i < BUCKETS; i++)
		if (wait & 1u << i)
			atomic_add_relaxed(&b->at[i]->waiting, 1u);
	pace->counted = wait;
	pace->client_place = b->client_place;
	session_count(p->session, COUNT_ALL, COUNTER_BANDWIDTH_WAITS, 1, self);
	atomic_add_relaxed(&p->refs, 1u);
	atomic_store_relaxed(&pace->state, (uint8_t)PACE_WAITING);
	pacer_push(&proxy_of(self)->pacer, pace, now_ns);
}

void
pacing_resume(
    struct session *s, enum handle_side from, struct pool_thread *self)
{
	struct pace *pace = &own_record(s, self)->pace[from];

	if (atomic_load_acquire(&pace->state) != PACE_DUE) /* [P38] */
		return;
	atomic_store_relaxed(&pace->state, (uint8_t)PACE_READING);
	pace->waited_ns = clock_now_ns();
	stop_counting(pace, s, proxy_of(self));
	s->side[HANDLE_CLIENT].active_ms = turn_now_ms(self);
	s->side[HANDLE_SERVER].active_ms = turn_now_ms(self);
}

size_t
pacing_room(struct session *s, enum handle_side from, struct pool_thread *self)
{
	struct pace *pace = &own_record(s, self)->pace[from];
	struct buckets b;
	uint64_t now_ns;
	uint8_t wait;

	if (atomic_load_relaxed(&pace->state) != PACE_READING)
		return 0;
	if (pace->granted > 0)
		return pace->granted;
	b = find_buckets(s, pacing_of(pace), from, proxy_of(self));
	if (!b.limited)
		return SIZE_MAX;
	now_ns = clock_now_ns();
	wait = take(pace, &b, now_ns);
	if (wait == 0 && pace->due_ns <= now_ns)
		return pace->granted;
	begin_wait(pace, &b, wait, now_ns, self);
	return 0;
}

void
pacing_read(struct session *s, enum handle_side from, size_t n,
    struct pool_thread *self)
{
	struct pace *pace = &own_record(s, self)->pace[from];

	pace->granted -= n < pace->granted ? (uint32_t)n : pace->granted;
}

void
pacing_pause(struct session *s, enum handle_side from, struct pool_thread *self)
{
	struct pace *pace = &own_record(s, self)->pace[from];

	if (atomic_load_relaxed(&pace->state) != PACE_READING)
		return;
	give_back(pace, s, proxy_of(self));
}
