/* SPDX-License-Identifier: MIT
 * Finds the elements of an array by their names.
 *
 * An array that is searched often, or once for each of its elements, has a hash
 * index beside it, in a member called ARRAY_index: then a search takes the same
 * time however long the array is.
 */
#ifndef BASE_NAME_TABLE_H
#define BASE_NAME_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* The index of an array whose elements and their names stay in place.  Zeros:
 * there is no index, and a search looks at one element after the other. */
struct name_index {
	uint32_t *slots; /* 1 + the index of an element; 0: free */
	size_t slots_n;  /* 0, or a power of two */
};

/* An array whose elements begin with a pointer to their name, or are pointers
 * to such objects. */
struct name_table {
	const void *all;
	size_t n, size;                 /* bytes of an element */
	const struct name_index *index; /* NULL: none */
	bool pointers;
};
#define NAME_TABLE(array, n)                                                   \
	(&(const struct name_table){                                           \
	    (array), (n), sizeof(*(array)), NULL, false})
/* The array owner->member, of owner->member_n elements, with its index. */
#define INDEXED_TABLE(owner, member)                                           \
	(&(const struct name_table){(owner)->member, (owner)->member##_n,      \
	    sizeof(*(owner)->member), &(owner)->member##_index, false})
/* The same for an array of pointers. */
#define INDEXED_POINTERS(owner, member)                                        \
	(&(const struct name_table){(owner)->member, (owner)->member##_n,      \
	    sizeof(*(owner)->member), &(owner)->member##_index, true})

/* Returns the name of the i-th element. */
const char *name_table_at(const struct name_table *names, size_t i);

/* Finds the first element of that name.  Returns false if there is none. */
bool name_table_find(const struct name_table *names, const char *name,
    size_t *ret_index) MUST_CHECK;

/* Makes the index of the array anew: called when elements have come, gone or
 * moved.  When memory is short, there is no index.  free(3) frees the slots. */
void name_index_make(struct name_index *index, const struct name_table *names);
#define INDEX_NAMES(owner, member)                                             \
	name_index_make(&(owner)->member##_index, INDEXED_TABLE(owner, member))
#define INDEX_POINTERS(owner, member)                                          \
	name_index_make(                                                       \
	    &(owner)->member##_index, INDEXED_POINTERS(owner, member))

/* Adapts the index to an array whose elements have come, gone or moved, without
 * a look at those that stay.  before: the array as it was.  to: for each of its
 * elements, the index in the array now, or NAME_GONE.  Elements of the array
 * that to does not name are new; n of them, at new_at. */
#define NAME_GONE UINT32_MAX
void name_index_change(struct name_index *index,
    const struct name_table *before, const uint32_t *to,
    const struct name_table *names, const uint32_t *new_at, size_t n);

struct text_entry {
	char *text;
	void *what;
};

/* A table of texts that are made for it, each with what it stands for.  Begins
 * as zeros. */
struct text_table {
	struct text_entry *all;
	size_t all_n, all_room;
	struct name_index all_index;
};

/* Adds an entry with a copy of the text.  Of equal texts, the first is found.
 * Returns false when memory is short. */
bool text_table_add(
    struct text_table *table, const char *text, const void *what) MUST_CHECK;

/* Returns what the text stands for, or NULL. */
void *text_table_find(const struct text_table *table, const char *text);

/* Frees the texts, and leaves an empty table. */
void text_table_clear(struct text_table *table);

#endif
