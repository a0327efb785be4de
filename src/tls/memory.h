/* SPDX-License-Identifier: MIT
 * OpenSSL's memory: counted, and private keys kept out of core dumps.
 *
 * Allocations of a thread go to an area of their own, which core dumps leave
 * out (MADV_DONTDUMP), between tls_memory_protect and tls_memory_unprotect; all
 * others go to malloc.  The area has room for some 20 000 certificates; what it
 * has no room for goes to malloc.  A block stays where it is when the other
 * state begins, and is wiped when it is freed from the area.
 *
 * Protected are the texts of key files, keys, and what OpenSSL derives from an
 * RSA key when it is first used; and ticket keys.  Not protected are values on
 * the stack and in malloc's memory during a signature, most of which OpenSSL
 * wipes; the secrets of sessions; and texts that the caller has brought.
 * OpenSSL's own secure heap was not used: it fails when it is full instead of
 * falling back, has one lock for all threads, and every handshake would take it
 * for its ephemeral key.
 */
#ifndef TLS_MEMORY_H
#define TLS_MEMORY_H

#include "base/memory_use.h"

/* Must be called before any other function of OpenSSL, and of libraries that
 * use it; else nothing is counted or protected. */
void tls_memory_init(void);

/* Has the calling thread's allocations protected.  Pairs may be nested. */
void tls_memory_protect(void);
/* Ends what tls_memory_protect began. */
void tls_memory_unprotect(void);

/* Returns the memory that OpenSSL uses.  The protected area counts as mapped.
 * Any thread. */
struct memory_use tls_memory_use(void);

#endif
