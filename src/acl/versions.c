/* SPDX-License-Identifier: MIT
 * The versions of an address list: see acl.h.
 */
#include "acl/acl_internal.h"
#include "base/ensure.h"

struct acl_versions
acl_list_versions(const struct acl_list *list)
{
	const struct acl_drafts *d = &list->drafts;

	return (struct acl_versions){
	    .current = d->current, .next = d->current + d->n};
}

enum acl_outcome
acl_list_prepare(struct acl_list *list)
{
	if (list->drafts.n == ACL_DRAFTS_MAX)
		return ACL_TOO_MANY;
	return acl_drafts_begin(&list->drafts) ? ACL_DONE : ACL_SHORT;
}

enum acl_outcome
acl_list_prepare_entry(
    struct acl_list *list, unsigned version, const struct cidr *range)
{
	struct acl_content *draft = acl_drafts_find(&list->drafts, version);
	struct acl_entry entry = {.range = *range};

	if (!draft)
		return ACL_NO_VERSION;
	return acl_content_add(draft, &entry) ? ACL_DONE : ACL_SHORT;
}

enum acl_outcome
acl_list_prepare_again(struct acl_list *list, unsigned version)
{
	if (!acl_drafts_find(&list->drafts, version))
		return ACL_NO_VERSION;
	return acl_drafts_clear(&list->drafts, version) ? ACL_DONE : ACL_SHORT;
}

bool
acl_list_prepared_at(const struct acl_list *list, unsigned version,
    size_t index, struct cidr *ret)
{
	struct acl_content *draft = acl_drafts_find(&list->drafts, version);
	struct acl_entry entry;

	if (!draft || !acl_content_at(draft, index, &entry))
		return false;
	*ret = entry.range;
	return true;
}

enum acl_outcome
acl_list_begin_commit(
    struct acl_list *list, unsigned version, struct acl_content **ret_entries)
{
	if (!acl_drafts_find(&list->drafts, version))
		return ACL_NO_VERSION;
	ENSURE(!list->committing);
	list->committing = true;
	*ret_entries = acl_drafts_lend(&list->drafts, version);
	return ACL_DONE;
}

/* A draft that was sealed and brought back can be filled and sealed again. */
enum acl_outcome
acl_list_end_commit(struct acl_list *list, unsigned version,
    struct acl_content *entries, bool sealed, struct grace *grace)
{
	list->committing = false;
	if (!acl_drafts_is_lent(&list->drafts, version)) {
		acl_content_free(entries);
		return ACL_NO_VERSION;
	}
	if (!sealed || !acl_list_replace_all(list, entries, grace)) {
		acl_drafts_bring_back(&list->drafts, version, entries);
		return ACL_SHORT;
	}
	(void)acl_drafts_take(&list->drafts, version);
	return ACL_DONE;
}

enum acl_outcome
acl_list_commit(struct acl_list *list, unsigned version, struct grace *grace)
{
	struct acl_content *entries;
	enum acl_outcome outcome =
	    acl_list_begin_commit(list, version, &entries);

	if (outcome != ACL_DONE)
		return outcome;
	return acl_list_end_commit(
	    list, version, entries, acl_content_seal(entries), grace);
}

bool
acl_list_is_committing(const struct acl_list *list)
{
	return list->committing;
}

size_t
acl_list_prepared_entries(const struct acl_list *list, unsigned version)
{
	const struct acl_content *draft =
	    acl_drafts_find(&list->drafts, version);

	return draft ? acl_content_entries(draft) : 0;
}
