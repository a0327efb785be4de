/* SPDX-License-Identifier: MIT
 * Counts the heap memory of libcurl, which lets its user choose the functions
 * that it allocates with.  (OpenSSL's: tls/memory.h.)
 */
#ifndef LOOP_LIBRARY_MEMORY_H
#define LOOP_LIBRARY_MEMORY_H

#include <stdbool.h>

#include "base/err.h"
#include "base/memory_use.h"

/* Calls curl_global_init and counts what libcurl allocates from then on.
 * Returns false when curl_global_init fails. */
bool library_curl_init(void) MUST_CHECK;

/* Returns the memory that libcurl uses. */
struct memory_use library_memory_curl(void);

#endif
