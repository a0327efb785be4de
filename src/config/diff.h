/* SPDX-License-Identifier: MIT
 * Compares two configurations for a reload.
 *
 * Sections are compared by name, and their keys by the text that the table of
 * keys prints for each, so a new key needs no code here.
 */
#ifndef CONFIG_DIFF_H
#define CONFIG_DIFF_H

#include <stdbool.h>
#include <stddef.h>

#include "config/keys.h"
#include "model/spec.h"

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

/* Adds the differences from old to new.  Values that take a restart are copied
 * from the old spec into the new one, so that it holds the values in force and
 * the next comparison reports them again.  The settings of pools are left out:
 * commands may have changed them since.  Returns false when memory is short. */
bool config_diff(const struct spec *old, struct spec *new,
    struct changes *changes) MUST_CHECK;

/* Does the same for the file of which old was made: with the settings of pools,
 * and without the servers that commands have added to old or deleted from it.
 */
bool config_diff_files(const struct spec *old, struct spec *new,
    struct changes *changes) MUST_CHECK;

/* Returns whether config_diff can copy the value of a key that takes a restart,
 * which depends on its type. */
bool config_diff_keeps(const struct key *key) MUST_CHECK;

#endif
