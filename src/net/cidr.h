/* SPDX-License-Identifier: MIT
 * A range of addresses, such as `10.0.0.0/8`.
 */
#ifndef NET_CIDR_H
#define NET_CIDR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "net/addr.h"

struct cidr {
	uint16_t family; /* AF_INET, AF_INET6, or AF_UNIX: all such peers */
	uint8_t bits;    /* leading bits of ip that count; others are 0 */
	uint8_t ip[16];
};

/* Parses `ADDRESS`, `ADDRESS/BITS` or `unix`.  A bit that is set beyond BITS is
 * an error. */
bool cidr_parse(
    const char *s, struct cidr *ret_cidr, struct err *err) MUST_CHECK;

#define CIDR_TEXT_SIZE (INET6_ADDRSTRLEN + 4)

/* Writes the range as the configuration has it; the number of bits is left out
 * for a single address.  Returns out. */
const char *cidr_text(const struct cidr *cidr, char out[CIDR_TEXT_SIZE]);

/* Returns whether the endpoint's address is in the range. */
bool cidr_has(const struct cidr *cidr, const struct endpoint *endpoint);

/* Returns whether the outer range has all addresses of the inner one. */
bool cidr_covers(const struct cidr *outer, const struct cidr *inner);

#endif
