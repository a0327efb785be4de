/* SPDX-License-Identifier: MIT
 * See closed.h.
 */
#include "proxy/closed.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/ensure.h"
#include "base/grace.h"
#include "proxy/inspection.h"
#include "proxy/proxy.h"
#include "proxy/session_record.h"
#include "proxy/session.h"
#include "proxy/session_facts.h"

typedef uint64_t __attribute__((may_alias)) word;

#define WORDS     (sizeof(struct closed_session) / sizeof(word))
#define TCP_FIRST (offsetof(struct closed_session, tcp) / sizeof(word))

_Static_assert(sizeof(struct closed_session) % sizeof(word) == 0 &&
                   offsetof(struct closed_session, tcp) % sizeof(word) == 0,
    "copied word by word");

struct cell {
	uint64_t sequence; /* [P23] */
	word words[WORDS];
};

struct cells {
	uint32_t n;
	struct cell all[];
};

struct closed_ring {
	struct cells
	    *cells;       /* the control thread swaps them; NULL: none [P24] */
	uint64_t written; /* records so far; the owner's, read by others */
	uint32_t taken;   /* a thread has it [P25] */
	struct closed_ring *next; /* fixed once it is in the stack */
} CACHE_LINE_ALIGNED;

const char *
closed_name(const struct closed_session *closed, enum closed_name which)
{
	const char *name = closed->names;

	while (which-- > 0)
		name += strlen(name) + 1;
	return name;
}

const char *
closer_name(enum closer closer)
{
	static const char *const names[] = {[CLOSER_PROXY] = "proxy",
	    [CLOSER_CLIENT] = "client",
	    [CLOSER_SERVER] = "server",
	    [CLOSER_BOTH] = "both"};

	_Static_assert(CLOSER_BOTH + 1 == sizeof(names) / sizeof(names[0]),
	    "each closer has a name");

	return names[closer];
}

/* -- rings -- */

/* Allocates n cells.  Pages that were never written to take no memory. */
static struct cells *
cells_new(uint32_t n)
{
	struct cells *cells =
	    n ? calloc(1, sizeof(*cells) + n * sizeof(cells->all[0])) : NULL;

	if (cells)
		cells->n = n;
	return cells;
}

void
closed_rings_fini(struct closed_rings *rings)
{
	while (rings->all) {
		struct closed_ring *ring = rings->all;

		rings->all = ring->next;
		free(ring->cells);
		free(ring);
	}
}

bool
closed_rings_resize(
    struct closed_rings *rings, uint32_t keep, struct grace *grace)
{
	bool complete = true;

	atomic_store_relaxed(&rings->keep, keep);
	rings->forgotten_ns = clock_now_ns();
	for (struct closed_ring *ring = atomic_load_acquire(&rings->all); ring;
	     ring = ring->next) {
		struct cells *cells = cells_new(keep);

		complete &= keep == 0 || cells;
		grace_retire(grace, free,
		    atomic_swap_acq_rel(&ring->cells, cells)); /* [P24] */
	}
	return complete;
}

static struct closed_ring *
ring_new(uint32_t keep)
{
	struct closed_ring *ring = aligned_alloc(CACHE_LINE, sizeof(*ring));

	if (!ring)
		return NULL;
	*ring = (struct closed_ring){.cells = cells_new(keep), .taken = 1};
	if (keep > 0 && !ring->cells) {
		free(ring);
		return NULL;
	}
	return ring;
}

struct closed_ring *
closed_ring_take(struct closed_rings *rings)
{
	struct closed_ring *first = atomic_load_acquire(&rings->all), *ring;

	for (ring = first; ring; ring = ring->next)
		if (atomic_swap_acq_rel(&ring->taken, 1u) == 0) /* [P25] */
			return ring;
	ring = ring_new(atomic_load_relaxed(&rings->keep));
	if (!ring)
		return NULL;
	do
		ring->next = first;
	while (!atomic_cas_acq_rel(&rings->all, &first, ring));
	return ring;
}

void
closed_ring_give(struct closed_ring *ring)
{
	atomic_store_release(&ring->taken, 0u); /* [P25] */
}

