/* SPDX-License-Identifier: MIT
 * The addresses of a list, of one family, for look-ups: a sorted array of
 * borders, which are the first address of each range and the first address
 * behind it.  Ranges that overlap or touch are merged.  An address is inside if
 * the number of borders that are not greater is odd.
 *
 *   acl_borders_new --> acl_borders_add... --> acl_borders_seal --> look-ups
 *
 * Sealed borders never change.  A change of a range makes other borders, from a
 * copy of most of the present ones:
 *
 *   acl_borders_begin_change --> acl_borders_add... --> acl_borders_end_change
 *
 * A look-up searches twice: among samples, which are every 64th border, and
 * then among the borders behind a sample.  An index over the first 16 bits of
 * an address leads to the samples to look at.
 */
#ifndef ACL_BORDERS_H
#define ACL_BORDERS_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

#include "base/err.h"

/* An address in host order: the upper and the lower 64 bits of IPv6.  IPv4 has
 * the upper 32 bits of hi. */
struct acl_key {
	uint64_t hi, lo;
};

/* Returns the key of an IP address of AF_INET or AF_INET6, in network order. */
static inline struct acl_key
acl_key_of(uint16_t family, const uint8_t *ip)
{
	uint64_t halves[2] = {0, 0};

	memcpy(halves, ip, family == AF_INET ? 4 : 16);
	return (struct acl_key){be64toh(halves[0]), be64toh(halves[1])};
}

/* Returns the key with all bits behind the first `bits` cleared. */
static inline struct acl_key
acl_key_mask(struct acl_key key, unsigned bits)
{
	if (bits < 64)
		key.hi &= ~(UINT64_MAX >> bits);
	if (bits < 128)
		key.lo &= bits > 64 ? ~(UINT64_MAX >> (bits - 64)) : 0;
	return key;
}

/* Returns a number below, equal to or above 0, as memcmp does. */
static inline int
acl_key_compare(struct acl_key a, struct acl_key b)
{
	if (a.hi != b.hi)
		return a.hi < b.hi ? -1 : 1;
	return (a.lo > b.lo) - (a.lo < b.lo);
}

/* The addresses that begin with the first `bits` bits of first, whose other
 * bits are 0. */
struct acl_prefix {
	struct acl_key first;
	unsigned bits;
};

struct acl_borders;

/* Returns borders without a range and with one reference, or NULL when memory
 * is short.  n: how many ranges will be added at most.  wide: whether a range
 * may have more than 64 bits. */
struct acl_borders *acl_borders_new(size_t n, bool wide);

/* Adds a range, before the seal.  The first address of a range is not less than
 * that of the range before; if both are equal, the range before has fewer
 * bits. */
void acl_borders_add(
    struct acl_borders *borders, const struct acl_prefix *range);

/* Makes the index.  Returns the borders; or NULL when memory is short, and
 * frees the borders. */
struct acl_borders *acl_borders_seal(struct acl_borders *borders) MUST_CHECK;

/* Returns borders that are as `from` outside of the range, and to which at most
 * n ranges within it are added; NULL when memory is short.  wide: whether one
 * of these may have more than 64 bits. */
struct acl_borders *acl_borders_begin_change(const struct acl_borders *from,
    const struct acl_prefix *range, size_t n, bool wide) MUST_CHECK;
/* Completes the borders.  from and range are those of acl_borders_begin_change.
 * Returns what acl_borders_seal returns. */
struct acl_borders *acl_borders_end_change(struct acl_borders *borders,
    const struct acl_borders *from, const struct acl_prefix *range) MUST_CHECK;

/* Returns whether the address is inside.  Any thread.  Never blocks. */
bool acl_borders_have(const struct acl_borders *borders, struct acl_key key);

/* Adds a reference.  Returns the borders. */
struct acl_borders *acl_borders_ref(struct acl_borders *borders);
/* Drops a reference, and frees the borders with the last one.  NULL is allowed.
 */
void acl_borders_unref(struct acl_borders *borders);

#endif
