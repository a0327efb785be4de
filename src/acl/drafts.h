/* SPDX-License-Identifier: MIT
 * The versions of an address list that are prepared, but not in force yet.
 *
 * Versions are numbered from 1, and no number is used twice.  The versions
 * after the one in force are drafts: entries in the order in which they were
 * added, without a table.
 *
 * All functions run on the control thread.
 */
#ifndef ACL_DRAFTS_H
#define ACL_DRAFTS_H

#include <stdbool.h>
#include <stddef.h>

#include "acl/content.h"

#define ACL_DRAFTS_MAX 32u

struct acl_drafts {
	unsigned current; /* the version in force */
	unsigned n;
	/* The drafts of the versions current + 1 to current + n.  NULL: that
	 * draft is lent. */
	struct acl_content *all[ACL_DRAFTS_MAX];
};

/* Begins an empty draft, the last one; there are fewer than ACL_DRAFTS_MAX
 * before.  Returns false when memory is short. */
bool acl_drafts_begin(struct acl_drafts *drafts) MUST_CHECK;

/* Returns the draft of that version, or NULL: there is none, or it is lent. */
struct acl_content *acl_drafts_find(
    const struct acl_drafts *drafts, unsigned version);

/* Lends the draft of that version, which acl_drafts_find has found.  The caller
 * owns it until acl_drafts_bring_back, or keeps it and calls acl_drafts_take.
 */
struct acl_content *acl_drafts_lend(
    struct acl_drafts *drafts, unsigned version);
/* Returns whether the draft of that version is lent, and the version was not
 * dropped since. */
bool acl_drafts_is_lent(const struct acl_drafts *drafts, unsigned version);
/* Takes back a draft that was lent, and ownership of it; acl_drafts_is_lent is
 * true. */
void acl_drafts_bring_back(
    struct acl_drafts *drafts, unsigned version, struct acl_content *draft);

/* Removes all entries of the draft of that version, which exists and is not
 * lent.  Returns false when memory is short; then the draft is as before. */
bool acl_drafts_clear(struct acl_drafts *drafts, unsigned version) MUST_CHECK;

/* Makes that version, of which there is a draft, the one in force, and drops
 * the drafts of lower versions.  Returns the draft, which the caller owns; NULL
 * if it is lent. */
struct acl_content *acl_drafts_take(
    struct acl_drafts *drafts, unsigned version);

/* Drops all drafts.  The last version is the one in force from then on. */
void acl_drafts_drop(struct acl_drafts *drafts);

#endif
