/* SPDX-License-Identifier: MIT
 * The keys below a prefix in etcd, as members.
 *
 *   etcd_keys_begin --> pages --> etcd_keys_take --> news, news, ...
 *                                   members
 *
 * Pages are collected apart: until all are there the members stay as they were.
 */
#ifndef RESOLVE_ETCD_KEYS_H
#define RESOLVE_ETCD_KEYS_H

#include <stdbool.h>

#include "base/err.h"
#include "resolve/discovery_target.h"
#include "resolve/etcd_text.h"
#include "resolve/member_set.h"

/* More keys below the prefix are an error. */
#define ETCD_MEMBERS_MAX 10000

struct etcd_keys {
	char *prefix;
	struct member_set *members;
	struct member_set *reading; /* of the pages so far; NULL: no reading */
	struct etcd_bytes from; /* reading: where the next page begins; owned */
	bool changed;           /* members, since etcd_keys_changed */
};

/* Returns the prefix that the URL names, borrowed from it, or NULL with err
 * set. */
const char *etcd_target_prefix(
    const struct discovery_target *target, struct err *err);

/* Copies the prefix.  Returns false when memory is short; then there is nothing
 * to end. */
bool etcd_keys_init(struct etcd_keys *keys, const char *prefix) MUST_CHECK;
/* Frees the members, not the struct. */
void etcd_keys_fini(struct etcd_keys *keys);

/* Begins to read all keys.  Returns false when memory is short. */
bool etcd_keys_begin(struct etcd_keys *keys) MUST_CHECK;

/* Ends reading: what was read are the members from now on. */
void etcd_keys_take(struct etcd_keys *keys);

/* Ends reading, if it has begun, and forgets what was read. */
void etcd_keys_drop(struct etcd_keys *keys);

/* Returns the sink for pages, while reading, or for news. */
struct etcd_sink etcd_keys_sink(struct etcd_keys *keys);

/* Returns whether news have changed the members since the last call. */
bool etcd_keys_changed(struct etcd_keys *keys);

#endif
