/* SPDX-License-Identifier: MIT
 * See packed.h.
 */
#include "acl/packed.h"

#include <endian.h>
#include <string.h>
#include <sys/socket.h>

static struct acl_entry4
pack4(const struct acl_entry *e)
{
	uint32_t n;

	memcpy(&n, e->range.ip, sizeof(n));
	return (struct acl_entry4){.first = be32toh(n),
	    .line = e->line,
	    .bits = e->range.bits,
	    .source = (uint8_t)e->source};
}

static struct acl_entry6
pack6(const struct acl_entry *e)
{
	uint64_t hi, lo;

	memcpy(&hi, e->range.ip, sizeof(hi));
	memcpy(&lo, e->range.ip + sizeof(hi), sizeof(lo));
	return (struct acl_entry6){.hi = be64toh(hi),
	    .lo = be64toh(lo),
	    .line = e->line,
	    .bits = e->range.bits,
	    .source = (uint8_t)e->source};
}

union acl_packed
acl_pack(const struct acl_entry *entry)
{
	union acl_packed packed;

	if (entry->range.family == AF_INET6)
		packed.v6 = pack6(entry);
	else
		packed.v4 = pack4(entry);
	return packed;
}

static void
unpack4(const struct acl_entry4 *e, struct acl_entry *ret)
{
	uint32_t n = htobe32(e->first);

	*ret = (struct acl_entry){.range = {.family = AF_INET, .bits = e->bits},
	    .source = e->source,
	    .line = e->line};
	memcpy(ret->range.ip, &n, sizeof(n));
}

static void
unpack6(const struct acl_entry6 *e, struct acl_entry *ret)
{
	uint64_t hi = htobe64(e->hi), lo = htobe64(e->lo);

	*ret =
	    (struct acl_entry){.range = {.family = AF_INET6, .bits = e->bits},
	        .source = e->source,
	        .line = e->line};
	memcpy(ret->range.ip, &hi, sizeof(hi));
	memcpy(ret->range.ip + sizeof(hi), &lo, sizeof(lo));
}

void
acl_unpack(bool is_v6, const void *packed, struct acl_entry *ret)
{
	if (is_v6)
		unpack6(packed, ret);
	else
		unpack4(packed, ret);
}

/* -- order -- */

static int
compare_entries4(const struct acl_entry4 *a, const struct acl_entry4 *b)
{
	if (a->first != b->first)
		return a->first < b->first ? -1 : 1;
	return (int)a->bits - (int)b->bits;
}

static int
compare_entries6(const struct acl_entry6 *a, const struct acl_entry6 *b)
{
	if (a->hi != b->hi)
		return a->hi < b->hi ? -1 : 1;
	if (a->lo != b->lo)
		return a->lo < b->lo ? -1 : 1;
	return (int)a->bits - (int)b->bits;
}

int
acl_packed_compare(bool is_v6, const void *a, const void *b)
{
	return is_v6 ? compare_entries6(a, b) : compare_entries4(a, b);
}

bool
acl_packed_is_within(bool is_v6, const void *e, const void *other)
{
	const struct acl_entry4 *e4 = e, *other4 = other;
	const struct acl_entry6 *e6 = e, *other6 = other;

	if (!is_v6)
		return e4->first <= acl_packed_last4(other4);
	return e6->hi < acl_packed_last_hi(other6) ||
	       (e6->hi == acl_packed_last_hi(other6) &&
	           e6->lo <= acl_packed_last_lo(other6));
}

static int
order_read(
    unsigned source_a, unsigned line_a, unsigned source_b, unsigned line_b)
{
	if (source_a != source_b)
		return source_a < source_b ? -1 : 1;
	return (line_a > line_b) - (line_a < line_b);
}

int
acl_packed_order4(const void *one, const void *other)
{
	const struct acl_entry4 *a = one, *b = other;
	int order = compare_entries4(a, b);

	return order ? order
	             : order_read(a->source, a->line, b->source, b->line);
}

int
acl_packed_order6(const void *one, const void *other)
{
	const struct acl_entry6 *a = one, *b = other;
	int order = compare_entries6(a, b);

	return order ? order
	             : order_read(a->source, a->line, b->source, b->line);
}
