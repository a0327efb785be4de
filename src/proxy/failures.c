/* SPDX-License-Identifier: MIT
 * See failures.h.
 */
#include "proxy/failures.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/atomics.h"
#include "base/clock.h"

struct failure_cell {
	struct failure_kind kind;
	struct list by_age;
	uint16_t next; /* in its chain: cell + 1; 0: the last one */
	uint16_t head;
};

bool
failures_init(struct failures *failures)
{
	struct failures *f = failures;

	memset(f, 0, sizeof(*f));
	lock_init(&f->lock);
	list_init(&f->by_age);
	f->begun_us = clock_wall_us();
	/* Pages of cells that were never used take no memory. */
	f->cells = calloc(FAILURES_CELLS, sizeof(f->cells[0]));
	return f->cells;
}

void
failures_fini(struct failures *failures)
{
	free(failures->cells);
	failures->cells = NULL;
	lock_fini(&failures->lock);
}

/* -- finding a cell -- */

/* The key of a cell: its reason, and names with their NULs. */
struct key {
	const char *names;
	size_t len;
	uint8_t reason;
};

static struct key
key_of(const struct closed_session *c)
{
	const char *end = closed_name(c, CLOSED_SERVER);

	return (struct key){.names = c->names,
	    .len = (size_t)(end - c->names) + strlen(end) + 1,
	    .reason = c->session.reason};
}

static uint16_t
head_of(const struct key *key)
{
	return (uint16_t)(XXH64(key->names, key->len, key->reason) %
	                  FAILURES_CELLS);
}

static bool
is_of(const struct failure_kind *kind, const struct key *key)
{
	return kind->reason == key->reason && kind->key_len == key->len &&
	       memcmp(kind->key, key->names, key->len) == 0;
}

static struct failure_cell *
find_cell(struct failures *f, const struct key *key)
{
	for (uint16_t i = f->heads[head_of(key)]; i > 0;
	     i = f->cells[i - 1].next)
		if (is_of(&f->cells[i - 1].kind, key))
			return &f->cells[i - 1];
	return NULL;
}

static void
note_others(struct failures *f, uint64_t at_ns, uint64_t at_us)
{
	if (f->others_ns < at_ns)
		f->others_ns = at_ns;
	if (f->others_us < at_us)
		f->others_us = at_us;
}

/* Takes the cell out of its chain, and moves its counts to others. */
static void
empty_cell(struct failures *f, struct failure_cell *cell)
{
	uint16_t number = (uint16_t)(cell - f->cells + 1);
	uint16_t *at = &f->heads[cell->head];

	while (*at != number)
		at = &f->cells[*at - 1].next;
	*at = cell->next;
	list_remove(&cell->by_age);
	time_counts_merge(&f->others, &cell->kind.counts);
	note_others(f, cell->kind.last_ns, cell->kind.last_us);
	memset(cell, 0, offsetof(struct failure_cell, kind.examples));
}

/* Returns an unused cell, or NULL. */
static struct failure_cell *
free_cell(struct failures *f, uint64_t now_ns)
{
	struct failure_cell *oldest;

	if (f->used < FAILURES_CELLS) {
		atomic_store_relaxed(&f->used, f->used + 1);
		return &f->cells[f->used - 1];
	}
	oldest = container_of(f->by_age.next, struct failure_cell, by_age);
	if (oldest->kind.last_ns + FAILURES_IDLE_NS > now_ns)
		return NULL;
	empty_cell(f, oldest);
	return oldest;
}

static struct failure_cell *
make_cell(struct failures *f, const struct key *key, uint64_t now_ns)
{
	struct failure_cell *cell = free_cell(f, now_ns);

	if (!cell)
		return NULL;
	cell->kind.reason = key->reason;
	cell->kind.key_len = (uint8_t)key->len;
	memcpy(cell->kind.key, key->names, key->len);
	cell->head = head_of(key);
	cell->next = f->heads[cell->head];
	f->heads[cell->head] = (uint16_t)(cell - f->cells + 1);
	list_init(&cell->by_age);
	return cell;
}

/* Returns the cell of that key, as the one used last, or NULL if there is no
 * room for it. */
static struct failure_cell *
use_cell(struct failures *f, const struct key *key, uint64_t now_ns)
{
	struct failure_cell *cell = find_cell(f, key);

	if (!cell)
		cell = make_cell(f, key, now_ns);
	if (!cell)
		return NULL;
	list_remove(&cell->by_age);
	list_append(&f->by_age, &cell->by_age);
	return cell;
}

/* -- counting -- */

static uint64_t
ended_us(const struct closed_session *c)
{
	return c->session.accepted_wall_us +
	       (uint64_t)c->session.total_ms * 1000;
}

/* Widens the cell's times to these. */
static void
note_times(struct failure_kind *kind, uint64_t first_us, uint64_t last_us,
    uint64_t last_ns)
{
	if (kind->first_us == 0 || first_us < kind->first_us)
		kind->first_us = first_us;
	if (kind->last_us < last_us)
		kind->last_us = last_us;
	if (kind->last_ns < last_ns)
		kind->last_ns = last_ns;
}

