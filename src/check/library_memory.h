/* SPDX-License-Identifier: MIT
 * What the libraries of the checks take from the heap, counted: they let their
 * user choose the functions that they allocate with.
 */
#ifndef CHECK_LIBRARY_MEMORY_H
#define CHECK_LIBRARY_MEMORY_H

#include <stdbool.h>

#include "base/memory_use.h"

/* First of all, before anything was asked of OpenSSL: what it allocates from
 * then on is counted. */
void library_count_openssl(void);

/* In place of curl_global_init, which it does; false when that fails. */
bool library_curl_init(void);

struct memory_use library_memory_openssl(void);
struct memory_use library_memory_curl(void);

#endif
