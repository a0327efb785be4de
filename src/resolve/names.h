/* SPDX-License-Identifier: MIT
 * Host names that are wanted, by servers and by sets of servers.  Each is
 * looked up once for all its users, again until it is known, and again after
 * its TTL if it is followed.
 *
 *   names_want --> renewal.h: asked, known, failed, due again, lapsed
 *                     |
 *                     +--> names_take_changed: what the owner acts on
 *
 * A name that was known keeps its answer while it is asked for again, and when
 * that fails.  The answer of a followed name lapses when failures go on for
 * hold_ms.  If the question for one family fails while the other family has an
 * answer, the addresses of the former are kept, and lapse, in the same way.
 *
 * The table reads no clock.  All functions run on the control thread and never
 * block.
 */
#ifndef RESOLVE_NAMES_H
#define RESOLVE_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"
#include "net/addr.h"
#include "resolve/dns.h"
#include "resolve/renewal.h"

struct names;

/* The purposes of a name, and the times at which it is asked for again once it
 * is known, besides by an operator.
 * X(identifier, what has the name, when it is asked for again) */
#define NAME_MODES_TABLE(X)                                                    \
	X(NAME_ONCE, "server", "start")       /* not at all */                 \
	X(NAME_ON_RELOAD, "server", "reload") /* by a reload */                \
	X(NAME_FOLLOWED, "server", "ttl")     /* by a reload, and by TTL */    \
	X(NAME_OF_MEMBERS, "dns", "ttl")      /* its addresses are members */  \
	X(NAME_OF_SERVICE, "srv", "ttl")      /* its SRV records are */        \
	X(NAME_OF_TARGET, "target", "ttl")    /* of an SRV record */

enum name_mode {
#define X(id, kind, resolve) id,
	NAME_MODES_TABLE(X)
#undef X
	    NAME_MODES
};

extern const struct name_mode_texts {
	const char *kind, *resolve;
} name_modes[NAME_MODES];

/* Returns whether the users of such names are servers, not sets of them. */
static inline bool
name_mode_is_servers(enum name_mode mode)
{
	return mode <= NAME_FOLLOWED;
}

struct name {
	struct list node;
	struct names *names;
	const char *host; /* in the same block */
	int family;       /* AF_INET, AF_INET6, or AF_UNSPEC for both */
	enum name_mode mode;
	struct renewal renewal;
	struct dns_lookup *lookup; /* under way; NULL: none */
	struct dns_answer answer;  /* the last good one, until it lapses */
	/* The family whose question has failed since stale_ms, and whose
	 * addresses are kept; stale_ms 0: neither. */
	int stale_family;
	uint64_t stale_ms;
	struct list changed; /* in the table's list of changed names */
	/* For the owner: the error that it has logged, and the users of the
	 * name. */
	enum dns_error logged;
	void **users;
	size_t users_n, users_room;
};

/* Makes an empty table, which looks names up with dns.  Borrows dns and arg.
 * wake(arg) asks the owner to call names_tick and names_take_changed soon.
 * Returns NULL when memory is short. */
struct names *names_new(struct dns *dns, void (*wake)(void *arg), void *arg);

/* Cancels all look-ups and frees the table, before dns is freed.  Accepts NULL.
 */
void names_free(struct names *names);

/* Sets the limits of TTLs, and how long answers are kept.  The next names_tick
 * acts on them. */
void names_set(struct names *names, const struct renewal_settings *settings);

/* Adds the name to the table if it is new.  Asks for it if it is new or afresh
 * is set, unless it is being asked for already.  Returns the name, or NULL when
 * memory is short. */
struct name *names_want(struct names *names, const char *host, int family,
    enum name_mode mode, bool afresh, uint64_t now_ms);

/* Adds the name of a target to the table if it is new, and takes the answer,
 * which came along with SRV records.  The target is not asked for until
 * names_want wants it afresh.  Returns the name, or NULL when memory is short.
 */
struct name *names_give(struct names *names, const char *host,
    struct dns_answer *answer, uint64_t now_ms);

/* Returns the name, or NULL if it is not wanted. */
struct name *names_find(const struct names *names, const char *host, int family,
    enum name_mode mode);

/* Takes the answer to the name's question, and the lists in it.  Marks the name
 * as changed if its addresses or its error are other ones; the name of a set,
 * after each answer, and a target, after each failure. */
void names_answer(
    struct name *name, struct dns_answer *answer, uint64_t now_ms);

/* Marks the name as changed. */
void name_has_changed(struct name *name);

/* Asks for names that are due, and drops answers that have lapsed, which
 * changes the name.  Returns when to call it again; 0: not before it wakes the
 * owner. */
uint64_t names_tick(struct names *names, uint64_t now_ms);

/* Returns a name that has changed and was not returned since, or NULL. */
struct name *names_take_changed(struct names *names);

/* Chooses among the name's addresses: the present one, without regard to its
 * port, if it is among them; else the first of the preferred family, AF_INET or
 * AF_INET6; else the first.  Returns NULL if the name is not known. */
const struct addr *name_choose(
    const struct name *name, int preferred, const struct addr *present);

/* Adds a user of the name.  Returns false when memory is short. */
bool name_add_user(struct name *name, void *user) MUST_CHECK;

/* Removes a user of the name, if it is one, and the name with its last user.
 * Accepts NULL. */
void name_drop_user(struct name *name, const void *user);

/* Removes all servers from the users of all names. */
void names_clear_servers(struct names *names);

/* Removes all names that have no user. */
void names_sweep(struct names *names);

/* Returns the name behind that one, or the first name for NULL; NULL at the
 * end. */
struct name *names_next(const struct names *names, const struct name *name);
#define names_for_each(n, names)                                               \
	for (struct name *n = names_next(names, NULL); n;                      \
	     n = names_next(names, n))

/* Returns the number of names in the table. */
size_t names_count(const struct names *names);
/* Returns how many look-ups have failed. */
uint64_t names_failures(const struct names *names);

#endif
