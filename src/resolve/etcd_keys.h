/* SPDX-License-Identifier: MIT
 * The keys below a prefix in etcd, as members.
 *
 *   etcd_keys_begin --> pages --> etcd_keys_take --> news, news, ...
 *                                   members
 *
 * Pages are collected separately: the members stay as they were until all pages
 * have been read.
 */
#ifndef RESOLVE_ETCD_KEYS_H
#define RESOLVE_ETCD_KEYS_H

#include <stdbool.h>

#include "base/err.h"
#include "resolve/discovery_target.h"
#include "resolve/etcd_text.h"
#include "resolve/member_set.h"

/* The most keys below the prefix; more are an error. */
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

/* Initializes keys with a copy of the prefix.  Returns false when memory is
 * short; then there is nothing to free. */
bool etcd_keys_init(struct etcd_keys *keys, const char *prefix) MUST_CHECK;
/* Frees the members, not the struct. */
void etcd_keys_fini(struct etcd_keys *keys);

/* Begins to read all keys.  Returns false when memory is short. */
bool etcd_keys_begin(struct etcd_keys *keys) MUST_CHECK;

/* Ends reading: the keys that were read are the members from now on. */
void etcd_keys_take(struct etcd_keys *keys);

/* Ends reading, if it has begun, and drops the keys that were read. */
void etcd_keys_drop(struct etcd_keys *keys);

/* Returns the sink: for pages while keys are read, else for news. */
struct etcd_sink etcd_keys_sink(struct etcd_keys *keys);

/* Returns whether news have changed the members since the last call. */
bool etcd_keys_changed(struct etcd_keys *keys);

#endif
