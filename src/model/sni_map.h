/* SPDX-License-Identifier: MIT
 * A map of the TLS server names in neighbouring rules of a frontend.
 *
 * An exact name precedes every wildcard, and the wildcard with the most labels
 * precedes the others that match, as in nginx's map; the order in the file
 * makes no difference, and no name occurs twice.  `*.example.com` matches any
 * name below example.com, at any depth, and not example.com itself.
 *
 * The map is a hash table with one look-up for each label, so a look-up among
 * 10 000 names costs as much as one among ten.
 */
#ifndef MODEL_SNI_MAP_H
#define MODEL_SNI_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/spec.h"

struct sni_entry {
	const char *name; /* in the spec; not ended by a NUL, without `*.` */
	uint8_t len;
	bool wild;
	uint16_t route; /* index of the frontend's backends */
	uint32_t rule;  /* index of the spec's rules */
};

struct sni_map;

/* Makes the map of rules[from] up to rules[to - 1], which have names.  routes
 * has, for each rule, the index of its backend among the frontend's.  Borrows
 * the rules.  Returns NULL when memory is short.  Freed by free(3). */
struct sni_map *sni_map_new(const struct rule_spec *rules, size_t from,
    size_t to, const uint16_t *routes);

/* Returns the entry that matches a name as tls_name_normalize makes it, or NULL
 * if no rule does.  Any thread. */
const struct sni_entry *sni_map_find(
    const struct sni_map *map, const char *name, size_t len);

/* Returns the next name of a rule, as it is written, or NULL after the last.
 * *position starts at the rule's names. */
const char *sni_names_next(const char **position, size_t *ret_len);

#endif
