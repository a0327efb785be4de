/* SPDX-License-Identifier: MIT
 * See pending.h.
 */
#include "proxy/pending.h"

#include <stdlib.h>

int
pending_pool_init(struct pending_pool *pool, uint32_t max)
{
	struct slab_options options = {
	    .size = sizeof(struct pending), .max = max, .pages = true};

	pool->used = pool->idle = 0;
	return slab_init(&pool->slab, &options);
}

void
pending_pool_fini(struct pending_pool *pool)
{
	slab_fini(&pool->slab);
}

struct pending *
pending_take(struct pending_pool *pool)
{
	uint32_t index;
	struct pending *pending = slab_take(&pool->slab, &index);

	if (!pending)
		return NULL;
	pending->index = index;
	if (!pending->used) {
		pending->used = true;
		atomic_add_relaxed(&pool->used, 1u);
	}
	return pending;
}

void
pending_give(struct pending_pool *pool, struct pending *pending)
{
	slab_give(&pool->slab, pending->index);
}

/* Gives back the memory of n idle buffers.  The slab hands out the buffer that
 * was given last, so all buffers that were looked at are held until the end. */
static void
pending_forget(struct pending_pool *pool, uint32_t n)
{
	struct slab *slab = &pool->slab;
	uint32_t *taken = malloc(PENDING_TRIM_MAX * sizeof(*taken));
	uint32_t taken_n = 0;

	while (taken && n > 0 && taken_n < PENDING_TRIM_MAX &&
	       slab_made(slab) > slab_used(slab)) {
		const struct pending *pending =
		    slab_take(slab, &taken[taken_n]);

		if (!pending)
			break;
		if (pending->used) {
			slab_forget(slab, taken[taken_n]);
			atomic_sub_relaxed(&pool->used, 1u);
			n--;
		}
		taken_n++;
	}
	while (taken_n > 0)
		slab_give(slab, taken[--taken_n]);
	free(taken);
}

void
pending_trim(struct pending_pool *pool)
{
	uint32_t used = atomic_load_relaxed(&pool->used);
	uint32_t taken = slab_used(&pool->slab);
	uint32_t idle = used > taken ? used - taken : 0;
	uint32_t least = idle < pool->idle ? idle : pool->idle;

	pool->idle = idle;
	if (least > 0)
		pending_forget(pool, least);
}
