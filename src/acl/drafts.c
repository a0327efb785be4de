/* SPDX-License-Identifier: MIT
 * See drafts.h.
 */
#include "acl/drafts.h"

#include <string.h>

#include "base/ensure.h"

bool
acl_drafts_begin(struct acl_drafts *drafts)
{
	struct acl_content *c = acl_content_new();

	if (!c)
		return false;
	ENSURE(drafts->n < ACL_DRAFTS_MAX);
	drafts->all[drafts->n++] = c;
	return true;
}

/* Returns the index of a version in `all`, or -1 if it is not prepared. */
static int
draft_place(const struct acl_drafts *drafts, unsigned version)
{
	unsigned at = version - drafts->current - 1;

	return version > drafts->current && at < drafts->n ? (int)at : -1;
}

struct acl_content *
acl_drafts_find(const struct acl_drafts *drafts, unsigned version)
{
	int at = draft_place(drafts, version);

	return at >= 0 ? drafts->all[at] : NULL;
}

struct acl_content *
acl_drafts_lend(struct acl_drafts *drafts, unsigned version)
{
	int at = draft_place(drafts, version);
	struct acl_content *draft;

	ENSURE(at >= 0);
	draft = drafts->all[at];
	drafts->all[at] = NULL;
	return draft;
}

bool
acl_drafts_is_lent(const struct acl_drafts *drafts, unsigned version)
{
	int at = draft_place(drafts, version);

	return at >= 0 && !drafts->all[at];
}

void
acl_drafts_bring_back(
    struct acl_drafts *drafts, unsigned version, struct acl_content *draft)
{
	ENSURE(acl_drafts_is_lent(drafts, version));
	drafts->all[draft_place(drafts, version)] = draft;
}

bool
acl_drafts_clear(struct acl_drafts *drafts, unsigned version)
{
	struct acl_content **draft =
	    &drafts->all[version - drafts->current - 1];
	struct acl_content *empty = acl_content_new();

	if (!empty)
		return false;
	acl_content_free(*draft);
	*draft = empty;
	return true;
}

struct acl_content *
acl_drafts_take(struct acl_drafts *drafts, unsigned version)
{
	unsigned at = version - drafts->current - 1;
	struct acl_content *taken = drafts->all[at];

	for (unsigned i = 0; i < at; i++)
		acl_content_free(drafts->all[i]);
	drafts->n -= at + 1;
	drafts->current = version;
	memmove(drafts->all, drafts->all + at + 1,
	    drafts->n * sizeof(drafts->all[0]));
	return taken;
}

void
acl_drafts_drop(struct acl_drafts *drafts)
{
	if (drafts->n > 0)
		acl_content_free(
		    acl_drafts_take(drafts, drafts->current + drafts->n));
}
