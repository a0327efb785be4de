/* SPDX-License-Identifier: MIT
 * The texts of etcd's JSON gateway (/v3/kv/range, /v3/watch), and of the values
 * that describe members.
 *
 * The gateway speaks protobuf's JSON: keys and values are base64, 64-bit
 * numbers are strings, and members that are 0, false or empty are left out.
 * Functions are pure.
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

/* Writes the body of a range request for the keys from first on that begin with
 * prefix, limit at most (0: only their number is asked for), as they were at
 * that revision (0: the present one).  Returns a text for the caller to
 * free(3), or NULL when memory is short. */
char *etcd_range_body(const char *prefix, struct etcd_bytes first,
    int64_t revision, unsigned limit);

/* Likewise for a watch of all changes from that revision on. */
char *etcd_watch_body(const char *prefix, int64_t revision);

/* Likewise for a login.  login is NAME:PASSWORD. */
char *etcd_login_body(const char *login);

/* A page of a range. */
struct etcd_page {
	int64_t revision; /* of the store */
	bool more;        /* keys follow behind the last of these */
	size_t n;         /* keys in it */
};

/* Reads an answer to a range request and puts its keys, in order, into the
 * sink.  Returns false with err set. */
bool etcd_page_read(const char *text, size_t n, const struct etcd_sink *sink,
    struct etcd_page *ret_page, struct err *err) MUST_CHECK;

/* A message of a watch. */
struct etcd_news {
	bool created;             /* the watch has begun */
	bool ended;               /* by etcd */
	int64_t compact_revision; /* ended because of that; 0: not so */
	size_t changes;           /* in it */
};

/* Reads a message of a watch and puts its changes, in order, into the sink.
 * Returns false with err set, also for an error that etcd reports. */
bool etcd_news_read(const char *text, size_t n, const struct etcd_sink *sink,
    struct etcd_news *ret_news, struct err *err) MUST_CHECK;

/* Reads the answer to a login.  Returns the token for the caller to free(3), or
 * NULL with err set. */
char *etcd_login_read(const char *text, size_t n, struct err *err) MUST_CHECK;

/* Returns the key as a text for the caller to free(3), with %XX for a byte that
 * is not printable and for %; NULL when memory is short.  Other keys have other
 * texts. */
char *etcd_key_text(struct etcd_bytes key);

#endif
