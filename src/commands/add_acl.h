/* SPDX-License-Identifier: MIT
 * The address lists for commands.
 */
#ifndef COMMANDS_ADD_ACL_H
#define COMMANDS_ADD_ACL_H

#include "acl/acl.h"
#include "commands/call.h"

/* Returns the list that the text names, as NAME or #NUMBER, or NULL with
 * call->err set, to `missing` if the text is empty. */
struct acl_list *call_acl(
    struct call *call, const char *text, const char *missing);

/* Takes the version `@NUMBER` off the arguments, if they begin with one; 0 if
 * what follows `@` is not a number.  Returns whether there was one. */
bool call_take_version(struct call *call, unsigned *ret_version);

/* Sets call->err to what became of a version.  Returns whether it is ACL_DONE.
 */
bool call_acl_outcome(struct call *call, enum acl_outcome outcome);

/* Runs a command that changes a list, once the list is not busy with a commit.
 * The arguments begin with the list, if there are as many as the command
 * needs.  run: as of a command, with the arguments as they are now. */
bool call_when_idle(
    struct call *call, bool (*run)(struct call *call)) MUST_CHECK;

#define ACL_PLACE_SIZE 512

/* Writes where the entry comes from: FILE:LINE, FILE, or `add acl`.  Returns
 * out. */
const char *acl_place_text(
    const struct acl_listed *entry, char out[ACL_PLACE_SIZE]);

#endif
