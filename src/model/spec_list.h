/* SPDX-License-Identifier: MIT
 * The spec of an address list, and of its use by rules and limits. See spec.h.
 */
#ifndef MODEL_SPEC_LIST_H
#define MODEL_SPEC_LIST_H

#include <stddef.h>

#include "model/spec_place.h"
#include "net/cidr.h"

struct acl_content;
struct acl_recipe;

/* A [list NAME] in which a rule or a limit looks up addresses: the index in
 * spec.lists, and the name, NULL if there is no list. */
struct list_use {
	size_t list;
	char *name;
};

/* A word of `entry =` of a list. */
struct list_entry_spec {
	struct spec_place place;
	struct cidr range;
};

/* `file =` of a list. */
struct list_file_spec {
	struct spec_place place;
	char *path;
	char *countries; /* of a MaxMind database, as `DE,FR`; NULL: lines */
};

/* `[list NAME]`. */
struct list_spec {
	char *name;
	struct spec_place place;
	struct list_entry_spec *entries;
	size_t entries_n;
	struct list_file_spec *files;
	size_t files_n;
	struct acl_recipe *recipe; /* of entries and files; shared, counted */
	/* The content that was read, until a model takes it; NULL: nothing was
	 * read yet, or the list in force stays as it is. */
	struct acl_content *content;
};

#endif
