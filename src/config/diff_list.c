/* SPDX-License-Identifier: MIT
 * See diff_list.h.
 */
#include "config/diff_list.h"

#include <string.h>

#include "model/spec.h"

size_t
list_n(const struct list_kind *kind, const void *owner)
{
	return *(const size_t *)(const void *)((const char *)owner + kind->n);
}

/* Returns the array. */
static char *
list_all(const struct list_kind *kind, const void *owner)
{
	const char *at = (const char *)owner + kind->all;

	return *(char *const *)(const void *)at;
}

void *
list_at(const struct list_kind *kind, const void *owner, size_t i)
{
	void *at = list_all(kind, owner) + i * kind->size;

	return kind->pointers ? *(void **)at : at;
}

const char *
list_name(const struct list_kind *kind, const void *one)
{
	return *(char *const *)(const void *)((const char *)one + kind->name);
}

static bool
list_same(const struct list_kind *kind, const void *one, const void *other)
{
	return kind->same
	           ? kind->same(one, other)
	           : strcmp(list_name(kind, one), list_name(kind, other)) == 0;
}

/* Returns whether no other element of its list can be the same. */
static bool
is_unique(const struct list_kind *kind, const void *one)
{
	return !kind->same ||
	       (kind->listens && !addr_has_any_port(
	                             &((const struct listen_spec *)one)->addr));
}

/* Returns the element of that name in a list with an index, or NULL. */
static void *
element_named(const struct list_kind *kind, const void *in, const char *name)
{
	const struct name_table names = {.all = list_all(kind, in),
	    .n = list_n(kind, in),
	    .size = kind->size,
	    .index = (const void *)((const char *)in + kind->index),
	    .pointers = kind->pointers};
	size_t i;

	return name_table_find(&names, name, &i) && i < names.n
	           ? list_at(kind, in, i)
	           : NULL;
}

/* Fills side->listens, if need be.  Returns false when memory is short. */
static bool
list_listens(struct side *side)
{
	const struct frontend_spec *f = side->owner;
	char text[LISTEN_TEXT_SIZE];
	bool ok = true;

	for (size_t i = side->listens.all_n; ok && i < f->listens_n; i++)
		ok = text_table_add(&side->listens,
		    listen_text(
		        &f->listens[i].addr, f->listens[i].both_families, text),
		    &f->listens[i]);
	return ok;
}

/* Returns the listen with the same address, which has a port, or NULL. */
static void *
listen_like(const struct list_kind *kind, const struct side *in,
    const struct listen_spec *l)
{
	char text[LISTEN_TEXT_SIZE];
	void *found = text_table_find(
	    &in->listens, listen_text(&l->addr, l->both_families, text));

	return found && kind->same(found, l) ? found : NULL;
}

void *
list_counterpart(const struct list_kind *kind, const struct side *of, size_t i,
    struct side *in)
{
	const void *one = list_at(kind, of->owner, i);
	size_t nth = 0;

	/* Usually both lists have it once, and in the same place. */
	if (i < list_n(kind, in->owner) && is_unique(kind, one) &&
	    list_same(kind, list_at(kind, in->owner, i), one))
		return list_at(kind, in->owner, i);
	if (kind->index)
		return element_named(kind, in->owner, list_name(kind, one));
	if (kind->listens && is_unique(kind, one) && list_listens(in))
		return listen_like(kind, in, one);
	for (size_t j = 0; !is_unique(kind, one) && j < i; j++)
		nth += list_same(kind, list_at(kind, of->owner, j), one);
	for (size_t j = 0; j < list_n(kind, in->owner); j++)
		if (list_same(kind, list_at(kind, in->owner, j), one) &&
		    nth-- == 0)
			return list_at(kind, in->owner, j);
	return NULL;
}
