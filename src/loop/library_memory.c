/* SPDX-License-Identifier: MIT
 * See library_memory.h.
 */
#include "loop/library_memory.h"

#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>

#include "base/atomics.h"

/* The memory that libcurl uses; any thread, relaxed. */
static struct memory_use curl_use;

static void *
count_taken(struct memory_use *use, void *block)
{
	atomic_add_relaxed(&use->count, (uint64_t)(block != NULL));
	atomic_add_relaxed(&use->heap, memory_of_block(block));
	return block;
}

static void
count_given(struct memory_use *use, uint64_t blocks, uint64_t bytes)
{
	atomic_sub_relaxed(&use->count, blocks);
	atomic_sub_relaxed(&use->heap, bytes);
}

static void
counted_free(struct memory_use *use, void *block)
{
	count_given(use, block != NULL, memory_of_block(block));
	free(block);
}

static void *
counted_realloc(struct memory_use *use, void *block, size_t size)
{
	uint64_t blocks = block != NULL, bytes = memory_of_block(block);
	void *grown = realloc(block, size);

	/* If realloc(3) has failed, the old block stays. */
	if (!grown && size > 0)
		return NULL;
	count_given(use, blocks, bytes);
	return count_taken(use, grown);
}

static struct memory_use
read_use(const struct memory_use *use)
{
	return (struct memory_use){.count = atomic_load_relaxed(&use->count),
	    .heap = atomic_load_relaxed(&use->heap)};
}

static void *
curl_malloc(size_t size)
{
	return count_taken(&curl_use, malloc(size));
}

static void *
curl_calloc(size_t n, size_t size)
{
	return count_taken(&curl_use, calloc(n, size));
}

static char *
curl_strdup(const char *text)
{
	return count_taken(&curl_use, strdup(text));
}

static void *
curl_realloc(void *block, size_t size)
{
	return counted_realloc(&curl_use, block, size);
}

static void
curl_counted_free(void *block)
{
	counted_free(&curl_use, block);
}

bool
library_curl_init(void)
{
	return curl_global_init_mem(CURL_GLOBAL_SSL, curl_malloc,
	           curl_counted_free, curl_realloc, curl_strdup,
	           curl_calloc) == CURLE_OK;
}

struct memory_use
library_memory_curl(void)
{
	return read_use(&curl_use);
}
