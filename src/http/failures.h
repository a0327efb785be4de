/* SPDX-License-Identifier: MIT
 * Attempts to sign in, by the address that they come from.
 *
 *   begin --counts--> a password is wrong: the count stays
 *                     it is right: all of the address are forgiven
 *                     there is no verdict: the attempt is taken back
 *
 * An attempt counts when it begins, so attempts in parallel are as many as
 * those one after another.  After FAILURES_MAX an address has to wait
 * FAILURE_FORGIVEN_MS before each further attempt.  IPv6 addresses are counted
 * by their /64, and all of a /48 together by SITE_FACTOR times the rates: more
 * would let the owner of a /48 try as many passwords as it has networks.
 *
 * The table has a fixed size; the row whose last attempt was the longest time
 * ago makes room.  A /48 can fill SITE_FACTOR * FAILURES_MAX + 1 rows.  The
 * networks from which users have signed in are in a table of their own, which
 * wrong passwords do not change.  Control thread.
 */
#ifndef HTTP_FAILURES_H
#define HTTP_FAILURES_H

#include <stdbool.h>
#include <stdint.h>

#include "net/addr.h"

#define FAILURES_MAX        5
#define FAILURE_FORGIVEN_MS 12000
#define SITE_FACTOR         4
#define FAILURES_ADDRESSES  256
#define FAILURES_KNOWN      64

struct http_failures {
	struct http_failure {
		struct endpoint from; /* family 0: the row is free */
		bool site;            /* of the whole /48 */
		unsigned n;
		uint64_t at_ms; /* of the last one, or when one was forgiven */
	} rows[FAILURES_ADDRESSES];
	/* Most recent sign-in first; family 0: free. */
	struct endpoint known[FAILURES_KNOWN];
};

/* Returns how long the address has to wait before it may try, 0: not at all. */
uint64_t http_failures_wait_ms(struct http_failures *failures,
    const struct endpoint *from, uint64_t now_ms);

/* Counts an attempt that begins. */
void http_failures_add(struct http_failures *failures,
    const struct endpoint *from, uint64_t now_ms);

/* Takes back an attempt that got no verdict. */
void http_failures_take_back(
    struct http_failures *failures, const struct endpoint *from);

/* Forgives the failures of an address, from which a user has signed in, and
 * knows its network from now on. */
void http_failures_forget(
    struct http_failures *failures, const struct endpoint *from);

/* Returns whether a user has signed in from that network. */
bool http_failures_knows(
    const struct http_failures *failures, const struct endpoint *from);

/* Returns whether the addresses are of one host or one site: equal IPv4
 * addresses, or in the same IPv6 /48. */
bool http_failures_same_site(
    const struct endpoint *a, const struct endpoint *b);

#endif
