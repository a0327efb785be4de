/* SPDX-License-Identifier: MIT
 * OpenSSL's memory: private keys are kept out of core dumps, and failed
 * allocations are counted.
 *
 * Between tls_memory_protect and tls_memory_unprotect, allocations of a thread
 * are made in a separate area, which core dumps leave out (MADV_DONTDUMP); all
 * others are made by malloc.  The area has room for some 20 000 certificates;
 * when it is full, malloc is used instead.  A block stays where it is when
 * protection begins or ends, and a block of the area is wiped when it is freed.
 *
 * The area protects the texts of key files, keys, what OpenSSL derives from an
 * RSA key when it is first used, and ticket keys.  Not protected are values on
 * the stack and in malloc's memory during a signature, most of which OpenSSL
 * wipes; the secrets of sessions; and texts that the caller has brought.
 * OpenSSL's own secure heap does not suit: it fails when it is full instead of
 * falling back, has one lock for all threads, and every handshake would take
 * that lock for its ephemeral key.  A process without any core dump
 * (PR_SET_DUMPABLE) does not suit either: a crash would leave nothing to
 * examine, and its own user could not attach a debugger or a profiler, nor read
 * /proc/PID.
 */
#ifndef TLS_MEMORY_H
#define TLS_MEMORY_H

#include <stdint.h>

/* To be called before any other function of OpenSSL, and of libraries that use
 * it; otherwise nothing is protected or counted. */
void tls_memory_init(void);

/* Protects the calling thread's allocations until tls_memory_unprotect.  Pairs
 * may be nested. */
void tls_memory_protect(void);
/* Ends what tls_memory_protect began. */
void tls_memory_unprotect(void);

/* Returns how many allocations of OpenSSL have failed on the calling thread.  A
 * call of OpenSSL that fails while the number grows lacks memory, whatever
 * error it reports. */
uint64_t tls_memory_failures_here(void);

#endif
