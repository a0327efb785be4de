/* SPDX-License-Identifier: MIT
 * Host names that are wanted.  Each is looked up once for all its users, again
 * until it is known, and again after its TTL if it is followed.
 *
 *   names_want --> renewal.h: asked, known, failed, due again, lapsed
 *                     |
 *                     +--> names_take_changed: what the owner acts on
 *
 * A name that was known keeps its addresses while it is asked for again, and
 * when that fails.  The addresses of a followed name lapse when failures go on
 * for hold_ms.
 *
 * The table neither looks names up itself, which the resolver does (dns.h, or
 * the script of a test), nor reads a clock.  All functions run on the control
 * thread and never block.
 */
#ifndef RESOLVE_NAMES_H
#define RESOLVE_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"
#include "net/addr.h"
#include "resolve/dns_answer.h"
#include "resolve/renewal.h"

struct names;

/* When a name that is known is asked for again, besides by an operator. */
enum name_mode {
	NAME_ONCE,      /* not at all */
	NAME_ON_RELOAD, /* by a reload */
	NAME_FOLLOWED,  /* by a reload, and when its TTL is over */
};

struct name {
	struct name *next;
	const char *host; /* in the same block */
	int family;       /* AF_INET, AF_INET6, or AF_UNSPEC for both */
	enum name_mode mode;
	struct renewal renewal;
	struct addr *addrs; /* while it is known; their ports are 0 */
	size_t addrs_n;
	bool kept;           /* by names_keep */
	bool dropped;        /* swept while it was asked for */
	struct list changed; /* in the table's list of changed names */
	void *asker;         /* for the resolver */
	/* For the owner: the error that it has logged, and the users of the
	 * name. */
	enum dns_error logged;
	void **users;
	size_t users_n, users_room;
};

/* Begins a look-up.  The owner of the table calls names_answer for it once,
 * later, and not from within this function.  Returns false when the look-up
 * cannot begin. */
typedef bool names_look_up(
    void *resolver, const char *host, int family, struct name *name);

/* Makes an empty table, which looks names up by look_up.  Borrows resolver, the
 * argument of look_up.  Returns NULL when memory is short. */
struct names *names_new(names_look_up *look_up, void *resolver);

/* Frees the table.  names_answer must not be called any more.  Accepts NULL. */
void names_free(struct names *names);

/* Sets the limits of TTLs, and how long answers are kept.  The next names_tick
 * acts on them. */
void names_set(struct names *names, const struct renewal_settings *settings);

/* Adds the name to the table if it is new.  Asks for it if it is new or afresh
 * is set, unless it is being asked for already.  Returns the name, or NULL when
 * memory is short. */
struct name *names_want(struct names *names, const char *host, int family,
    enum name_mode mode, bool afresh, uint64_t now_ms);

/* Returns the name, or NULL if it is not wanted. */
struct name *names_find(const struct names *names, const char *host, int family,
    enum name_mode mode);

/* Takes the answer of the name's look-up.  Marks the name as changed if its
 * addresses or its error are other ones.  If the question for one family has
 * failed, the former addresses of that family are kept. */
void names_answer(struct names *names, struct name *name,
    const struct dns_answer *answer, uint64_t now_ms);

/* Asks for names that are due, and drops addresses that have lapsed, which
 * changes the name.  Returns when to call it again; 0: not before the next
 * names_want or names_answer. */
uint64_t names_tick(struct names *names, uint64_t now_ms);

/* Returns a name that has changed and was not returned since, or NULL. */
struct name *names_take_changed(struct names *names);

/* Chooses among the name's addresses: the present one, without regard to its
 * port, if it is among them; else the first of the preferred family, AF_INET or
 * AF_INET6; else the first.  Returns NULL if the name is not known. */
const struct addr *name_choose(
    const struct name *name, int preferred, const struct addr *present);

/* Adds a user of the name.  Returns false when memory is short. */
bool name_add_user(struct name *name, void *user);

/* Removes a user of the name, if it is one. */
void name_drop_user(struct name *name, const void *user);

/* Removes all users of all names. */
void names_clear_users(struct names *names);

/* Keeps the name over the next names_sweep. */
void names_keep(struct name *name);

/* Removes all names but those that were kept since the last names_sweep.  A
 * name that is being asked for stays until it is answered and the table is
 * swept again. */
void names_sweep(struct names *names);

/* Returns the first name, or NULL.  next links the names, in no particular
 * order. */
struct name *names_first(const struct names *names);

/* Returns the number of names in the table. */
size_t names_count(const struct names *names);

#endif
