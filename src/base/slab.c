/* SPDX-License-Identifier: MIT
 * See slab.h.
 */
#include "base/slab.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/ensure.h"
#include "base/fault.h"

static size_t
round_up(size_t n, size_t to)
{
	return (n + to - 1) / to * to;
}

static size_t
chunk_size(const struct slab *slab)
{
	return SLAB_CHUNK * slab->options.size;
}

int
slab_init(struct slab *slab, const struct slab_options *options)
{
	size_t chunks = options->max / SLAB_CHUNK + 1;
	size_t align =
	    options->pages ? (size_t)sysconf(_SC_PAGESIZE) : CACHE_LINE;

	*slab = (struct slab){.options = *options};
	slab->options.size = round_up(options->size, align);
	slab->chunks = calloc(chunks, sizeof(*slab->chunks));
	slab->next = calloc(chunks * SLAB_CHUNK, sizeof(*slab->next));
	if (!slab->chunks || !slab->next) {
		free(slab->chunks);
		free(slab->next);
		slab->chunks = NULL;
		return -ENOMEM;
	}
	lock_init(&slab->grow);
	return 0;
}

void
slab_fini(struct slab *slab)
{
	if (!slab->chunks)
		return;
	for (uint32_t i = 0; i < slab->made; i += SLAB_CHUNK)
		munmap(slab->chunks[i / SLAB_CHUNK], chunk_size(slab));
	free(slab->next);
	free(slab->chunks);
	slab->chunks = NULL;
	lock_fini(&slab->grow);
}

uint64_t
slab_mapped(const struct slab *slab)
{
	return slab_made(slab) / SLAB_CHUNK * chunk_size(slab);
}

static void *
object_at(const struct slab *slab, void *chunk, uint32_t i)
{
	return (uint8_t *)chunk + i * slab->options.size;
}

void *
slab_at(const struct slab *slab, uint32_t index)
{
	void *chunk =
	    atomic_load_acquire(&slab->chunks[index / SLAB_CHUNK]); /* [P5] */

	return object_at(slab, chunk, index % SLAB_CHUNK);
}

static void
push(struct slab *slab, uint32_t index)
{
	uint64_t top = atomic_load_relaxed(&slab->free), new_top;

	do {
		atomic_store_relaxed(&slab->next[index], (uint32_t)top);
		new_top = ((top >> 32) + 1) << 32 | (index + 1);
	} while (!atomic_cas_acq_rel(&slab->free, &top, new_top));
}

/* Takes the top of the free list.  The tag grows with every change, so the
 * exchange notices a top that left and came back after its link was read. */
static bool
pop(struct slab *slab, uint32_t *ret_index)
{
	uint64_t top = atomic_load_acquire(&slab->free), new_top;
	uint32_t index;

	do {
		if ((uint32_t)top == 0)
			return false;
		index = (uint32_t)top - 1;
		new_top = ((top >> 32) + 1) << 32 |
		          atomic_load_relaxed(&slab->next[index]);
	} while (!atomic_cas_acq_rel(&slab->free, &top, new_top));
	*ret_index = index;
	return true;
}

/* Makes a chunk.  Caller holds slab->grow.  mmap, unlike malloc, gives whole
 * pages that are zero, are touched only when used, and never mix with the heap.
 */
static bool
grow_locked(struct slab *slab)
{
	void *c;
	uint32_t first = slab->made;

	/* Takers that are about to be refused may hold the last few objects of
	 * the last chunk. */
	if (first >= slab->options.max || fault_fails(FAULT_SLAB))
		return false;
	c = mmap(NULL, chunk_size(slab), PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (c == MAP_FAILED)
		return false;
	for (uint32_t i = 0; slab->options.construct && i < SLAB_CHUNK; i++) {
		if (!slab->options.construct(
		        object_at(slab, c, i), first + i, slab->options.arg)) {
			munmap(c, chunk_size(slab));
			return false;
		}
	}
	atomic_store_release(&slab->chunks[first / SLAB_CHUNK], c); /* [P5] */
	atomic_store_release(&slab->made, first + SLAB_CHUNK);      /* [P5] */
	for (uint32_t i = SLAB_CHUNK; i-- > 0;)
		push(slab, first + i);
	return true;
}

void *
slab_take(struct slab *slab, uint32_t *ret_index)
{
	bool grown = true;
	uint32_t index;

	while (!pop(slab, &index)) {
		if (!grown)
			return NULL;
		lock_acquire(&slab->grow);
		/* Another thread may have grown it while this one waited. */
		if ((uint32_t)atomic_load_acquire(&slab->free) == 0)
			grown = grow_locked(slab);
		lock_release(&slab->grow);
	}
	if (atomic_add_relaxed(&slab->used, 1u) >= slab->options.max) {
		slab_give(slab, index);
		return NULL;
	}
	*ret_index = index;
	return slab_at(slab, index);
}

void
slab_give(struct slab *slab, uint32_t index)
{
	(void)atomic_sub_seq(&slab->used, 1u); /* [P12] */
	push(slab, index);
}

void
slab_forget(struct slab *slab, uint32_t index)
{
	ENSURE(slab->options.pages);
	(void)madvise(slab_at(slab, index), slab->options.size, MADV_DONTNEED);
}
