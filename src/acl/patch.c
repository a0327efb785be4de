/* SPDX-License-Identifier: MIT
 * See patch.h.
 */
#include "acl/patch.h"

#include <string.h>
#include <sys/socket.h>

/* The most changed ranges, and the most entries in them.  With more, making the
 * small tables again and again would take longer in total than making the large
 * one. */
#define CHANGED_MAX 2048u
#define INSIDE_MAX  4096u

/* Returns whether an entry has all of the range. */
static bool
is_covered(const struct acl_content *content, const struct cidr *range)
{
	struct acl_entry e;

	for (unsigned bits = 0; bits <= range->bits; bits++) {
		struct cidr outer = *range;

		outer.bits = (uint8_t)bits;
		for (unsigned i = bits; i < 8 * sizeof(outer.ip); i++)
			outer.ip[i / 8] &= (uint8_t) ~(0x80u >> i % 8);
		if (acl_content_get(content, &outer, &e))
			return true;
	}
	return false;
}

/* Gets the first entry that is within the range or has the same range.  Entries
 * are in order, so all such entries follow each other. */
static bool
first_within(const struct acl_content *content, const struct cidr *range,
    size_t *ret_at, struct acl_entry *ret)
{
	*ret_at = acl_content_after(content, range);
	return acl_content_at(content, *ret_at, ret) &&
	       cidr_covers(range, &ret->range);
}

/* Copies the entries within the range.  Returns false when memory is short or
 * there are too many. */
static bool
copy_within(struct acl_content *to, const struct acl_content *content,
    const struct cidr *range)
{
	struct acl_entry e;
	size_t at;

	if (!first_within(content, range, &at, &e))
		return true;
	do {
		if (acl_content_entries(to) >= INSIDE_MAX ||
		    !acl_content_insert(to, &e))
			return false;
	} while (
	    acl_content_at(content, ++at, &e) && cidr_covers(range, &e.range));
	return true;
}

static bool
patch_begin(struct acl_patch *patch)
{
	if (patch->changed)
		return true;
	patch->changed = acl_content_new();
	patch->inside = acl_content_new();
	if (patch->changed && patch->inside)
		return true;
	acl_patch_clear(patch);
	return false;
}

/* Entries of `inside` within the range may have changed, so they are made
 * again.  An entry of `inside` that contains the range stays: an entry of the
 * content still covers it. */
bool
acl_patch_change(struct acl_patch *patch, const struct acl_content *content,
    const struct cidr *range)
{
	const struct acl_entry whole = {.range = *range};
	struct acl_entry e;
	size_t at;

	if (!patch_begin(patch) ||
	    acl_content_entries(patch->changed) >= CHANGED_MAX)
		return false;
	if (range->family == AF_UNIX) /* acl_patch_table gets has_unix */
		return true;
	if (!is_covered(patch->changed, range) &&
	    !acl_content_insert(patch->changed, &whole))
		return false;
	while (first_within(patch->inside, range, &at, &e))
		(void)acl_content_remove(patch->inside, &e.range);
	if (is_covered(content, range))
		return acl_content_insert(patch->inside, &whole);
	return copy_within(patch->inside, content, range);
}

struct acl_table *
acl_patch_table(
    const struct acl_patch *patch, const struct acl_table *base, bool has_unix)
{
	return acl_table_patch(base, acl_content_make_table(patch->changed),
	    acl_content_make_table(patch->inside), has_unix);
}

void
acl_patch_clear(struct acl_patch *patch)
{
	acl_content_free(patch->changed);
	acl_content_free(patch->inside);
	*patch = (struct acl_patch){.changed = NULL};
}
