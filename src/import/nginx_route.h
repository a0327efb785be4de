/* SPDX-License-Identifier: MIT
 * The conversion of a proxy_pass with a variable.  For nginx_route.c and
 * nginx_map.c only.
 */
#ifndef IMPORT_NGINX_ROUTE_H
#define IMPORT_NGINX_ROUTE_H

#include "import/nginx.h"

/* The routes of one frontend. */
struct map_state {
	struct ngx_file *file;
	struct ini_section *section;
	const struct ngx_item *server, *pass;
	const char *prefix, *suffix; /* around the variable: `:443` */
	size_t n, n_nested;
	bool inspects; /* some route asks for the hello */
};

/* A map whose source is the value of another map. */
struct through {
	const struct ngx_item *map;
	const struct through *next;
};

/* Conditions that apply to what is being written. */
struct guard {
	const char *sni;    /* a name, or NULL */
	const char *tls;    /* yes, no or NULL */
	const char *others; /* ` key=value`, or "" */
	unsigned depth;
	const struct through *through; /* the maps to be asked next, or NULL */
};

/* -- nginx_route.c -- */

/* Reports an entry of a map that becomes no route. */
void ngx_lose_entry(
    struct map_state *state, const struct ngx_item *entry, const char *reason);
/* Returns the map, geo or split_clients that gives the variable its value, or
 * NULL. */
const struct ngx_item *ngx_find_map(
    const struct ngx_file *file, const char *variable);
/* Returns the entry of the map for the key, else its default, else NULL. */
const struct ngx_item *ngx_entry_of(
    const struct ngx_item *map, const char *key);
/* Returns the value of the entry; a map without one has an empty value. */
const char *ngx_value_of(const struct ngx_item *entry);
/* Writes the value of a proxy_pass, or of an entry of a map, for clients that
 * fulfil the guard. */
void ngx_put_value(struct map_state *state, const struct ngx_item *entry,
    const struct guard *guard, const char *value);
/* Writes the value for a key, or the default. */
void ngx_put_key(struct map_state *state, const struct ngx_item *map,
    const struct guard *guard, const char *key);

/* nginx_map.c: writes the entries of a map or geo. */
void ngx_put_map(struct map_state *state, const struct ngx_item *map,
    const struct guard *guard);

#endif
