/* SPDX-License-Identifier: MIT
 * See acl.h.
 */
#include "acl/acl.h"

#include <stdlib.h>
#include <string.h>

#include "acl/acl_internal.h"
#include "base/atomics.h"
#include "base/ensure.h"
#include "base/grace.h"
#include "base/log.h"

struct acl_list *
acl_list_new(const char *name)
{
	struct acl_list *l = aligned_alloc(CACHE_LINE, sizeof(*l));

	if (!l)
		return NULL;
	*l = (struct acl_list){.refs = 1, .name = strdup(name)};
	l->view = &l->empty;
	if (l->name)
		return l;
	free(l);
	return NULL;
}

struct acl_list *
acl_list_ref(struct acl_list *list)
{
	list->refs++;
	return list;
}

void
acl_list_unref(struct acl_list *list)
{
	if (!list || --list->refs > 0)
		return;
	acl_content_free(list->content);
	acl_content_free(list->added);
	acl_content_free(list->gone);
	acl_drafts_drop(&list->drafts);
	free(list->name);
	free(list);
}

static bool
table_has(const struct acl_table *const *at, const struct endpoint *client)
{
	const struct acl_table *table = atomic_load_acquire(at); /* [P32] */

	return table && acl_table_has(table, client);
}

bool
acl_list_has(const struct acl_list *list, const struct endpoint *client)
{
	const struct acl_view *view =
	    atomic_load_acquire(&list->view); /* [P32] */

	return table_has(&view->read, client) ||
	       table_has(&view->added, client);
}

void
acl_list_count(struct acl_list *list)
{
	(void)atomic_add_relaxed(&list->matches, UINT64_C(1));
}

uint64_t
acl_list_matches(const struct acl_list *list)
{
	return atomic_load_relaxed(&list->matches);
}

void
acl_list_clear_matches(struct acl_list *list)
{
	atomic_store_relaxed(&list->matches, UINT64_C(0));
}

const char *
acl_list_name(const struct acl_list *list)
{
	return list->name;
}

static void
free_content(void *content)
{
	acl_content_free(content);
}

static void
free_table(void *table)
{
	acl_table_free(table);
}

/* Returns the number of entries; content may be NULL. */
static size_t
count(const struct acl_content *content)
{
	return content ? acl_content_entries(content) : 0;
}

static void
retire(struct acl_content *content, struct grace *grace)
{
	if (content)
		grace_retire(grace, free_content, content);
}

/* Publishes both contents at once, and retires those that they replace.  read
 * is another content than before; added may be the same. */
static void
exchange(struct acl_list *list, struct acl_content *read,
    struct acl_content *added, struct grace *grace)
{
	struct acl_view *view = acl_content_view(read);
	struct acl_content *former = list->content;

	view->read = acl_content_table(read);
	view->added = added ? acl_content_table(added) : NULL;
	atomic_store_release(&list->view, view); /* [P32] */
	list->content = read;
	retire(former, grace);
	if (added != list->added)
		retire(list->added, grace);
	list->added = added;
}

/* Copies the entries of from that content does not have.  Returns NULL when
 * memory is short. */
static struct acl_content *
copy_others(const struct acl_content *from, const struct acl_content *content)
{
	struct acl_content *to = acl_content_new();
	struct acl_entry e, same;
	bool ok = to != NULL;

	for (size_t i = 0; ok && acl_content_at(from, i, &e); i++)
		ok = acl_content_get(content, &e.range, &same) ||
		     acl_content_add(to, &e);
	if (ok && acl_content_seal(to))
		return to;
	acl_content_free(to);
	return NULL;
}

/* Returns the entries that commands have added and the content does not
 * have. */
static struct acl_content *
still_added(const struct acl_list *list, const struct acl_content *content)
{
	size_t n = count(list->added);
	struct acl_content *others;

	if (n == 0 || n > ACL_SINGLE_MAX)
		return list->added;
	others = copy_others(list->added, content);
	return others ? others : list->added;
}

static void
forget_gone(struct acl_list *list)
{
	acl_content_free(list->gone);
	list->gone = NULL;
}

/* Inserts the deleted entries into the content again, which has had them and so
 * has the room. */
static void
bring_back_gone(struct acl_list *list, struct acl_content *content)
{
	struct acl_entry e;

	for (size_t i = 0; acl_content_at(list->gone, i, &e); i++)
		ENSURE(acl_content_insert_later(content, &e));
	forget_gone(list);
	log_error("list %s: the entries that commands have deleted are back: "
	          "out of memory",
	    list->name);
}

/* Removes the entries that commands have deleted one by one from the content,
 * and forgets those of them that the content lacks. */
static void
leave_out_gone(struct acl_list *list, struct acl_content *content)
{
	struct acl_table *former;

	if (list->gone) {
		acl_content_part(content, list->gone);
		if (acl_content_renew(content, &former))
			acl_table_free(former);
		else
			bring_back_gone(list, content);
	}
	list->deleted = count(list->gone);
	if (list->deleted == 0)
		forget_gone(list);
}

