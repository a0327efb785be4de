/* SPDX-License-Identifier: MIT
 * Service discovery: where the members of a server set come from.
 *
 *   discovery_NAME_new --> DNS, a file, etcd, Consul
 *                             |
 *              on_members <---+---> on_error
 *
 * A discovery follows one source and reports the whole list of members each
 * time that the list may have changed.  It keeps no members itself: the owner
 * compares lists, and decides which changes to make (sets/sets.h).  A source
 * that fails reports an error and no list, so the owner keeps the last one; an
 * empty list is reported as such.
 *
 * Everything here runs on the control thread, on its loop, and never blocks.
 */
#ifndef RESOLVE_DISCOVERY_H
#define RESOLVE_DISCOVERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "resolve/discovery_settings.h"

enum discovery_kind {
	DISCOVERY_DNS,
	DISCOVERY_SRV,
	DISCOVERY_FILE,
	DISCOVERY_ETCD,
	DISCOVERY_CONSUL,
	DISCOVERY_KINDS, /* how many */
};

/* The facts about a kind of source that a configuration needs. */
struct discovery_kind_facts {
	const char *name; /* as in `file=PATH` */
	const char *form; /* `PATH` */
	bool over_http;   /* has token, ca, cert and so on */
	/* Returns whether the text behind `NAME=` is of the right form, or
	 * false with err set.  Never blocks. */
	bool (*check)(const char *source, struct err *err);
	/* Returns whether the kind can use the settings, or false with err set.
	 * Blocks for the files of TLS.  NULL unless over_http. */
	bool (*check_settings)(
	    const struct discovery_settings *settings, struct err *err);
};

/* By enum discovery_kind. */
extern const struct discovery_kind_facts discovery_kinds[DISCOVERY_KINDS];

/* A member.  All texts are borrowed for the time of the call, and never NULL
 * unless it is said. */
struct discovered {
	/* Identifies the member while its address or its options change: the
	 * target and port of an SRV record, the address for A and AAAA, the key
	 * below the prefix for etcd, the service's id for Consul. */
	const char *key;
	/* The form is that of `server =`: `10.0.0.1:80`, `[::1]:80`,
	 * `unix:/path`, `host:80`. */
	const char *address;
	/* The options that may follow: `weight=5 backup`, or an empty text.
	 * Options come from outside and may be wrong: the owner checks them. */
	const char *options;
	const char *note; /* for people: tags, metadata; or an empty text */
	/* Why the source has no member here, as a sentence; NULL: it has one.
	 * Otherwise key and address only identify what was found. */
	const char *wrong;
};

struct discovery_owner {
	/* Reports that the source has these members now, in no particular
	 * order.  Keys are distinct. */
	void (*on_members)(
	    void *arg, const struct discovered *members, size_t n);
	/* Reports that the source cannot be read, once for each failed attempt.
	 * why: a sentence without a full stop, borrowed. */
	void (*on_error)(void *arg, const char *why);
	void *arg;
};

struct discovery;

/* The functions of a kind of source. */
struct discovery_ops {
	const char *kind; /* dns, srv, file, etcd, consul */
	/* Reads the source again soon, whatever its timers say, and reports the
	 * members even if nothing has changed. */
	void (*refresh)(struct discovery *discovery);
	void (*free)(struct discovery *discovery);
};

/* Embedded at the beginning of what a kind of source allocates. */
struct discovery {
	const struct discovery_ops *ops;
	struct discovery_owner owner;
};

/* Reads the source again soon.  A report or an error follows, even if nothing
 * has changed; from the loop, never from within this call. */
static inline void
discovery_refresh(struct discovery *discovery)
{
	discovery->ops->refresh(discovery);
}

/* Frees the source.  No report follows.  Accepts NULL. */
static inline void
discovery_free(struct discovery *discovery)
{
	if (discovery)
		discovery->ops->free(discovery);
}

#endif
