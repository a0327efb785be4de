/* SPDX-License-Identifier: MIT
 * The address lists for commands.
 */
#ifndef COMMANDS_ADD_ACL_H
#define COMMANDS_ADD_ACL_H

#include "acl/acl.h"
#include "commands/call.h"
#include "control/list_task.h"

/* Returns the list that the text names, as NAME or #NUMBER, or NULL with
 * call->err set, to `missing` if the text is empty. */
struct acl_list *call_acl(
    struct call *call, const char *text, const char *missing);

/* Takes the version `@NUMBER` off the arguments, if they begin with one; 0 if
 * what follows `@` is not a number.  Returns whether there was one. */
bool call_take_version(struct call *call, unsigned *ret_version);

/* Sets call->err to what became of a change.  Returns whether it is ACL_DONE.
 */
bool call_acl_outcome(struct call *call, enum acl_outcome outcome);

/* Changes a list, as the function of a command does.  Sets *ret_task, which is
 * NULL, to a task that the change began and that ends it. */
typedef bool acl_change_fn(struct call *call, struct list_task **ret_task);

/* Runs a command that changes a list, once the list is not busy, and answers at
 * the end of its task.  The arguments begin with the list, `@VERSION` apart, if
 * there are as many as the command needs; run gets them as they are now. */
bool call_change_acl(struct call *call, acl_change_fn *run) MUST_CHECK;

/* The record of a change that a task makes. */
struct acl_record;
/* Returns a record, or NULL when memory is short.  has_counts: the numbers of
 * entries before and after belong to it. */
struct acl_record *acl_record_new(const struct call *call, bool has_counts,
    const char *what, ...) __attribute__((format(printf, 3, 4)));
/* Frees a record whose task has not begun.  NULL is allowed. */
void acl_record_free(struct acl_record *record);
/* Returns an end for a task, which writes the record if the task has succeeded,
 * and frees it. */
struct list_task_end acl_record_end(struct acl_record *record);

#define ACL_PLACE_SIZE 512

/* Writes where the entry comes from: FILE:LINE, FILE, or `add acl`.  Returns
 * out. */
const char *acl_place_text(
    const struct acl_listed *entry, char out[ACL_PLACE_SIZE]);

#endif
