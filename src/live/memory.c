/* SPDX-License-Identifier: MIT
 * See memory.h.
 */
#include "live/memory.h"

#include <malloc.h>

#include "live/control.h"

static struct memory_row
slab_row(const char *what, const struct slab *slab, const char *note)
{
	return (struct memory_row){.what = what,
	    .count = slab_used(slab),
	    .mapped = slab_mapped(slab),
	    .note = note};
}

/* The most that the buffers in use take: memory is touched only as far as they
 * were filled. */
static struct memory_row
pending_row(const struct pending_pool *pool)
{
	return (struct memory_row){.what = "pending buffers",
	    .count = slab_used(&pool->slab),
	    .mapped =
	        atomic_load_relaxed(&pool->used) * pool->slab.options.size,
	    .note = "at most: touched as far as they were filled"};
}

static struct memory_row
pipes_row(const struct splice_pool *pool)
{
	struct splice_status pipes = splice_pool_status(pool);

	return (struct memory_row){.what = "splice pipes",
	    .count = pipes.open,
	    .kernel = pipes.bytes,
	    .note = "in the kernel when full"};
}

static struct memory_row
threads_row(struct pools *pools)
{
	struct memory_row row = {.what = "threads",
	    .note = "most at once; their relay buffers are in the heap"};

	for (size_t i = 0; i < pools_count(pools); i++)
		row.count += pool_places(pools_at(pools, i));
	return row;
}

static struct memory_row
models_row(const struct model *model)
{
	struct memory_row row = {.what = "former models",
	    .note = "in the heap until their sessions have ended"};

	for (const struct model *m = model->state->retired; m;
	     m = m->next_retired)
		row.count++;
	return row;
}

void
memory_facts_read(struct control *control, struct memory_facts *ret_facts)
{
	const struct proxy *p = &control->instance.proxy;
	struct mallinfo2 info = mallinfo2();

	*ret_facts = (struct memory_facts){
	    .rows =
	        {
	            slab_row("sessions", &p->sessions,
	                "ended sessions are kept for reuse"),
	            slab_row("inspections", &p->inspections,
	                "bytes that were read before a server was chosen"),
	            slab_row("bandwidth records", &p->pacer.records,
	                "of sessions under a limit on their bandwidth"),
	            pending_row(&p->pending_pool),
	            pipes_row(&p->pipes),
	            threads_row(control->pools),
	            models_row(control->instance.model),
	        },
	    .totals = {.heap = info.uordblks + info.hblkhd,
	        .heap_idle = info.fordblks},
	};
	(void)system_memory(&ret_facts->totals.kernel);
}
