/* SPDX-License-Identifier: MIT
 * See acl.h.
 */
#include "acl/acl.h"

#include <stdlib.h>
#include <string.h>

#include "base/atomics.h"
#include "base/grace.h"

struct acl_list {
	/* Shared. */
	const struct acl_table *table;       /* of content; NULL: none so far */
	const struct acl_table *added_table; /* of added; NULL: none */
	uint64_t matches CACHE_LINE_ALIGNED;

	/* Control thread only. */
	unsigned refs CACHE_LINE_ALIGNED;
	char *name;
	struct acl_content *content; /* of the configuration and its files */
	struct acl_content *added;   /* by commands; NULL: nothing */
	struct acl_content
	    *deleted; /* of content, by commands; NULL: nothing */
};

struct acl_list *
acl_list_new(const char *name)
{
	struct acl_list *l = aligned_alloc(CACHE_LINE, sizeof(*l));

	if (!l)
		return NULL;
	*l = (struct acl_list){.refs = 1, .name = strdup(name)};
	if (l->name)
		return l;
	free(l);
	return NULL;
}

struct acl_list *
acl_list_ref(struct acl_list *list)
{
	list->refs++;
	return list;
}

void
acl_list_unref(struct acl_list *list)
{
	if (!list || --list->refs > 0)
		return;
	acl_content_free(list->content);
	acl_content_free(list->added);
	acl_content_free(list->deleted);
	free(list->name);
	free(list);
}

static bool
table_has(const struct acl_table *const *at, const struct endpoint *client)
{
	const struct acl_table *table = atomic_load_acquire(at); /* [P32] */

	return table && acl_table_has(table, client);
}

bool
acl_list_has(const struct acl_list *list, const struct endpoint *client)
{
	return table_has(&list->table, client) ||
	       table_has(&list->added_table, client);
}

void
acl_list_count(struct acl_list *list)
{
	(void)atomic_add_relaxed(&list->matches, UINT64_C(1));
}

uint64_t
acl_list_matches(const struct acl_list *list)
{
	return atomic_load_relaxed(&list->matches);
}

void
acl_list_clear_matches(struct acl_list *list)
{
	atomic_store_relaxed(&list->matches, UINT64_C(0));
}

const char *
acl_list_name(const struct acl_list *list)
{
	return list->name;
}

static void
free_content(void *content)
{
	acl_content_free(content);
}

static void
publish_table(const struct acl_table **at, const struct acl_content *content)
{
	atomic_store_release(
	    at, content ? acl_content_table(content) : NULL); /* [P32] */
}

void
acl_list_publish(
    struct acl_list *list, struct acl_content *content, struct grace *grace)
{
	struct acl_content *former = list->content;

	list->content = content;
	publish_table(&list->table, content);
	if (former)
		grace_retire(grace, free_content, former);
}
