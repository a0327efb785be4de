/* SPDX-License-Identifier: MIT
 * The keys below a prefix in etcd (version 3.4 or later), each of which is a
 * member.  They are read through etcd's JSON gateway:
 *
 *            +--------------------- pause <-------- any failure ---+
 *            v                                                     |
 *   start -> LOGIN -> READING --all pages--> report -> WATCHING ---+
 *            if a     ^                                   |    |
 *            login is |                                   |    +-> report, for
 *            given    +---------- compacted --------------+        each change
 *
 * A read asks for all keys as they were at one revision, page by page; the
 * watch goes on from the next revision, so that no change is missed.  When a
 * lease expires, etcd deletes its keys.  Changes that arrive at about the same
 * time are reported together.
 *
 * A watch is silent when nothing changes.  Therefore a small question, which
 * etcd can answer only with its quorum, is repeated beside it: if that fails,
 * because the member of etcd hangs or is cut off from the others, the watch
 * ends.
 *
 * A URL is http://HOST:PORT/PREFIX, where the first slash belongs to the
 * prefix; http://HOST:PORT/?prefix=PREFIX for keys that begin otherwise.  The
 * key of a member is the part after the prefix (etcd_key_text); a key that
 * equals the prefix is not a member.  See member_text.h for the values.
 */
#ifndef RESOLVE_DISCOVERY_ETCD_H
#define RESOLVE_DISCOVERY_ETCD_H

#include <ev.h>

#include "base/err.h"
#include "loop/curl_loop.h"
#include "resolve/discovery.h"
#include "resolve/discovery_settings.h"

/* The time between two of these questions, in timeouts of an answer: 15 s by
 * default. */
#define ETCD_PROBE_TIMEOUTS 3

/* Returns whether the URL is one of a prefix in etcd, or false with err set.
 * Pure. */
bool discovery_etcd_check_url(const char *url, struct err *err) MUST_CHECK;

/* Returns whether discovery_etcd_new can use the settings, or false with err
 * set.  Blocks for the files of TLS. */
bool discovery_etcd_check(
    const struct discovery_settings *settings, struct err *err) MUST_CHECK;

/* Makes a source from settings that were checked.  Copies the settings; borrows
 * loop and curl.  Reports follow from the loop.  The owner must not free the
 * source from within a report.  Returns NULL when memory is short. */
struct discovery *discovery_etcd_new(struct ev_loop *loop,
    struct curl_loop *curl, const struct discovery_settings *settings,
    struct discovery_owner owner);

#endif
