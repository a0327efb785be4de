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
	f->begun_ns = clock_now_ns();
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

/* Returns the length of the names that are the key, with their NULs. */
static size_t
key_len(const struct closed_session *c)
{
	const char *end = closed_name(c, CLOSED_SERVER);

	return (size_t)(end - c->names) + strlen(end) + 1;
}

static uint16_t
head_of(const struct closed_session *c, size_t len)
{
	return (
	    uint16_t)(XXH64(c->names, len, c->session.reason) % FAILURES_CELLS);
}

static bool
is_of(
    const struct failure_kind *kind, const struct closed_session *c, size_t len)
{
	return kind->reason == c->session.reason && kind->key_len == len &&
	       memcmp(kind->key, c->names, len) == 0;
}

static struct failure_cell *
find_cell(struct failures *f, const struct closed_session *c, size_t len)
{
	for (uint16_t i = f->heads[head_of(c, len)]; i > 0;
	     i = f->cells[i - 1].next)
		if (is_of(&f->cells[i - 1].kind, c, len))
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
make_cell(struct failures *f, const struct closed_session *c, size_t len)
{
	struct failure_cell *cell = free_cell(f, c->ended_ns);

	if (!cell)
		return NULL;
	cell->kind.reason = c->session.reason;
	cell->kind.key_len = (uint8_t)len;
	memcpy(cell->kind.key, c->names, len);
	cell->head = head_of(c, len);
	cell->next = f->heads[cell->head];
	f->heads[cell->head] = (uint16_t)(cell - f->cells + 1);
	list_init(&cell->by_age);
	return cell;
}

/* -- counting -- */

static uint64_t
ended_us(const struct closed_session *c)
{
	return c->session.accepted_wall_us +
	       (uint64_t)c->session.total_ms * 1000;
}

static void
count_in(struct failure_kind *kind, const struct closed_session *c)
{
	uint64_t at_us = ended_us(c);

	time_counts_add(&kind->counts, c->ended_ns, 1);
	if (kind->first_us == 0 || at_us < kind->first_us)
		kind->first_us = at_us;
	if (kind->last_us < at_us)
		kind->last_us = at_us;
	if (kind->last_ns < c->ended_ns)
		kind->last_ns = c->ended_ns;
	kind->examples[kind->examples_n++ % FAILURES_EXAMPLES] = *c;
}

void
failures_add(struct failures *failures, const struct closed_session *closed)
{
	struct failures *f = failures;
	size_t len = key_len(closed);
	struct failure_cell *cell;

	lock_acquire(&f->lock);
	cell = find_cell(f, closed, len);
	if (!cell)
		cell = make_cell(f, closed, len);
	if (cell) {
		count_in(&cell->kind, closed);
		list_remove(&cell->by_age);
		list_append(&f->by_age, &cell->by_age);
	} else {
		time_counts_add(&f->others, closed->ended_ns, 1);
		note_others(f, closed->ended_ns, ended_us(closed));
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

struct memory_use
failures_memory(const struct failures *failures)
{
	struct memory_use use = {.count = atomic_load_relaxed(&failures->used)};

	memory_add_block(&use, failures->cells);
	return use;
}
