/* SPDX-License-Identifier: MIT
 * See name_table.h.
 */
#include "base/name_table.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/grow.h"

const char *
name_table_at(const struct name_table *names, size_t i)
{
	const void *element = (const char *)names->all + i * names->size;

	if (names->pointers)
		element = *(const void *const *)element;
	return *(const char *const *)element;
}

/* Returns the slot of the name, or the free one where it would be.  At least
 * half of the slots are free. */
static uint32_t *
slot_of(const struct name_index *index, const struct name_table *names,
    const char *name)
{
	size_t mask = index->slots_n - 1;
	size_t i = XXH64(name, strlen(name), 0) & mask;

	while (index->slots[i] &&
	       strcmp(name_table_at(names, index->slots[i] - 1), name) != 0)
		i = (i + 1) & mask;
	return &index->slots[i];
}

static bool
find_in_turn(
    const struct name_table *names, const char *name, size_t *ret_index)
{
	for (size_t i = 0; i < names->n; i++)
		if (strcmp(name_table_at(names, i), name) == 0) {
			*ret_index = i;
			return true;
		}
	return false;
}

bool
name_table_find(
    const struct name_table *names, const char *name, size_t *ret_index)
{
	uint32_t found;

	if (!names->index || names->index->slots_n == 0)
		return find_in_turn(names, name, ret_index);
	found = *slot_of(names->index, names, name);
	if (found)
		*ret_index = found - 1;
	return found;
}

/* Adds the i-th element to an index with a free slot. */
static void
name_index_add(
    const struct name_index *index, const struct name_table *names, size_t i)
{
	uint32_t *slot = slot_of(index, names, name_table_at(names, i));

	if (!*slot)
		*slot = (uint32_t)i + 1;
}

void
name_index_make(struct name_index *index, const struct name_table *names)
{
	size_t n = 4;

	while (n < 2 * names->n)
		n *= 2;
	free(index->slots);
	index->slots = calloc(n, sizeof(*index->slots));
	index->slots_n = index->slots ? n : 0;
	for (size_t i = 0; index->slots && i < names->n; i++)
		name_index_add(index, names, i);
}

/* Frees the slot of the i-th element.  Moves names behind it that a search
 * would not find any more. */
static void
name_index_remove(
    const struct name_index *index, const struct name_table *names, size_t i)
{
	size_t mask = index->slots_n - 1, home;
	size_t hole = (size_t)(slot_of(index, names, name_table_at(names, i)) -
	                       index->slots);

	if (index->slots[hole] != i + 1)
		return;
	for (size_t at = (hole + 1) & mask; index->slots[at];
	     at = (at + 1) & mask) {
		const char *name = name_table_at(names, index->slots[at] - 1);

		home = XXH64(name, strlen(name), 0) & mask;
		if (((at - home) & mask) < ((at - hole) & mask))
			continue;
		index->slots[hole] = index->slots[at];
		hole = at;
	}
	index->slots[hole] = 0;
}

void
name_index_change(struct name_index *index, const struct name_table *before,
    const uint32_t *to, const struct name_table *names, const uint32_t *new_at,
    size_t n)
{
	if (index->slots_n < 2 * names->n) {
		name_index_make(index, names);
		return;
	}
	for (size_t i = 0; i < before->n; i++)
		if (to[i] == NAME_GONE)
			name_index_remove(index, before, i);
	for (size_t i = 0; i < index->slots_n; i++)
		if (index->slots[i])
			index->slots[i] = to[index->slots[i] - 1] + 1;
	for (size_t i = 0; i < n; i++)
		name_index_add(index, names, new_at[i]);
}

bool
text_table_add(struct text_table *table, const char *text, const void *what)
{
	struct text_entry e = {
	    .text = strdup(text), .what = (void *)(uintptr_t)what};
	struct text_entry *grown =
	    grow(table->all, table->all_n, &table->all_room, sizeof(*grown));

	if (grown)
		table->all = grown;
	if (!grown || !e.text) {
		free(e.text);
		return false;
	}
	grown[table->all_n++] = e;
	if (2 * table->all_n > table->all_index.slots_n)
		INDEX_NAMES(table, all);
	else
		name_index_add(&table->all_index, INDEXED_TABLE(table, all),
		    table->all_n - 1);
	return true;
}

void *
text_table_find(const struct text_table *table, const char *text)
{
	size_t i;

	return name_table_find(INDEXED_TABLE(table, all), text, &i)
	           ? table->all[i].what
	           : NULL;
}

void
text_table_clear(struct text_table *table)
{
	for (size_t i = 0; i < table->all_n; i++)
		free(table->all[i].text);
	free(table->all);
	free(table->all_index.slots);
	*table = (struct text_table){.all_n = 0};
}