void
acl_list_publish(
    struct acl_list *list, struct acl_content *content, struct grace *grace)
{
	list->published = acl_content_ranges_digest(content);
	leave_out_gone(list, content);
	exchange(list, content, still_added(list, content), grace);
}

bool
acl_list_holds(const struct acl_list *list, const struct acl_content *content)
{
	struct acl_changes by = acl_list_changes(list);

	return list->content && by.added + by.deleted > 0 &&
	       acl_content_ranges_digest(content) == list->published;
}

uint64_t
acl_list_digest(const struct acl_list *list)
{
	return list->published;
}

const struct acl_content *
acl_list_content(const struct acl_list *list)
{
	return list->content;
}

/* -- commands -- */

/* Returns an empty, sealed content, or NULL when memory is short. */
static struct acl_content *
make_empty(void)
{
	struct acl_content *c = acl_content_new();

	if (c && acl_content_seal(c))
		return c;
	acl_content_free(c);
	return NULL;
}

/* Publishes the table that the content has after a change of an entry.  at: the
 * table's place in the view. */
static void
publish_change(const struct acl_table **at, const struct acl_content *content,
    struct acl_table *former, struct grace *grace)
{
	atomic_store_release(at, acl_content_table(content)); /* [P32] */
	grace_retire(grace, free_table, former);
}

/* Puts back an entry that was read and that a command has deleted. */
static enum acl_outcome
put_back(
    struct acl_list *list, const struct acl_entry *entry, struct grace *grace)
{
	struct acl_table *former = NULL;

	if (list->changing ? !acl_content_insert_later(list->content, entry)
	                   : !acl_content_insert(list->content, entry, &former))
		return ACL_SHORT;
	if (former)
		publish_change(&list->view->read, list->content, former, grace);
	acl_content_remove_later(list->gone, &entry->range);
	list->deleted--;
	return ACL_DONE;
}

enum acl_outcome
acl_list_add(
    struct acl_list *list, const struct cidr *range, struct grace *grace)
{
	struct acl_entry entry = {.range = *range}, same;
	struct acl_table *former;

	ENSURE(!list->committing);
	if (list->gone && acl_content_get(list->gone, range, &same))
		return put_back(list, &same, grace);
	if (!list->added)
		list->added = make_empty();
	if (!list->added)
		return ACL_SHORT;
	if (acl_content_get(list->added, range, &same) ||
	    (list->content && acl_content_get(list->content, range, &same)))
		return ACL_DONE;
	if (list->changing)
		return acl_content_insert_later(list->added, &entry)
		           ? ACL_DONE
		           : ACL_SHORT;
	if (!acl_content_insert(list->added, &entry, &former))
		return ACL_SHORT;
	publish_change(&list->view->added, list->added, former, grace);
	return ACL_DONE;
}

void
acl_list_begin_changes(struct acl_list *list)
{
	list->changing = true;
}

/* Publishes the table of a content that has changed without one. */
static bool
renew(const struct acl_table **at, struct acl_content *content,
    struct grace *grace)
{
	struct acl_table *former;

	if (!content)
		return true;
	if (!acl_content_renew(content, &former))
		return false;
	if (former)
		publish_change(at, content, former, grace);
	return true;
}

bool
acl_list_end_changes(struct acl_list *list, struct grace *grace)
{
	bool ok = renew(&list->view->read, list->content, grace);

	list->changing = false;
	return renew(&list->view->added, list->added, grace) && ok;
}

static bool
has_entry(const struct acl_content *content, const struct cidr *range)
{
	struct acl_entry entry;

	return content && acl_content_get(content, range, &entry);
}

/* Notes that the entry is deleted if the list's content has it.  Returns false
 * when memory is short. */
static bool
note_gone(struct acl_list *list, const struct cidr *range)
{
	struct acl_entry entry;

	if (!list->content || !acl_content_get(list->content, range, &entry))
		return true;
	if (!list->gone)
		list->gone = make_empty();
	return list->gone && acl_content_insert_later(list->gone, &entry);
}

static void
delete_later(struct acl_list *list, const struct cidr *range, bool was_read,
    bool was_added)
{
	if (was_added)
		acl_content_remove_later(list->added, range);
	if (was_read)
		acl_content_remove_later(list->content, range);
	list->deleted += was_read;
}

/* was_read, was_added: the content of the configuration, or that of commands,
 * has the entry, and is to lose it. */
