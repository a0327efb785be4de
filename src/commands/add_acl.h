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

#define ACL_PLACE_SIZE 512

/* Writes where the entry comes from: FILE:LINE, FILE, or `add acl`.  Returns
 * out. */
const char *acl_place_text(
    const struct acl_listed *entry, char out[ACL_PLACE_SIZE]);

#endif
