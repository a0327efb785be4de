/* SPDX-License-Identifier: MIT
 * See content.h.
 */
#include "acl/content.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <xxhash.h>

#include "acl/content_internal.h"
#include "base/grow.h"

struct acl_content *
acl_content_new(void)
{
	struct acl_content *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	acl_entries_init(&c->v4, false);
	acl_entries_init(&c->v6, true);
	return c;
}

int
acl_content_add_source(struct acl_content *content, const char *name)
{
	struct acl_content *c = content;
	struct acl_source *grown;
	char *copy;

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
	c->sources[c->sources_n] = (struct acl_source){.name = copy};
	return (int)c->sources_n++;
}

static void
note_covered(
    void *content, const struct acl_entry *entry, const struct acl_entry *cover)
{
	struct acl_content *c = content;
	struct acl_covered *covered;

	if (entry->source >= c->sources_n)
		return;
	covered = &c->sources[entry->source].covered;
	if (covered->n++ > 0 && covered->first.line <= entry->line)
		return;
	covered->first = *entry;
	covered->cover = *cover;
}

bool
acl_content_add(struct acl_content *content, const struct acl_entry *entry)
{
	struct acl_content *c = content;

	if (entry->range.family == AF_UNIX) {
		if (c->has_unix)
			note_covered(c, entry, &c->unix_entry);
		else
			c->unix_entry = *entry;
		c->has_unix = true;
		return true;
	}
	return acl_entries_append(
	    entry->range.family == AF_INET ? &c->v4 : &c->v6, entry);
}

struct acl_table *
acl_content_make_table(const struct acl_content *content)
{
	const struct acl_content *c = content;
	struct acl_table *t =
	    acl_table_new(c->v4.n, c->v6.n, c->v6.wide, c->has_unix);

	if (!t)
		return NULL;
	acl_entries_add_ranges(&c->v4, t);
	acl_entries_add_ranges(&c->v6, t);
	return acl_table_seal(t);
}

static uint64_t
digest_of(const struct acl_content *c)
{
	XXH64_hash_t h = c->has_unix;

	for (size_t i = 0; i < c->sources_n; i++)
		h = XXH64(
		    c->sources[i].name, strlen(c->sources[i].name) + 1, h);
	return acl_entries_hash(&c->v6, acl_entries_hash(&c->v4, h));
}

bool
acl_content_seal(struct acl_content *content)
{
	struct acl_content *c = content;

	if (!acl_entries_seal(&c->v4, note_covered, c) ||
	    !acl_entries_seal(&c->v6, note_covered, c))
		return false;
	c->digest = digest_of(c);
	c->ranges = acl_entries_hash_ranges(
	    &c->v6, acl_entries_hash_ranges(&c->v4, c->has_unix));
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
		free(content->sources[i].name);
	free(content->sources);
	acl_entries_fini(&content->v4);
	acl_entries_fini(&content->v6);
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
	return content->has_unix + content->v4.n + content->v6.n;
}

const char *
acl_content_source(const struct acl_content *content, unsigned source)
{
	return source < content->sources_n ? content->sources[source].name
	                                   : "?";
}

const struct acl_covered *
acl_content_covered(const struct acl_content *content, unsigned source)
{
	return source < content->sources_n ? &content->sources[source].covered
	                                   : NULL;
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
	if (index < c->v4.n) {
		acl_entries_at(&c->v4, index, ret);
		return true;
	}
	index -= c->v4.n;
	if (index >= c->v6.n)
		return false;
	acl_entries_at(&c->v6, index, ret);
	return true;
}

size_t
acl_content_after(const struct acl_content *content, const struct cidr *range)
{
	const struct acl_content *c = content;
	size_t at;

	if (range->family == AF_UNIX)
		return 0;
	if (range->family == AF_INET) {
		(void)acl_entries_find(&c->v4, range, &at);
		return c->has_unix + at;
	}
	(void)acl_entries_find(&c->v6, range, &at);
	return c->has_unix + c->v4.n + at;
}

bool
acl_content_get(const struct acl_content *content, const struct cidr *range,
    struct acl_entry *ret)
{
	const struct acl_content *c = content;
	const struct acl_entries *es;
	size_t at;

	if (range->family == AF_UNIX) {
		if (c->has_unix)
			*ret = c->unix_entry;
		return c->has_unix;
	}
	es = range->family == AF_INET ? &c->v4 : &c->v6;
	if (!acl_entries_find(es, range, &at))
		return false;
	acl_entries_at(es, at, ret);
	return true;
}

/* Returns the range with a prefix of that length that has the peer. */
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
acl_content_ranges_digest(const struct acl_content *content)
{
	return content->ranges;
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
	acl_entries_memory(&content->v4, use);
	acl_entries_memory(&content->v6, use);
	memory_add_block(use, content->sources);
	for (size_t i = 0; i < content->sources_n; i++)
		memory_add_block(use, content->sources[i].name);
	if (content->table)
		acl_table_memory(content->table, use);
	if (content->whole != content->table)
		acl_table_memory(content->whole, use);
}
