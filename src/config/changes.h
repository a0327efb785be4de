/* SPDX-License-Identifier: MIT
 * The changes that a reload makes, each as a sentence.
 */
#ifndef CONFIG_CHANGES_H
#define CONFIG_CHANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct server_spec;

/* A change that a reload makes. */
struct change {
	char *text;   /* `frontend web: timeout_client: 5m -> 10s` */
	bool restart; /* takes effect with a restart only */
};

/* A server whose address commands have set, to the places of
 * server_spec_place. */
struct moved_server {
	const struct server_spec *spec; /* of the old configuration */
	const uint64_t *places;         /* of n; borrowed */
	size_t n;
};

struct changes {
	struct change *all;
	size_t n;
	/* Servers that stay the same ones when the new configuration has the
	 * addresses that were set.  The caller of config_diff may set this;
	 * changes_fini frees the array. */
	struct moved_server *moved;
	size_t moved_n;
};

/* Makes an empty list. */
void changes_init(struct changes *changes);
/* Frees the sentences. */
void changes_fini(struct changes *changes);

/* Appends a sentence.  When memory is short, only the sentence is lost. */
void changes_add(struct changes *changes, bool restart, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#endif
