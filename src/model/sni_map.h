/* SPDX-License-Identifier: MIT
 * A frontend's rules on the name that a TLS client asks for (`sni =`), ready to
 * be looked up.
 *
 * An exact name goes before every wildcard, and of the wildcards that match the
 * one with the most labels, as nginx's map has it; the order in the file makes
 * no difference, and no name is there twice.  `*.example.com` is any name below
 * example.com, of any depth, and not example.com itself.
 *
 * A hash table with a look for each label, so 10 000 names cost what ten do.
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

/* routes: which of the frontend's backends is that of a rule, for each rule.
 * The spec is borrowed.  NULL when memory is short. */
struct sni_map *sni_map_new(
    const struct frontend_spec *spec, const uint16_t *routes);

/* Any thread: name is as tls_name_normalize makes it.  NULL: no rule. */
const struct sni_entry *sni_map_find(
    const struct sni_map *map, const char *name, size_t len);

/* Steps over the names of a rule, as they are written; *position starts at
 * names.  NULL after the last. */
const char *sni_names_next(const char **position, size_t *ret_len);

#endif
