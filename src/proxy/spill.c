/* SPDX-License-Identifier: MIT
 * See spill.h.
 */
#include "proxy/spill.h"

#include <stdlib.h>

int
spills_init(struct spills *spills, uint32_t max)
{
	struct slab_options options = {
	    .size = sizeof(struct spill), .max = max, .pages = true};

	spills->used = spills->idle = 0;
	return slab_init(&spills->slab, &options);
}

void
spills_fini(struct spills *spills)
{
	slab_fini(&spills->slab);
}

struct spill *
spills_take(struct spills *spills)
{
	uint32_t index;
	struct spill *spill = slab_take(&spills->slab, &index);

	if (!spill)
		return NULL;
	spill->index = index;
	if (!spill->used) {
		spill->used = true;
		atomic_add_relaxed(&spills->used, 1u);
	}
	return spill;
}

void
spills_give(struct spills *spills, struct spill *spill)
{
	slab_give(&spills->slab, spill->index);
}

/* The stack has those on top that were given last.  They are taken until enough
 * with memory have been found, and put back together, else the same ones would
 * come again. */
static void
forget(struct spills *spills, uint32_t n)
{
	struct slab *slab = &spills->slab;
	uint32_t *taken = malloc(SPILLS_TRIM_MAX * sizeof(*taken));
	uint32_t taken_n = 0;

	while (taken && n > 0 && taken_n < SPILLS_TRIM_MAX &&
	       slab_made(slab) > slab_used(slab)) {
		const struct spill *spill = slab_take(slab, &taken[taken_n]);

		if (!spill)
			break;
		if (spill->used) {
			slab_forget(slab, taken[taken_n]);
			atomic_sub_relaxed(&spills->used, 1u);
			n--;
		}
		taken_n++;
	}
	while (taken_n > 0)
		slab_give(slab, taken[--taken_n]);
	free(taken);
}

void
spills_trim(struct spills *spills)
{
	uint32_t used = atomic_load_relaxed(&spills->used);
	uint32_t taken = slab_used(&spills->slab);
	uint32_t idle = used > taken ? used - taken : 0;
	uint32_t least = idle < spills->idle ? idle : spills->idle;

	spills->idle = idle;
	if (least > 0)
		forget(spills, least);
}
