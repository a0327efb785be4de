/* SPDX-License-Identifier: MIT
 * See member_set.h.
 */
#include "resolve/member_set.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"

struct set_entry {
	struct discovered member; /* first: the tree compares entries by it */
	struct list node;
	char texts[];
};

struct member_set {
	struct list all;
	void *tree; /* tsearch(3) of all, by key */
	size_t n;
};

static int
member_compare(const void *a, const void *b)
{
	const struct discovered *x = a, *y = b;

	return strcmp(x->key, y->key);
}

struct member_set *
member_set_new(void)
{
	struct member_set *set = calloc(1, sizeof(*set));

	if (set)
		list_init(&set->all);
	return set;
}

void
member_set_free(struct member_set *set)
{
	if (!set)
		return;
	tdestroy(set->tree, free);
	free(set);
}

/* Copies text to *at and moves *at behind it. */
static const char *
member_copy_text(char **at, const char *text)
{
	size_t size = strlen(text) + 1;
	char *copy = memcpy(*at, text, size);

	*at += size;
	return copy;
}

static struct set_entry *
member_copy(const struct discovered *member)
{
	struct set_entry *entry = malloc(
	    sizeof(*entry) + strlen(member->key) + strlen(member->address) +
	    strlen(member->options) + strlen(member->note) + 4);
	char *at;

	if (!entry)
		return NULL;
	at = entry->texts;
	entry->member =
	    (struct discovered){.key = member_copy_text(&at, member->key),
	        .address = member_copy_text(&at, member->address),
	        .options = member_copy_text(&at, member->options),
	        .note = member_copy_text(&at, member->note)};
	return entry;
}

bool
member_set_put(struct member_set *set, const struct discovered *member)
{
	struct set_entry *entry = member_copy(member), *old;
	struct set_entry **found =
	    entry ? tsearch(entry, &set->tree, member_compare) : NULL;

	if (!found) {
		free(entry);
		return false;
	}
	old = *found;
	if (old == entry) {
		set->n++;
	} else {
		*found = entry;
		list_remove(&old->node);
		free(old);
	}
	list_append(&set->all, &entry->node);
	return true;
}

const struct discovered *
member_set_find(const struct member_set *set, const char *key)
{
	const struct discovered wanted = {.key = key};
	struct set_entry *const *found =
	    tfind(&wanted, &set->tree, member_compare);

	return found ? &(*found)->member : NULL;
}

void
member_set_remove(struct member_set *set, const char *key)
{
	const struct discovered wanted = {.key = key};
	struct set_entry *const *found =
	    tfind(&wanted, &set->tree, member_compare);
	struct set_entry *entry;

	if (!found)
		return;
	entry = *found;
	(void)tdelete(entry, &set->tree, member_compare);
	list_remove(&entry->node);
	set->n--;
	free(entry);
}

size_t
member_set_count(const struct member_set *set)
{
	return set->n;
}

struct discovered *
member_set_list(const struct member_set *set, size_t *ret_n)
{
	struct discovered *members = calloc(set->n + 1, sizeof(*members));
	size_t n = 0;

	if (!members)
		return NULL;
	for (struct list *node = set->all.next; node != &set->all;
	     node = node->next)
		members[n++] =
		    container_of(node, struct set_entry, node)->member;
	*ret_n = n;
	return members;
}
