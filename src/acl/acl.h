/* SPDX-License-Identifier: MIT
 * An address list: [list NAME], as the data plane sees it.
 *
 * A list outlives models, as the state of a frontend does: a reload publishes
 * another content in the list of the same name.  What commands have added is
 * beside the content of the configuration and its files, so that an addition to
 * a list with a million entries costs nothing for these.
 */
#ifndef ACL_ACL_H
#define ACL_ACL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "acl/content.h"
#include "base/err.h"
#include "base/memory_use.h"
#include "net/addr.h"

struct acl_list;
struct grace;

/* Returns an empty list with one reference, or NULL when memory is short. As
 * all functions here without another word, runs on the control thread. */
struct acl_list *acl_list_new(const char *name);
/* Returns the list. */
struct acl_list *acl_list_ref(struct acl_list *list);
/* Gives a reference back; with the last one the list is freed at once, so no
 * thread may read it any more.  NULL is allowed. */
void acl_list_unref(struct acl_list *list);

/* Whether the list has the client's address.  Any thread, in a grace section,
 * or the control thread.  Never blocks. */
bool acl_list_has(const struct acl_list *list, const struct endpoint *client);

/* Counts a client whose fate the list has decided.  Any thread. */
void acl_list_count(struct acl_list *list);
/* Returns how many were counted.  Any thread. */
uint64_t acl_list_matches(const struct acl_list *list);
/* Resets the count. */
void acl_list_clear_matches(struct acl_list *list);

/* Returns the name, which the list owns. */
const char *acl_list_name(const struct acl_list *list);

/* Publishes what was read, and drops what commands have changed.  Takes
 * ownership of the content, which is sealed. */
void acl_list_publish(
    struct acl_list *list, struct acl_content *content, struct grace *grace);

#endif
