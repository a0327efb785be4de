/* SPDX-License-Identifier: MIT
 * See content.h.
 */
#include "acl/content.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <xxhash.h>

#include "base/ensure.h"
#include "base/grow.h"

struct acl_source {
	char *name;
	struct acl_covered covered;
};

struct acl_content {
	struct acl_entries v4, v6;
	bool has_unix;
	struct acl_entry unix_entry; /* if has_unix */
	struct acl_source *sources;
	size_t sources_n, sources_room;
	/* When it was sealed.  ranges: without places. */
	uint64_t digest, ranges;
	struct acl_table *table; /* NULL: not sealed */
	bool stale;              /* the entries have changed since */
	struct acl_view view;
};

/* Returns the entries of AF_INET or AF_INET6. */
static const struct acl_entries *
entries_of(const struct acl_content *c, uint16_t family)
{
	return family == AF_INET ? &c->v4 : &c->v6;
}

static struct acl_entries *
changed_entries(struct acl_content *c, uint16_t family)
{
	return family == AF_INET ? &c->v4 : &c->v6;
}

struct acl_content *
acl_content_new(void)
{
	struct acl_content *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->v4.family = AF_INET;
	c->v6.family = AF_INET6;
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
	    changed_entries(c, entry->range.family), entry);
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

/* Returns the table of the entries, which are sorted; NULL when memory is
 * short. */
static struct acl_table *
make_table(const struct acl_content *c)
{
	return acl_table_new(acl_entries_make_borders(&c->v4),
	    acl_entries_make_borders(&c->v6), c->has_unix);
}

bool
acl_content_seal(struct acl_content *content)
{
	struct acl_content *c = content;

	acl_entries_seal(&c->v4, note_covered, c);
	acl_entries_seal(&c->v6, note_covered, c);
	c->digest = digest_of(c);
	c->ranges = acl_entries_hash_ranges(
	    &c->v6, acl_entries_hash_ranges(&c->v4, c->has_unix));
	acl_table_free(c->table);
	c->table = make_table(c);
	c->stale = false;
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
	free(content->v4.all);
	free(content->v6.all);
	acl_table_free(content->table);
	free(content);
}

/* -- changes -- */

/* Returns the table that the content will have with other borders of that
 * family, AF_UNIX: with or without peers of unix sockets.  Takes ownership of
 * changed.  Returns NULL when memory is short. */
static struct acl_table *
change_table(const struct acl_content *c, uint16_t family,
    struct acl_borders *changed, bool has_unix)
{
	const struct acl_table *t = c->table;

	return acl_table_new(
	    family == AF_INET ? changed : acl_borders_ref(t->v4),
	    family == AF_INET6 ? changed : acl_borders_ref(t->v6), has_unix);
}

static struct acl_borders *
borders_of(const struct acl_content *c, uint16_t family)
{
	return family == AF_INET ? c->table->v4 : c->table->v6;
}

static struct acl_table *
exchange_table(struct acl_content *c, struct acl_table *table)
{
	struct acl_table *former = c->table;

	c->table = table;
	return former;
}

static bool
insert_unix(struct acl_content *c, const struct acl_entry *entry,
    struct acl_table **ret_former)
{
	struct acl_table *t = change_table(c, AF_UNIX, NULL, true);

	if (!t)
		return false;
	c->has_unix = true;
	c->unix_entry = *entry;
	*ret_former = exchange_table(c, t);
	return true;
}

bool
acl_content_insert(struct acl_content *content, const struct acl_entry *entry,
    struct acl_table **ret_former)
{
	struct acl_content *c = content;
	uint16_t family = entry->range.family;
	struct acl_entries *es = changed_entries(c, family);
	struct acl_table *t;

	if (family == AF_UNIX)
		return insert_unix(c, entry, ret_former);
	if (!acl_entries_reserve(es))
		return false;
	t = change_table(c, family,
	    acl_entries_borders_with(es, borders_of(c, family), &entry->range),
	    c->has_unix);
	if (!t)
		return false;
	acl_entries_insert(es, entry);
	*ret_former = exchange_table(c, t);
	return true;
}

struct acl_table *
acl_content_table_without(
    const struct acl_content *content, const struct cidr *range)
{
	const struct acl_content *c = content;
	const struct acl_entries *es = entries_of(c, range->family);
	bool found;
	size_t at;

	if (range->family == AF_UNIX)
		return change_table(c, AF_UNIX, NULL, false);
	found = acl_entries_find(es, range, &at);
	ENSURE(found);
	return change_table(c, range->family,
	    acl_entries_borders_without(es, borders_of(c, range->family), at),
	    c->has_unix);
}

static void
remove_entry(struct acl_content *c, const struct cidr *range)
{
	struct acl_entries *es = changed_entries(c, range->family);
	size_t at;

	if (range->family == AF_UNIX)
		c->has_unix = false;
	else if (acl_entries_find(es, range, &at))
		acl_entries_remove(es, at);
}

struct acl_table *
acl_content_remove(struct acl_content *content, const struct cidr *range,
    struct acl_table *table)
{
	remove_entry(content, range);
	return exchange_table(content, table);
}

bool
acl_content_insert_later(
    struct acl_content *content, const struct acl_entry *entry)
{
	struct acl_content *c = content;
	struct acl_entries *es = changed_entries(c, entry->range.family);

	if (entry->range.family == AF_UNIX) {
		c->has_unix = true;
		c->unix_entry = *entry;
	} else if (acl_entries_reserve(es)) {
		acl_entries_insert(es, entry);
	} else {
		return false;
	}
	c->stale = true;
	return true;
}

void
acl_content_remove_later(struct acl_content *content, const struct cidr *range)
{
	remove_entry(content, range);
	content->stale = true;
}

void
acl_content_part(struct acl_content *content, struct acl_content *others)
{
	struct acl_content *c = content, *o = others;

	acl_entries_part(&c->v4, &o->v4);
	acl_entries_part(&c->v6, &o->v6);
	o->has_unix &= c->has_unix;
	if (o->has_unix) {
		o->unix_entry = c->unix_entry;
		c->has_unix = false;
	}
	c->stale = o->stale = true;
}

bool
acl_content_renew(struct acl_content *content, struct acl_table **ret_former)
{
	struct acl_table *t;

	*ret_former = NULL;
	if (!content->stale)
		return true;
	t = make_table(content);
	if (!t)
		return false;
	content->stale = false;
	*ret_former = exchange_table(content, t);
	return true;
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
	es = entries_of(c, range->family);
	if (!acl_entries_find(es, range, &at))
		return false;
	acl_entries_at(es, at, ret);
	return true;
}

bool
acl_content_find(const struct acl_content *content, const struct endpoint *peer,
    struct acl_entry *ret)
{
	const struct acl_content *c = content;
	const struct acl_entries *es = entries_of(c, peer->family);
	size_t at;

	if (peer->family == AF_UNIX && c->has_unix)
		*ret = c->unix_entry;
	if (peer->family == AF_UNIX)
		return c->has_unix;
	if (peer->family == 0 ||
	    !acl_entries_find_longest(es, acl_key_of(peer->family, peer->ip),
	        peer->family == AF_INET ? 32 : 128, &at))
		return false;
	acl_entries_at(es, at, ret);
	return true;
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
