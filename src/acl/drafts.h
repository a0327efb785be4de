/* SPDX-License-Identifier: MIT
 * The versions of an address list that are prepared, and not in force so far.
 *
 * Versions are numbered from 1, and a number is never given twice.  Those
 * behind the version in force, up to the last one, are drafts: entries in the
 * order in which they were added, without a table.
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

/* Begins an empty draft behind the others, of which there are less than
 * ACL_DRAFTS_MAX.  Returns false when memory is short. */
bool acl_drafts_begin(struct acl_drafts *drafts) MUST_CHECK;

/* Returns the draft of that version, or NULL: there is none, or it is lent. */
struct acl_content *acl_drafts_find(
    const struct acl_drafts *drafts, unsigned version);

/* Lends the draft of that version, which acl_drafts_find has found.  The caller
 * owns it, and brings it back, or takes the version. */
struct acl_content *acl_drafts_lend(
    struct acl_drafts *drafts, unsigned version);
/* Whether a draft of that version was lent, and the version not dropped since.
 */
bool acl_drafts_is_lent(const struct acl_drafts *drafts, unsigned version);
/* Takes ownership of a draft that was lent, if acl_drafts_is_lent. */
void acl_drafts_bring_back(
    struct acl_drafts *drafts, unsigned version, struct acl_content *draft);

/* Removes all entries of the draft of that version, which exists.  Returns
 * false when memory is short; the draft is as before then. */
bool acl_drafts_clear(struct acl_drafts *drafts, unsigned version) MUST_CHECK;

/* Makes that version, of which there is a draft, the one in force: drops the
 * drafts of lower versions.  Returns the draft, which the caller owns; NULL if
 * it is lent. */
struct acl_content *acl_drafts_take(
    struct acl_drafts *drafts, unsigned version);

/* Drops all drafts.  The last version is the one in force from then on. */
void acl_drafts_drop(struct acl_drafts *drafts);

#endif
