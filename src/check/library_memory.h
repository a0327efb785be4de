/* SPDX-License-Identifier: MIT
 * Counts the heap memory of the libraries that checks use: they let their user
 * choose the functions that they allocate with.
 */
#ifndef CHECK_LIBRARY_MEMORY_H
#define CHECK_LIBRARY_MEMORY_H

#include <stdbool.h>

#include "base/err.h"
#include "base/memory_use.h"

/* Counts what OpenSSL allocates from now on.  Must be called before any other
 * function of OpenSSL. */
void library_count_openssl(void);

/* Calls curl_global_init and counts what libcurl allocates from then on.
 * Returns false when curl_global_init fails. */
bool library_curl_init(void) MUST_CHECK;

/* Returns the memory that OpenSSL uses. */
struct memory_use library_memory_openssl(void);

/* Returns the memory that libcurl uses. */
struct memory_use library_memory_curl(void);

#endif
