/* SPDX-License-Identifier: MIT
 * How commands name address lists, change them, and record the changes.
 */
#ifndef COMMANDS_ADD_ACL_H
#define COMMANDS_ADD_ACL_H

#include "acl/acl.h"
#include "commands/call.h"
#include "watch/list_task.h"

/* Returns the list that the text names, as NAME or #NUMBER, or NULL with
 * call->err set, to `missing` if the text is empty. */
struct acl_list *call_acl(
    struct call *call, const char *text, const char *missing);

/* Removes `@NUMBER` from the front of the arguments, and returns whether it was
 * there.  *ret_version is 0 if what follows `@` is not a number. */
bool call_take_version(struct call *call, unsigned *ret_version);

/* Returns whether the outcome is ACL_DONE.  Sets call->err otherwise. */
bool call_acl_outcome(struct call *call, enum acl_outcome outcome);

/* The function of a command that changes a list.  Sets *ret_task, which is NULL
 * before, if the change needs a task to end. */
typedef bool acl_change_fn(struct call *call, struct list_task **ret_task);

/* Calls run as soon as the list is not busy, and answers when the task that run
 * has begun has ended.  The list's name is the first argument, or the second
 * one behind `@VERSION`.  A later call of run gets copies of the arguments. */
bool call_change_acl(struct call *call, acl_change_fn *run) MUST_CHECK;

/* The record of a change that a task makes, with the numbers of entries before
 * and after. */
struct acl_record;
/* Returns a record, or NULL when memory is short. */
struct acl_record *acl_record_new(const struct call *call, const char *what,
    ...) __attribute__((format(printf, 2, 3)));
/* Frees a record whose task has not begun.  NULL is allowed. */
void acl_record_free(struct acl_record *record);
/* Returns an end for a task, which writes the record if the task has succeeded,
 * and frees it. */
struct list_task_end acl_record_end(struct acl_record *record);

/* Forgets the ends of the entries of the list that were added for a time; range
 * NULL: all of them.  The entries are gone. */
void call_forget_acl_ends(const struct call *call, const struct acl_list *list,
    const struct cidr *range);

struct expiring_status;

/* Reads the end of an entry that was added for a time.  Returns false if the
 * entry has none.  expiring may be NULL. */
struct expiring;
bool acl_entry_end(const struct expiring *expiring, const struct acl_list *list,
    const struct cidr *range, struct expiring_status *ret_status);

#define ACL_PLACE_SIZE 512

/* Writes where the entry comes from: FILE:LINE, FILE, or `add acl`.  Returns
 * out. */
const char *acl_place_text(
    const struct acl_listed *entry, char out[ACL_PLACE_SIZE]);

#endif
