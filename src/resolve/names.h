/* SPDX-License-Identifier: MIT
 * Host names that are wanted, each looked up once for everything that has it,
 * and again and again until it is known.
 *
 *                   +----------------- names_want, afresh --------------+
 *                   v                                                   |
 *   names_want --> ASKED --names_answer: an address----------------> KNOWN
 *                   ^ |
 *         names_tick| +----names_answer: an error--+
 *                   |                              v
 *                   +------- after a pause ---- FAILED
 *
 * The pause is NAMES_PAUSE_MIN_MS at first and doubles with each failure up to
 * NAMES_PAUSE_MAX_MS; each is up to a fifth longer or shorter, so that many
 * names do not stay in step.  A name that was known keeps its address while it
 * is asked for again, and when that fails.
 *
 * The table does not look anything up itself: that is the resolver's part, a
 * thread's getaddrinfo(3) (lookups.h) or a test's script.  Nor does it read a
 * clock.  One thread owns it, the control thread.  Nothing here blocks.
 */
#ifndef RESOLVE_NAMES_H
#define RESOLVE_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/addr.h"

#define NAMES_PAUSE_MIN_MS 1000
#define NAMES_PAUSE_MAX_MS 30000

struct names;

struct name {
	struct name *next;
	const char *host; /* in the same block */
	int family;       /* AF_INET, AF_INET6, or AF_UNSPEC for either */
	bool asked;       /* a look-up is under way */
	bool known;       /* addr is the answer that came last */
	bool kept;        /* names_keep */
	bool dropped;     /* swept while it was asked for */
	int error;        /* of the look-up that ended last, 0: none, or it
	                   * succeeded; see addr_lookup_error */
	int logged_error; /* the owner's: the error it has logged */
	struct addr addr; /* its port is 0 */
	uint64_t pause_ms;
	uint64_t ask_at_ms; /* FAILED: when it is asked for again; else 0 */
};

/* Begins a look-up.  The owner of the table calls names_answer for it later,
 * once, and never from within.  Returns false when it cannot begin. */
typedef bool names_look_up(
    void *resolver, const char *host, int family, struct name *name);

/* Names are looked up by look_up, which gets the resolver, borrowed.  Returns
 * NULL when memory is short. */
struct names *names_new(names_look_up *look_up, void *resolver);

/* Answers that are still to come must not be given any more.  Accepts NULL. */
void names_free(struct names *names);

/* Asks for the name unless it is being asked for: if it is new, or if it is to
 * be asked for afresh whatever is known.  Returns the name, or NULL when memory
 * is short. */
struct name *names_want(struct names *names, const char *host, int family,
    bool afresh, uint64_t now_ms);

/* Returns the name, or NULL if it is not wanted. */
struct name *names_find(
    const struct names *names, const char *host, int family);

/* The name's look-up has ended: with error 0 and an address, or with an error.
 * Returns whether there is something new: another address, or another error. */
bool names_answer(struct names *names, struct name *name, int error,
    const struct addr *addr, uint64_t now_ms);

/* Asks for what has failed and is due.  Returns when to call it again, or 0:
 * not before the next names_want or names_answer. */
uint64_t names_tick(struct names *names, uint64_t now_ms);

/* Spares the name from the next names_sweep. */
void names_keep(struct name *name);

/* Forgets all names but those kept since the last names_sweep.  A name that is
 * being asked for stays until it is answered and swept again. */
void names_sweep(struct names *names);

/* Calls call for each name, in no order; call must not add any. */
void names_each(struct names *names, void (*call)(struct name *name));

/* Returns the number of names in the table. */
size_t names_count(const struct names *names);

#endif
