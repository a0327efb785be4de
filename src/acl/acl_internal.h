/* SPDX-License-Identifier: MIT
 * The inside of an address list, for acl.c and versions.c alone.
 */
#ifndef ACL_ACL_INTERNAL_H
#define ACL_ACL_INTERNAL_H

#include "acl/acl.h"
#include "acl/drafts.h"
#include "base/atomics.h"

struct acl_list {
	/* Shared. */
	struct acl_view *view; /* of content; `empty` if there is none */
	uint64_t matches CACHE_LINE_ALIGNED;

	/* Control thread only. */
	unsigned refs CACHE_LINE_ALIGNED;
	char *name;
	struct acl_content *content; /* of the configuration and its files */
	struct acl_content *added;   /* by commands; NULL: nothing */
	struct acl_content *gone; /* of content, deleted one by one, or NULL */
	size_t deleted;           /* entries of content, by commands */
	uint64_t published;       /* acl_content_ranges_digest; 0: nothing */
	struct acl_drafts drafts;
	bool committing; /* a commit has begun */
	bool changing;   /* from acl_list_begin_changes on */
	struct acl_view empty;
};

/* Replaces all entries by those of added, and takes ownership of it.  When
 * memory is short, returns false and takes no ownership. */
bool acl_list_replace_all(struct acl_list *list, struct acl_content *added,
    struct grace *grace) MUST_CHECK;

#endif
