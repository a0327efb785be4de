/* SPDX-License-Identifier: MIT
 * An address list: [list NAME], as the data plane sees it.
 *
 * A list outlives models, as the state of a frontend does: a reload publishes
 * another content in the list of the same name.  Entries that commands have
 * added are kept apart from the content of the configuration and its files, so
 * that the cost of an addition does not depend on the million entries that a
 * list may have.
 *
 * The entries can be replaced as a whole: acl_list_prepare begins a version,
 * which is filled while the entries in force stay as they are, and
 * acl_list_commit publishes it.
 */
#ifndef ACL_ACL_H
#define ACL_ACL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "acl/content.h"
#include "base/err.h"
#include "net/addr.h"

struct acl_list;
struct grace;

/* Returns an empty list with one reference, or NULL when memory is short.  Runs
 * on the control thread, as do all functions below that do not say otherwise.
 */
struct acl_list *acl_list_new(const char *name);
/* Adds a reference.  Returns the list. */
struct acl_list *acl_list_ref(struct acl_list *list);
/* Drops a reference.  The last one frees the list at once, so no thread may
 * read it any more.  NULL is allowed. */
void acl_list_unref(struct acl_list *list);

/* Returns whether the list has the client's address.  Any thread, in a grace
 * section, or the control thread.  Never blocks. */
bool acl_list_has(const struct acl_list *list, const struct endpoint *client);

/* Counts a client that the list has decided about.  Any thread. */
void acl_list_count(struct acl_list *list);
/* Returns how many clients were counted.  Any thread. */
uint64_t acl_list_matches(const struct acl_list *list);
/* Resets the count. */
void acl_list_clear_matches(struct acl_list *list);

/* Returns the name, which the list owns. */
const char *acl_list_name(const struct acl_list *list);

/* Publishes a content that was read, and takes ownership of it; the content is
 * sealed.  An entry that a command has deleted stays deleted if the content has
 * it; an entry that the content lacks is no longer deleted.  The entries that
 * were deleted all at once (acl_changes.cleared) are in force again if they
 * were read.  Entries that commands have added stay; those that were read as
 * well are from then on only those of the content, unless commands have added
 * more than ACL_SINGLE_MAX, which would take too long.  Versions stay. */
#define ACL_SINGLE_MAX 4096
void acl_list_publish(
    struct acl_list *list, struct acl_content *content, struct grace *grace);

/* Returns whether commands have changed the list and the content has the same
 * entries as the one that was published last: then the changes go on to hold,
 * and the content need not be published. */
bool acl_list_holds(
    const struct acl_list *list, const struct acl_content *content);

/* Returns a hash of the ranges of the content that was published last, or 0 if
 * none was. */
uint64_t acl_list_digest(const struct acl_list *list);

/* Returns the content that was read, without entries that commands have deleted
 * since; NULL: nothing was read yet. */
const struct acl_content *acl_list_content(const struct acl_list *list);

enum acl_outcome {
	ACL_DONE,
	ACL_NO_ENTRY,   /* no entry has exactly this range */
	ACL_NO_VERSION, /* the version is not prepared */
	ACL_TOO_MANY,   /* ACL_DRAFTS_MAX versions are prepared */
	ACL_SHORT       /* memory is short; the list is as before */
};

/* From the first call to the second one, changes of entries are not found by
 * look-ups, and cost no copy of the table each: for thousands of them in a row.
 * The second call returns false when memory is short: then look-ups find the
 * entries from before. */
void acl_list_begin_changes(struct acl_list *list);
bool acl_list_end_changes(struct acl_list *list, struct grace *grace);

/* Adds an entry, unless the list has one with the same range.  An entry that
 * was read, and that a command has deleted, is again as it was read.  The
 * change is in force when the function returns.  Returns ACL_DONE or ACL_SHORT.
 * Not allowed during a commit. */
enum acl_outcome acl_list_add(
    struct acl_list *list, const struct cidr *range, struct grace *grace);

/* Deletes the entry with exactly this range.  Returns ACL_DONE, ACL_NO_ENTRY or
 * ACL_SHORT.  Not allowed during a commit. */
enum acl_outcome acl_list_delete(
    struct acl_list *list, const struct cidr *range, struct grace *grace);

/* The entry with exactly a range. */
struct acl_presence {
	bool present;
	bool was_read; /* also if a command has deleted it one by one */
};
/* Returns whether the list has the entry with exactly this range, and whether
 * it was read. */
struct acl_presence acl_list_presence(
    const struct acl_list *list, const struct cidr *range);

