/* SPDX-License-Identifier: MIT
 * The members of a source, by key: for sources that report single changes, or
 * whose answers come in pieces.  All functions run on the control thread.
 */
#ifndef RESOLVE_MEMBER_SET_H
#define RESOLVE_MEMBER_SET_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "resolve/discovery.h"

struct member_set;

/* Returns an empty set, or NULL when memory is short. */
struct member_set *member_set_new(void);

/* Frees the set.  Accepts NULL. */
void member_set_free(struct member_set *set);

/* Adds a copy of the member, and replaces one with the same key.  Returns false
 * when memory is short; then the set is as it was. */
bool member_set_put(
    struct member_set *set, const struct discovered *member) MUST_CHECK;

/* Returns the member with that key, borrowed until the set changes; or NULL. */
const struct discovered *member_set_find(
    const struct member_set *set, const char *key);

/* Removes the member with that key, if there is one. */
void member_set_remove(struct member_set *set, const char *key);

/* Returns the number of members. */
size_t member_set_count(const struct member_set *set);

/* Returns an array of all members, which the caller frees with free(3), and
 * their number in *ret_n.  The texts belong to the set.  Returns NULL when
 * memory is short. */
struct discovered *member_set_list(const struct member_set *set, size_t *ret_n);

#endif
