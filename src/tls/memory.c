/* SPDX-License-Identifier: MIT
 * See memory.h.
 */
#include "tls/memory.h"

#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "tls/memory_area.h"

static _Thread_local unsigned protections;
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
	if (!block)
		failures_here++;
	return block;
}

static void
crypto_free(void *block, const char *file, int line)
{
	(void)file;
	(void)line;
	if (tls_memory_area_has(block))
		tls_memory_area_free(block);
	else
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
	void *grown;

	if (!block)
		return crypto_malloc(size, file, line);
	if (size == 0) {
		crypto_free(block, file, line);
		return NULL;
	}
	if (tls_memory_area_has(block))
		return realloc_from_area(block, size);
	grown = realloc(block, size);
	if (!grown)
		failures_here++;
	return grown;
}

void
tls_memory_init(void)
{
	/* Refused when something was allocated before. */
	(void)CRYPTO_set_mem_functions(
	    crypto_malloc, crypto_realloc, crypto_free);
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
