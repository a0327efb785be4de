/* SPDX-License-Identifier: MIT
 * See content.h.
 */
#include "acl/content.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <xxhash.h>

#include "acl/content_internal.h"
#include "base/grow.h"

struct acl_content *
acl_content_new(void)
{
	return calloc(1, sizeof(struct acl_content));
}

int
acl_content_add_source(struct acl_content *content, const char *name)
{
	struct acl_content *c = content;
	char **grown, *copy;

	if (c->sources_n >= ACL_SOURCES_MAX)
		return -1;
	grown =
	    grow(c->sources, c->sources_n, &c->sources_room, sizeof(*grown));
	if (!grown)
		return -1;
	c->sources = grown;
	copy = strdup(name);
	if (!copy)
		return -1;
	c->sources[c->sources_n] = copy;
	return (int)c->sources_n++;
}

/* -- between entries and their small form -- */

struct acl_entry4
acl_entry4_pack(const struct acl_entry *e)
{
	uint32_t n;

	memcpy(&n, e->range.ip, sizeof(n));
	return (struct acl_entry4){.first = be32toh(n),
	    .line = e->line,
	    .bits = e->range.bits,
	    .source = (uint8_t)e->source};
}

struct acl_entry6
acl_entry6_pack(const struct acl_entry *e)
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

/* -- order -- */

static int
compare4(const struct acl_entry4 *a, const struct acl_entry4 *b)
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

/* Entries with the same range are in the order in which they were read. */
static int
order_read(
    unsigned source_a, unsigned line_a, unsigned source_b, unsigned line_b)
{
	if (source_a != source_b)
		return source_a < source_b ? -1 : 1;
	return (line_a > line_b) - (line_a < line_b);
}

static int
sort4(const void *one, const void *other)
{
	const struct acl_entry4 *a = one, *b = other;
	int order = compare4(a, b);

	return order ? order
	             : order_read(a->source, a->line, b->source, b->line);
}

static int
sort6(const void *one, const void *other)
{
	const struct acl_entry6 *a = one, *b = other;
	int order = compare_entries6(a, b);

	return order ? order
	             : order_read(a->source, a->line, b->source, b->line);
}

