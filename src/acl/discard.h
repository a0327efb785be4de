/* SPDX-License-Identifier: MIT
 * Freeing what a list has no more, beside the control loop: giving back the
 * memory of a million entries takes milliseconds.
 *
 * All functions run on the control thread.  None blocks.
 */
#ifndef ACL_DISCARD_H
#define ACL_DISCARD_H

#include "acl/content.h"

/* Frees as acl_content_free: a large content on a thread of its own, or at once
 * if no thread can be started.  No other thread uses it.  Accepts NULL. */
void acl_content_discard(struct acl_content *content);

/* Frees as acl_table_free, in the same way. */
void acl_table_discard(struct acl_table *table);

#endif
