/* SPDX-License-Identifier: MIT
 * The key of a source: a client's address, or the range of addresses around it.
 */
#ifndef MODEL_SOURCE_KEY_H
#define MODEL_SOURCE_KEY_H

#include <stdbool.h>
#include <stdint.h>

#include "net/addr.h"

/* The bytes of an IPv6 address; IPv4 addresses are mapped.  All 0 for clients
 * of unix sockets, and for a table that counts all clients together. */
struct source_key {
	uint64_t ip[2];
};

/* Returns the key of the range of addresses that the client is in.  prefix4 and
 * prefix6: the bits that matter, at most 32 and 128. */
struct source_key source_key_of(
    const struct endpoint *client, unsigned prefix4, unsigned prefix6);

/* Sets the address of the key, with port 0; its family is AF_UNIX if all bytes
 * are 0. */
void source_key_endpoint(
    const struct source_key *key, struct endpoint *ret_endpoint);

/* Returns whether both are the same source. */
static inline bool
source_key_equal(const struct source_key *a, const struct source_key *b)
{
	return a->ip[0] == b->ip[0] && a->ip[1] == b->ip[1];
}

#endif
