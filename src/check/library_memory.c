/* SPDX-License-Identifier: MIT
 * See library_memory.h.
 */
#include "check/library_memory.h"

#include <curl/curl.h>
#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>

static struct memory_count openssl_count, curl_count;

static void
counted_free(struct memory_count *count, void *block)
{
	memory_count_given(count, block);
	free(block);
}

static void *
counted_realloc(struct memory_count *count, void *block, size_t size)
{
	uint64_t before = memory_of_block(block);
	void *grown = realloc(block, size);

	/* When there is no memory the old block stays. */
	if (!grown && size > 0)
		return NULL;
	if (block) {
		atomic_sub_relaxed(&count->blocks, UINT64_C(1));
		atomic_sub_relaxed(&count->bytes, before);
	}
	return memory_count_taken(count, grown);
}

/* -- OpenSSL -- */

/* Returns NULL for size 0, as CRYPTO_malloc does by default. */
static void *
openssl_malloc(size_t size, const char *file, int line)
{
	(void)file;
	(void)line;
	return size > 0 ? memory_count_taken(&openssl_count, malloc(size))
	                : NULL;
}

static void
openssl_free(void *block, const char *file, int line)
{
	(void)file;
	(void)line;
	counted_free(&openssl_count, block);
}

static void *
openssl_realloc(void *block, size_t size, const char *file, int line)
{
	if (size == 0) {
		openssl_free(block, file, line);
		return NULL;
	}
	return counted_realloc(&openssl_count, block, size);
}

void
library_count_openssl(void)
{
	/* Refused when something was allocated before: then it is 0. */
	(void)CRYPTO_set_mem_functions(
	    openssl_malloc, openssl_realloc, openssl_free);
}

/* -- curl -- */

static void *
curl_malloc(size_t size)
{
	return memory_count_taken(&curl_count, malloc(size));
}

static void *
curl_calloc(size_t n, size_t size)
{
	return memory_count_taken(&curl_count, calloc(n, size));
}

static char *
curl_strdup(const char *text)
{
	return memory_count_taken(&curl_count, strdup(text));
}

static void *
curl_realloc(void *block, size_t size)
{
	return counted_realloc(&curl_count, block, size);
}

static void
curl_counted_free(void *block)
{
	counted_free(&curl_count, block);
}

bool
library_curl_init(void)
{
	return curl_global_init_mem(CURL_GLOBAL_SSL, curl_malloc,
	           curl_counted_free, curl_realloc, curl_strdup,
	           curl_calloc) == CURLE_OK;
}

/* -- both -- */

struct memory_use
library_memory_openssl(void)
{
	return memory_count_read(&openssl_count);
}

struct memory_use
library_memory_curl(void)
{
	return memory_count_read(&curl_count);
}