/* -- writing -- */

static void
put_words(struct cell *cell, const word *words, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		atomic_store_release(&cell->words[i], words[i]); /* [P23] */
}

/* Writes the record as the writer of a seqlock.  Each word is stored with
 * release, so a reader that sees any new word also sees the odd sequence
 * number.  Bytes behind the names, and TCP facts that are unknown, are not
 * written. */
void
closed_ring_put(struct closed_ring *ring, const struct closed_session *closed)
{
	struct cells *cells = atomic_load_acquire(&ring->cells); /* [P24] */
	const word *words = (const word *)closed;
	uint64_t n = ring->written;
	struct cell *cell;

	if (!cells)
		return;
	cell = &cells->all[n % cells->n];
	atomic_store_relaxed(&cell->sequence, 2 * n + 1);
	put_words(cell, words, 0,
	    (offsetof(struct closed_session, names) + closed->names_len +
	        sizeof(word) - 1) /
	        sizeof(word));
	if (closed->tcp_known[0] || closed->tcp_known[1])
		put_words(cell, words, TCP_FIRST, WORDS);
	atomic_store_release(&cell->sequence, 2 * n + 2); /* [P23] */
	atomic_store_release(&ring->written, n + 1);
}

static enum closer
closer_of(const struct session *s, enum close_reason reason)
{
	if (s->closer != CLOSER_PROXY)
		return (enum closer)s->closer;
	/* No closer is noted for a session that has not relayed.  Its reason
	 * tells whether the client has left. */
	return close_reason_code(reason)[0] == 'C' ? CLOSER_CLIENT
	                                           : CLOSER_PROXY;
}

static void
append_name(struct closed_session *c, const char *name, size_t max)
{
	size_t len = strnlen(name, max);

	memcpy(c->names + c->names_len, name, len);
	c->names_len = (uint16_t)(c->names_len + len);
	c->names[c->names_len++] = '\0';
}

/* Adds the texts of TLS, each cut to the room that the texts before it leave.
 */
static void
add_tls(struct closed_session *c, const struct session *s)
{
	struct session_tls_texts texts = {.alpn = ""};
	const char *all[SESSION_TLS_TEXTS];

	if (c->session.tls.listen > 0)
		session_tls_read_texts(s, &texts);
	session_tls_list_texts(&texts, all);
	for (size_t i = 0; i < SESSION_TLS_TEXTS; i++) {
		size_t nuls = SESSION_TLS_TEXTS - i;

		append_name(c, all[i], sizeof(c->names) - c->names_len - nuls);
	}
}

/* Returns whether to read the kernel's facts of the connections.  For a session
 * of milliseconds the two system calls are a few percent of its cost, and tell
 * little: see tests/bench/README.md. */
static bool
wants_tcp(const struct session *s, enum close_reason reason, uint64_t total_ms)
{
	enum closed_tcp_info when =
	    s->frontend->model->spec->global.closed_tcp_info;

	return when == TCP_INFO_ALL ||
	       (when == TCP_INFO_AUTO &&
	           (reason != CLOSE_DONE || total_ms >= CLOSED_LONG_MS));
}

static void
closed_read_tcp(struct closed_session *c, const struct session *s)
{
	for (int i = 0; i < 2; i++)
		c->tcp_known[i] = s->side[i].fd >= 0 && s->side[i].tcp &&
		                  tcp_facts_read(s->side[i].fd, &c->tcp[i]);
}

