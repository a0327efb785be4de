/* SPDX-License-Identifier: MIT
 * Pairs the elements of a list in two configurations: see diff.c.
 */
#ifndef CONFIG_DIFF_LIST_H
#define CONFIG_DIFF_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "base/name_table.h"

struct pair;

/* The elements of a list: where the list is, how an element is recognized in
 * the other configuration, and how sentences call it. */
struct list_kind {
	size_t all, n; /* offsets of the array and of its size */
	size_t size;   /* of an element of the array */
	bool pointers; /* the array is one of pointers to the elements */
	size_t name;   /* offset of its name, as in `char *` */
	size_t index;  /* offset of the array's name_index; 0: none */
	/* NULL: elements with the same name are the same, and names are
	 * unique. */
	bool (*same)(const void *one, const void *other);
	bool listens; /* the elements are struct listen_spec */
	void (*diff)(const struct pair *pair); /* beyond its keys; or NULL */
};

/* A list that is compared, in one of the two configurations. */
struct side {
	const void *owner;
	/* Unique listens by their listen_text; empty until a listen was not
	 * found in the same place. */
	struct text_table listens;
	struct text_table deleted; /* servers; see diff.c */
};

/* Return the number of elements, an element, and its name.  owner: the struct
 * that has the list. */
size_t list_n(const struct list_kind *kind, const void *owner);
void *list_at(const struct list_kind *kind, const void *owner, size_t i);
const char *list_name(const struct list_kind *kind, const void *one);

/* Returns the element of `in` that is the same as the i-th of `of`, or NULL.
 * If several are the same, returns the one with as many of them before it. */
void *list_counterpart(const struct list_kind *kind, const struct side *of,
    size_t i, struct side *in);

#endif
