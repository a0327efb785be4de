/* SPDX-License-Identifier: MIT
 * See memory.h.
 *
 * A handshake makes more than a thousand allocations on each side.  Each thread
 * counts in a place of its own, so that threads do not write to the same words.
 */
#include "tls/memory.h"

#include <openssl/crypto.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/atomics.h"
#include "base/fault.h"
#include "tls/memory_area.h"

/* Further threads share a place. */
#define PLACES 256

/* What a thread has allocated less what it has freed, which may be
 * another's. */
struct place {
	uint64_t blocks, bytes; /* the owner's; read by any thread */
	bool taken;
} CACHE_LINE_ALIGNED;

/* Threads without a place of their own share the first one, by atomic
 * additions. */
static struct place places[PLACES];
static _Thread_local struct place *own_place;
static _Thread_local unsigned protections;
static pthread_key_t place_key;
static bool counting;

/* Called when a thread ends.  OpenSSL may still free blocks of the thread
 * afterwards; they are counted in the shared place. */
static void
leave_place(void *place)
{
	struct place *it = place;

	own_place = &places[0];
	atomic_store_release(&it->taken, false); /* [P29] */
}

static struct place *
choose_place(void)
{
	for (unsigned i = 1; i < PLACES; i++) {
		bool taken = false;

		if (atomic_load_relaxed(&places[i].taken))
			continue;
		/* [P29] */
		if (atomic_cas_acq_rel(&places[i].taken, &taken, true)) {
			if (pthread_setspecific(place_key, &places[i]) == 0)
				return &places[i];
			atomic_store_release(&places[i].taken, false);
			break;
		}
	}
	return &places[0];
}

static inline void
count_blocks(uint64_t blocks, uint64_t bytes)
{
	struct place *place = own_place;

	if (__builtin_expect(!place, 0))
		place = own_place = choose_place();
	if (__builtin_expect(place != &places[0], 1)) {
		atomic_bump_own(&place->blocks, blocks);
		atomic_bump_own(&place->bytes, bytes);
	} else {
		atomic_add_relaxed(&place->blocks, blocks);
		atomic_add_relaxed(&place->bytes, bytes);
	}
}

/* -- OpenSSL's allocations -- */

static _Thread_local uint64_t failures_here;

uint64_t
tls_memory_failures_here(void)
{
	return failures_here;
}

/* Returns NULL for size 0, as CRYPTO_malloc does by default. */
static void *
crypto_malloc(size_t size, const char *file, int line)
{
	void *block = NULL;

	(void)file;
	(void)line;
	if (size == 0)
		return NULL;
	if (protections > 0)
		block = tls_memory_area_malloc(size);
	if (block)
		return block;
	block = fault_fails(FAULT_TLS_MEMORY) ? NULL : malloc(size);
	if (block)
		count_blocks(1, memory_of_block(block));
	else
		failures_here++;
	return block;
}

static void
crypto_free(void *block, const char *file, int line)
{
	(void)file;
	(void)line;
	if (!block)
		return;
	if (tls_memory_area_has(block)) {
		tls_memory_area_free(block);
		return;
	}
	count_blocks(UINT64_MAX, -memory_of_block(block));
	free(block);
}

static void *
realloc_from_area(void *block, size_t size)
{
	size_t old_size = tls_memory_area_size(block);
	void *grown;

	if (size <= old_size)
		return block;
	/* The copy is protected too, whether the thread is in a pair or not. */
	tls_memory_protect();
	grown = crypto_malloc(size, "", 0);
	tls_memory_unprotect();
	if (!grown)
		return NULL;
	memcpy(grown, block, old_size);
	tls_memory_area_free(block);
	return grown;
}

static void *
crypto_realloc(void *block, size_t size, const char *file, int line)
{
	uint64_t old_bytes;
	void *grown;

	if (!block)
		return crypto_malloc(size, file, line);
	if (size == 0) {
		crypto_free(block, file, line);
		return NULL;
	}
	if (tls_memory_area_has(block))
		return realloc_from_area(block, size);
	old_bytes = memory_of_block(block);
	grown = realloc(block, size);
	/* After a failed realloc(3) the old block stays. */
	if (grown)
		count_blocks(0, memory_of_block(grown) - old_bytes);
	else
		failures_here++;
	return grown;
}

void
tls_memory_init(void)
{
	if (pthread_key_create(&place_key, leave_place) != 0)
		return;
	/* Refused when something was allocated before. */
	counting = CRYPTO_set_mem_functions(
	               crypto_malloc, crypto_realloc, crypto_free) == 1;
}

void
tls_memory_protect(void)
{
	protections++;
}

void
tls_memory_unprotect(void)
{
	protections--;
}

struct memory_use
tls_memory_use(void)
{
	struct memory_use use = {.count = 0};

	if (!counting)
		return use;
	tls_memory_area_use(&use);
	for (unsigned i = 0; i < PLACES; i++) {
		use.count += atomic_load_relaxed(&places[i].blocks);
		use.heap += atomic_load_relaxed(&places[i].bytes);
	}
	return use;
}
