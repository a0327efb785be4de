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
	size_t at;

	if (range->family == AF_UNIX) {
		bool had = c->has_unix;

		c->has_unix = false;
		return had;
	}
	if (!acl_content_index(c, range, &at))
		return false;
	if (range->family == AF_INET)
		memmove(&c->v4[at], &c->v4[at + 1],
		    (--c->n4 - at) * sizeof(*c->v4));
	else
		memmove(&c->v6[at], &c->v6[at + 1],
		    (--c->n6 - at) * sizeof(*c->v6));
	return true;
}

bool
acl_content_insert(struct acl_content *content, const struct acl_entry *entry)
{
	struct acl_content *c = content;
	size_t at;

	(void)acl_content_remove(c, &entry->range);
	if (entry->range.family == AF_UNIX)
		return acl_content_add(c, entry);
	if (!acl_content_make_room(c, entry->range.family))
		return false;
	(void)acl_content_index(c, &entry->range, &at);
	if (entry->range.family == AF_INET) {
		memmove(&c->v4[at + 1], &c->v4[at],
		    (c->n4++ - at) * sizeof(*c->v4));
		c->v4[at] = acl_entry4_pack(entry);
	} else {
		memmove(&c->v6[at + 1], &c->v6[at],
		    (c->n6++ - at) * sizeof(*c->v6));
		c->v6[at] = acl_entry6_pack(entry);
	}
	return true;
}

/* The table of fewer entries is made again, which is fast enough. */
#define PATCHED_MIN 8192u

struct acl_former {
	/* Tables that are no longer in use.  table: NULL if the former table
	 * is the base of the present one.  whole: NULL if the former whole
	 * table is still in use, or is `table`. */
	struct acl_table *table, *whole;
};

/* Returns a table that patches c->whole with the changes since, this one
 * included.  Returns NULL if a patch is not worth it or not possible; then the
 * caller makes the table of all entries. */
static struct acl_table *
patch_table(struct acl_content *c, const struct cidr *range)
{
	bool is_patched = c->patch.changed != NULL;

	if (acl_content_entries(c) < PATCHED_MIN)
		return NULL;
	/* The last change ran out of memory after the patch was dropped:
	 * c->whole lacks changes that no patch has. */
	if (!is_patched && c->table != c->whole)
		return NULL;
	/* A patch has ranges of IP only; has_unix is stored beside it. */
	if (!is_patched && range->family == AF_UNIX)
		return NULL;
	if (range->family != AF_UNIX && !acl_patch_change(&c->patch, c, range))
		return NULL;
	return acl_patch_table(&c->patch, c->whole, c->has_unix);
}

bool
acl_content_follow(struct acl_content *content, const struct cidr *range,
    struct acl_former **ret_former)
{
	struct acl_content *c = content;
	struct acl_former *former = calloc(1, sizeof(*former));
	struct acl_table *made;

	if (!former)
		return false;
	*former = (struct acl_former){.table = c->table};
	made = patch_table(c, range);
	if (made && c->table == c->whole)
		former->table = NULL;
	if (!made) {
		acl_patch_clear(&c->patch);
		made = acl_content_make_table(c);
		if (!made) {
			free(former);
			return false;
		}
		former->whole = c->whole == c->table ? NULL : c->whole;
		c->whole = made;
	}
	c->table = made;
	*ret_former = former;
	return true;
}

void
acl_content_free_former(struct acl_former *former)
{
	acl_table_free(former->table);
	acl_table_free(former->whole);
	free(former);
}