void
closed_note(struct closed_ring *ring, const struct session *s,
    const struct session_record *record, struct pool_thread *self)
{
	enum close_reason reason = (enum close_reason)record->reason;
	struct closed_session c;

	if (reason == CLOSE_DONE && !atomic_load_relaxed(&ring->cells))
		return;
	c.id = session_id(s->number, s->accepted_wall_us);
	c.session = *record;
	c.ended_ns = self->now_ns;
	c.first = (uint8_t)closer_of(s, reason);
	c.names_len = 0;
	append_name(&c, s->frontend->spec->name, CLOSED_NAME_SIZE - 1);
	append_name(&c,
	    session_backend(s) ? session_backend(s)->spec->name : "",
	    CLOSED_NAME_SIZE - 1);
	append_name(
	    &c, s->server ? s->server->spec->name : "", CLOSED_NAME_SIZE - 1);
	append_name(&c, inspect_name(s), TLS_NAME_MAX);
	add_tls(&c, s);
	c.tcp_known[0] = c.tcp_known[1] = false;
	if (wants_tcp(s, reason, (uint64_t)record->total_ms))
		closed_read_tcp(&c, s);
	closed_ring_put(ring, &c);
	if (reason != CLOSE_DONE)
		failures_add(&proxy_thread_of(self)->proxy->failures, &c);
}

/* -- reading -- */

/* The part of a walk that reads one ring. */
struct lane {
	const struct closed_ring *ring;
	uint64_t next; /* the record in head, from 1; 0: none is left */
	struct closed_session head;
};

struct closed_walk {
	uint32_t left;
	uint64_t lost_ns; /* see closed_walk_lost_ns */
	size_t lanes_n;
	struct closed_session given; /* by the last call */
	struct lane lanes[];
};

/* Reads record n of the ring, counted from 0.  Returns false if the record was
 * overwritten. */
static bool
ring_read(const struct closed_ring *ring, uint64_t n,
    struct closed_session *ret_closed)
{
	const struct cells *cells = atomic_load_acquire(&ring->cells);
	word *words = (word *)ret_closed;
	const struct cell *cell;

	if (!cells)
		return false;
	cell = &cells->all[n % cells->n];
	if (atomic_load_acquire(&cell->sequence) != 2 * n + 2) /* [P23] */
		return false;
	for (size_t i = 0; i < WORDS; i++)
		words[i] = atomic_load_acquire(&cell->words[i]); /* [P23] */
	return atomic_load_relaxed(&cell->sequence) == 2 * n + 2;
}

static void
note_lost(struct closed_walk *walk, uint64_t at_ns)
{
	if (walk->lost_ns < at_ns)
		walk->lost_ns = at_ns;
}

/* Reads the next older record of the lane.  A record that was overwritten ends
 * the lane, because all older ones were overwritten as well. */
static void
lane_advance(struct closed_walk *walk, struct lane *lane)
{
	lane->next--;
	if (lane->next > 0 &&
	    !ring_read(lane->ring, lane->next - 1, &lane->head)) {
		note_lost(walk, lane->head.ended_ns);
		lane->next = 0;
	}
}

struct closed_walk *
closed_walk_new(const struct closed_rings *rings)
{
	const struct closed_ring *all = atomic_load_acquire(&rings->all);
	struct closed_walk *walk;
	size_t n = 0;

	for (const struct closed_ring *r = all; r; r = r->next)
		n++;
	walk = calloc(1, sizeof(*walk) + n * sizeof(walk->lanes[0]));
	if (!walk)
		return NULL;
	walk->left = rings->keep;
	walk->lost_ns = rings->forgotten_ns;
	walk->lanes_n = n;
	for (size_t i = 0; i < n; i++, all = all->next) {
		walk->lanes[i].ring = all;
		walk->lanes[i].next = atomic_load_acquire(&all->written) + 1;
		lane_advance(walk, &walk->lanes[i]);
	}
	return walk;
}

void
closed_walk_free(struct closed_walk *walk)
{
	free(walk);
}

const struct closed_session *
closed_walk_next(struct closed_walk *walk)
{
	struct lane *latest = NULL;

	for (size_t i = 0; i < walk->lanes_n; i++) {
		struct lane *lane = &walk->lanes[i];

		if (lane->next > 0 &&
		    (!latest || lane->head.ended_ns > latest->head.ended_ns))
			latest = lane;
	}
	if (latest && walk->left == 0)
		note_lost(walk, latest->head.ended_ns);
	if (!latest || walk->left == 0)
		return NULL;
	walk->left--;
	walk->given = latest->head;
	lane_advance(walk, latest);
	return &walk->given;
}

uint64_t
closed_walk_lost_ns(const struct closed_walk *walk)
{
	return walk->lost_ns;
}
