/* SPDX-License-Identifier: MIT
 * Frees what a list does not need any more, without delaying the control loop:
 * giving back the memory of a million entries takes milliseconds.
 *
 * All functions run on the control thread.  None blocks.
 */
#ifndef ACL_DISCARD_H
#define ACL_DISCARD_H

#include "acl/content.h"

/* Frees the content as acl_content_free does: a large one by the worker
 * (worker_call).  No other thread may use the content.  Accepts NULL. */
void acl_content_discard(struct acl_content *content);

#endif
