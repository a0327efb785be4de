/* SPDX-License-Identifier: MIT
 * The inside of a content, for its life and look-ups (content.c), and for
 * changes after it was sealed (content_change.c).
 */
#ifndef ACL_CONTENT_INTERNAL_H
#define ACL_CONTENT_INTERNAL_H

#include "acl/content.h"
#include "acl/entries.h"
#include "acl/patch.h"

struct acl_source {
	char *name;
	struct acl_covered covered;
};

struct acl_content {
	struct acl_entries v4, v6;
	bool has_unix;
	struct acl_entry unix_entry; /* if has_unix */
	struct acl_source *sources;
	size_t sources_n, sources_room;
	uint64_t digest,
	    ranges; /* when it was sealed; ranges: without places */
	struct acl_table *table; /* NULL: not sealed */
	/* The last table that was made of all entries: `table` itself, or the
	 * base that `table` patches. */
	struct acl_table *whole;
	struct acl_patch patch; /* changes since `whole` was made */
	struct acl_view view;
};

#endif
