/* SPDX-License-Identifier: MIT
 * Failed attempts to sign in, by the address that they come from.  After
 * FAILURES_MAX failures, an address has to wait FAILURE_FORGIVEN_MS before each
 * further attempt.  IPv6 addresses are counted by their /64.
 *
 * The table has a fixed size; the address whose last failure was the longest
 * time ago makes room.  Control thread.
 */
#ifndef HTTP_FAILURES_H
#define HTTP_FAILURES_H

#include <stdbool.h>
#include <stdint.h>

#include "net/addr.h"

#define FAILURES_MAX        5
#define FAILURE_FORGIVEN_MS 12000
#define FAILURES_ADDRESSES  256

struct http_failures {
	struct http_failure {
		struct endpoint from; /* family 0: the row is free */
		unsigned n;
		uint64_t at_ms; /* of the last one, or when one was forgiven */
	} rows[FAILURES_ADDRESSES];
};

/* Returns how long the address has to wait before it may try, 0: not at all. */
uint64_t http_failures_wait_ms(struct http_failures *failures,
    const struct endpoint *from, uint64_t now_ms);

/* Records a failure. */
void http_failures_add(struct http_failures *failures,
    const struct endpoint *from, uint64_t now_ms);

/* Forgives the failures of an address, from which a user has signed in. */
void http_failures_forget(
    struct http_failures *failures, const struct endpoint *from);

#endif
