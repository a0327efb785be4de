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

/* addr_lookup, or a test's function that returns as it does.  Blocks. */
typedef int (*lookup_function)(
    const char *host, int family, struct addr *ret_addr);

/* notify is called on any thread, with a lock held, when there is an answer:
 * it must not block, nor call a function of this file.  Returns NULL when
 * memory is short. */
struct lookups *lookups_new(
    lookup_function look, void (*notify)(void *arg), void *arg);

/* Never waits for a look-up.  Once it has returned notify is not called any
 * more.  Accepts NULL. */
void lookups_free(struct lookups *lookups);

/* Begins a look-up: the function for names_new, whose resolver is the struct
 * lookups. */
names_look_up lookups_start;

struct lookup_answer {
	struct name *name;
	int error; /* 0, or see addr_lookup_error */
	struct addr addr;
};
/* Takes the oldest answer.  Returns false if there is none.  Never waits for a
 * look-up.  Called by the owner's thread. */
bool lookups_take(struct lookups *lookups, struct lookup_answer *ret_answer);

/* Waits until there is an answer to take.  Returns false if there is none at
 * that time of clock_now_ms. */
bool lookups_wait(struct lookups *lookups, uint64_t until_ms);

#endif
