/* SPDX-License-Identifier: MIT
 * See content.h: changes of a sealed content, and the table that follows them.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "acl/content_internal.h"

bool
acl_content_remove(struct acl_content *content, const struct cidr *range)
{
	struct acl_content *c = content;

	if (range->family == AF_UNIX) {
		bool had = c->has_unix;

		c->has_unix = false;
		return had;
	}
	return acl_entries_remove(
	    range->family == AF_INET ? &c->v4 : &c->v6, range);
}

bool
acl_content_insert(struct acl_content *content, const struct acl_entry *entry)
{
	struct acl_content *c = content;

	(void)acl_content_remove(c, &entry->range);
	if (entry->range.family == AF_UNIX)
		return acl_content_add(c, entry);
	return acl_entries_insert(
	    entry->range.family == AF_INET ? &c->v4 : &c->v6, entry);
}

/* -- the table -- */

/* With fewer entries the table is made again, which is fast enough. */
#define PATCHED_MIN 8192u

/* Returns a table that patches c->whole with the changes since, this one
 * included; or NULL if there are too many changes or memory is short. */
static struct acl_table *
patch_table(struct acl_content *c, const struct cidr *range)
{
	/* The patch was dropped, so no patch has the changes that c->whole
	 * lacks. */
	if (!c->patch.changed && c->table != c->whole)
		return NULL;
	if (!acl_patch_change(&c->patch, c, range))
		return NULL;
	return acl_patch_table(&c->patch, c->whole, c->has_unix);
}

bool
acl_content_follow(struct acl_content *content, const struct cidr *range,
    struct acl_former *ret_former)
{
	struct acl_content *c = content;
	struct acl_table *made;

	if (acl_content_entries(c) < PATCHED_MIN) {
		made = acl_content_make_table(c);
		if (made)
			*ret_former = acl_content_set_table(c, made);
		return made != NULL;
	}
	made = patch_table(c, range);
	if (!made) {
		acl_patch_clear(&c->patch);
		return false;
	}
	*ret_former = (struct acl_former){
	    .table = c->table == c->whole ? NULL : c->table};
	c->table = made;
	return true;
}

struct acl_former
acl_content_set_table(struct acl_content *content, struct acl_table *table)
{
	struct acl_content *c = content;
	struct acl_former former = {
	    .table = c->table, .base = c->whole == c->table ? NULL : c->whole};

	acl_patch_clear(&c->patch);
	c->whole = c->table = table;
	return former;
}