/* Returns the index of the first entry that is not before e. */
static size_t
lower4(const struct acl_content *c, const struct acl_entry4 *e)
{
	size_t low = 0, high = c->n4;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (compare4(&c->v4[mid], e) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static size_t
lower6(const struct acl_content *c, const struct acl_entry6 *e)
{
	size_t low = 0, high = c->n6;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (compare_entries6(&c->v6[mid], e) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

bool
acl_content_index(const struct acl_content *content, const struct cidr *range,
    size_t *ret_index)
{
	const struct acl_entry e = {.range = *range};
	const struct acl_content *c = content;

	if (range->family == AF_INET) {
		struct acl_entry4 e4 = acl_entry4_pack(&e);

		*ret_index = lower4(c, &e4);
		return *ret_index < c->n4 &&
		       compare4(&c->v4[*ret_index], &e4) == 0;
	} else {
		struct acl_entry6 e6 = acl_entry6_pack(&e);

		*ret_index = lower6(c, &e6);
		return *ret_index < c->n6 &&
		       compare_entries6(&c->v6[*ret_index], &e6) == 0;
	}
}

/* -- making -- */

bool
acl_content_make_room(struct acl_content *content, uint16_t family)
{
	struct acl_content *c = content;
	void *grown;

	if (family == AF_INET) {
		grown = grow(c->v4, c->n4, &c->room4, sizeof(*c->v4));
		if (grown)
			c->v4 = grown;
	} else {
		grown = grow(c->v6, c->n6, &c->room6, sizeof(*c->v6));
		if (grown)
			c->v6 = grown;
	}
	return grown != NULL;
}

bool
acl_content_add(struct acl_content *content, const struct acl_entry *entry)
{
	struct acl_content *c = content;

	if (entry->range.family == AF_UNIX) {
		if (!c->has_unix)
			c->unix_entry = *entry;
		c->has_unix = true;
		return true;
	}
	if (!acl_content_make_room(c, entry->range.family))
		return false;
	if (entry->range.family == AF_INET)
		c->v4[c->n4++] = acl_entry4_pack(entry);
	else
		c->v6[c->n6++] = acl_entry6_pack(entry);
	return true;
}

static void
add_ranges4(const struct acl_content *c, struct acl_table_maker *m)
{
	for (size_t i = 0; i < c->n4; i++) {
		const struct acl_entry4 *e = &c->v4[i];
		uint32_t rest =
		    e->bits ? UINT32_MAX >> (e->bits - 1) >> 1 : UINT32_MAX;

		acl_table_add4(
		    m, (struct acl_range4){e->first, e->first | rest});
	}
}

/* The bits of a 64-bit word behind the first `bits`. */
static uint64_t
rest_of(unsigned bits)
{
	return bits >= 64 ? 0 : UINT64_MAX >> bits;
}

static void
add_ranges6(const struct acl_content *c, struct acl_table_maker *m)
{
	for (size_t i = 0; i < c->n6; i++) {
		const struct acl_entry6 *e = &c->v6[i];

		acl_table_add6(m,
		    (struct acl_range6){.first_hi = e->hi,
		        .first_lo = e->lo,
		        .last_hi = e->hi | rest_of(e->bits),
		        .last_lo =
		            e->lo | rest_of(e->bits > 64 ? e->bits - 64u : 0)});
	}
}

struct acl_table *
acl_content_make_table(const struct acl_content *content)
{
	const struct acl_content *c = content;
	struct acl_table_maker *m = acl_table_maker_new(c->n4, c->n6);

	if (!m)
		return NULL;
	add_ranges4(c, m);
	add_ranges6(c, m);
	return acl_table_make(m, c->has_unix);
}

/* Sorts the array, unless it is sorted already: most lists that programs write
 * are. */
#define SORT(array, n, compare)                                                \
	do {                                                                   \
		size_t sorted_ = 1;                                            \
		while (sorted_ < (n) &&                                        \
		       compare(&(array)[sorted_ - 1], &(array)[sorted_]) <= 0) \
			sorted_++;                                             \
		if (sorted_ < (n))                                             \
			qsort(array, n, sizeof(*(array)), compare);            \
	} while (0)

/* Drops elements that are equal to the one before.  The array is sorted. */
#define UNIQUE(array, n, compare)                                              \
	do {                                                                   \
		size_t kept_ = 0;                                              \
		for (size_t i_ = 0; i_ < (n); i_++)                            \
			if (kept_ == 0 ||                                      \
			    compare(&(array)[kept_ - 1], &(array)[i_]) != 0)   \
				(array)[kept_++] = (array)[i_];                \
		(n) = kept_;                                                   \
	} while (0)

/* Gives back what the array has beyond its elements. */
static void *
shrink(void *array, size_t n, size_t *room, size_t size)
{
	void *less = n > 0 ? reallocarray(array, n, size) : NULL;

	if (!less)
		return array;
	*room = n;
	return less;
}

static uint64_t
digest_of(const struct acl_content *c)
{
	XXH64_hash_t h = c->has_unix;

	for (size_t i = 0; i < c->sources_n; i++)
		h = XXH64(c->sources[i], strlen(c->sources[i]) + 1, h);
	h = c->n4 > 0 ? XXH64(c->v4, c->n4 * sizeof(*c->v4), h) : h;
	return c->n6 > 0 ? XXH64(c->v6, c->n6 * sizeof(*c->v6), h) : h;
}

bool
acl_content_seal(struct acl_content *content)
{
	struct acl_content *c = content;

	SORT(c->v4, c->n4, sort4);
	SORT(c->v6, c->n6, sort6);
	UNIQUE(c->v4, c->n4, compare4);
	UNIQUE(c->v6, c->n6, compare_entries6);
	c->v4 = shrink(c->v4, c->n4, &c->room4, sizeof(*c->v4));
	c->v6 = shrink(c->v6, c->n6, &c->room6, sizeof(*c->v6));
	c->digest = digest_of(c);
	acl_table_free(c->table);
	c->whole = c->table = acl_content_make_table(c);
	return c->table != NULL;
}

void
acl_content_free(struct acl_content *content)
{
	if (!content)
		return;
	for (size_t i = 0; i < content->sources_n; i++)
		free(content->sources[i]);
	free(content->sources);
	free(content->v4);
	free(content->v6);
	if (content->whole != content->table)
		acl_table_free(content->whole);
	acl_table_free(content->table);
	acl_patch_clear(&content->patch);
	free(content);
}

/* -- reading -- */

const struct acl_table *
acl_content_table(const struct acl_content *content)
{
	return content->table;
}

struct acl_view *
acl_content_view(struct acl_content *content)
{
	return &content->view;
}

size_t
acl_content_entries(const struct acl_content *content)
{
	return content->has_unix + content->n4 + content->n6;
}

const char *
acl_content_source(const struct acl_content *content, unsigned source)
{
	return source < content->sources_n ? content->sources[source] : "?";
}

bool
acl_content_at(
    const struct acl_content *content, size_t index, struct acl_entry *ret)
{
	const struct acl_content *c = content;

	if (c->has_unix && index == 0) {
		*ret = c->unix_entry;
		return true;
	}
	index -= c->has_unix;
	if (index < c->n4) {
		unpack4(&c->v4[index], ret);
		return true;
	}
	index -= c->n4;
	if (index >= c->n6)
		return false;
	unpack6(&c->v6[index], ret);
	return true;
}

size_t
acl_content_after(const struct acl_content *content, const struct cidr *range)
{
	const struct acl_content *c = content;
	size_t at;

	if (range->family == AF_UNIX)
		return 0;
	(void)acl_content_index(c, range, &at);
	return c->has_unix + (range->family == AF_INET ? 0 : c->n4) + at;
}

bool
acl_content_get(const struct acl_content *content, const struct cidr *range,
    struct acl_entry *ret)
{
	const struct acl_content *c = content;
	size_t at;

	if (range->family == AF_UNIX) {
		if (c->has_unix)
			*ret = c->unix_entry;
		return c->has_unix;
	}
	if (!acl_content_index(c, range, &at))
		return false;
	if (range->family == AF_INET)
		unpack4(&c->v4[at], ret);
	else
		unpack6(&c->v6[at], ret);
	return true;
}

/* Returns the range of that length which has the peer. */
static struct cidr
range_around(const struct endpoint *peer, unsigned bits)
{
	struct cidr r = {.family = peer->family, .bits = (uint8_t)bits};

	for (unsigned i = 0; i < 16; i++) {
		unsigned kept = bits > 8 * i ? bits - 8 * i : 0;

		r.ip[i] = peer->ip[i];
		if (kept < 8)
			r.ip[i] &= (uint8_t)(0xff00u >> kept);
	}
	return r;
}

bool
acl_content_find(const struct acl_content *content, const struct endpoint *peer,
    struct acl_entry *ret)
{
	unsigned longest = peer->family == AF_INET    ? 32
	                   : peer->family == AF_INET6 ? 128
	                                              : 0;
	struct cidr range;

	if (peer->family == 0)
		return false;
	for (unsigned bits = longest + 1; bits-- > 0;) {
		range = range_around(peer, bits);
		if (acl_content_get(content, &range, ret))
			return true;
	}
	return false;
}

uint64_t
acl_content_digest(const struct acl_content *content)
{
	return content->digest;
}

void
acl_content_memory(const struct acl_content *content, struct memory_use *use)
{
	use->count += acl_content_entries(content);
	memory_add_block(use, content);
	memory_add_block(use, content->v4);
	memory_add_block(use, content->v6);
	memory_add_block(use, content->sources);
	for (size_t i = 0; i < content->sources_n; i++)
		memory_add_block(use, content->sources[i]);
	if (content->table)
		acl_table_memory(content->table, use);
	if (content->whole != content->table)
		acl_table_memory(content->whole, use);
}
