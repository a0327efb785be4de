/* SPDX-License-Identifier: MIT
 * See ring.h.
 */
#include "base/ring.h"

#include <stdlib.h>
#include <string.h>

#include "base/atomics.h"
#include "base/ensure.h"

struct cell {
	uint64_t turn; /* == position: free; == position + 1: filled */
	uint8_t record[];
};

struct ring {
	uint64_t head CACHE_LINE_ALIGNED; /* next position to fill */
	uint64_t tail CACHE_LINE_ALIGNED; /* next to take; the taker's own */
	size_t mask, size, stride;
	uint8_t *cells;
};

static struct cell *
cell_at(const struct ring *ring, uint64_t position)
{
	return (struct cell *)(void *)(ring->cells +
	                               (position & ring->mask) * ring->stride);
}

struct ring *
ring_new(size_t cells, size_t size)
{
	struct ring *r = aligned_alloc(CACHE_LINE, sizeof(*r));

	/* In a single cell `filled` and `free for the next lap` look alike. */
	ENSURE(cells > 1 && (cells & (cells - 1)) == 0);
	if (!r)
		return NULL;
	*r = (struct ring){.mask = cells - 1, .size = size};
	r->stride = (sizeof(struct cell) + size + 7) / 8 * 8;
	r->cells = calloc(cells, r->stride);
	if (!r->cells) {
		free(r);
		return NULL;
	}
	for (size_t i = 0; i < cells; i++)
		cell_at(r, i)->turn = i;
	return r;
}

void
ring_free(struct ring *ring)
{
	if (!ring)
		return;
	free(ring->cells);
	free(ring);
}

bool
ring_put(struct ring *ring, const void *record)
{
	uint64_t position = atomic_load_relaxed(&ring->head);
	struct cell *c;

	for (;;) {
		uint64_t turn;

		c = cell_at(ring, position);
		turn = atomic_load_acquire(&c->turn); /* [P6] */
		if (turn < position)
			return false;
		if (turn > position)
			position = atomic_load_relaxed(&ring->head);
		else if (atomic_cas_relaxed(
		             &ring->head, &position, position + 1))
			break;
	}
	memcpy(c->record, record, ring->size);
	(void)atomic_swap_seq(&c->turn, position + 1); /* [P6] */
	return true;
}

bool
ring_take(struct ring *ring, void *ret_record)
{
	struct cell *c = cell_at(ring, ring->tail);

	if (atomic_load_seq(&c->turn) != ring->tail + 1) /* [P6] */
		return false;
	memcpy(ret_record, c->record, ring->size);
	atomic_store_release(&c->turn, ring->tail + ring->mask + 1); /* [P6] */
	ring->tail++;
	return true;
}
