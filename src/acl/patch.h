/* SPDX-License-Identifier: MIT
 * The changes of a content that its table lacks.
 *
 * Making the table of a million entries takes 10 to 250 ms, so a change of one
 * entry makes two small tables instead: one of the ranges that have changed,
 * and one of the addresses in these ranges that the list has.  All other
 * addresses are looked up in the former table.  A change for which a patch has
 * no room waits for a table of all entries, see acl_list_end_change.
 */
#ifndef ACL_PATCH_H
#define ACL_PATCH_H

#include <stdbool.h>

#include "acl/content.h"

/* All zeros: no changes. */
struct acl_patch {
	struct acl_content *changed; /* the changed ranges; NULL: none */
	struct acl_content *inside;  /* what the list has of them */
};

/* Notes that the content has got or lost the entry with that range.  Returns
 * false when memory is short or the changes are too many: then the caller
 * clears the patch, and the content needs a table of all entries. */
bool acl_patch_change(struct acl_patch *patch,
    const struct acl_content *content, const struct cidr *range) MUST_CHECK;

/* Returns a table that has base with the changes, or NULL when memory is short.
 * base has to live as long as the result. */
struct acl_table *acl_patch_table(
    const struct acl_patch *patch, const struct acl_table *base, bool has_unix);

/* Drops all changes. */
void acl_patch_clear(struct acl_patch *patch);

#endif
