/* SPDX-License-Identifier: MIT
 * The texts of etcd's JSON gateway (/v3/kv/range, /v3/watch), and of the values
 * that describe members.
 *
 * The gateway speaks protobuf's JSON: keys and values are base64, 64-bit
 * numbers are strings, and members that are 0, false or empty are left out.
 * All functions are pure.
 */
#ifndef RESOLVE_ETCD_TEXT_H
#define RESOLVE_ETCD_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "resolve/discovery.h"

/* A key or a value: any bytes. */
struct etcd_bytes {
	const void *data;
	size_t n;
};

/* Receives the keys of an answer.  A function that returns false with err set
 * ends the reading. */
struct etcd_sink {
	bool (*put)(void *arg, struct etcd_bytes key, struct etcd_bytes value,
	    struct err *err);
	bool (*remove)(void *arg, struct etcd_bytes key, struct err *err);
	void *arg;
};

/* Returns the body of a range request for the keys from first on that begin
 * with prefix, as they were at that revision (0: the present one).  limit: the
 * most keys; 0: only their number is asked for.  The caller frees the text with
 * free(3).  Returns NULL when memory is short. */
char *etcd_range_body(const char *prefix, struct etcd_bytes first,
    int64_t revision, unsigned limit);

/* Returns the body of a watch of all changes from that revision on, in the same
 * way. */
char *etcd_watch_body(const char *prefix, int64_t revision);

/* Returns the body of a login, in the same way.  login is NAME:PASSWORD. */
char *etcd_login_body(const char *login);

/* A page of a range. */
struct etcd_page {
	int64_t revision; /* of the store */
	bool more;        /* there are keys behind the last of these */
	size_t n;         /* keys in the page */
};

/* Reads an answer to a range request and puts its keys, in order, into the
 * sink.  Returns false with err set when the answer is wrong or the sink fails.
 */
bool etcd_page_read(const char *text, size_t n, const struct etcd_sink *sink,
    struct etcd_page *ret_page, struct err *err) MUST_CHECK;

/* A message of a watch. */
struct etcd_news {
	bool created;             /* the watch has begun */
	bool ended;               /* by etcd */
	int64_t compact_revision; /* ended by a compaction at it; 0: not so */
	size_t changes;           /* in the message */
};

/* Reads a message of a watch and puts its changes, in order, into the sink.
 * Returns false with err set, also for an error that etcd reports. */
bool etcd_news_read(const char *text, size_t n, const struct etcd_sink *sink,
    struct etcd_news *ret_news, struct err *err) MUST_CHECK;

/* Reads the answer to a login.  Returns the token for the caller to free(3), or
 * NULL with err set. */
char *etcd_login_read(const char *text, size_t n, struct err *err) MUST_CHECK;

/* Returns the key as a text with %XX for % and for bytes that are not
 * printable, or NULL when memory is short.  Different keys have different
 * texts.  The caller frees the text with free(3). */
char *etcd_key_text(struct etcd_bytes key);

#endif