void
failures_add(struct failures *failures, const struct closed_session *closed)
{
	struct failures *f = failures;
	const struct key key = key_of(closed);
	uint64_t at_us = ended_us(closed);
	struct failure_cell *cell;

	lock_acquire(&f->lock);
	cell = use_cell(f, &key, closed->ended_ns);
	if (cell) {
		struct failure_kind *kind = &cell->kind;

		time_counts_add(&kind->counts, closed->ended_ns, 1);
		note_times(kind, at_us, at_us, closed->ended_ns);
		kind->examples[kind->examples_n++ % FAILURES_EXAMPLES] =
		    *closed;
	} else {
		time_counts_add(&f->others, closed->ended_ns, 1);
		note_others(f, closed->ended_ns, at_us);
	}
	lock_release(&f->lock);
}

/* -- for another process -- */

static void
take_others(struct failures *f, struct failure_kind *ret_kind)
{
	memset(ret_kind, 0, sizeof(*ret_kind));
	ret_kind->counts = f->others;
	ret_kind->first_us = f->begun_us;
	ret_kind->last_us = f->others_us;
	ret_kind->last_ns = f->others_ns;
	memset(&f->others, 0, sizeof(f->others));
}

bool
failures_take(
    struct failures *failures, uint32_t *at, struct failure_kind *ret_kind)
{
	struct failures *f = failures;
	bool found = false;

	lock_acquire(&f->lock);
	while (!found && *at <= f->used) {
		struct failure_kind *kind = &f->cells[*at].kind;

		found = *at == f->used || kind->counts.total > 0;
		if (*at == f->used) {
			take_others(f, ret_kind);
		} else if (found) {
			*ret_kind = *kind;
			memset(&kind->counts, 0, sizeof(kind->counts));
			kind->first_us = kind->examples_n = 0;
		}
		++*at;
	}
	lock_release(&f->lock);
	return found;
}

/* Puts the record among those of the cell, which are in the order of their
 * ends. */
static void
insert_example(struct failure_kind *kind, const struct closed_session *c)
{
	uint64_t at = kind->examples_n++;

	for (; at > 0 && kind->examples_n - at < FAILURES_EXAMPLES; at--) {
		const struct closed_session *before =
		    &kind->examples[(at - 1) % FAILURES_EXAMPLES];

		if (before->ended_ns <= c->ended_ns)
			break;
		kind->examples[at % FAILURES_EXAMPLES] = *before;
	}
	kind->examples[at % FAILURES_EXAMPLES] = *c;
}

/* Adds records of another process. */
static void
merge_examples(struct failure_kind *to, const struct failure_kind *from)
{
	for (unsigned i = FAILURES_EXAMPLES; i-- > 0;) {
		const struct closed_session *c = failure_kind_example(from, i);
		const struct closed_session *oldest =
		    failure_kind_example(to, FAILURES_EXAMPLES - 1);

		if (c && (!oldest || oldest->ended_ns <= c->ended_ns))
			insert_example(to, c);
	}
}

void
failures_merge(struct failures *failures, const struct failure_kind *kind)
{
	struct failures *f = failures;
	const struct key key = {
	    .names = kind->key, .len = kind->key_len, .reason = kind->reason};
	struct failure_cell *cell = NULL;

	lock_acquire(&f->lock);
	if (kind->reason != CLOSE_DONE)
		cell = use_cell(f, &key, kind->last_ns);
	else if (kind->first_us < f->begun_us)
		f->begun_us = kind->first_us;
	if (cell) {
		time_counts_merge(&cell->kind.counts, &kind->counts);
		note_times(
		    &cell->kind, kind->first_us, kind->last_us, kind->last_ns);
		merge_examples(&cell->kind, kind);
	} else {
		time_counts_merge(&f->others, &kind->counts);
		note_others(f, kind->last_ns, kind->last_us);
	}
	lock_release(&f->lock);
}

/* -- reading -- */

bool
failures_read(
    struct failures *failures, uint32_t cell, struct failure_kind *ret_kind)
{
	bool found;

	lock_acquire(&failures->lock);
	found = cell < failures->used;
	if (found)
		*ret_kind = failures->cells[cell].kind;
	lock_release(&failures->lock);
	return found;
}

void
failures_know(struct failures *failures, const struct time_window *window,
    struct failures_known *ret_known)
{
	struct failures *f = failures;

	lock_acquire(&f->lock);
	*ret_known = (struct failures_known){.begun_us = f->begun_us,
	    .others = time_counts_in(&f->others, window),
	    .complete_us =
	        f->others_us > f->begun_us ? f->others_us : f->begun_us};
	lock_release(&f->lock);
}

const char *
failure_kind_name(const struct failure_kind *kind, enum closed_name which)
{
	const char *name = kind->key;

	while (which-- > 0)
		name += strlen(name) + 1;
	return name;
}

const struct closed_session *
failure_kind_example(const struct failure_kind *kind, unsigned i)
{
	uint64_t n = kind->examples_n;

	return i < n && i < FAILURES_EXAMPLES
	           ? &kind->examples[(n - 1 - i) % FAILURES_EXAMPLES]
	           : NULL;
}