/* Deletes all entries: each for itself, or all at once if more than
 * ACL_SINGLE_MAX were read.  Returns false when memory is short. */
bool acl_list_clear(struct acl_list *list, struct grace *grace) MUST_CHECK;

/* The numbers of entries that commands have added and deleted, of those among
 * the deleted ones that were deleted all at once, by acl_list_clear or
 * acl_list_commit, and of versions that are prepared. */
struct acl_changes {
	size_t added, deleted, cleared, prepared;
};
/* Returns the changes since the last content was published. */
struct acl_changes acl_list_changes(const struct acl_list *list);

/* -- versions -- */

struct acl_versions {
	unsigned current; /* in force; 0: none was committed */
	unsigned next;    /* the last one that was prepared, or current */
};

/* Returns the versions of the list. */
struct acl_versions acl_list_versions(const struct acl_list *list);

/* Begins an empty version, whose number is acl_list_versions.next afterwards.
 * Returns ACL_DONE, ACL_SHORT or ACL_TOO_MANY. */
enum acl_outcome acl_list_prepare(struct acl_list *list);

/* Adds an entry to a version that is prepared.  Returns ACL_DONE, ACL_SHORT or
 * ACL_NO_VERSION. */
enum acl_outcome acl_list_prepare_entry(
    struct acl_list *list, unsigned version, const struct cidr *range);

/* Removes all entries of a version that is prepared.  Returns what
 * acl_list_prepare_entry returns. */
enum acl_outcome acl_list_prepare_again(
    struct acl_list *list, unsigned version);

/* Gets an entry of a version that is prepared, by its index: in the order of
 * the address families, then in the order in which entries were added.  Returns
 * false at the end, or if the version is not prepared. */
bool acl_list_prepared_at(const struct acl_list *list, unsigned version,
    size_t index, struct cidr *ret);

/* Puts a version into force in place of all entries, as acl_list_clear and then
 * acl_list_add for each entry would do, but at one moment.  Drops the versions
 * before it.  Returns what acl_list_prepare_entry returns; the list is as
 * before unless that is ACL_DONE. Takes 0.2 s for a million entries in random
 * order. */
enum acl_outcome acl_list_commit(
    struct acl_list *list, unsigned version, struct grace *grace);

/* acl_list_commit in three steps, of which the long one, acl_content_seal, may
 * run on any thread:
 *
 *   acl_list_begin_commit --> acl_content_seal --> acl_list_end_commit
 *
 * In between, the caller changes the list only by acl_list_publish. */

/* Returns ACL_DONE or ACL_NO_VERSION.  With ACL_DONE, the caller owns
 * *ret_entries. */
enum acl_outcome acl_list_begin_commit(
    struct acl_list *list, unsigned version, struct acl_content **ret_entries);
/* Takes ownership of the entries.  sealed: what acl_content_seal has returned.
 * Returns what acl_list_commit returns. */
enum acl_outcome acl_list_end_commit(struct acl_list *list, unsigned version,
    struct acl_content *entries, bool sealed, struct grace *grace);

/* Returns whether a commit has begun and not ended. */
bool acl_list_is_committing(const struct acl_list *list);

/* Returns the number of entries of a version that is prepared; 0 if it is not.
 */
size_t acl_list_prepared_entries(const struct acl_list *list, unsigned version);

/* An entry, and where it is from. */
struct acl_listed {
	struct cidr range;
	const char *source; /* a file; NULL: a command.  Owned by the list */
	unsigned line;      /* of source; 0: unknown */
};

/* Returns the number of entries. */
size_t acl_list_entries(const struct acl_list *list);

/* Returns how many entries of the configuration and its files were covered by
 * another one of these when they were read. */
size_t acl_list_covered(const struct acl_list *list);

/* Gets an entry by its index: first those that commands have added, then those
 * that were read, both in the order of acl_content_at.  Returns false at the
 * end. */
bool acl_list_at(
    const struct acl_list *list, size_t index, struct acl_listed *ret);

/* Gets an entry that a command has deleted from those that were read, by its
 * index, in the order of acl_content_at.  Returns false at the end.  Entries
 * that were deleted all at once are not kept. */
bool acl_list_deleted_at(
    const struct acl_list *list, size_t index, struct acl_listed *ret);

/* Gets the entry with the longest prefix that has the client.  Returns false if
 * there is none. */
bool acl_list_find(const struct acl_list *list, const struct endpoint *client,
    struct acl_listed *ret);

#endif