static enum acl_outcome
delete_entry(struct acl_list *list, const struct cidr *range, bool was_read,
    bool was_added, struct grace *grace)
{
	struct acl_table *read = NULL, *added = NULL;

	ENSURE(!list->committing);
	if (!was_read && !was_added)
		return ACL_NO_ENTRY;
	if (!note_gone(list, range))
		return ACL_SHORT;
	if (list->changing) {
		delete_later(list, range, was_read, was_added);
		return ACL_DONE;
	}
	if (was_read)
		read = acl_content_table_without(list->content, range);
	if (was_added)
		added = acl_content_table_without(list->added, range);
	if ((was_read && !read) || (was_added && !added)) {
		acl_table_free(read);
		acl_table_free(added);
		if (was_read)
			acl_content_remove_later(list->gone, range);
		return ACL_SHORT;
	}
	if (was_added)
		publish_change(&list->view->added, list->added,
		    acl_content_remove(list->added, range, added), grace);
	if (was_read)
		publish_change(&list->view->read, list->content,
		    acl_content_remove(list->content, range, read), grace);
	list->deleted += was_read;
	return ACL_DONE;
}

enum acl_outcome
acl_list_delete(
    struct acl_list *list, const struct cidr *range, struct grace *grace)
{
	return delete_entry(list, range, has_entry(list->content, range),
	    has_entry(list->added, range), grace);
}

struct acl_presence
acl_list_presence(const struct acl_list *list, const struct cidr *range)
{
	bool was_read = has_entry(list->content, range);

	return (struct acl_presence){
	    .present = was_read || has_entry(list->added, range),
	    .was_read = was_read || has_entry(list->gone, range)};
}

bool
acl_list_replace_all(
    struct acl_list *list, struct acl_content *added, struct grace *grace)
{
	struct acl_content *empty = make_empty();

	if (!empty)
		return false;
	list->deleted += count(list->content);
	forget_gone(list);
	exchange(list, empty, added, grace);
	return true;
}

/* Deletes all entries, and notes each of those that were read.  Returns false,
 * with some of them deleted, when memory is short. */
static bool
delete_each(struct acl_list *list, struct grace *grace)
{
	bool was_changing = list->changing, ok = true;
	struct acl_entry e;
	size_t n;

	acl_list_begin_changes(list);
	/* The last one first: then none has to move. */
	while (ok && (n = count(list->content)) > 0 &&
	       acl_content_at(list->content, n - 1, &e))
		ok = delete_entry(list, &e.range, true, false, grace) ==
		     ACL_DONE;
	ok = ok && (was_changing || acl_list_end_changes(list, grace));
	list->changing = was_changing;
	if (!ok)
		return false;
	atomic_store_release(
	    &list->view->added, (struct acl_table *)NULL); /* [P32] */
	retire(list->added, grace);
	list->added = NULL;
	return true;
}

bool
acl_list_clear(struct acl_list *list, struct grace *grace)
{
	return (count(list->content) + list->deleted <= ACL_SINGLE_MAX &&
	           delete_each(list, grace)) ||
	       acl_list_replace_all(list, NULL, grace);
}

struct acl_changes
acl_list_changes(const struct acl_list *list)
{
	return (struct acl_changes){.added = count(list->added),
	    .deleted = list->deleted,
	    .cleared = list->deleted - count(list->gone),
	    .prepared = list->drafts.n};
}

/* -- entries -- */

size_t
acl_list_entries(const struct acl_list *list)
{
	return count(list->added) + count(list->content);
}

size_t
acl_list_covered(const struct acl_list *list)
{
	const struct acl_covered *covered;
	size_t n = 0;

	for (unsigned source = 0;
	     list->content &&
	     (covered = acl_content_covered(list->content, source));
	     source++)
		n += covered->n;
	return n;
}

static void
list_entry(const struct acl_content *content, bool is_added,
    const struct acl_entry *entry, struct acl_listed *ret)
{
	*ret = (struct acl_listed){.range = entry->range,
	    .source =
	        is_added ? NULL : acl_content_source(content, entry->source),
	    .line = entry->line};
}

bool
acl_list_at(const struct acl_list *list, size_t index, struct acl_listed *ret)
{
	size_t added = count(list->added);
	bool is_added = index < added;
	const struct acl_content *c = is_added ? list->added : list->content;
	struct acl_entry entry;

	if (!c || !acl_content_at(c, is_added ? index : index - added, &entry))
		return false;
	list_entry(c, is_added, &entry, ret);
	return true;
}

bool
acl_list_deleted_at(
    const struct acl_list *list, size_t index, struct acl_listed *ret)
{
	struct acl_entry entry;

	if (!list->gone || !acl_content_at(list->gone, index, &entry))
		return false;
	list_entry(list->content, false, &entry, ret);
	return true;
}

bool
acl_list_find(const struct acl_list *list, const struct endpoint *client,
    struct acl_listed *ret)
{
	struct acl_entry entry, added;
	bool was_read =
	    list->content && acl_content_find(list->content, client, &entry);
	bool was_added =
	    list->added && acl_content_find(list->added, client, &added);

	if (was_added && (!was_read || added.range.bits >= entry.range.bits))
		list_entry(list->added, true, &added, ret);
	else if (was_read)
		list_entry(list->content, false, &entry, ret);
	return was_read || was_added;
}
