/* SPDX-License-Identifier: MIT
 * Changes of a content that its table does not have.
 *
 * Making the table of a million entries takes 10 to 250 ms, so a change of one
 * entry makes small tables instead: of the ranges that have changed, and of
 * what is inside the list there.  All other addresses are looked up in the
 * former table.  A change that a patch has no room for waits for a table of all
 * entries, see acl_list_end_change.
 */
#ifndef ACL_PATCH_H
#define ACL_PATCH_H

#include <stdbool.h>

#include "acl/content.h"

/* With all zeros there are no changes. */
struct acl_patch {
	struct acl_content *changed; /* the ranges; NULL: none */
	struct acl_content *inside;  /* in these, what entries have */
};

/* Notes that the content has got or lost the entry with that range.  Returns
 * false when memory is short or the changes are too many: then the patch
 * needs acl_patch_clear, and the content a table of all entries. */
bool acl_patch_change(struct acl_patch *patch,
    const struct acl_content *content, const struct cidr *range) MUST_CHECK;

/* Returns the former table with the changes, or NULL when memory is short. */
struct acl_table *acl_patch_table(
    const struct acl_patch *patch, const struct acl_table *base, bool has_unix);

/* Drops all changes. */
void acl_patch_clear(struct acl_patch *patch);

#endif
