/* SPDX-License-Identifier: MIT
 * Look-ups of host names on threads of their own, because getaddrinfo(3)
 * blocks for as long as a name server does not answer.
 *
 *   lookups_start --> queue --> thread: look() --> answers --> lookups_take
 *                                                     |
 *                                                     +--> notify
 *
 * A thread is started when a look-up has none to run it, and ends when the
 * queue is empty; there are LOOKUPS_THREADS_MAX at most.  A look-up cannot be
 * interrupted, so nothing here waits for one to end: after lookups_free the
 * threads that are in one go on, drop their answers and end by themselves, or
 * with the process.
 */
#ifndef RESOLVE_LOOKUPS_H
#define RESOLVE_LOOKUPS_H

#include <stdbool.h>
#include <stdint.h>

#include "net/addr.h"
#include "resolve/names.h"

#define LOOKUPS_THREADS_MAX 8

struct lookups;

/* Blocks.  Returns as addr_lookup, which it is unless a test says otherwise. */
typedef int (*lookup_function)(
    const char *host, int family, struct addr *ret_addr);

/* notify is called on any thread, with a lock held, when there is an answer:
 * it must not block, nor call a function of this file.  NULL when memory is
 * short. */
struct lookups *lookups_new(
    lookup_function look, void (*notify)(void *arg), void *arg);

/* Never waits for a look-up.  Once it has returned notify is not called any
 * more.  NULL is fine. */
void lookups_free(struct lookups *lookups);

/* For names_new: the owner of a struct lookups asks with it. */
extern const struct resolver lookups_resolver;

/* The owner's thread: the next answer, oldest first; false: there is none. */
struct lookup_answer {
	struct name *name;
	int error; /* 0, or see addr_lookup_error */
	struct addr addr;
};
/* Never waits for a look-up. Returns false if no answer has come. */
bool lookups_take(struct lookups *lookups, struct lookup_answer *ret_answer);

/* Waits until there is an answer to take, or until that time of clock_now_ms:
 * false. */
bool lookups_wait(struct lookups *lookups, uint64_t until_ms);

#endif
