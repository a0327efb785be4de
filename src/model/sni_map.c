/* SPDX-License-Identifier: MIT
 * See sni_map.h.
 */
#include "model/sni_map.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

struct sni_map {
	size_t mask; /* cells - 1, a power of two at least twice the names */
	bool has_wild;
	struct sni_entry cells[]; /* name NULL: free */
};

const char *
sni_names_next(const char **position, size_t *ret_len)
{
	const char *name = *position;

	if (!*name)
		return NULL;
	*ret_len = strcspn(name, " ");
	*position = name + *ret_len + (name[*ret_len] == ' ');
	return name;
}

static size_t
sni_names_count(const struct rule_spec *rules, size_t from, size_t to)
{
	size_t n = 0, len;

	for (size_t i = from; i < to; i++)
		for (const char *at = rules[i].names;
		     sni_names_next(&at, &len);)
			n++;
	return n;
}

/* Returns the slot of the name, or the free one where it would be. */
static size_t
cell_of(const struct sni_map *map, const char *name, size_t len, bool wild)
{
	size_t cell = XXH64(name, len, wild) & map->mask;

	for (;; cell = (cell + 1) & map->mask) {
		const struct sni_entry *e = &map->cells[cell];

		if (!e->name || (e->wild == wild && e->len == len &&
		                    memcmp(e->name, name, len) == 0))
			return cell;
	}
}

static void
sni_map_add(struct sni_map *map, struct sni_entry entry, size_t len)
{
	entry.wild = entry.name[0] == '*';
	if (entry.wild) {
		entry.name += strlen("*.");
		len -= strlen("*.");
	}
	entry.len = (uint8_t)len;
	map->has_wild |= entry.wild;
	map->cells[cell_of(map, entry.name, len, entry.wild)] = entry;
}

struct sni_map *
sni_map_new(const struct rule_spec *rules, size_t from, size_t to,
    const uint16_t *routes)
{
	size_t names = sni_names_count(rules, from, to), cells = 2, len;
	struct sni_map *map;

	while (cells < 2 * names)
		cells *= 2;
	map = calloc(1, sizeof(*map) + cells * sizeof(map->cells[0]));
	if (!map)
		return NULL;
	map->mask = cells - 1;
	for (size_t i = from; i < to; i++) {
		const char *at = rules[i].names, *name;

		while ((name = sni_names_next(&at, &len)))
			sni_map_add(map,
			    (struct sni_entry){.name = name,
			        .rule = (uint32_t)i,
			        .route = routes[i]},
			    len);
	}
	return map;
}

static const struct sni_entry *
sni_map_look(const struct sni_map *map, const char *name, size_t len, bool wild)
{
	const struct sni_entry *e = &map->cells[cell_of(map, name, len, wild)];

	return e->name ? e : NULL;
}

const struct sni_entry *
sni_map_find(const struct sni_map *map, const char *name, size_t len)
{
	const char *end = name + len, *dot;
	const struct sni_entry *e = sni_map_look(map, name, len, false);

	while (!e && map->has_wild &&
	       (dot = memchr(name, '.', (size_t)(end - name)))) {
		name = dot + 1;
		e = sni_map_look(map, name, (size_t)(end - name), true);
	}
	return e;
}
