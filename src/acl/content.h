/* SPDX-License-Identifier: MIT
 * The content of an address list: entries, the file and line of each, and the
 * table that look-ups use.
 *
 *   acl_content_new --> acl_content_add... --> acl_content_seal --> look-ups
 *
 * A content belongs to one thread at a time.  Other threads read only its
 * table.
 */
#ifndef ACL_CONTENT_H
#define ACL_CONTENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "acl/entries.h"
#include "acl/table.h"

/* The files that the entries of a content can be from. */
#define ACL_SOURCES_MAX 250u

/* The entries of one source that have no effect, because another entry of the
 * content has all of their addresses. */
struct acl_covered {
	size_t n;
	/* If n > 0: the covered entry with the lowest line, and an entry that
	 * covers it. */
	struct acl_entry first, cover;
};

struct acl_content;

/* The tables that look-ups in a list read.  A single pointer leads to both, so
 * that both change at once.  Each of them may be NULL. */
struct acl_view {
	const struct acl_table *read, *added;
};

/* Returns an empty content, or NULL when memory is short. */
struct acl_content *acl_content_new(void);

/* Adds a file, and returns its number, or -1 when memory is short or there are
 * too many.  Copies the name. */
int acl_content_add_source(struct acl_content *content, const char *name);

/* Adds an entry, before acl_content_seal.  Returns false when memory is short.
 */
bool acl_content_add(
    struct acl_content *content, const struct acl_entry *entry) MUST_CHECK;

/* Sorts the entries, counts those that others cover, drops repeated ones, and
 * makes the table.  Returns false when memory is short. */
bool acl_content_seal(struct acl_content *content) MUST_CHECK;

/* Inserts an entry into a sealed content, which has none with the same range.
 * *ret_former is the table that was replaced; the caller frees it once no
 * thread reads it.  Returns false when memory is short; then the content is as
 * before. */
bool acl_content_insert(struct acl_content *content,
    const struct acl_entry *entry, struct acl_table **ret_former) MUST_CHECK;

/* Returns the table that a sealed content will have without the entry with
 * exactly this range, which it has; NULL when memory is short. */
struct acl_table *acl_content_table_without(
    const struct acl_content *content, const struct cidr *range);
/* Removes the entry.  table: what acl_content_table_without has returned for
 * it.  Takes ownership of the table, and returns the one that is replaced. */
struct acl_table *acl_content_remove(struct acl_content *content,
    const struct cidr *range, struct acl_table *table);

/* Do the same without a table: look-ups find the change after
 * acl_content_renew.  For many changes in a row, each of which would copy the
 * table. */
bool acl_content_insert_later(
    struct acl_content *content, const struct acl_entry *entry) MUST_CHECK;
void acl_content_remove_later(
    struct acl_content *content, const struct cidr *range);
/* Does acl_entries_part with the entries of both contents, likewise without
 * tables. */
void acl_content_part(struct acl_content *content, struct acl_content *others);
/* Makes the table anew if such changes have been made.  *ret_former is the one
 * that was replaced, or NULL.  Returns false when memory is short; then the
 * table is as before. */
bool acl_content_renew(
    struct acl_content *content, struct acl_table **ret_former) MUST_CHECK;

/* Frees the content and its table.  NULL is allowed. */
void acl_content_free(struct acl_content *content);

/* Returns the table, which the content owns. */
const struct acl_table *acl_content_table(const struct acl_content *content);

/* Returns the content's view, for the list that has the content.  The list
 * fills the view, which lives as long as the content. */
struct acl_view *acl_content_view(struct acl_content *content);

/* Returns the number of entries. */
size_t acl_content_entries(const struct acl_content *content);

/* Returns the name of the file with that number. */
const char *acl_content_source(
    const struct acl_content *content, unsigned source);

/* Returns the entries of the file with that number that were covered when the
 * content was sealed; NULL: there is no such file. */
const struct acl_covered *acl_content_covered(
    const struct acl_content *content, unsigned source);

/* Gets the entry with that index: the one for unix sockets first, then IPv4,
 * then IPv6, by address and then by length of the prefix.  Returns false at the
 * end. */
bool acl_content_at(
    const struct acl_content *content, size_t index, struct acl_entry *ret);

/* Gets the entry with exactly this range.  Returns false if there is none. */
bool acl_content_get(const struct acl_content *content,
    const struct cidr *range, struct acl_entry *ret);

/* Gets the entry with the longest prefix that has the peer.  Returns false if
 * there is none. */
bool acl_content_find(const struct acl_content *content,
    const struct endpoint *peer, struct acl_entry *ret);

/* Returns a hash of all entries and their places as they were when the content
 * was sealed. */
uint64_t acl_content_digest(const struct acl_content *content);
/* Returns a hash of all entries without their places, as they were then. */
uint64_t acl_content_ranges_digest(const struct acl_content *content);

#endif
